"""Parts of a table in memory, the whole store or single projects, kept current without anybody waiting for it."""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from memhook.store.cache.snapshot import Snapshot, State

log = logging.getLogger("memhook")

QUICK_ROWS = 2_000  # of so few a snapshot is made while the asker waits: a query on disk takes as long, for each asker
ADDED = 32  # so many times something is added to a snapshot before the table is read again
RESTS = 4.0  # times as long as making a snapshot took, so that a stream of writes does not keep a core busy


@dataclass(frozen=True, slots=True)
class Part:
    """The store, or a project, as of one state of the table: as it was read, and what came since.

    None when it is too large. It `may_be_newer` when something was written while it was read.
    """

    state: State | None = None
    snapshots: tuple[Snapshot, ...] | None = None
    may_be_newer: bool = False

    @property
    def rows(self) -> int:
        return sum(snapshot.words.documents for snapshot in self.snapshots or ())

    @property
    def as_read(self) -> Snapshot | None:
        return self.snapshots[0] if self.snapshots else None

    @property
    def is_too_large(self) -> bool:
        return self.state is not None and self.snapshots is None

    def with_added(self, added: Snapshot | None, state: State) -> Part:
        """The same in the next state, in which this was added. What may have it already is read again instead."""
        if self.may_be_newer:
            return self
        if added is None or self.snapshots is None:
            return replace(self, state=state)
        return Part(state, (*self.snapshots, added)) if len(self.snapshots) <= ADDED else self


NOTHING = Part()


def state_of(table: Path) -> State | None:
    """The names of LanceDB's versions: each write adds a file. Reading the names takes microseconds."""
    versions = table / "_versions"
    try:
        status = versions.stat()  # a store that was put back may have the same names
        return status.st_ino, status.st_mtime_ns, frozenset(os.listdir(versions))  # noqa: PTH208  names are enough
    except OSError:
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

    def last(self, name: str) -> Part:
        """As it was last read, whether or not the table has changed since."""
        return self._kept.get(name, NOTHING)

    def current(self, names: Sequence[str], wait: bool = False) -> dict[str, tuple[Snapshot, ...]]:
        """Those in memory that have all of what was written since, by whatever process; the others are read soon.

        With `wait`, small ones are waited for also while another just reads them.
        """
        state = state_of(self._table)
        if stale := [name for name in names if self.last(name).state != state]:
            self._renew_stale(stale, wait)
            state = state_of(self._table)
        return {} if state is None else self._used(names, state)

    @property
    def names(self) -> set[str]:
        with self._changing:
            return set(self._kept)

    def carry(self, before: State, after: State, changed: Collection[str], added: Mapping[str, Snapshot]) -> None:
        """All that was written between these states went to the parts `changed`; `added` is it, as far as given."""
        with self._changing:
            for name, part in self._kept.items():
                if part.state == before and (name not in changed or name in added):
                    self._kept[name] = part.with_added(added.get(name), after)

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
        if state is None or (self.last(name).state == state and not again):
            return
        snapshot = self._read(name)
        with self._changing:
            if drops == self._drops:
                snapshots = None if snapshot is None else (snapshot,)
                part = Part(state, snapshots, may_be_newer=state != state_of(self._table))
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
