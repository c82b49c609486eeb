"""The ledger: which memories each session was shown, which were left out, and why. Prompts are not stored."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, replace
from datetime import datetime, timedelta
from pathlib import Path
from threading import Lock
from typing import Any, Literal

from memhook.core.excerpts import Range
from memhook.core.fencing import without_entries
from memhook.core.memory import URN_PREFIX
from memhook.errors import StoreError
from memhook.files import durable

EXPUNGED = "- (a memory that was redacted or purged)"
_EVERY = -1  # as an SQL LIMIT

_SCHEMA_VERSION = 1
_SCHEMA = Path(__file__).with_suffix(".sql")
_ADDED_COLUMNS = (
    ("considered", "passages", "TEXT NOT NULL DEFAULT ''"),
    ("considered", "used", "INTEGER NOT NULL DEFAULT 0"),
    ("usage", "judged", "INTEGER NOT NULL DEFAULT 0"),
)


@dataclass(frozen=True, slots=True)
class Considered:
    """One memory considered for an event. `reason` is empty when it was shown."""

    memory: str
    content_hash: str
    score: float
    reason: str = ""
    level: str = ""
    passages: tuple[Range, ...] = ()
    tokens: int = 0
    parts: dict[str, float] = field(default_factory=dict)
    part: int = 0
    used: bool = False


@dataclass(frozen=True, slots=True)
class Injection:
    """One event and its result. `outcome` is "shown", or the reason why nothing was shown."""

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


_EVENT_COLUMNS = tuple(one.name for one in fields(Injection) if one.name != "considered")
_INSERT_EVENT = (
    f"INSERT INTO injection ({', '.join(_EVENT_COLUMNS)}) VALUES ({', '.join(f':{name}' for name in _EVENT_COLUMNS)})"  # noqa: S608  the names of fields
)


@dataclass(frozen=True, slots=True)
class Recorded:
    """The fields of an event that statistics count."""

    at: datetime
    event: str
    session: str
    outcome: str
    tokens: int


@dataclass(frozen=True, slots=True)
class Captured:
    """A note from a prompt, with what taking it back needs. `number` is its row id."""

    memory: str
    content_hash: str
    is_new: bool
    was_forgotten: bool
    number: int = 0


@dataclass(frozen=True, slots=True)
class Usage:
    """How often a memory was shown and used, including events that were deleted since.

    `judged` counts the exchanges it was shown in whose end was reported: only those can show that it was not used.
    """

    shown: int = 0
    used: int = 0
    last_shown: datetime | None = None
    last_used: datetime | None = None
    judged: int = 0


@dataclass(frozen=True, slots=True)
class Proposal:
    """A question to the user about a memory: retire it, or supersede it by `other`? `number` is its row id."""

    kind: Literal["retire", "supersede"]
    memory: str
    reason: str
    other: str = ""
    at: datetime | None = None
    number: int = 0


@dataclass(frozen=True, slots=True)
class Shown:
    """One showing of a memory, with what decides whether showing it again would add anything."""

    content_hash: str
    level: str
    passages: tuple[Range, ...]


class Ledger:
    """Owns the SQLite file. Raises StoreError when it cannot be used; a hook then goes on without it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = Lock()
        self._gone: set[str] = set()
        self._connection = self._connected()

    def record(self, injection: Injection) -> int:
        """Record an event; return its number, for `delivered`."""
        injection = _without(injection, self._gone)
        with self._writing() as connection:
            row = {name: getattr(injection, name) for name in _EVENT_COLUMNS}
            row |= {"at": injection.at.isoformat(), "milliseconds": json.dumps(injection.milliseconds)}
            number = connection.execute(_INSERT_EVENT, row).lastrowid or 0
            _insert_considered(connection, number, injection.considered)
        return number

    def add_considered(self, number: int, considered: Sequence[Considered]) -> None:
        """Add considered memories that were found after the event was recorded."""
        kept = [one for one in considered if one.memory not in self._gone]
        with self._writing() as connection:
            _insert_considered(connection, number, kept)

    def delivered(self, number: int, part: int) -> None:
        """Count the memories in that part of the answer as shown: the client has read it to its end."""
        arrived = "injection = ?1 AND part = ?2 AND reason = '' AND delivered = 0"
        with self._writing() as connection:
            connection.execute(
                "INSERT INTO usage (memory, shown, last_shown) SELECT memory, 1, at FROM considered"  # noqa: S608  fixed texts
                f" JOIN injection ON injection.id = injection WHERE {arrived}"
                " ON CONFLICT (memory) DO UPDATE SET shown = shown + 1, last_shown = excluded.last_shown",
                (number, part),
            )
            connection.execute(f"UPDATE considered SET delivered = 1 WHERE {arrived}", (number, part))  # noqa: S608  as above

    def mark_used(
        self, memories: Sequence[str], at: datetime, session: str = "", since: datetime | None = None
    ) -> list[str]:
        """Mark these as used by the assistant: their words are in its answer, or it fetched them in full.

        This marks their last showing in that session, or in any session if none is given, once. Return the memories
        that were marked: only those shown `since` then.
        """
        earliest = since.isoformat() if since else ""
        with self._writing() as connection:
            counted = [
                memory
                for memory in memories
                if connection.execute(
                    "UPDATE considered SET used = 1 WHERE memory = ?1 AND delivered = 1 AND used = 0 AND injection ="
                    " (SELECT max(id) FROM injection JOIN considered ON injection = id WHERE memory = ?1"
                    " AND delivered = 1 AND ?2 IN ('', session) AND at >= ?3)",
                    (memory, session, earliest),
                ).rowcount
            ]
            connection.executemany(
                "INSERT INTO usage (memory, used, last_used) VALUES (?1, 1, ?2)"
                " ON CONFLICT (memory) DO UPDATE SET used = used + 1, last_used = ?2",
                [(memory, at.isoformat()) for memory in counted],
            )
        return counted

    def mark_judged(self, memories: Sequence[str]) -> None:
        """Count the end of an exchange in which these were shown: it is now known which of them were used."""
        self._write("UPDATE usage SET judged = judged + 1 WHERE memory = ?", [(memory,) for memory in memories])

    def showings(self, since: datetime) -> tuple[int, int]:
        """Return how often memories were shown since then, and how many of these showings were used."""
        query = (
            "SELECT count(*), coalesce(sum(used), 0) FROM injection JOIN considered ON injection = id"
            " WHERE at >= ? AND delivered = 1"
        )
        shown, used = self._read(query, (since.isoformat(),))[0]
        return shown, used

    def usage(self, memories: Sequence[str] | None = None) -> dict[str, Usage]:
        """Return the usage by memory, of these or of all that were ever shown or used."""
        marks = ", ".join("?" * len(memories or ()))
        condition = "true" if memories is None else f"memory IN ({marks})"
        query = f"SELECT memory, shown, used, judged, last_shown, last_used FROM usage WHERE {condition}"  # noqa: S608  question marks
        return {
            memory: Usage(shown, used, _moment(last_shown), _moment(last_used), judged)
            for memory, shown, used, judged, last_shown, last_used in self._read(query, tuple(memories or ()))
        }

    def propose(self, proposals: Sequence[Proposal], at: datetime) -> None:
        """Add proposals to the inbox; one that was made before, decided or not, is ignored.

        A proposal about two memories replaces an undecided one with the two the other way round.
        """
        with self._writing() as connection:
            connection.executemany(
                "DELETE FROM proposal WHERE kind = ? AND memory = ? AND other = ? AND decided = 0",
                [(one.kind, one.other, one.memory) for one in proposals if one.other],
            )
            connection.executemany(
                "INSERT OR IGNORE INTO proposal (at, kind, memory, other, reason) VALUES (?, ?, ?, ?, ?)",
                [(at.isoformat(), one.kind, one.memory, one.other, one.reason) for one in proposals],
            )

    def proposals(self) -> list[Proposal]:
        """Return the undecided proposals, the newest first."""
        query = "SELECT kind, memory, reason, other, at, id FROM proposal WHERE decided = 0 ORDER BY id DESC"
        return [
            Proposal(kind, memory, reason, other, datetime.fromisoformat(at), number)
            for kind, memory, reason, other, at, number in self._read(query, ())
        ]

    def declined(self) -> set[frozenset[str]]:
        """The pairs of memories that the user was asked about and has answered."""
        query = "SELECT memory, other FROM proposal WHERE decided = 1 AND other <> ''"
        return {frozenset(pair) for pair in self._read(query, ())}

    def decide(self, numbers: Sequence[int], decided: bool = True) -> None:
        self._write("UPDATE proposal SET decided = ? WHERE id = ?", [(decided, number) for number in numbers])

    def withdraw(self, numbers: Sequence[int]) -> None:
        """Delete these proposals, so that they can be made again."""
        self._write("DELETE FROM proposal WHERE id = ?", [(number,) for number in numbers])

    def shown(self, session: str, agent: str) -> dict[str, list[Shown]]:
        """The showings of each memory in the session since it began or was last reset."""
        rows = self._read(
            "SELECT memory, content_hash, level, passage_start, passage_end, passages FROM considered"
            " JOIN injection ON injection.id = considered.injection"
            " WHERE session = ?1 AND agent = ?2 AND delivered = 1 AND injection.id > coalesce("
            "(SELECT injection FROM reset WHERE session = ?1 AND agent = ?2), 0)",
            (session, agent),
        )
        account = {} if agent else self._typed(session)
        for memory, content_hash, level, start, end, passages in rows:
            account.setdefault(memory, []).append(Shown(content_hash, level, _passages(passages, start, end)))
        return account

    def _typed(self, session: str) -> dict[str, list[Shown]]:
        """The notes that the user typed into the session, which count as shown in full."""
        rows = self._read(
            "SELECT memory, content_hash FROM captured WHERE session = ?1 AND NOT taken_back AND injection >= coalesce("
            "(SELECT injection FROM reset WHERE session = ?1 AND agent = ''), 0)",
            (session,),
        )
        return {memory: [Shown(content_hash, "full", ())] for memory, content_hash in rows}

    def record_captured(self, session: str, moment: str, notes: Sequence[Captured], at: datetime) -> None:
        """Record the notes of one prompt, which `moment` identifies."""
        last = self.last_captured(session)
        # A note that was repeated, or received twice, is taken back once.
        fresh = [note for note in notes if note.is_new or last is None or note.memory != last.memory]
        self._write(
            "INSERT INTO captured (at, session, moment, memory, content_hash, is_new, was_forgotten, injection)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, (SELECT coalesce(max(id), 0) FROM injection))",
            [(at.isoformat(), session, moment, n.memory, n.content_hash, n.is_new, n.was_forgotten) for n in fresh],
        )

    def was_captured(self, session: str, moment: str) -> bool:
        query = "SELECT 1 FROM captured WHERE session = ? AND moment = ? LIMIT 1"
        return bool(moment) and bool(self._read(query, (session, moment)))

    def last_captured(self, session: str) -> Captured | None:
        """The last note of the session that was not taken back."""
        rows = self._read(
            "SELECT memory, content_hash, is_new, was_forgotten, id FROM captured"
            " WHERE session = ? AND NOT taken_back ORDER BY id DESC LIMIT 1",
            (session,),
        )
        return next((Captured(m, h, bool(new), bool(gone), n) for m, h, new, gone, n in rows), None)

    def take_back(self, number: int) -> None:
        self._write("UPDATE captured SET taken_back = 1 WHERE id = ?", [(number,)])

    def begin_report(self, line: str, at: datetime) -> int:
        """Record a line to report to the user if `finish_report` never comes; return its number."""
        with self._writing() as connection:
            row = at.isoformat(), line
            return connection.execute("INSERT INTO report (at, line) VALUES (?, ?)", row).lastrowid or 0

    def finish_report(self, number: int, line: str, memories: Sequence[str]) -> None:
        """Complete a report, unless one of its memories was redacted or purged meanwhile."""
        if self._gone.isdisjoint(memories):
            row = line, " ".join(memories), number
            self._write("UPDATE report SET line = ?, memories = ? WHERE id = ?", [row])

    def pending_reports(self) -> dict[int, str]:
        return dict(self._read("SELECT id, line FROM report ORDER BY id", ()))

    def end_reports(self, numbers: Sequence[int]) -> None:
        self._write("DELETE FROM report WHERE id = ?", [(number,) for number in numbers])

    def spent(self, session: str, agent: str) -> int:
        """Return the tokens delivered to the session since it began or was last reset."""
        rows = self._read(
            "SELECT coalesce(sum(tokens), 0) FROM injection WHERE session = ?1 AND agent = ?2 AND tokens > 0"
            " AND id > coalesce((SELECT injection FROM reset WHERE session = ?1 AND agent = ?2), 0)"
            " AND EXISTS (SELECT 1 FROM considered WHERE considered.injection = injection.id AND delivered = 1)",
            (session, agent),
        )
        return int(rows[0][0])

    def turn_of(self, session: str) -> int:
        """Return the number of prompts in the session, at least one: the first may have preceded the daemon."""
        query = "SELECT count(*) FROM injection WHERE session = ? AND agent = '' AND event = 'UserPromptSubmit'"
        return max(1, int(self._read(query, (session,))[0][0]))

    def reset(self, session: str, agent: str) -> None:
        """Record that the session's context was cleared: nothing counts as shown or spent any more."""
        query = "INSERT OR REPLACE INTO reset VALUES (?, ?, (SELECT coalesce(max(id), 0) FROM injection))"
        self._write(query, [(session, agent)])

    def was_read(self, notice: str) -> bool:
        """Whether the user has read this notice before."""
        return bool(self._read("SELECT 1 FROM told WHERE what = ?", (notice,)))

    def mark_read(self, notice: str, at: datetime) -> None:
        self._write("INSERT OR IGNORE INTO told VALUES (?, ?)", [(notice, at.isoformat())])

    def history(self, memory: str, most: int) -> list[dict[str, Any]]:
        """Return the last events that considered the memory: its score's parts, and the reason if it was left out."""
        names = ("at", "event", "client", "left_out", "session", "level", "used", "score_parts")
        query = (
            "SELECT at, event, client, reason, session, level, used, parts FROM considered"
            " JOIN injection ON injection.id = considered.injection"
            " WHERE memory = ? AND (delivered = 1 OR reason <> '') ORDER BY injection.id DESC LIMIT ?"
        )
        return [
            dict(zip(names, (*row, json.loads(parts)), strict=True))
            for *row, parts in self._read(query, (memory, most))
        ]

    def last_injection(
        self, session: str = "", project: str = "", with_text: bool = False, client: str = ""
    ) -> Injection | None:
        """Return the last event of the session, else of the project; `with_text`, the last that got a text.

        In a project, `client` selects events of that client, by a longer name too: "codex-mcp-client" is codex.
        """
        in_project = {"project = ?": project} | ({"instr(?, client) > 0": client} if client else {})
        also = "text <> ''" if with_text else "true"
        found = self._newest({"session = ?": session} if session else in_project, 1, also)
        return found[0][1] if found else None

    def recent(
        self, most: int, before: int = 0, session: str = "", project: str | None = None
    ) -> list[tuple[int, Injection]]:
        """Return the last events with their numbers, newest first: before a number, of a session or of a project."""
        return self._newest({"id < ?": before or None, "session = ?": session or None, "project = ?": project}, most)

    def last_runs(self) -> list[Injection]:
        """The last event of each assistant, the newest first."""
        newest = self._newest({}, _EVERY, "id IN (SELECT max(id) FROM injection GROUP BY client)")
        return [injection for _, injection in newest]

    def events(self, since: datetime | None = None, project: str | None = None) -> list[Recorded]:
        """The recorded events, the oldest first, of one project or of all."""
        condition, arguments = _within(since, project)
        query = f"SELECT at, event, session, outcome, tokens FROM injection WHERE {condition} ORDER BY id"  # noqa: S608  fixed texts
        return [Recorded(datetime.fromisoformat(at), *rest) for at, *rest in self._read(query, arguments)]

    def surfaced(self, since: datetime | None = None, project: str | None = None) -> dict[str, int]:
        """How often each memory was shown, the most shown first."""
        condition, arguments = _within(since, project)
        query = (
            "SELECT memory, count(*) FROM considered JOIN injection ON injection.id = considered.injection"  # noqa: S608  fixed texts
            f" WHERE delivered = 1 AND {condition} GROUP BY memory ORDER BY count(*) DESC, memory"
        )
        return dict(self._read(query, arguments))

    def projects(self) -> dict[str, str]:
        """Return the time of the last event in each project."""
        return dict(self._read("SELECT project, max(at) FROM injection GROUP BY project", ()))

    def move_project(self, source: str, target: str) -> None:
        self._write("UPDATE injection SET project = ? WHERE project = ?", [(target, source)])
        self._write("UPDATE place SET project = ? WHERE project = ?", [(target, source)])

    def project_at(self, directory: str) -> str:
        """The project that the repository in a directory is recorded as; empty for none."""
        found = self._read("SELECT project FROM place WHERE directory = ?", (directory,))
        return next((str(project) for (project,) in found), "")

    def set_project_at(self, directory: str, project: str) -> None:
        self._write("INSERT OR REPLACE INTO place VALUES (?, ?)", [(directory, project)])

    def prune(self, now: datetime, keep_days: int) -> int:
        """Delete events, captured notes and reports older than that; return how many events were deleted."""
        with self._writing() as connection:
            oldest = (now - timedelta(days=keep_days)).isoformat()
            connection.execute("DELETE FROM captured WHERE at < ?", (oldest,))
            connection.execute("DELETE FROM report WHERE at < ?", (oldest,))
            return connection.execute("DELETE FROM injection WHERE at < ?", (oldest,)).rowcount

    def expunge(self, memories: Sequence[str]) -> int:
        """Delete these memories from recorded texts, and all else about them; return how many texts had one."""
        self._gone |= set(memories)  # an answer that is being sent is recorded later
        with self._writing() as connection:
            texts = dict(
                row
                for memory in memories
                for row in connection.execute(
                    "SELECT id, text FROM injection WHERE instr(text, ?) > 0", (URN_PREFIX + memory,)
                )
            )
            connection.executemany(
                "UPDATE injection SET text = ? WHERE id = ?",
                [(without_entries(text, memories, EXPUNGED), number) for number, text in texts.items()],
            )
            names = [(memory,) for memory in memories]
            connection.executemany("DELETE FROM considered WHERE memory = ?", names)
            connection.executemany("DELETE FROM usage WHERE memory = ?", names)
            connection.executemany("DELETE FROM proposal WHERE ? IN (memory, other)", names)
            connection.executemany("DELETE FROM report WHERE instr(memories, ?)", names)
        self._rewrite()
        return len(texts)

    def last_by_event(self) -> dict[str, datetime]:
        """When each event was last answered, by its name."""
        rows = self._read("SELECT event, max(at) FROM injection GROUP BY event", ())
        return {event: datetime.fromisoformat(at) for event, at in rows}

    def problem(self) -> str:
        """The damage that SQLite finds in the file; empty for none."""
        try:
            found = self._read("PRAGMA quick_check(1)", ())[0][0]
        except StoreError as error:
            return error.message
        return "" if found == "ok" else f"The ledger at {self.path} is damaged: {found}"

    def close(self) -> None:
        """Close the file; SQLite deletes its write-ahead log."""
        with self._lock:
            self._connection.close()

    def _connected(self) -> sqlite3.Connection:
        try:
            durable.made_folder(self.path.parent)
            self.path.touch(mode=0o600)
            connection = sqlite3.connect(self.path, timeout=1.0, check_same_thread=False)
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.execute("PRAGMA foreign_keys = ON")
            connection.execute("PRAGMA secure_delete = ON")  # deleted content is overwritten
            self._prepare(connection)
        except (sqlite3.Error, OSError) as error:
            raise StoreError(
                f"The ledger at {self.path} cannot be used ({error}).",
                "memhook works without it. Check the free disk space; a damaged ledger may be deleted.",
            ) from error
        return connection

    def _prepare(self, connection: sqlite3.Connection) -> None:
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        if version > _SCHEMA_VERSION:
            raise sqlite3.DatabaseError("it was written by a newer memhook")
        tables = _SCHEMA.read_text(encoding="utf-8")
        new = f"BEGIN; {tables} PRAGMA user_version = {_SCHEMA_VERSION}; COMMIT;"
        connection.executescript(tables if version else new)
        for table, name, kind in _ADDED_COLUMNS:
            found = connection.execute("SELECT 1 FROM pragma_table_info(?) WHERE name = ?", (table, name))
            if not found.fetchone():
                connection.execute(f"ALTER TABLE {table} ADD COLUMN {name} {kind}")

    @contextmanager
    def _used(self, how: str, hint: str = "") -> Iterator[sqlite3.Connection]:
        with self._lock:
            try:
                yield self._connection
            except sqlite3.Error as error:
                raise StoreError(f"The ledger at {self.path} cannot be {how} ({error}).", hint) from error

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        with self._used("written") as connection, connection:
            yield connection

    def _write(self, query: str, rows: Sequence[tuple[object, ...]]) -> None:
        with self._writing() as connection:
            connection.executemany(query, rows)

    def _rewrite(self) -> None:
        """Rewrite the file without traces of deleted rows, and empty its log."""
        with self._used("rewritten", _OTHERS) as connection:
            connection.execute("VACUUM")
            busy, *_ = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        if busy:
            raise StoreError(f"The ledger at {self.path} is being read by another process.", _OTHERS)
        durable.sync(self.path.with_name(f"{self.path.name}-wal"))  # SQLite does not sync the truncation

    def _read(self, query: str, arguments: tuple[object, ...]) -> list[tuple[Any, ...]]:
        with self._used("read") as connection:
            return connection.execute(query, arguments).fetchall()

    def _newest(self, given: Mapping[str, object], most: int, also: str = "true") -> list[tuple[int, Injection]]:
        """The last events, with their numbers, that meet the conditions whose value is not None."""
        where, arguments = _where(given)
        query = (
            f"SELECT id, {', '.join(_EVENT_COLUMNS)} FROM injection WHERE {where} AND {also} ORDER BY id DESC LIMIT ?"  # noqa: S608  fixed texts
        )
        return [(number, self._injection(number, row)) for number, *row in self._read(query, (*arguments, most))]

    def _injection(self, number: int, row: Sequence[Any]) -> Injection:
        rows = self._read(
            "SELECT memory, content_hash, score, reason, level, passage_start, passage_end, passages, tokens, parts,"
            " part, used FROM considered WHERE injection = ? ORDER BY rank",
            (number,),
        )
        considered = tuple(
            Considered(m, h, score, reason, level, _passages(passages, a, b), cost, json.loads(parts), part, bool(used))
            for m, h, score, reason, level, a, b, passages, cost, parts, part, used in rows
        )
        values = dict(zip(_EVENT_COLUMNS, row, strict=True))
        values |= {"at": datetime.fromisoformat(values["at"]), "milliseconds": json.loads(values["milliseconds"])}
        return Injection(**values, considered=considered)


