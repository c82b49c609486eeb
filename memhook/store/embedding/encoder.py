"""Texts as vectors, by a model that arrived inside a package or was pulled by fastembed, without the network.

Cheap to import: ONNX Runtime is imported when a model is loaded, fastembed only for one of its own.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, cached_property, partial
from importlib import resources
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from memhook.core.grading import Calibration
from memhook.core.spelling import NO_VOCABULARY, Vocabulary
from memhook.errors import EmbeddingError
from memhook.store.embedding import multilingual
from memhook.store.embedding.model_files import (
    GRANITE,
    GRAPH,
    PACKAGED,
    TOKENIZER,
    PackagedModel,
    are_installed,
    model_directory,
    sha256_of,
)
from memhook.turns import interrupted_by, stand_aside

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

DEFAULT_MODEL = GRANITE.id
MAX_CHARS = 8_000  # four times what a model reads; tokenising 10 MB to keep 512 tokens would take seconds
MAX_THREADS = 4
MOST_STOPS = 4  # of one batch: under constant prompts, every fifth attempt runs to the end
MANY_BATCHES = 8  # from this many on, all cores share them
STEPPED_BACK = 10
# Short texts share a batch, a long one is a batch: larger ones were slower, and took 300 MB more at 4,096 tokens.
BATCH_TOKENS = 512
FATAL = 4  # a severity of ONNX Runtime
ANY_MODEL = "any"  # for a model that was not calibrated

_UPGRADE = "Install memhook again, with the versions of fastembed and onnxruntime it asks for."

Vector: TypeAlias = "npt.NDArray[np.float32] | Sequence[float]"


@dataclass(frozen=True, slots=True)
class ModelIdentity:
    """The model that computed a vector; models of equal width differ only by this. `sha256` is that of the weights."""

    id: str
    sha256: str
    dimensions: int


@dataclass(frozen=True, slots=True)
class ListedModel:
    """A model to choose from; `megabytes` is the size of its download, 0 when it comes in a package."""

    id: str
    is_packaged: bool
    is_here: bool
    dimensions: int
    megabytes: int = 0


class Embedder(Protocol):
    """Embeds texts as float32 unit vectors, from any thread. `vocabulary` has the words that are a single token."""

    @property
    def model(self) -> ModelIdentity: ...

    @property
    def vocabulary(self) -> Vocabulary: ...

    def embed_query(self, text: str) -> npt.NDArray[np.float32]: ...

    def embed_documents(self, texts: Sequence[str]) -> list[npt.NDArray[np.float32]]: ...


def load_embedder(model: str, models_dir: Path, threads: int | None = None) -> Embedder:
    """Return the embedder called `model`, loaded; raise EmbeddingError when it is missing or not the one expected.

    A packaged model is verified and laid out below `models_dir`. Any other name is one of fastembed's own models, which
    must have been pulled before: nothing is downloaded here.
    """
    if model == multilingual.ID:
        return MultilingualEmbedder()
    # Half the machine: the other half searches meanwhile, and threads that wait for each other burn its time.
    threads = threads or max(1, min(MAX_THREADS, (os.cpu_count() or 1) // 2))
    if packaged := PACKAGED.get(model):
        embedder = _packaged(packaged, models_dir, threads)
    else:
        embedder = _pulled(model, models_dir, threads)
    _check(embedder)
    return embedder


@cache
def calibration_of(model: str) -> Calibration:
    """Return the calibration that scripts/calibrate wrote for this model, or the one for any model."""
    known = json.loads((resources.files("memhook") / "resources" / "calibration.json").read_text(encoding="utf-8"))
    found: dict[str, Any] = known.get(model, known[ANY_MODEL])
    found |= {name: tuple(found.get(name, ())) for name in ("request", "talk", "chore")}
    return Calibration(**found)


def multilingual_calibration() -> Calibration:
    return calibration_of(multilingual.ID)


def listed_models(models_dir: Path) -> list[ListedModel]:
    """The models `load_embedder` takes: the packaged ones, then fastembed's own. Imports fastembed, reads the disk."""
    packaged = [ListedModel(m.id, True, are_installed(m.weights, m.tokenizer), m.dimensions) for m in PACKAGED.values()]
    descriptions = _descriptions(_fastembed(offline=False)).values()  # a pull may follow in the same process
    return [*packaged, *(_listed(one, models_dir) for one in descriptions)]


