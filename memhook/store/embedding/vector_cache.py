"""A cache of the vectors of texts, kept from one evaluation, or one start of the daemon, to the next.

The file may be deleted at any time; when it grows too large, the least recently used vectors are deleted.
"""

from __future__ import annotations

import hashlib
import logging
import os
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from memhook.core.spelling import Vocabulary
from memhook.errors import StoreError
from memhook.paths import private_directory
from memhook.store.embedding.encoder import Embedder, ModelIdentity

log = logging.getLogger("memhook")

LARGEST = 60_000  # vectors: about 100 MB
TOGETHER = 64  # written as soon as they are computed, so that an interrupted run is not lost
WAIT_SECONDS = 10.0

T = TypeVar("T")
R = TypeVar("R")
_Vector = npt.NDArray[np.float32]

_SCHEMA = """
CREATE TABLE IF NOT EXISTS vectors (key BLOB PRIMARY KEY, vector BLOB NOT NULL, used INTEGER NOT NULL) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS by_use ON vectors (used);
"""


class CachedEmbedder:
    """Asks `embedder` only for documents that are new. Prompts are always embedded: their time is measured."""

    def __init__(self, embedder: Embedder, file: Path, largest: int | None = LARGEST) -> None:
        self._embedder = embedder
        self._largest = largest
        self._database = _opened(file)

    @property
    def model(self) -> ModelIdentity:
        return self._embedder.model

    @property
    def vocabulary(self) -> Vocabulary:
        return self._embedder.vocabulary

    def embed_query(self, text: str) -> _Vector:
        return self._embedder.embed_query(text)

    def embed_documents(self, texts: Sequence[str]) -> list[_Vector]:
        keys = [self._key(text) for text in texts]
        known = self._kept(self._read, keys) or {}
        missing = [index for index, key in enumerate(keys) if key not in known]
        for start in range(0, len(missing), TOGETHER):
            batch = missing[start : start + TOGETHER]
            made = self._embedder.embed_documents([texts[index] for index in batch])
            fresh = {keys[index]: vector for index, vector in zip(batch, made, strict=True)}
            self._kept(self._write, fresh)
            known |= fresh
        return [known[key] for key in keys]

    def close(self) -> None:
        if self._database is not None:
            self._database.close()
            self._database = None

    def _key(self, text: str) -> bytes:
        return hashlib.sha256(f"{self.model.sha256}\n{text}".encode("utf-8", "surrogatepass")).digest()

    def _kept(self, action: Callable[[sqlite3.Connection, T], R], what: T) -> R | None:
        """Run the action in a transaction; None if the file cannot be used: then vectors are computed again."""
        if self._database is None:
            return None
        try:
            with self._database as database:
                return action(database, what)
        except sqlite3.Error as error:
            log.warning("vectors cannot be cached: %s", error)
            self.close()
            return None

    def _read(self, database: sqlite3.Connection, keys: Sequence[bytes]) -> dict[bytes, _Vector]:
        found: dict[bytes, _Vector] = {}
        for key in keys:
            row = database.execute("SELECT vector FROM vectors WHERE key = ?", (key,)).fetchone()
            if row is not None and len(row[0]) == 4 * self.model.dimensions:
                found[key] = np.frombuffer(row[0], dtype="<f4")
        use = _next_use(database)
        database.executemany("UPDATE vectors SET used = ? WHERE key = ?", [(use, key) for key in found])
        return found

    def _write(self, database: sqlite3.Connection, vectors: Mapping[bytes, _Vector]) -> None:
        use = _next_use(database)
        rows = [(key, np.asarray(vector, dtype="<f4").tobytes(), use) for key, vector in vectors.items()]
        database.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?, ?)", rows)
        if self._largest is None:
            return
        surplus = database.execute("SELECT count(*) FROM vectors").fetchone()[0] - self._largest
        if surplus > 0:
            oldest = "SELECT key FROM vectors ORDER BY used, key LIMIT ?"
            database.execute(f"DELETE FROM vectors WHERE key IN ({oldest})", (surplus,))  # noqa: S608  a fixed query


def opened_cache(file: Path, schema: str, wait_seconds: float) -> sqlite3.Connection:
    """Open an SQLite file in an existing folder, private to the user, and create its tables."""
    os.close(os.open(file, os.O_CREAT | os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600))
    database = sqlite3.connect(file, timeout=wait_seconds, check_same_thread=False)
    try:
        database.executescript(schema)
    except sqlite3.Error:
        database.close()
        raise
    return database


def _opened(file: Path) -> sqlite3.Connection | None:
    try:
        return opened_cache(private_directory(file.parent) / file.name, _SCHEMA, WAIT_SECONDS)
    except (OSError, StoreError, sqlite3.Error) as error:
        log.warning("vectors cannot be cached in %s: %s", file, error)
        return None


def _next_use(database: sqlite3.Connection) -> int:
    """Return the next value of a counter, used instead of a clock: only the order of uses matters."""
    return int(database.execute("SELECT coalesce(max(used), 0) + 1 FROM vectors").fetchone()[0])
