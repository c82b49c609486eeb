"""The multilingual encoder's vectors by memory: in a file beside the table, those in use also in memory.

They are derived from the table, and the file may be deleted at any time: missing vectors are computed again. A vector
is valid only for the text it was computed from (`stamp`) and for the encoder in use; a change of encoder clears the
file. A vector must not outlive its row: code that deletes rows discards their vectors.
"""

from __future__ import annotations

import logging
import sqlite3
import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Protocol, TypeVar
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from memhook.core.memory import Memory
from memhook.store.embedding.encoder import ModelIdentity, Vector
from memhook.store.embedding.vector_cache import opened_cache

log = logging.getLogger("memhook")

FILE = ".language-vectors.sqlite3"
WAIT_SECONDS = 2.0
ASKED_AT_ONCE = 500
LARGEST = 200_000  # vectors in memory: 400 MB
NOT_THERE = -1
REDACTED = "redacted:"

_EPOCH = datetime.fromtimestamp(0, UTC)
_SCHEMA = """
PRAGMA secure_delete = ON;
PRAGMA synchronous = EXTRA; -- else a power cut may bring back the journal, and with it what was deleted
CREATE TABLE IF NOT EXISTS encoder (id TEXT NOT NULL, sha256 TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS vectors (memory TEXT PRIMARY KEY, stamp TEXT NOT NULL, vector BLOB NOT NULL) WITHOUT ROWID;
"""

T = TypeVar("T")
_Kept = tuple[str, str, bytes]
_Matrix = npt.NDArray[np.float32]
_Rows = npt.NDArray[np.intp]


class Stamped(Protocol):
    """Rows of the table in a fixed order, as of one state of the table."""

    def stamps(self) -> Iterable[tuple[str, str]]: ...


def stamp(content_hash: str, updated: int) -> str:
    """Identify one text: `updated`, in microseconds, changes also with title and tags, which are embedded too."""
    return f"{content_hash}:{updated}"


