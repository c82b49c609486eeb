"""The ledger: what was shown in which session, what was left out, and why. Prompts are not kept."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from threading import Lock
from typing import Any

from memhook.errors import StoreError

_SCHEMA_VERSION = 1
_SCHEMA = """
CREATE TABLE injection (
    id INTEGER PRIMARY KEY,
    at TEXT NOT NULL,
    session TEXT NOT NULL,
    agent TEXT NOT NULL,
    client TEXT NOT NULL,
    event TEXT NOT NULL,
    project TEXT NOT NULL,
    outcome TEXT NOT NULL,
    text TEXT NOT NULL,
    tokens INTEGER NOT NULL,
    budget INTEGER NOT NULL,
    milliseconds TEXT NOT NULL
);
CREATE INDEX injection_by_session ON injection (session, agent);
CREATE INDEX injection_by_time ON injection (at);
CREATE TABLE considered (
    injection INTEGER NOT NULL REFERENCES injection (id) ON DELETE CASCADE,
    rank INTEGER NOT NULL,
    memory TEXT NOT NULL,
    content_hash TEXT NOT NULL,
    reason TEXT NOT NULL,
    level TEXT NOT NULL,
    passage_start INTEGER NOT NULL,
    passage_end INTEGER NOT NULL,
    tokens INTEGER NOT NULL,
    score REAL NOT NULL,
    parts TEXT NOT NULL,
    part INTEGER NOT NULL,
    delivered INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (injection, rank)
) WITHOUT ROWID;
CREATE INDEX considered_by_memory ON considered (memory);
CREATE TABLE reset (
    session TEXT NOT NULL,
    agent TEXT NOT NULL,
    injection INTEGER NOT NULL,
    PRIMARY KEY (session, agent)
);
CREATE TABLE told (what TEXT PRIMARY KEY, at TEXT NOT NULL);
"""


@dataclass(frozen=True, slots=True)
class Considered:
    """One memory that came into question. `reason` is empty when it was shown."""

    memory: str
    content_hash: str
    score: float
    reason: str = ""
    level: str = ""
    passage: tuple[int, int] = (0, 0)
    tokens: int = 0
    parts: dict[str, float] = field(default_factory=dict)
    part: int = 0


@dataclass(frozen=True, slots=True)
class Injection:
    """One event and what came of it. `outcome` says why nothing was shown, or "shown"."""

    at: datetime
    session: str
    agent: str
    client: str
    event: str
    project: str
    outcome: str
    text: str
    tokens: int
    budget: int
    milliseconds: dict[str, float]
    considered: tuple[Considered, ...] = ()


@dataclass(frozen=True, slots=True)
class Recorded:
    """One event, as far as it is counted."""

    at: datetime
    event: str
    session: str
    outcome: str
    tokens: int


@dataclass(frozen=True, slots=True)
class Shown:
    """One showing of a memory: enough to tell whether showing it again would say anything new."""

    content_hash: str
    level: str
    passage: tuple[int, int]


class Ledger:
    """Owns the SQLite file. Raises StoreError when it cannot be used; a hook then goes on without it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = Lock()
        self._connection = self._connected()

    def record(self, injection: Injection) -> int:
        """Write it down; the number returned names it to `delivered`."""
        with self._writing() as connection:
            cursor = connection.execute(
                "INSERT INTO injection (at, session, agent, client, event, project, outcome, text, tokens, budget,"
                " milliseconds) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    injection.at.isoformat(),
                    injection.session,
                    injection.agent,
                    injection.client,
                    injection.event,
                    injection.project,
                    injection.outcome,
                    injection.text,
                    injection.tokens,
                    injection.budget,
                    json.dumps(injection.milliseconds),
                ),
            )
            number = cursor.lastrowid or 0
            connection.executemany(
                "INSERT INTO considered (injection, rank, memory, content_hash, reason, level, passage_start,"
                " passage_end, tokens, score, parts, part) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                [
                    (number, rank, c.memory, c.content_hash, c.reason, c.level, *c.passage, c.tokens, c.score,
                     json.dumps(c.parts), c.part)
                    for rank, c in enumerate(injection.considered)
                ],
            )  # fmt: skip
        return number

    def delivered(self, number: int, part: int) -> None:
        """The client has read that part of the answer to its end: what it held counts as shown."""
        with self._writing() as connection:
            connection.execute(
                "UPDATE considered SET delivered = 1 WHERE injection = ? AND part = ? AND reason = ''", (number, part)
            )

    def shown(self, session: str, agent: str) -> dict[str, list[Shown]]:
        """What the session has seen since it began or was last reset, by memory."""
        rows = self._read(
            "SELECT memory, content_hash, level, passage_start, passage_end FROM considered"
            " JOIN injection ON injection.id = considered.injection"
            " WHERE session = ?1 AND agent = ?2 AND delivered = 1 AND injection.id > coalesce("
            "(SELECT injection FROM reset WHERE session = ?1 AND agent = ?2), 0)",
            (session, agent),
        )
        account: dict[str, list[Shown]] = {}
        for memory, content_hash, level, start, end in rows:
            account.setdefault(memory, []).append(Shown(content_hash, level, (start, end)))
        return account

    def reset(self, session: str, agent: str) -> None:
        """The session's context is gone: nothing counts as shown any more."""
        with self._writing() as connection:
            connection.execute(
                "INSERT OR REPLACE INTO reset VALUES (?, ?, (SELECT coalesce(max(id), 0) FROM injection))",
                (session, agent),
            )

    def times_shown(self, memories: Sequence[str]) -> dict[str, int]:
        marks = ", ".join("?" * len(memories))
        query = f"SELECT memory, count(*) FROM considered WHERE delivered = 1 AND memory IN ({marks}) GROUP BY memory"  # noqa: S608
        return dict(self._read(query, tuple(memories)))

    def first_telling(self, what: str, at: datetime) -> bool:
        """Whether the user has not been told this before; from now on they have."""
        with self._writing() as connection:
            return connection.execute("INSERT OR IGNORE INTO told VALUES (?, ?)", (what, at.isoformat())).rowcount > 0

    def untell(self, what: str) -> None:
        with self._writing() as connection:
            connection.execute("DELETE FROM told WHERE what = ?", (what,))

    def last_injection(self, session: str = "", project: str = "", with_text: bool = False) -> Injection | None:
        """The last event of the session, or without one of the project; `with_text`, the last that got any."""
        condition, value = ("session = ?", session) if session else ("project = ?", project)
        if with_text:
            condition += " AND text <> ''"
        query = f"SELECT * FROM injection WHERE {condition} ORDER BY id DESC LIMIT 1"  # noqa: S608  two fixed texts
        rows = self._read(query, (value,))
        return self._injection(rows[0]) if rows else None

    def events(self, since: datetime | None = None, project: str | None = None) -> list[Recorded]:
        """What was recorded, the oldest first, of one project or of all."""
        condition, arguments = _within(since, project)
        query = f"SELECT at, event, session, outcome, tokens FROM injection WHERE {condition} ORDER BY id"  # noqa: S608
        return [Recorded(datetime.fromisoformat(at), *rest) for at, *rest in self._read(query, arguments)]

    def surfaced(self, since: datetime | None = None, project: str | None = None) -> dict[str, int]:
        """How often each memory was shown, the most shown first."""
        condition, arguments = _within(since, project)
        query = (
            "SELECT memory, count(*) FROM considered JOIN injection ON injection.id = considered.injection"  # noqa: S608
            f" WHERE delivered = 1 AND {condition} GROUP BY memory ORDER BY count(*) DESC, memory"
        )
        return dict(self._read(query, arguments))

    def prune(self, now: datetime, keep_days: int) -> int:
        """Forget what is older than that; returns how many events went."""
        with self._writing() as connection:
            oldest = (now - timedelta(days=keep_days)).isoformat()
            return connection.execute("DELETE FROM injection WHERE at < ?", (oldest,)).rowcount

    def close(self) -> None:
        self._connection.close()

    def _connected(self) -> sqlite3.Connection:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            self.path.touch(mode=0o600)
            connection = sqlite3.connect(self.path, timeout=1.0, check_same_thread=False)
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.execute("PRAGMA foreign_keys = ON")
            self._prepare(connection)
        except (sqlite3.Error, OSError) as error:
            raise StoreError(
                f"The ledger at {self.path} cannot be used ({error}).",
                "memhook goes on without it. Check the room on the disk; a damaged ledger may be deleted.",
            ) from error
        return connection

    def _prepare(self, connection: sqlite3.Connection) -> None:
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        if version > _SCHEMA_VERSION:
            raise sqlite3.DatabaseError("it was written by a newer memhook")
        if version == 0:
            connection.executescript(f"BEGIN; {_SCHEMA} PRAGMA user_version = {_SCHEMA_VERSION}; COMMIT;")

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        with self._lock:
            try:
                with self._connection:
                    yield self._connection
            except sqlite3.Error as error:
                raise StoreError(f"The ledger at {self.path} cannot be written ({error}).") from error

    def _read(self, query: str, arguments: tuple[object, ...]) -> list[tuple[Any, ...]]:
        with self._lock:
            try:
                return self._connection.execute(query, arguments).fetchall()
            except sqlite3.Error as error:
                raise StoreError(f"The ledger at {self.path} cannot be read ({error}).") from error

    def _injection(self, row: tuple[Any, ...]) -> Injection:
        number, at, session, agent, client, event, project, outcome, text, tokens, budget, milliseconds = row
        rows = self._read(
            "SELECT memory, content_hash, score, reason, level, passage_start, passage_end, tokens, parts, part"
            " FROM considered WHERE injection = ? ORDER BY rank",
            (number,),
        )
        considered = tuple(
            Considered(m, h, score, reason, level, (start, end), cost, json.loads(parts), part)
            for m, h, score, reason, level, start, end, cost, parts, part in rows
        )
        return Injection(
            at=datetime.fromisoformat(at),
            session=session,
            agent=agent,
            client=client,
            event=event,
            project=project,
            outcome=outcome,
            text=text,
            tokens=tokens,
            budget=budget,
            milliseconds=json.loads(milliseconds),
            considered=considered,
        )


def _within(since: datetime | None, project: str | None) -> tuple[str, tuple[object, ...]]:
    """The condition of these days and this project, and what goes into it."""
    conditions = {"at >= ?": since and since.isoformat(), "project = ?": project}
    given = {condition: value for condition, value in conditions.items() if value is not None}
    return " AND ".join(given) or "true", tuple(given.values())
