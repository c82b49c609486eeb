"""The cached part of a table, to answer from: all of it while it is small, else the projects worked on."""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from memhook.store.cache.snapshot import COLUMNS, Places, Snapshot, State, load, move_to_file, remove_file, save
from memhook.store.embedding.encoder import ModelIdentity
from memhook.store.table.filters import Filter, quoted
from memhook.store.table.indexes import Sizes
from memhook.store.table.manifest import manifests, version_in
from memhook.store.table.opening import SNAPSHOT
from memhook.store.table.own import OwnTable
from memhook.store.table.release import give_back
from memhook.store.table.schema import KEPT_TITLES

log = logging.getLogger("memhook")

FEW = 64  # are asked for by name
KEPT_FILTERS = 24  # four for each project that is worked on at the same time
PREPARED_FILTERS = 4  # of what is added

TITLES_AT_ONCE = 100
ANSWER_SECONDS = 0.5  # until then a project is not read into memory, which would take the time of who asked for it
ADDED_SHARE = 16  # of so many memories one may be new to the count of words that they are weighed by
SETTLED_SECONDS = 20.0  # without a write, after which a snapshot is worth keeping for the next start
WHOLE = "*"
QUICK_ROWS = 2_000  # of so few a snapshot is made while the asker waits: a query on disk takes as long, for each asker
ADDED = 32  # so many times something is added to a snapshot before the table is read again
RESTS = 4.0  # times as long as making a snapshot took, so that a stream of writes does not keep a core busy

Reach = list[tuple[Snapshot, Places]]