def pull(model: str, models_dir: Path) -> None:
    """Download one of fastembed's own models: the only function here that uses the network.

    For a process that has loaded no model: huggingface_hub decides once, when imported, whether it is offline.
    """
    if packaged := PACKAGED.get(model):
        model_directory(packaged, models_dir)  # nothing to download; says what to install when the package is missing
        return
    cache = _pulled_dir(models_dir)
    os.environ.setdefault("HF_HOME", str(cache / "huggingface"))  # its side files go into this cache, not the home
    fastembed = _fastembed(offline=False)
    _description(fastembed, model)
    try:
        fastembed.TextEmbedding(model_name=model, cache_dir=str(cache), lazy_load=True)
    except Exception as error:
        raise EmbeddingError(
            f"The embedding model {model} could not be downloaded: {error}", "Check the connection, then try again."
        ) from error


@dataclass(frozen=True, slots=True)
class Runtime:
    """The runtime of a model: embeds prompts and documents, not yet normalized; with its tokenizer and session."""

    query: Callable[[list[str]], Iterable[Any]]
    documents: Callable[[list[str]], Iterable[Any]]
    tokenizer: Any
    session: Any


class OnnxEmbedder:
    """Embeds the first 512 tokens of a text (256 for MiniLM); later tokens do not affect the vector."""

    def __init__(
        self, model: ModelIdentity, runtime: Runtime, max_tokens: int, batch_tokens: int, workers: int = 1
    ) -> None:
        self._model = model
        self._runtime = runtime
        self._max_tokens = max_tokens
        self._batch_tokens = batch_tokens
        self._workers = ThreadPoolExecutor(workers, "memhook-embed", _step_back) if workers > 1 else None

    @property
    def model(self) -> ModelIdentity:
        return self._model

    @cached_property
    def vocabulary(self) -> Vocabulary:
        return Vocabulary.of(_whole_words(self._runtime.tokenizer.get_vocab()))

    def embed_query(self, text: str) -> npt.NDArray[np.float32]:
        return _unit_vectors(self._runtime.query, [_readable(text)])[0]

    def embed_documents(self, texts: Sequence[str]) -> list[npt.NDArray[np.float32]]:
        readable = [_readable(text) for text in texts]
        # No token is shorter than a byte, two more mark start and end: a bound that needs no second tokenising.
        sizes = [min(len(text.encode()) + 2, self._max_tokens) for text in readable]
        batches = list(_batches(sizes, self._batch_tokens))

        def found(batch: list[int]) -> list[npt.NDArray[np.float32]]:
            return _unit_vectors(self._runtime.documents, [readable[index] for index in batch])

        made = self._workers.map if self._workers and len(batches) >= MANY_BATCHES else map
        vectors = chain.from_iterable(made(found, batches))
        by_index = dict(zip(chain.from_iterable(batches), vectors, strict=True))
        return [by_index[index] for index in range(len(texts))]

    def give_back(self) -> None:
        """Release memory: ONNX Runtime's arena keeps what the largest batch of each thread needed."""
        import numpy as np  # noqa: PLC0415 - here with the session
        import onnxruntime  # noqa: PLC0415  as above

        shrinking = onnxruntime.RunOptions()
        shrinking.add_run_config_entry("memory.enable_memory_arena_shrinkage", "cpu:0")
        session = self._runtime.session
        session.run(None, {given.name: np.ones((1, 2), np.int64) for given in session.get_inputs()}, shrinking)


