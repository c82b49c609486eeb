"""Texts that are being embedded, or were a moment ago: batches of one import overlap, and may hold the same text."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Sequence
from concurrent.futures import Future

from memhook.store.embedding.encoder import Embedder, Vector

KEPT = 1_024  # vectors, 1.5 MB: by then it is stored, and found there


class EmbeddedOnce:
    """Asks a model for each text once; who wants one that another has asked for waits for it."""

    def __init__(self) -> None:
        self._claiming = threading.Lock()
        self._claimed: dict[bytes, Future[Vector]] = {}

    def vectors(self, embedder: Embedder, texts: Sequence[str]) -> list[Vector]:
        keys = {text: hashlib.sha256(f"{embedder.model.sha256}\n{text}".encode()).digest() for text in texts}
        with self._claiming:
            own = {text: key for text, key in keys.items() if key not in self._claimed}
            self._claimed |= {key: Future() for key in own.values()}
            wanted = {text: self._claimed[key] for text, key in keys.items()}
            for key in list(self._claimed)[:-KEPT]:  # in the order they were claimed, so the oldest are first
                if self._claimed[key].done():
                    del self._claimed[key]
        self._embed(embedder, {text: wanted[text] for text in own}, list(own.values()))
        return [wanted[text].result() for text in texts]

    def _embed(self, embedder: Embedder, own: dict[str, Future[Vector]], keys: Sequence[bytes]) -> None:
        try:
            made = embedder.embed_documents(list(own)) if own else []
            for waiting, vector in zip(own.values(), made, strict=True):
                waiting.set_result(vector)
        except BaseException as error:
            with self._claiming:
                for key in keys:
                    self._claimed.pop(key, None)
            for waiting in own.values():
                waiting.set_exception(error)
            raise
