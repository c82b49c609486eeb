"""Texts that are being embedded, or were a moment ago: batches of one import overlap, and may hold the same text."""

from __future__ import annotations

import hashlib
import threading
import time
from collections.abc import Sequence
from concurrent.futures import Future

from memhook.store.embedding.encoder import Embedder, Vector

KEPT_SECONDS = 60.0  # by then it is stored, and found there
LARGEST = 4_096  # vectors: 6 MB


class EmbeddedOnce:
    """Asks a model for each text once; who wants one that another has asked for waits for it."""

    def __init__(self) -> None:
        self._claiming = threading.Lock()
        self._claimed: dict[bytes, tuple[float, Future[Vector]]] = {}

    def vectors(self, embedder: Embedder, texts: Sequence[str]) -> list[Vector]:
        keys = {text: hashlib.sha256(f"{embedder.model.sha256}\n{text}".encode()).digest() for text in texts}
        with self._claiming:
            self._forget_old()
            own = {text: key for text, key in keys.items() if key not in self._claimed}
            self._claimed |= {key: (time.monotonic(), Future()) for key in own.values()}
            wanted = {text: self._claimed[key][1] for text, key in keys.items()}
        self._embed(embedder, {text: wanted[text] for text in own}, list(own.values()))
        return [wanted[text].result() for text in texts]

    def forget(self) -> None:
        with self._claiming:
            self._forget_old()

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

    def _forget_old(self) -> None:
        """In the order they were claimed, so the oldest are first; what is not done yet stays."""
        now = time.monotonic()
        for key, (since, vector) in list(self._claimed.items()):
            if len(self._claimed) <= LARGEST and now - since < KEPT_SECONDS:
                return
            if vector.done():
                del self._claimed[key]