class OnnxModel:
    """A packaged model, run by ONNX Runtime itself: importing fastembed for it would take 0.4 s and 40 MB more.

    Safe to call from several threads.
    """

    def __init__(self, directory: Path, model: PackagedModel, threads: int) -> None:
        _configure_runtime()
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
        return self._embedded(texts, lambda given: self.session.run(None, given))

    def embedded_behind(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Like `embedded`, for imports: a prompt interrupts it, after which it starts again."""
        return self._embedded(texts, self._run_behind)

    def _embedded(self, texts: Sequence[str], run: Callable[[dict[str, Any]], Any]) -> npt.NDArray[np.float32]:
        import numpy as np  # noqa: PLC0415 - here with onnxruntime

        encoded = self.tokenizer.encode_batch(list(texts))
        mask = np.array([one.attention_mask for one in encoded], dtype=np.int64)
        given = {
            "input_ids": np.array([one.ids for one in encoded], dtype=np.int64),
            "attention_mask": mask,
            "token_type_ids": np.zeros_like(mask),
        }
        found = run({name: given[name] for name in self._inputs})[0]
        return found if self._is_pooled else _means(found, mask)

    def _run_behind(self, given: dict[str, Any]) -> Any:
        import onnxruntime  # noqa: PLC0415  as above

        for _ in range(MOST_STOPS):
            stand_aside()
            options = onnxruntime.RunOptions()
            try:
                with interrupted_by(partial(setattr, options, "terminate", True)):
                    return self.session.run(None, given, options)
            except Exception:  # ONNX Runtime has no exception of its own for it
                if not options.terminate:
                    raise
        return self.session.run(None, given)


class MultilingualEmbedder:
    """Embeds sixteen languages into one space; reads the first 2,000 characters of a text."""

    model = ModelIdentity(multilingual.ID, multilingual.WEIGHTS.sha256, multilingual.DIMENSIONS)
    vocabulary = NO_VOCABULARY

    def __init__(self) -> None:
        self._encoder = multilingual.loaded_encoder()

    def embed_query(self, text: str) -> npt.NDArray[np.float32]:
        return multilingual.encoded(self._encoder, [text])[0]

    def embed_documents(self, texts: Sequence[str]) -> list[npt.NDArray[np.float32]]:
        return multilingual.encoded(self._encoder, texts)


def multilingual_model() -> ListedModel:
    """Return the second encoder, which is used beside the chosen model."""
    return ListedModel(multilingual.ID, True, multilingual.is_installed(), multilingual.DIMENSIONS)


def _step_back() -> None:
    """Lower this thread's priority, on Linux: an import uses every core, and prompts come first."""
    if sys.platform == "linux":
        with suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), STEPPED_BACK)


