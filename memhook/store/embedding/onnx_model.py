"""A model in a folder, run by ONNX Runtime itself: importing fastembed for it would take 0.4 s and 40 MB more."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memhook.store.embedding.model_files import GRAPH, TOKENIZER, PackagedModel

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

_FATAL = 4


def configure_runtime() -> None:
    """Make ONNX Runtime and the tokenizer silent; before either is imported."""
    # ONNX Runtime's Linux and macOS builds report to their maker and keep a device id in the home directory.
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"
    # Tokenising is a hundredth of the work, and a fork after it ran in parallel prints a warning.
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    import onnxruntime  # noqa: PLC0415 - 0.2 s

    onnxruntime.set_default_logger_severity(_FATAL)


class OnnxModel:
    """Tokenizer and session of a packaged model. Safe to call from several threads."""

    def __init__(self, directory: Path, model: PackagedModel, threads: int) -> None:
        configure_runtime()
        import onnxruntime  # noqa: PLC0415  as above
        from tokenizers import Tokenizer  # noqa: PLC0415  as above

        self.tokenizer = Tokenizer.from_file(str(directory / TOKENIZER))
        self.tokenizer.enable_truncation(model.max_tokens)
        self.tokenizer.enable_padding(pad_id=model.pad_token_id, pad_token=model.pad_token)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        self.session = onnxruntime.InferenceSession(str(directory / GRAPH), options, providers=["CPUExecutionProvider"])
        self._inputs = [one.name for one in self.session.get_inputs()]
        self._is_pooled = model.pooling == "DISABLED"

    def embedded(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        import numpy as np  # noqa: PLC0415 - here with onnxruntime

        encoded = self.tokenizer.encode_batch(list(texts))
        mask = np.array([one.attention_mask for one in encoded], dtype=np.int64)
        given = {
            "input_ids": np.array([one.ids for one in encoded], dtype=np.int64),
            "attention_mask": mask,
            "token_type_ids": np.zeros_like(mask),
        }
        found = self.session.run(None, {name: given[name] for name in self._inputs})[0]
        return found if self._is_pooled else _means(found, mask)


def shrink(session: Any) -> None:
    """Shrink the arena in which ONNX Runtime keeps what its largest batches took, for each thread that ran one."""
    import numpy as np  # noqa: PLC0415 - here with the session
    import onnxruntime  # noqa: PLC0415  as above

    shrinking = onnxruntime.RunOptions()
    shrinking.add_run_config_entry("memory.enable_memory_arena_shrinkage", "cpu:0")
    session.run(None, {given.name: np.ones((1, 2), np.int64) for given in session.get_inputs()}, shrinking)


def _means(by_token: npt.NDArray[np.float32], mask: npt.NDArray[np.int64]) -> npt.NDArray[np.float32]:
    """The mean of each text's tokens, padding left out; any text has the two tokens that mark start and end."""
    kept = mask[..., None].astype(by_token.dtype)
    means: npt.NDArray[np.float32] = (by_token * kept).sum(axis=1) / kept.sum(axis=1)
    return means
