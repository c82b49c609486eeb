"""Memories and prompts in other languages than English: when the multilingual encoder is used, and for what.

The encoder takes 150 MB and a second to load, so it is loaded only when needed: for a prompt that is not in English,
and for every prompt of a project that has memories in other languages. Prompts do not wait long for it: one that comes
before it is loaded, or before it has embedded all memories, is answered from the vectors there are.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future
from concurrent.futures import TimeoutError as NotYet

from memhook.core.languages import is_english
from memhook.core.memory import Memory
from memhook.errors import MemhookError
from memhook.settings import Languages as Mode
from memhook.store.embedding import multilingual
from memhook.store.embedding.encoder import Embedder, Vector
from memhook.store.memories import MemoryStore
from memhook.store.table.filters import Filter
from memhook.store.vectors import READ_CHARS
from memhook.turns import stand_aside

log = logging.getLogger("memhook")

AT_ONCE_SECONDS = 0.8  # of a hook's 1.5, for loading the encoder and embedding missing memories
AT_START_SECONDS = 2.0  # of the 5 that a hook waits for a daemon that starts
IN_HOUSEKEEPING_SECONDS = 20.0  # then the other tasks have their turn
UNUSED_SECONDS = 1800.0
LOOKED_AT = 20_000  # memories, to see whether some are in other languages
ONE_IN = 500  # fewer in a large project are names and quotations mistaken for another language
AT_ONCE = 200  # memories that a prompt waits for
TOGETHER = 16
ASKED = "asked-in-other-languages"


class Languages:
    """The other languages of one store. `text_of` returns the text of a memory to embed."""

    def __init__(
        self, store: MemoryStore, load: Callable[[str], Future[Embedder]], text_of: Callable[[Memory], str]
    ) -> None:
        self._store = store
        self._load = load
        self._text_of = text_of
        self.mode: Mode = "english"  # until `want` is called
        self.patience = AT_ONCE_SECONDS  # of a prompt
        self._known = _Known()
        self._noticed = _Known()
        self._counting = threading.Lock()
        self._is_looked_at = False
        self._may_lack = True
        self._asked: set[tuple[str, ...]] = set()  # projects that were searched together
        self._waited_for: Future[Embedder] | None = None
        self._last_use = -UNUSED_SECONDS
        self._reading = threading.Lock()

    @property
    def is_in_use(self) -> bool:
        """Whether the encoder should stay in memory."""
        return self.mode == "all" or (self.mode == "auto" and time.monotonic() - self._last_use < UNUSED_SECONDS)

    @property
    def problem(self) -> str:
        """Why the encoder cannot be loaded, or "". It is loaded to find out only if it is in use."""
        if not self.is_in_use:
            return ""
        error = self._load(multilingual.ID).exception()
        return "" if error is None else f"{error} {getattr(error, 'hint', '')}".strip()

    def want(self, mode: Mode) -> None:
        if mode != self.mode:
            self.mode = mode
            self.look_again()

    def look_again(self) -> None:
        """Check the store again: another process may have written to it."""
        self._is_looked_at = False
        self._may_lack = True

    def look(self) -> None:
        """Detect the languages of the memories, and load the encoder if it will be needed."""
        if self.mode == "english" or self._is_looked_at:
            return
        self._is_looked_at = True
        known = _Known()
        known.count(self._store.vectors.texts(LOOKED_AT) if self.mode == "auto" else ())
        with self._counting:
            known.add(self._noticed)  # which may not be stored yet; counting some twice does no harm
            self._known = known
        if self.mode == "all" or self._store.mark(ASKED) or self._known.in_other_languages():
            self._loading()

    def noticed(self, memories: Sequence[Memory]) -> None:
        """Count memories that are being stored, and start loading the encoder if one is in another language."""
        self._may_lack = True
        if self.mode == "auto":
            found = _Known()
            found.count((one.project, f"{one.title}\n{one.content[:READ_CHARS]}") for one in memories)
            with self._counting:
                self._known.add(found)
                self._noticed.add(found)
            if any(map(self._known.has_others, {one.project for one in memories})):
                self._loading()

    def reader(self, text: str, allowed: Filter) -> Embedder | None:
        """Return the encoder for a query, after embedding missing memories; None if it is not needed or not loaded.

        Memories that time did not allow are embedded in housekeeping, and so are all of a larger store.
        """
        if not self._is_needed(text, allowed.projects):
            return None
        deadline = time.monotonic() + self.patience
        encoder = self._encoder(self.patience)
        if encoder is None:
            return None
        if allowed.projects not in self._asked:
            self._asked.add(allowed.projects)
            self._may_lack = True
        if self._may_lack:
            self._read(encoder, allowed.projects, deadline, largest=AT_ONCE)
        return encoder

    def keep_up(self) -> int:
        """In the background, embed the memories that have no vector yet; return how many."""
        self.look()
        if not self.is_in_use:
            self._store.vectors.languages.drop()
            return 0
        encoder = self._encoder(IN_HOUSEKEEPING_SECONDS, is_use=False) if self._may_lack else None
        if encoder is None:
            return 0
        deadline = time.monotonic() + IN_HOUSEKEEPING_SECONDS
        self._may_lack, is_finished = False, False  # storing a memory meanwhile sets it again
        wanted = {()} if self.mode == "all" else self._asked | self._known.in_other_languages()
        try:
            done = sum(self._read(encoder, one, deadline) for one in sorted(wanted))
            is_finished = time.monotonic() < deadline
        finally:
            self._may_lack = self._may_lack or not is_finished
        return done

    def _is_needed(self, text: str, projects: tuple[str, ...]) -> bool:
        if self.mode != "auto":
            return self.mode == "all"
        known = self._known
        if any(map(known.has_others, projects)) or (not projects and known.in_other_languages()):
            return True
        if is_english(text):
            return False
        if self._store.exists and not self._store.mark(ASKED):
            self._store.set_mark(ASKED, "yes")
        return True

    def _loading(self) -> Future[Embedder]:
        self._last_use = time.monotonic()
        return self._load(multilingual.ID)

    def _encoder(self, seconds: float, *, is_use: bool = True) -> Embedder | None:
        """Return the encoder, or None if it is not loaded in time; only the first prompt waits for it."""
        loading = self._loading() if is_use else self._load(multilingual.ID)
        try:
            encoder = loading.result(0 if is_use and loading is self._waited_for else seconds)
        except NotYet:
            self._waited_for = loading
            return None
        except MemhookError:
            return None
        self._store.vectors.languages.use(encoder.model)
        return encoder

    def _read(self, encoder: Embedder, projects: tuple[str, ...], deadline: float, largest: int = 0) -> int:
        """Embed memories without a vector until the deadline; none if they are more than `largest`."""
        lacking = self._store.vectors.missing_for_languages(Filter(projects=projects))
        if not lacking or (largest and len(lacking) > largest) or not self._reading.acquire(blocking=False):
            return 0
        done = 0
        try:
            while done < len(lacking) and time.monotonic() < deadline:
                batch = lacking[done : done + TOGETHER]
                memories = list(self._store.by_ids(batch).values())
                vectors = [self._vector(encoder, memory) for memory in memories]
                self._store.vectors.add_for_languages(memories, vectors)
                done += len(batch)
        finally:
            self._reading.release()
        return done

    def _vector(self, encoder: Embedder, memory: Memory) -> Vector:
        stand_aside()  # its tokenizer is Python, and prompts need the interpreter too
        return encoder.embed_documents([self._text_of(memory)])[0]


class _Known:
    """How many memories each project has, and how many of these are not in English."""

    def __init__(self) -> None:
        self._all: Counter[str] = Counter()
        self._others: Counter[str] = Counter()

    def count(self, texts: Iterable[tuple[str, str]]) -> None:
        for project, text in texts:
            self._all[project] += 1
            if not is_english(text):
                self._others[project] += 1

    def add(self, found: _Known) -> None:
        self._all.update(found._all)
        self._others.update(found._others)

    def has_others(self, project: str) -> bool:
        return self._others[project] * ONE_IN >= max(1, self._all[project])

    def in_other_languages(self) -> set[tuple[str, ...]]:
        return {(project,) for project in tuple(self._others) if self.has_others(project)}