def _moment(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text) if text else None


def _insert_considered(connection: sqlite3.Connection, number: int, considered: Sequence[Considered]) -> None:
    """Append rows to those of the event, skipping duplicates; an event that was deleted gets none."""
    connection.executemany(
        "INSERT INTO considered (injection, rank, memory, content_hash, reason, level, passage_start, passage_end,"
        " passages, tokens, score, parts, part) SELECT id, (SELECT coalesce(max(rank) + 1, 0) FROM considered"
        " WHERE injection = ?1), ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12 FROM injection WHERE id = ?1"
        " AND NOT EXISTS (SELECT 1 FROM considered WHERE injection = ?1 AND memory = ?2)",
        [
            (number, c.memory, c.content_hash, c.reason, c.level, *_span(c.passages), json.dumps(c.passages), c.tokens,
             c.score, json.dumps(c.parts), c.part)
            for c in considered
        ],
    )  # fmt: skip


def _span(passages: Sequence[Range]) -> Range:
    """Return the range from the first to the last passage, which an older memhook reads."""
    return (passages[0][0], passages[-1][1]) if passages else (0, 0)


def _passages(written: str, start: int, end: int) -> tuple[Range, ...]:
    """Return the passages as written, or the one range that an older memhook wrote."""
    if written:
        return tuple((low, high) for low, high in json.loads(written))
    return ((start, end),) if end else ()


_OTHERS = "Stop other memhook processes (memhook daemon stop), then try again."


def _without(injection: Injection, gone: Collection[str]) -> Injection:
    if not any(one.memory in gone for one in injection.considered):
        return injection
    considered = tuple(one for one in injection.considered if one.memory not in gone)
    return replace(injection, text=without_entries(injection.text, gone, EXPUNGED), considered=considered)


def _within(since: datetime | None, project: str | None) -> tuple[str, tuple[object, ...]]:
    """Return the SQL condition for this period and project, and its parameters."""
    return _where({"at >= ?": since and since.isoformat(), "project = ?": project})


def _where(given: Mapping[str, object]) -> tuple[str, tuple[object, ...]]:
    conditions = {condition: value for condition, value in given.items() if value is not None}
    return " AND ".join(conditions) or "true", tuple(conditions.values())