class Cache:
    """Of a table of one's own, as far as the sizes allow."""

    def __init__(self, table: OwnTable, sizes: Sizes) -> None:
        directory, self._folder = table.place
        self._table = table
        self._sizes = sizes
        self._file = directory / SNAPSHOT
        self._titles_read = 0
        self._saved: tuple[State | None, frozenset[str]] = (None, frozenset())
        self._store = Parts(self._folder, self._read_whole, sizes.held)
        self._parts = Parts(self._folder, self._read_part, sizes.parts, ANSWER_SECONDS)
        self._asked: tuple[Filter, ...] = ()

    @property
    def whole(self) -> tuple[Snapshot, ...] | None:
        """The store in parts that share nothing, if all of it is in memory."""
        return self._store.current([WHOLE], wait=True).get(WHOLE)

    @property
    def latest(self) -> Snapshot | None:
        """The store as it was when all of it was last in memory."""
        return self._store.last(WHOLE).as_read

    def renew(self) -> None:
        """Read the store if it is not in memory, or too much of it is in no count of words."""
        self._store.renew([WHOLE], again=self._is_much(()))

    def restore(self) -> bool:
        """Take the store from the file, if that is what the table holds; return whether it was."""
        state = state_of(self._folder)
        snapshot = None if state is None else load(self._file, state)
        if state is None or snapshot is None:
            return False
        self._saved = state, frozenset(snapshot.known)
        return self._store.restore(WHOLE, state, snapshot)

    def read_titles(self) -> None:
        """A few at a time, so that prompts hardly wait for it; of a store with more titles than are kept, none."""
        latest = self.latest
        if latest is not None and len(latest.ids) <= KEPT_TITLES and self._titles_read < len(latest.ids):
            latest.read_titles(self._titles_read, self._titles_read + TITLES_AT_ONCE)
            self._titles_read += TITLES_AT_ONCE

    def save(self) -> None:
        """Write the store to the file, once nothing was written for a while; one of an older state is deleted."""
        state = state_of(self._folder)
        if self._saved[0] != state:
            remove_file(self._file)
        kept = self._store.last(WHOLE)
        if state is None or kept.state != state or time.time_ns() - state[1] < SETTLED_SECONDS * 1e9:
            return
        if kept.snapshots is not None and (len(kept.snapshots) > 1 or kept.may_be_newer):
            self._store.renew([WHOLE], again=True)
            kept = self._store.last(WHOLE)
        if kept.snapshots is None or len(kept.snapshots) > 1 or kept.may_be_newer:
            return  # it could not be read again as a whole
        snapshot, known = kept.as_read, frozenset(kept.as_read.known if kept.as_read else ())
        if snapshot and kept.state == state and known and self._saved != (state, known):
            self._saved = state, known
            save(self._file, snapshot, state)
            if state_of(self._folder) != state:  # what was expunged meanwhile must not be in it
                remove_file(self._file)
            else:
                move_to_file(snapshot, self._file, state)
                give_back()

    def unmap(self) -> None:
        if (latest := self.latest) is not None:
            latest.unmap()

    def renew_parts(self, projects: Collection[str]) -> None:
        """Read these now, instead of after the first who asks for them."""
        self._parts.renew(list(projects), wait=True)

    def drop(self) -> None:
        remove_file(self._file)
        self._store.drop()
        self._parts.drop()

    def reach(self, allowed: Filter) -> Reach | None:
        """Where what `allowed` lets through stands, in parts that share nothing; None unless all of it is in memory."""
        parts, on_disk = self._in_memory(allowed)
        return self._placed(parts) if on_disk is None else None

    def split(self, allowed: Filter) -> tuple[Reach, Filter | None]:
        """Where what is in memory stands, and what lets through the rest, if there is any."""
        parts, on_disk = self._in_memory(allowed)
        return self._placed(parts), on_disk

    def _in_memory(self, allowed: Filter) -> tuple[list[tuple[Snapshot, Filter]], Filter | None]:
        if (whole := self.whole) is not None:
            return [(part, allowed) for part in whole], None
        if not self._store.last(WHOLE).is_too_large or not allowed.projects:
            return [], allowed
        by_project = {project: replace(allowed, projects=(project,)) for project in allowed.projects}
        self._note(by_project.values())
        parts = self._parts.current(allowed.projects)
        rest = tuple(project for project in allowed.projects if project not in parts)
        found = [(part, by_project[project]) for project, some in parts.items() for part in some]
        return found, replace(allowed, projects=rest) if rest else None

    @contextmanager
    def adding(self, rows: pa.Table | None, model: ModelIdentity) -> Iterator[None]:
        """Nothing but these rows, of what can be seen, is written meanwhile: with them, the cache stays current."""
        changed = set() if rows is None else set(rows["project"].unique().to_pylist())
        whole, added = {}, {}
        if rows is not None:
            rows = rows.select(COLUMNS)
            whole = {WHOLE: Snapshot(rows, model)}
            kept = changed & self._parts.names
            added = {one: Snapshot(rows.filter(pc.equal(rows["project"], one)), model) for one in kept}
        with self._changing_nothing_else() as before:
            yield
            after = state_of(self._folder)
            if before is None or after is None or not is_one_write(before, after):
                return
            self._prepare(whole | added)
            if not self._is_much(whole.values()) or self._store.last(WHOLE).rows > QUICK_ROWS:
                self._store.carry(before, after, whole, whole)
            self._parts.carry(before, after, changed, added)

    @contextmanager
    def rearranging(self) -> Iterator[None]:
        """Files are joined and indexed meanwhile, and no memory is changed."""
        with self._changing_nothing_else() as before:
            yield
            if before is not None and (after := state_of(self._folder)) is not None:
                self._store.carry(before, after, (), {})
                self._parts.carry(before, after, (), {})

    @contextmanager
    def _changing_nothing_else(self) -> Iterator[State | None]:
        """Whoever asks meanwhile is answered from what was there before, until what changes is in memory too."""
        before = state_of(self._folder)
        with self._store.as_of(before), self._parts.as_of(before):
            yield before

    def _prepare(self, added: Mapping[str, Snapshot]) -> None:
        """Have it known where the memories stand that prompts ask for; of a few the table knows it soon enough."""
        usual = list(self.latest.known if self.latest else ())[-PREPARED_FILTERS:]
        for part in (one for one in added.values() if one.words.documents > FEW):
            for condition in usual:
                part.note(condition, self._ids(condition, part.ids), KEPT_FILTERS)

    def _is_much(self, added: Iterable[Snapshot]) -> bool:
        """Whether with these too much of the store would be new to the count of its words."""
        kept = self._store.last(WHOLE)
        counted = kept.as_read.words.documents if kept.as_read else 0
        return ADDED_SHARE * (kept.rows - counted + sum(one.words.documents for one in added)) > kept.rows

    def _note(self, asked: Iterable[Filter]) -> None:
        """Remember the filters that were asked for, to have them ready once their projects are read."""
        lasting = [replace(one, alive_at=None) for one in asked]
        kept = [one for one in self._asked if one not in lasting]
        self._asked = (*kept, *lasting)[-2 * KEPT_FILTERS :]

    def _read_whole(self, _: str) -> Snapshot | None:
        return self._ready(self._read(Filter()), self.latest.known if self.latest else ())

    def _read_part(self, project: str) -> Snapshot | None:
        asked = [one.sql() for one in self._asked if one.projects == (project,)]
        return self._ready(self._read(Filter(projects=(project,))), asked)

    def _ready(self, snapshot: Snapshot | None, asked: Iterable[str]) -> Snapshot | None:
        if snapshot is not None:
            snapshot.known = {condition: snapshot.places(self._ids(condition, ())) for condition in asked}
            give_back()
        return snapshot

    def _placed(self, asked: Sequence[tuple[Snapshot, Filter]]) -> Reach:
        """As the table's own query says, one for each filter; only the hour of expiry is compared here."""
        places: dict[Snapshot, Places] = {}
        unknown: dict[str, list[Snapshot]] = {}
        for part, allowed in asked:
            lasting = replace(allowed, alive_at=None).sql()
            if (known := part.known.get(lasting)) is None:
                unknown.setdefault(lasting, []).append(part)
            else:
                places[part] = known
        for lasting, parts in unknown.items():
            is_few = sum(part.words.documents for part in parts) <= FEW  # which are asked for by name
            ids = self._ids(lasting, [key for part in parts for key in part.ids] if is_few else ())
            places |= {part: part.note(lasting, ids, KEPT_FILTERS) for part in parts}
        return [(part, part.alive(places[part], allowed.alive_at)) for part, allowed in asked]

    def _read(self, allowed: Filter) -> Snapshot | None:
        """These memories; None when there is no table, or when its indexes are the better way."""
        with self._table.reading("reading"):
            if not self._table.exists or not self._fits(allowed):
                return None
            return Snapshot(self._table.rows(allowed.sql(), COLUMNS), self._table.model)

    def _fits(self, allowed: Filter) -> bool:
        """Whether the memories of these projects, or all of them, are few enough."""
        if allowed.projects:
            return self._table.count(allowed.sql()) <= self._sizes.part
        size = self._table.handle.stats()
        text = size["total_bytes"] - size["num_rows"] * self._table.model.dimensions * 4
        return bool(size["num_rows"] <= self._sizes.held and text <= self._sizes.held_text)

    def _ids(self, condition: str, few: Collection[str]) -> list[str]:
        """All for which it holds, or those of these few."""
        with self._table.reading("reading"):
            return self._table.ids(f"{condition} AND id IN ({quoted(few)})" if few else condition)


