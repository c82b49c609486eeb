"""A store with its embedding model: vectors of two models are never compared."""

from __future__ import annotations

import hashlib
import logging
import threading
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future
from contextlib import closing, suppress
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path

from memhook.core.grading import Calibration
from memhook.core.memory import Memory
from memhook.core.ranking import embedded_text
from memhook.core.spelling import NO_VOCABULARY, Vocabulary
from memhook.errors import EmbeddingError, MemhookError, StoreError
from memhook.library.languages import Languages
from memhook.library.sweep import Sweep
from memhook.screening.policy import sorted_out
from memhook.store.embedding import multilingual
from memhook.store.embedding.encoder import (
    DEFAULT_MODEL,
    Embedder,
    ModelIdentity,
    Vector,
    calibration_of,
    load_embedder,
)
from memhook.store.embedding.vector_cache import CachedEmbedder
from memhook.store.memories import MemoryStore
from memhook.store.remote.replica import Replica, in_thread
from memhook.store.table import changes
from memhook.store.table.filters import Filter

log = logging.getLogger("memhook")

BATCH = 64
KEPT = 1_024  # vectors of new texts, 1.5 MB: older ones are in the store by then


@dataclass(frozen=True, slots=True)
class Renewal:
    done: int
    total: int


class Library:
    """One store, with a name if it is shared, and the model wanted for it.

    Until its vectors are of that model, queries use the model of its vectors. A foreign store is one that the user has
    not configured: whatever it records, its memories do not count as the user's.

    `load` returns a model by its name; without a model, only words are searched.
    """

    def __init__(
        self,
        store: MemoryStore,
        wanted: str,
        load: Callable[[str], Future[Embedder]],
        name: str = "",
        *,
        foreign: bool = False,
    ) -> None:
        self.store = store
        self.name = name
        self.foreign = foreign
        self.renewal: Renewal | None = None
        self._load = load
        self._wanted = wanted
        self._renewing = threading.Lock()
        self._may_lack_vectors = True
        self._embedded = EmbeddedOnce()
        self.languages = Languages(store, load, _text)
        self._suspects: dict[str, Memory] = {}
        self._suspecting = threading.Lock()
        # A shared store is not rewritten here: its memories are masked whenever they are shown.
        self._sweep: Sweep | None = None if name else Sweep(self.store)
        self._refreshing = threading.Lock()
        self._has_copy = False
        self._copying: Future[None] | None = None
        self._starting_copy = threading.Lock()

    def reads_like(self, other: Library) -> bool:
        """Whether a vector computed for the other can be compared with the vectors here."""
        ours, theirs = self._reader(), other._reader()
        return ours is not None and theirs is not None and ours.model == theirs.model

    @property
    def keeps_releases(self) -> bool:
        """Whether releases recorded in the store are the user's: in a foreign store, anybody could record them."""
        return not self.foreign or self.store.replica is not None

    def touch(self, memories: Sequence[Memory], now: datetime) -> None:
        self.store.touch([memory.id for memory in memories], now)

    def refresh(self) -> None:
        """Refresh a replica, unless another thread is refreshing it."""
        replica = self.store.replica
        if replica is None or not self._refreshing.acquire(blocking=False):
            return
        try:
            self._fetch(replica)
        finally:
            self._refreshing.release()

    def first_copy(self, seconds: float) -> str:
        """Wait so long for the first copy of a remote store; return why there is none yet, or ""."""
        replica = self.store.replica
        if self._has_copy or replica is None:
            return ""
        with self._starting_copy:
            if self._copying is None:
                self._copying = in_thread(partial(self._fetch, replica), "memhook-first-copy")
        with suppress(TimeoutError):
            self._copying.result(seconds)
        self._has_copy = replica.refreshed is not None
        if self._has_copy:
            return ""
        place = self.name or replica.origin_uri
        if replica.problem:
            return f"Nothing of the store {place} is here yet: {replica.problem}"
        return f"The first copy of the store {place} is being made; until then nothing is found in it."

    def _fetch(self, replica: Replica) -> None:
        try:
            if replica.refresh():
                self._may_lack_vectors = True
                self.languages.look_again()
        except StoreError as error:
            log.warning("%s", error.message)

    def want(self, model: str) -> None:
        """Set the model for the vectors; housekeeping recomputes those of another."""
        if model != self._wanted:
            self._wanted = model
            self._may_lack_vectors = True

    def fit_to_show(self, memories: Sequence[Memory]) -> list[Memory]:
        """Return those that may be shown, secrets masked. The others are quarantined later, as writing takes time."""
        fit, suspects = sorted_out(memories)
        with self._suspecting:
            self._suspects |= {memory.id: memory for memory in suspects}
        return fit

    def suspicion(self, key: str) -> str:
        """Return why `fit_to_show` left out a memory; empty when it did not."""
        suspect = self._suspects.get(key)
        return suspect.quarantine if suspect else ""

    def quarantine_suspects(self) -> None:
        """Quarantine the memories that `fit_to_show` left out; if writing fails, they are found again when shown."""
        with self._suspecting:
            suspects, self._suspects = self._suspects, {}
        if not suspects:
            return
        log.warning("quarantined %s: memhook list --quarantined", ", ".join(one.urn for one in suspects.values()))
        try:
            with self.store.annotating():
                for memory in suspects.values():
                    self.store.write(changes.set_quarantine, memory)
        except StoreError as error:
            log.warning("not quarantined: %s", error.message)

    def mask_old_secrets(self) -> None:
        """Screen the next few memories. If the store cannot be written, only the next process tries again."""
        try:
            if self._sweep and self._sweep.step():
                self._may_lack_vectors = True
        except StoreError as error:
            self._sweep = None
            log.warning("old memories are masked when shown, but not in the store: %s", error.message)

    @property
    def embedding_problem(self) -> str:
        """Why the wanted model cannot be loaded, or ""."""
        error = self._load(self._wanted).exception()
        return "" if error is None else f"{error} {getattr(error, 'hint', '')}".strip()

    @property
    def models_in_use(self) -> set[str]:
        """The names of the wanted model, the model of the stored vectors, and the multilingual encoder if in use."""
        second = {multilingual.ID} if self.languages.is_in_use else set()
        return {self._wanted, self.store.model.id} | second

    @property
    def wanted_model(self) -> ModelIdentity | None:
        """The wanted model with the hash of its file; None when it could not be loaded."""
        embedder = self._model(self._wanted)
        return None if embedder is None else embedder.model

    def query_vector(self, text: str) -> Vector | None:
        """Return the query's vector; None without a model whose vectors are comparable with the stored ones."""
        embedder = self._reader()
        return None if embedder is None else embedder.embed_query(text)

    @property
    def vocabulary(self) -> Vocabulary:
        """The words that the model knows; none without a model."""
        embedder = self._reader()
        return NO_VOCABULARY if embedder is None else embedder.vocabulary

    def multilingual_vector(self, text: str, allowed: Filter) -> Vector | None:
        """Return the query's vector by the multilingual encoder, if these memories or this query need it."""
        reader = self.languages.reader(text, allowed)
        return None if reader is None else reader.embed_query(text)

    @property
    def calibration(self) -> Calibration:
        """The calibration of the cosines of the store's own model."""
        return calibration_of(self.store.model.id)

    def vectors(self, memories: Sequence[Memory], reuse: bool = False) -> tuple[list[Vector | None], ModelIdentity]:
        """Return a vector for each by the store's own model, and that model; equal texts are embedded once.

        With `reuse`, the vector of a stored memory with the same text is reused.
        """
        self.languages.noticed(memories)
        embedder = self._reader()
        if embedder is None:
            self._may_lack_vectors = True
            return [None] * len(memories), self.store.model
        hashes = [memory.content_hash for memory in memories]
        known = {_text(one): vector for one, vector in self.store.vectors.of_content(hashes)} if reuse else {}
        texts = [_text(memory) for memory in memories]
        new = [text for text in dict.fromkeys(texts) if text not in known]
        known |= dict(zip(new, self._embedded.vectors(embedder, new), strict=True))
        return [known[text] for text in texts], embedder.model

    def vectors_may_lack(self, missing: Iterable[bool]) -> None:
        """Record whether some were stored without a vector: the next housekeeping computes it."""
        self._may_lack_vectors = self._may_lack_vectors or any(missing)

    def renew_vectors(self) -> int:
        """Embed the memories that have no vector of the wanted model yet; return how many."""
        embedder = self._model(self._wanted) if self._may_lack_vectors else None
        if embedder is None or not self._renewing.acquire(blocking=False):
            return 0
        try:
            renewed = self._all_anew(embedder) if self.store.model != embedder.model else self._missing_ones(embedder)
            self.store.vectors.renewed.unlink(missing_ok=True)
            self._may_lack_vectors = False
            return renewed
        finally:
            self.renewal = None
            self._renewing.release()

    def _reader(self) -> Embedder | None:
        """Return the model of the stored vectors; for an empty store the wanted one, or the default if it fails."""
        current = self.store.model
        embedder = self._model(current.id) if current.id else self._model(self._wanted) or self._model(DEFAULT_MODEL)
        if embedder is None or (embedder.model != current and self.store.exists):
            return None
        return embedder

    def _model(self, name: str) -> Embedder | None:
        try:
            return self._load(name).result()
        except MemhookError:
            return None

    def _all_anew(self, embedder: Embedder) -> int:
        """Embed all memories without the write lock, as it takes minutes; only new ones are embedded under it.

        For a large store it takes hours. Finished vectors are kept in a file, so that a restart loses none of them.
        """
        if not self.store.exists:
            return 0
        with closing(CachedEmbedder(embedder, self.store.vectors.renewed, largest=None)) as kept:
            done, total = 0, self.store.count()
            self.renewal = Renewal(done, total)
            last = ""
            while batch := self.store.after(last, BATCH):
                last = batch[-1].id
                kept.embed_documents([_text(memory) for memory in batch])
                done += len(batch)
                self.renewal = Renewal(done, total)
            self.store.vectors.replace(lambda batch: kept.embed_documents([_text(one) for one in batch]), kept.model)
        log.info("embedded %d memories with %s", done, embedder.model.id)
        return done

    def _missing_ones(self, embedder: Embedder) -> int:
        missing = self.store.vectors.missing()
        for start in range(0, len(missing), BATCH):
            self.renewal = Renewal(start, len(missing))
            batch = missing[start : start + BATCH]
            vectors = embedder.embed_documents([_text(memory) for memory in batch])
            self.store.vectors.set(batch, vectors, embedder.model)
        return len(missing)


def loading_embedder(model: str, models: Path) -> Future[Embedder]:
    """Load the model in a thread of its own."""
    return in_thread(partial(_loaded, model, models), "memhook-model")


def _loaded(model: str, models: Path) -> Embedder:
    try:
        return load_embedder(model, models)
    except MemhookError as error:
        log.warning("the model %s is not used: %s %s", model, error.message, error.hint)
        raise
    except Exception as error:
        log.exception("the embedding model failed to load")
        raise EmbeddingError(f"The embedding model {model} failed to load: {error}") from error


def _text(memory: Memory) -> str:
    return embedded_text(memory.title, memory.content, memory.created.date().isoformat(), memory.tags)


class EmbeddedOnce:
    """Embeds each text once; a thread that needs a text that another is embedding waits for it.

    Batches of one import overlap, and may contain the same text.
    """

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