def stamp_of(memory: Memory) -> str:
    return stamp(memory.content_hash, (memory.updated - _EPOCH) // timedelta(microseconds=1))


class LanguageVectors:
    """The vectors of one store. Safe to use from several threads; other processes may write the same file."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._lock = threading.RLock()
        self._model: ModelIdentity | None = None
        self._database: sqlite3.Connection | None = None
        self._forget_all()

    @property
    def is_in_use(self) -> bool:
        return self._model is not None

    def use(self, model: ModelIdentity) -> None:
        """Use this encoder from now on; vectors of another one are deleted."""
        with self._lock:
            if self._model == model:
                return
            self._forget_all()
            self._model = model
            self._in_file(lambda database: _made_for(database, model), create=True)

    def drop(self) -> None:
        """Free the memory and close the file, which is not deleted."""
        with self._lock:
            self._model = None
            self._forget_all()
            self._close()

    def count(self) -> int:
        """Count the vectors in the file."""
        return self._in_file(lambda database: int(database.execute("SELECT count(*) FROM vectors").fetchone()[0])) or 0

    def add(self, memories: Sequence[Memory], vectors: Sequence[Vector]) -> None:
        rows = [
            (memory.id, stamp_of(memory), np.asarray(vector, dtype="<f4"))
            for memory, vector in zip(memories, vectors, strict=True)
        ]
        with self._lock:
            kept = [(key, self._signed(text), vector.tobytes()) for key, text, vector in rows]
            insert = "INSERT OR REPLACE INTO vectors VALUES (?, ?, ?)"
            self._in_file(lambda database: database.executemany(insert, kept), create=True)
            for key, text, vector in rows:
                self._hold(key, text, vector)

    def discard(self, memories: Collection[str]) -> None:
        """Delete the vectors of these memories from the file and from memory."""
        with self._lock:
            keys = [(key,) for key in memories]
            self._in_file(lambda database: database.executemany("DELETE FROM vectors WHERE memory = ?", keys))
            for key in memories:
                if (place := self._places.pop(key, None)) is not None:
                    self._matrix[place] = 0.0
                    del self._stamps[key]
            self._discards += 1

    def keep_only(self, memories: Collection[str]) -> None:
        kept = set(memories)
        with self._lock:
            there = self._in_file(lambda database: database.execute("SELECT memory FROM vectors").fetchall()) or []
            self.discard([key for key in (*(key for (key,) in there), *self._places) if key not in kept])

    def discard_outdated(self, rows: Stamped) -> None:
        """Delete the vectors of these rows that were computed from another text."""
        with self._lock:
            stamps = dict(rows.stamps())
            outdated = [
                key for key, signed, _ in self._stored(list(stamps)) if signed.rpartition(" ")[2] != stamps[key]
            ]
            self.discard([*outdated, *(key for key, text in stamps.items() if self._stamps.get(key, text) != text)])

    def lacking(self, rows: Stamped) -> list[str]:
        """Return the memories of these rows that have no vector yet, redacted ones excepted."""
        places = self._aligned(rows)
        if (places != NOT_THERE).all():
            return []
        pairs = zip(rows.stamps(), places.tolist(), strict=True)
        return [key for (key, text), place in pairs if place == NOT_THERE and not text.startswith(REDACTED)]

    def cosines(self, vector: Vector, rows: Stamped) -> _Matrix:
        """Return the cosine with each row's vector, in row order; -inf where there is none."""
        with self._lock:
            places, matrix, held = self._aligned(rows), self._matrix, self._held
        asked = np.asarray(vector, dtype=np.float32)
        found = np.full(len(places), -np.inf, dtype=np.float32)
        there = places != NOT_THERE
        wanted = places[there]
        if not len(wanted):
            return found
        # Multiplying them all is faster than gathering half of them first.
        found[there] = matrix[wanted] @ asked if 2 * len(wanted) < held else (matrix[:held] @ asked)[wanted]
        return found

    # In memory

    def _forget_all(self) -> None:
        self._places: dict[str, int] = {}
        self._stamps: dict[str, str] = {}
        self._absent: set[str] = set()  # not in the file when it was last read
        self._matrix: _Matrix = np.zeros((0, 0), dtype=np.float32)
        self._held = 0
        self._discards = 0
        self._known: WeakKeyDictionary[Stamped, tuple[tuple[int, int | None], _Rows]] = WeakKeyDictionary()

    def _hold(self, key: str, text: str, vector: _Matrix) -> None:
        """Append the vector, never overwrite one: another thread may be using the matrix."""
        if self._held == len(self._matrix):
            larger = np.zeros((max(64, 2 * self._held), len(vector)), dtype=np.float32)
            larger[: self._held] = self._matrix[: self._held].reshape(self._held, len(vector))
            self._matrix = larger
        self._matrix[self._held] = vector
        self._places[key], self._stamps[key] = self._held, text
        self._absent.discard(key)
        self._held += 1

    def _aligned(self, rows: Stamped) -> _Rows:
        """Return the place of each row's vector in the matrix; looked up again while some are missing."""
        with self._lock:
            known = self._known.get(rows)
            if known is not None and known[0] in ((self._discards, None), (self._discards, self._held)):
                return known[1]
            wanted = list(rows.stamps())
            self._read(key for key, _ in wanted)
            places = np.fromiter((self._place_of(key, text) for key, text in wanted), np.intp, len(wanted))
            is_complete = bool((places != NOT_THERE).all())
            self._known[rows] = (self._discards, None if is_complete else self._held), places
            return places

    def _place_of(self, key: str, text: str) -> int:
        return self._places[key] if self._stamps.get(key) == text else NOT_THERE

    # In the file

    def _read(self, memories: Iterable[str]) -> None:
        unread = [key for key in memories if key not in self._places and key not in self._absent]
        if self._model is None or not unread:
            return
        if self._held + len(unread) > LARGEST:
            self._forget_all()
        size = 4 * self._model.dimensions
        for key, signed, content in self._stored(unread):
            text = signed.rpartition(" ")[2]
            if len(content) == size and signed == self._signed(text):
                self._hold(key, text, np.frombuffer(content, dtype="<f4"))
        self._absent |= {key for key in unread if key not in self._places}

    def _signed(self, text: str) -> str:
        """Prefix the stamp with the encoder's hash: an older memhook with another encoder may write to this file."""
        return f"{self._model.sha256 if self._model else ''} {text}"

    def _stored(self, memories: Sequence[str]) -> list[_Kept]:
        return self._in_file(lambda database: list(_found(database, memories))) or []

    def _in_file(self, action: Callable[[sqlite3.Connection], T], *, create: bool = False) -> T | None:
        """Run the action in a transaction; None without a usable file: then vectors last as long as the process."""
        with self._lock:
            try:
                if self._database is None and (create or self._file.exists()):
                    self._database = opened_cache(self._file, _SCHEMA, WAIT_SECONDS)
                if self._database is None:
                    return None
                with self._database as database:
                    return action(database)
            except (OSError, sqlite3.Error) as error:
                log.warning("vectors for other languages cannot be stored in %s: %s", self._file, error)
                is_broken = isinstance(error, sqlite3.DatabaseError) and not isinstance(error, sqlite3.OperationalError)
                self._close()
                if is_broken:  # all of it can be computed again
                    with suppress(OSError):
                        self._file.unlink()
                        self._file.with_name(f"{self._file.name}-journal").unlink(missing_ok=True)
                return None
            finally:
                if self._model is None:
                    self._close()

    def _close(self) -> None:
        if self._database is not None:
            self._database.close()
            self._database = None


def _made_for(database: sqlite3.Connection, model: ModelIdentity) -> None:
    if database.execute("SELECT id, sha256 FROM encoder").fetchall() != [(model.id, model.sha256)]:
        database.execute("DELETE FROM vectors")
        database.execute("DELETE FROM encoder")
        database.execute("INSERT INTO encoder VALUES (?, ?)", (model.id, model.sha256))


def _found(database: sqlite3.Connection, memories: Sequence[str]) -> Iterator[_Kept]:
    for start in range(0, len(memories), ASKED_AT_ONCE):
        asked = memories[start : start + ASKED_AT_ONCE]
        places = ", ".join("?" * len(asked))
        yield from database.execute(f"SELECT memory, stamp, vector FROM vectors WHERE memory IN ({places})", asked)  # noqa: S608  only question marks
