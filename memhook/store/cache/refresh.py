"""Keeping the cache current, without anybody waiting for it."""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from memhook.store.cache.snapshot import Snapshot

log = logging.getLogger("memhook")

QUICK_ROWS = 2_000  # of so few a snapshot is made while the asker waits: a query on disk takes as long, for each asker
ADDED = 32  # so many times something is added to a snapshot before the table is read again
ADDED_SHARE = 16  # of so many memories one may be new to the count of words that they are weighed by
SETTLED_SECONDS = 20.0  # without a write, after which a snapshot is worth keeping for the next start
RESTS = 4.0  # times as long as making a snapshot took, so that a stream of writes does not keep a core busy

State = tuple[int, int, frozenset[str]] | None


@dataclass(frozen=True, slots=True)
class Part:
    """The store, or a project, as of one state of the table: as it was read, and what came since.

    None when it is too large. It `may_be_newer` when something was written while it was read.
    """

    state: State = None
    snapshots: tuple[Snapshot, ...] | None = None
    may_be_newer: bool = False

    @property
    def rows(self) -> int:
        return sum(snapshot.words.documents for snapshot in self.snapshots or ())

    @property
    def as_read(self) -> Snapshot | None:
        return self.snapshots[0] if self.snapshots else None

    def with_added(self, added: Snapshot | None, state: State) -> Part:
        """The same in the next state, in which this was added. What may have it already is read again instead."""
        if self.may_be_newer:
            return self
        if added is None or self.snapshots is None:
            return replace(self, state=state)
        return Part(state, (*self.snapshots, added)) if len(self.snapshots) <= ADDED else self


NOTHING = Part()


def part_read(snapshot: Snapshot | None, before: State, after: State) -> Part:
    """The rows read between these states, None if there are too many: as of the first, unless they differ."""
    return Part(before, None if snapshot is None else (snapshot,), may_be_newer=before != after)


def is_one_write(before: State, after: State) -> bool:
    """Whether the second state is the first and one more version, and not what another did besides."""
    return before is not None and after is not None and before[0] == after[0] and len(after[2] - before[2]) == 1


class SnapshotKeeper:
    """The store, while it is what the table holds.

    What is added to it is kept beside it. After another write it is read again: a small table at once, a larger one in
    the background, and meanwhile there is none. `read` gives a snapshot of the table, or None when it is too large.
    """

    def __init__(self, table: Path, read: Callable[[], Snapshot | None]) -> None:
        self._versions = table / "_versions"
        self._read = read
        self._kept = NOTHING
        self._making = threading.Lock()
        self._changing = threading.Lock()
        self._drops = 0
        self._next = 0.0

    @property
    def latest(self) -> Snapshot | None:
        """As it was last read, whether or not the table has changed since."""
        return self._kept.as_read

    @property
    def is_too_large(self) -> bool:
        """Whether the table was, when it was last looked at."""
        return self._kept.state is not None and self._kept.snapshots is None

    def current(self) -> tuple[Snapshot, ...] | None:
        """All there is, in parts that share nothing, if all that was written since is in them, by whatever process."""
        kept = self._kept
        if kept.state is not None and kept.state == self.state():
            return kept.snapshots
        if kept.snapshots is not None and kept.rows <= QUICK_ROWS:
            self.renew(wait=True)
            kept = self._kept
            return kept.snapshots if kept.state is not None and kept.state == self.state() else None
        if time.monotonic() >= self._next and not self._making.locked():
            threading.Thread(target=self.renew, name="memhook-snapshot", daemon=True).start()
        return None

    def carry(self, before: State, after: State, added: Snapshot | None) -> None:
        """All that was written between these states is `added`; None when nothing of it can be seen."""
        with self._changing:
            kept = self._kept
            if before is None or kept.state != before or kept.as_read is None:
                return
            new = kept.rows - kept.as_read.words.documents + (added.words.documents if added else 0)
            if ADDED_SHARE * new <= kept.rows:
                self._kept = kept.with_added(added, after)

    def renew(self, wait: bool = False, again: bool = False) -> None:
        """Read it, unless what is kept is current. While another just reads it, that is waited for, if wanted.

        With `again`, also what is current: in parts, or perhaps newer than it says.
        """
        if not self._making.acquire(blocking=wait):
            return
        try:
            started, drops = time.monotonic(), self._drops
            state = self.state()  # before reading: what is written meanwhile makes it necessary again
            if state is not None and (again or state != self._kept.state):
                snapshot = self._read()
                with self._changing:
                    if drops == self._drops:
                        self._kept = part_read(snapshot, state, self.state())
                ended = time.monotonic()
                self._next = ended + RESTS * (ended - started)
        except Exception:
            log.exception("the store could not be read into memory; it is searched on disk")
        finally:
            self._making.release()

    def restore(self, state: State, snapshot: Snapshot) -> bool:
        """Take what was read before, unless the table was read meanwhile; return whether it was taken."""
        with self._changing:
            is_first = self._kept is NOTHING
            if is_first:
                self._kept = Part(state, (snapshot,))
        return is_first

    def settled(self) -> Part | None:
        """The store as one snapshot, read again if something was added, once nothing was written for a while."""
        kept = self._kept
        if kept.state is None or time.time_ns() - kept.state[1] < SETTLED_SECONDS * 1e9 or kept.snapshots is None:
            return None
        if len(kept.snapshots) > 1 or kept.may_be_newer:
            self.renew(again=True)
        return self._kept

    def drop(self) -> None:
        """Keep nothing of what was read so far, nor of what is being read."""
        with self._changing:
            self._drops += 1
            self._kept = NOTHING

    def state(self) -> State:
        """The names of LanceDB's versions: each write adds a file. Reading the names takes microseconds."""
        try:
            status = self._versions.stat()  # a store that was put back may have the same names
            return status.st_ino, status.st_mtime_ns, frozenset(os.listdir(self._versions))  # noqa: PTH208  names are enough
        except OSError:
            return None