@dataclass(frozen=True, slots=True)
class Part:
    """The store, or a project, as of one state of the table: as it was read, and what came since.

    None when it is too large. It `may_be_newer` when something was written while it was read. `files` are the table's
    in that state, if known.
    """

    state: State | None = None
    snapshots: tuple[Snapshot, ...] | None = None
    may_be_newer: bool = False
    files: tuple[str, ...] | None = None

    @property
    def rows(self) -> int:
        return sum(snapshot.words.documents for snapshot in self.snapshots or ())

    @property
    def as_read(self) -> Snapshot | None:
        return self.snapshots[0] if self.snapshots else None

    @property
    def is_too_large(self) -> bool:
        return self.state is not None and self.snapshots is None

    def with_added(self, added: Snapshot | None, state: State, files: tuple[str, ...] | None) -> Part:
        """The same in the next state, in which this was added. What may have it already is read again instead."""
        if self.may_be_newer:
            return self
        if added is None or self.snapshots is None:
            return replace(self, state=state, files=files)
        return Part(state, (*self.snapshots, added), files=files) if len(self.snapshots) <= ADDED else self


NOTHING = Part()


def state_of(table: Path) -> State | None:
    """The names of LanceDB's versions: each write adds a file. Reading the names takes microseconds."""
    versions = table / "_versions"
    try:
        status = versions.stat()  # a store that was put back may have the same names
        return status.st_ino, status.st_mtime_ns, frozenset(os.listdir(versions))  # noqa: PTH208  names are enough
    except OSError:
        return None


def files_of(table: Path) -> tuple[str, ...] | None:
    """Return the names of the newest version's data files and lists of deleted rows, or None if it cannot be read.

    No file is ever changed: as long as a version has the same ones, it has the same memories, whatever was indexed.
    """
    try:
        return version_in(manifests(table)[0]).data_files
    except (OSError, ValueError, IndexError):
        return None


def is_one_write(before: State, after: State) -> bool:
    """Whether the second state is the first and one more version, and not what another did besides."""
    return before[0] == after[0] and len(after[2] - before[2]) == 1


