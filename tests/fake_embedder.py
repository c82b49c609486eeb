"""An embedder one can compute by hand: each word counts one, in the dimension its hash names."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from memhook.core.spelling import NO_VOCABULARY
from memhook.store.embedding.encoder import ModelIdentity

if TYPE_CHECKING:
    import numpy.typing as npt

DIMENSIONS = 384
_WORD = re.compile(r"\w+")


class HashEmbedder:
    """Texts that share words are near each other; case and order do not matter."""

    vocabulary = NO_VOCABULARY

    def __init__(self, identity: str = "hash-words") -> None:
        self.model = ModelIdentity(identity, hashlib.sha256(identity.encode()).hexdigest(), DIMENSIONS)

    def embed_query(self, text: str) -> npt.NDArray[np.float32]:
        vector = np.zeros(DIMENSIONS, dtype=np.float32)
        for word in _WORD.findall(text.lower()):
            vector[dimension_of(word)] += 1
        norm = np.linalg.norm(vector)
        if norm == 0:  # no words: still a unit vector, as from a real model
            vector[0] = norm = np.float32(1)
        return vector / norm

    def embed_documents(self, texts: Sequence[str]) -> list[npt.NDArray[np.float32]]:
        return [self.embed_query(text) for text in texts]


def dimension_of(word: str) -> int:
    return int.from_bytes(hashlib.sha256(word.encode("utf-8", "replace")).digest()[:4], "big") % DIMENSIONS