def _packaged(model: PackagedModel, models_dir: Path, threads: int) -> OnnxEmbedder:
    directory = model_directory(model, models_dir)
    try:
        loaded = OnnxModel(directory, model, threads)
    except (ImportError, OSError) as error:
        raise EmbeddingError(f"onnxruntime cannot be imported: {error}", "Install memhook again.") from error
    except Exception as error:
        raise EmbeddingError(f"The embedding model {model.id} cannot be loaded: {error}", _UPGRADE) from error
    identity = ModelIdentity(model.id, model.weights.sha256, model.dimensions)
    runtime = Runtime(loaded.embedded, loaded.embedded_behind, loaded.tokenizer, loaded.session)
    workers = max(1, (os.cpu_count() or 1) // threads)  # together, their threads use every core
    return OnnxEmbedder(identity, runtime, model.max_tokens, BATCH_TOKENS, workers)


def _pulled(model: str, models_dir: Path, threads: int) -> OnnxEmbedder:
    fastembed = _fastembed()
    description = _description(fastembed, model)
    try:
        loaded = fastembed.TextEmbedding(
            model_name=model, cache_dir=str(_pulled_dir(models_dir)), local_files_only=True, threads=threads
        )
        digest = sha256_of(loaded.model._model_dir / description["model_file"])
    except Exception as error:
        raise EmbeddingError(
            f"The embedding model {model} is not on this machine.", f"Download it: memhook models pull {model}"
        ) from error
    identity = ModelIdentity(description["model"], digest, description["dim"])
    runtime = Runtime(loaded.query_embed, loaded.passage_embed, loaded.model.tokenizer, loaded.model.model)
    # One text at a time: several of these models are quantised dynamically, and then a vector depends on its batch.
    return OnnxEmbedder(identity, runtime, max_tokens=MAX_CHARS, batch_tokens=1)


def _pulled_dir(models_dir: Path) -> Path:
    return models_dir / "fastembed"


def _listed(description: Mapping[str, Any], models_dir: Path) -> ListedModel:
    """Describe one of fastembed's models; it counts as present if huggingface_hub's snapshot folder has its file."""
    source = description["sources"].get("hf") or description["model"]
    snapshots = _pulled_dir(models_dir) / f"models--{source.replace('/', '--')}" / "snapshots"
    is_here = any(snapshots.glob(f"*/{description['model_file']}"))
    return ListedModel(
        description["model"], False, is_here, description["dim"], round(description["size_in_GB"] * 1000)
    )


def _check(embedder: OnnxEmbedder) -> None:
    """Raise unless the model answers in its width. This run also does ONNX Runtime's lazy set-up before a prompt."""
    width = len(embedder.embed_query("ready"))
    if width != embedder.model.dimensions:
        raise EmbeddingError(
            f"The embedding model {embedder.model.id} gives {width} dimensions, not {embedder.model.dimensions}.",
            _UPGRADE,
        )


def _whole_words(tokens: Iterable[str]) -> list[str]:
    """The tokens that start a word. Most tokenizers mark these, WordPiece the others."""
    tokens = list(tokens)
    marked = [token[1:] for token in tokens if token[:1] in ("Ġ", "▁")]
    return marked or [token for token in tokens if not token.startswith("##")]


def _fastembed(offline: bool = True) -> Any:
    """Import fastembed, configured to be silent and, if `offline`, to use no network."""
    os.environ["HF_HUB_DISABLE_TELEMETRY"] = "1"
    if offline:
        os.environ.setdefault("HF_HUB_OFFLINE", "1")
    try:
        _configure_runtime()
        import fastembed  # noqa: PLC0415 - 0.7 s
    except (ImportError, OSError) as error:
        raise EmbeddingError(f"fastembed cannot be imported: {error}", "Install memhook again.") from error
    fastembed.common.model_management.logger.disable("fastembed")  # it logs to stderr what it also raises
    return fastembed


def _configure_runtime() -> None:
    """Make ONNX Runtime and the tokenizer silent; to be called before either is imported."""
    # ONNX Runtime's Linux and macOS builds report to their maker and keep a device id in the home directory.
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"
    # Tokenising is a hundredth of the work, and a fork after it ran in parallel prints a warning.
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    import onnxruntime  # noqa: PLC0415 - 0.2 s

    onnxruntime.set_default_logger_severity(FATAL)


def _descriptions(fastembed: Any) -> dict[str, dict[str, Any]]:
    return {description["model"]: description for description in fastembed.TextEmbedding.list_supported_models()}


def _description(fastembed: Any, model: str) -> dict[str, Any]:
    for name, description in _descriptions(fastembed).items():
        if name.lower() == model.lower():
            return description
    raise EmbeddingError(f"No embedding model is called {model}.", "See the names: memhook models list")


def _readable(text: str) -> str:
    """Return the start of the text, with lone surrogates replaced, which the tokenizer rejects."""
    return text[:MAX_CHARS].encode("utf-8", "replace").decode()


def _batches(sizes: Sequence[int], limit: int) -> Iterator[list[int]]:
    """Yield batches of indexes, longest text first to save padding: one text, or as many as fit `limit` when padded."""
    batch: list[int] = []
    for index in sorted(range(len(sizes)), key=lambda index: -sizes[index]):
        if batch and (len(batch) + 1) * sizes[batch[0]] > limit:
            yield batch
            batch = []
        batch.append(index)
    if batch:
        yield batch


def _unit_vectors(embed: Callable[[list[str]], Iterable[Any]], texts: list[str]) -> list[npt.NDArray[np.float32]]:
    import numpy as np  # noqa: PLC0415 - here with onnxruntime

    try:
        found = list(embed(texts))
    except Exception as error:
        raise EmbeddingError(f"The embedding model failed: {error}", _UPGRADE) from error
    matrix = np.asarray(found, dtype=np.float32)
    return list(matrix / np.maximum(np.linalg.norm(matrix, axis=1, keepdims=True), np.finfo(np.float32).tiny))


def _means(by_token: npt.NDArray[np.float32], mask: npt.NDArray[np.int64]) -> npt.NDArray[np.float32]:
    """Return the mean vector of each text's tokens without padding; every text has a start and an end token."""
    kept = mask[..., None].astype(by_token.dtype)
    means: npt.NDArray[np.float32] = (by_token * kept).sum(axis=1) / kept.sum(axis=1)
    return means