class Parts:
    """By name, each while it is what the table holds; those that were not asked for the longest go first.

    What is added to one is kept beside it. After another write it is read again: a small one at once, a larger one in
    the background, `delay` seconds later, and meanwhile there is none. `read` gives the snapshot of a part, or None
    when it is too large; at most `rows` of all together are in memory.
    """

    def __init__(self, table: Path, read: Callable[[str], Snapshot | None], rows: int, delay: float = 0.0) -> None:
        self._table = table
        self._read = read
        self._rows = rows
        self._delay = delay
        self._kept: dict[str, Part] = {}  # replaced, not changed, when its names or their order do
        self._changing = threading.Lock()
        self._making = threading.Lock()
        self._drops = 0
        self._next = 0.0
        self._before: State | None = None

    @contextmanager
    def as_of(self, before: State | None) -> Iterator[None]:
        """Take what is in memory for current as long as it is of this state: the one who may write is just writing."""
        self._before = before
        try:
            yield
        finally:
            self._before = None

    def last(self, name: str) -> Part:
        """As it was last read, whether or not the table has changed since."""
        return self._kept.get(name, NOTHING)

    def current(self, names: Sequence[str], wait: bool = False) -> dict[str, tuple[Snapshot, ...]]:
        """Those in memory that have all of what was written since, by whatever process; the others are read soon.

        With `wait`, small ones are waited for also while another just reads them.
        """
        state = self._state()
        if stale := [name for name in names if self.last(name).state != state]:
            stale = self._not_the_same(stale, state)
        if stale:
            self._renew_stale(stale, wait)
            state = self._state()
        return {} if state is None else self._used(names, state)

    def _not_the_same(self, stale: Sequence[str], state: State | None) -> list[str]:
        """Keep what another process has only indexed; return the rest."""
        known = {name: part for name in stale if (part := self.last(name)).state and part.files is not None}
        files = files_of(self._table) if known else None
        if state is None or files is None or state_of(self._table) != state:
            return list(stale)
        same = {
            name: replace(part, state=state)
            for name, part in known.items()
            if part.files == files and part.state is not None and part.state[0] == state[0]
        }
        with self._changing:
            for name, part in same.items():
                if self._kept.get(name) is known[name]:
                    self._kept[name] = part
        return [name for name in stale if name not in same]

    def _state(self) -> State | None:
        """That of the table, or the one before while it is being written, unless its folder was replaced."""
        before, state = self._before, state_of(self._table)
        return before if before is not None and state is not None and before[0] == state[0] else state

    @property
    def names(self) -> set[str]:
        with self._changing:
            return set(self._kept)

    def carry(self, before: State, after: State, changed: Collection[str], added: Mapping[str, Snapshot]) -> None:
        """All that was written between these states went to the parts `changed`; `added` is it, as far as given."""
        files = files_of(self._table)
        with self._changing:
            for name, part in self._kept.items():
                if part.state == before and (name not in changed or name in added):
                    self._kept[name] = part.with_added(added.get(name), after, files)

    def restore(self, name: str, state: State, snapshot: Snapshot) -> bool:
        """Take what was read before, unless the table was read meanwhile; return whether it was taken."""
        with self._changing:
            part = Part(state, (snapshot,))
            return self._kept.setdefault(name, part) is part

    def drop(self) -> None:
        """Keep nothing of what was read so far, nor of what is being read."""
        with self._changing:
            self._drops += 1
            self._kept = {}

    def renew(self, names: Sequence[str], wait: bool = False, again: bool = False) -> None:
        """Read those that are not current. While others are being read, that is waited for, if wanted.

        With `again`, also what is current: in parts, or perhaps newer than it says.
        """
        if not self._making.acquire(blocking=wait):
            return
        try:
            started = time.monotonic()
            for name in names:
                self._make(name, again)
            ended = time.monotonic()
            self._next = ended + RESTS * (ended - started)
        except Exception:
            log.exception("a part of the store could not be read into memory; it is searched on disk")
        finally:
            self._making.release()

    def _renew_stale(self, stale: Sequence[str], wait: bool) -> None:
        """Small ones while the asker waits, which takes as long as a query on disk; others once it has its answer."""
        known = [self.last(name) for name in stale]
        if all(part.snapshots and part.rows <= QUICK_ROWS for part in known):
            self.renew(stale, wait)
        elif (time.monotonic() >= self._next or NOTHING in known) and not self._making.locked():  # not asked for before
            later = threading.Timer(self._delay, self.renew, [stale])
            later.name, later.daemon = "memhook-snapshot", True
            later.start()

    def _make(self, name: str, again: bool) -> None:
        drops, state = self._drops, state_of(self._table)  # before reading: what is written meanwhile makes it stale
        files = files_of(self._table)
        if state is None or (self.last(name).state == state and not again):
            return
        snapshot = self._read(name)
        with self._changing:
            latest = state_of(self._table)
            if drops == self._drops and (latest == state or self.last(name).state != latest):
                snapshots = None if snapshot is None else (snapshot,)
                is_newer = latest != state
                part = Part(state, snapshots, is_newer, None if is_newer else files)
                self._kept = {one: kept for one, kept in self._kept.items() if one != name} | {name: part}
                self._leave_room()

    def _leave_room(self) -> None:
        held = sum(part.rows for part in self._kept.values())
        for name in list(self._kept)[:-2]:  # the last two are what the last prompt asked for
            if held <= self._rows:
                return
            held -= self._kept.pop(name).rows

    def _used(self, names: Sequence[str], state: State) -> dict[str, tuple[Snapshot, ...]]:
        with self._changing:
            used = {name: self._kept[name] for name in names if name in self._kept}
            self._kept = {name: part for name, part in self._kept.items() if name not in used} | used
        return {name: one.snapshots for name, one in used.items() if one.state == state and one.snapshots is not None}
