"""Keeping a snapshot of the store current, without anybody waiting for it."""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable
from pathlib import Path

from memhook.store.snapshot import Snapshot

log = logging.getLogger("memhook")

QUICK_ROWS = 2_000  # of so few a snapshot is made while the asker waits: a query on disk takes as long, for each asker
RESTS = 4.0  # times as long as making a snapshot took, so that a stream of writes does not keep a core busy

State = tuple[int, int, frozenset[str]] | None


class SnapshotKeeper:
    """The snapshot, while it is what the table holds.

    After a write a new one is made: of a small table at once, of a larger one in the background, and meanwhile there is
    none. `read` gives a snapshot of the table, or None when it is too large to be held.
    """

    def __init__(self, table: Path, read: Callable[[], Snapshot | None]) -> None:
        self._versions = table / "_versions"
        self._read = read
        self._kept: tuple[State, Snapshot | None] = (None, None)
        self._making = threading.Lock()
        self._drops = 0
        self._next = 0.0

    @property
    def latest(self) -> Snapshot | None:
        """The last one made, whether or not the table has changed since."""
        return self._kept[1]

    @property
    def is_too_large(self) -> bool:
        """Whether the table was, when it was last looked at."""
        state, snapshot = self._kept
        return state is not None and snapshot is None

    def current(self) -> Snapshot | None:
        """The snapshot, if nothing was written since it was made, by whatever process."""
        state, snapshot = self._kept
        if state is not None and state == self.state():
            return snapshot
        if snapshot is not None and snapshot.words.documents <= QUICK_ROWS:
            self.renew(wait=True)
            state, snapshot = self._kept
            return snapshot if state is not None and state == self.state() else None
        if time.monotonic() >= self._next and not self._making.locked():
            threading.Thread(target=self.renew, name="memhook-snapshot", daemon=True).start()
        return None

    def renew(self, wait: bool = False) -> None:
        """Make the snapshot, unless it is current. One that another is just making is waited for, if wanted."""
        if not self._making.acquire(blocking=wait):
            return
        try:
            started, drops = time.monotonic(), self._drops
            state = self.state()  # before reading: what is written meanwhile makes the next one necessary
            if state is not None and state != self._kept[0]:
                snapshot = self._read()
                if drops == self._drops:
                    self._kept = (state, snapshot)
                ended = time.monotonic()
                self._next = ended + RESTS * (ended - started)
        except Exception:
            log.exception("the store could not be read into memory; it is searched on disk")
        finally:
            self._making.release()

    def drop(self) -> None:
        """Keep nothing of what was read so far, nor of what is being read."""
        self._drops += 1
        self._kept = (None, None)

    def state(self) -> State:
        """What LanceDB calls the versions it has: each write adds a file. Reading the names takes microseconds."""
        try:
            status = self._versions.stat()  # a store that was put back may have the same names
            return status.st_ino, status.st_mtime_ns, frozenset(os.listdir(self._versions))  # noqa: PTH208  names are enough
        except OSError:
            return None
