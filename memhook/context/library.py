"""The store and the model that reads for it, kept in step: vectors of two models are never compared."""

from __future__ import annotations

import logging
import threading
from collections.abc import Sequence
from concurrent.futures import Future
from pathlib import Path

from memhook.core.memory import Memory
from memhook.core.ranking import embedded_text
from memhook.errors import EmbeddingError, MemhookError
from memhook.store.embedding import Embedder, ModelIdentity, load_embedder
from memhook.store.memories import MemoryStore
from memhook.store.schema import Vector

log = logging.getLogger("memhook")

BATCH = 64


class Library:
    """One store. Until its model is there, or if it is missing, words alone are searched."""

    def __init__(self, uri: str, backups: Path, embedder: Future[Embedder]) -> None:
        self.store = MemoryStore(uri, backups)
        self._embedder = embedder
        self._renewing = threading.Lock()
        self._may_lack_vectors = True

    @property
    def embedding_problem(self) -> str:
        """Why there is no search by meaning, or nothing."""
        error = self._embedder.exception()
        return "" if error is None else f"{error} {getattr(error, 'hint', '')}".strip()

    def query_vector(self, text: str) -> Vector | None:
        """None when the stored vectors are of another model, or there is no model."""
        embedder = self._usable()
        if embedder is None or self.store.model != embedder.model:
            return None
        return embedder.embed_query(text)

    def vectors(self, memories: Sequence[Memory]) -> tuple[list[Vector | None], ModelIdentity]:
        """A vector for each as the store's own model reads it, and that model."""
        embedder = self._usable()
        # The first memory decides which model a store begins with.
        current = embedder.model if embedder is not None and not self.store.exists else self.store.model
        if embedder is None or current != embedder.model:
            self._may_lack_vectors = True
            return [None] * len(memories), current
        return list(embedder.embed_documents([_text(memory) for memory in memories])), current

    def renew_vectors(self) -> int:
        """Embed what has no vector of today's model yet; returns how many memories that were."""
        embedder = self._usable() if self._may_lack_vectors else None
        if embedder is None or not self._renewing.acquire(blocking=False):
            return 0
        try:
            renewed = self._all_anew(embedder) if self.store.model != embedder.model else self._missing_ones(embedder)
            self._may_lack_vectors = False
            return renewed
        finally:
            self._renewing.release()

    def _usable(self) -> Embedder | None:
        try:
            return self._embedder.result()
        except MemhookError:
            return None

    def _all_anew(self, embedder: Embedder) -> int:
        """Outside the write lock first, for it takes minutes; only what came meanwhile is embedded under it."""
        if not self.store.exists:
            return 0
        ready: dict[str, Vector] = {}
        for batch in self.store.everything(BATCH):
            vectors = embedder.embed_documents([_text(memory) for memory in batch])
            ready |= {_text(memory): vector for memory, vector in zip(batch, vectors, strict=True)}

        def embedded(memories: Sequence[Memory]) -> list[Vector]:
            late = [text for memory in memories if (text := _text(memory)) not in ready]
            fresh = dict(zip(late, embedder.embed_documents(late), strict=True)) if late else {}
            return [ready[text] if (text := _text(memory)) in ready else fresh[text] for memory in memories]

        with self.store.writing():
            self.store.replace_vectors(embedded, embedder.model)
        log.info("embedded %d memories with %s", len(ready), embedder.model.id)
        return len(ready)

    def _missing_ones(self, embedder: Embedder) -> int:
        missing = self.store.without_vector()
        for start in range(0, len(missing), BATCH):
            batch = missing[start : start + BATCH]
            vectors = embedder.embed_documents([_text(memory) for memory in batch])
            self.store.set_vectors(batch, vectors, embedder.model)
        return len(missing)


def loading_embedder(model: str, models: Path) -> Future[Embedder]:
    """The model, being loaded beside whatever else goes on."""
    loading: Future[Embedder] = Future()
    threading.Thread(target=_load, args=(model, models, loading), name="memhook-model", daemon=True).start()
    return loading


def _load(model: str, models: Path, loading: Future[Embedder]) -> None:
    try:
        loading.set_result(load_embedder(model, models))
    except MemhookError as error:
        log.warning("search by words alone: %s %s", error.message, error.hint)
        loading.set_exception(error)
    except Exception as error:
        log.exception("the embedding model failed to load")
        loading.set_exception(EmbeddingError(f"The embedding model {model} failed to load: {error}"))


def _text(memory: Memory) -> str:
    return embedded_text(memory.title, memory.content, memory.created.date().isoformat(), memory.tags)
