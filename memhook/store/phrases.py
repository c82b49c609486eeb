"""Fixed phrases and how near a query is to one of them by meaning."""

from __future__ import annotations

import numpy as np

from memhook.store.embedding import Embedder
from memhook.store.schema import Vector


class Phrases:
    """As one model reads them."""

    def __init__(self, texts: tuple[str, ...], embedder: Embedder) -> None:
        self.texts = texts
        self.model = embedder.model
        self._vectors = np.asarray(embedder.embed_documents(texts), dtype=np.float32)

    def likeness(self, vector: Vector) -> float:
        """The cosine of the nearest one."""
        return float((self._vectors @ np.asarray(vector, dtype=np.float32)).max())
