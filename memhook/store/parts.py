"""A store too large to be held in memory, held by project: a prompt asks for one project and for what is global."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Collection, Sequence

from memhook.store.keeping import QUICK_ROWS, RESTS, State
from memhook.store.snapshot import Snapshot

log = logging.getLogger("memhook")


class Parts:
    """Snapshots by project, each while it is what the table holds; those that were not asked for the longest go first.

    `read` gives the snapshot of a project, or None when it is too large; at most `rows` are held of all together.
    """

    def __init__(self, state: Callable[[], State], read: Callable[[str], Snapshot | None], rows: int) -> None:
        self._state = state
        self._read = read
        self._rows = rows
        self._kept: dict[str, tuple[State, Snapshot | None]] = {}
        self._changing = threading.Lock()
        self._making = threading.Lock()
        self._drops = 0
        self._next = 0.0

    def current(self, projects: Sequence[str]) -> list[tuple[str, Snapshot]] | None:
        """The parts, if nothing was written to them since they were read; else None, and they are read meanwhile."""
        state = self._state()
        stale = [project for project in projects if self._kept.get(project, (None, None))[0] != state]
        if state is None or (stale and not self._are_renewed(stale)):
            return None
        return self._used(projects)

    def carry(self, before: State, after: State, changed: Collection[str]) -> None:
        """What was written between these states concerned the projects `changed` alone."""
        with self._changing:
            for project, (state, snapshot) in self._kept.items():
                if before is not None and state == before and project not in changed:
                    self._kept[project] = (after, snapshot)

    def drop(self) -> None:
        """Keep nothing of what was read so far, nor of what is being read."""
        with self._changing:
            self._drops += 1
            self._kept = {}

    def renew(self, projects: Sequence[str], wait: bool = False) -> None:
        """Read those that are not current. While others are being read, that is waited for, if wanted."""
        if not self._making.acquire(blocking=wait):
            return
        try:
            started = time.monotonic()
            for project in projects:
                self._make(project)
            ended = time.monotonic()
            self._next = ended + RESTS * (ended - started)
        except Exception:
            log.exception("a part of the store could not be read into memory; it is searched on disk")
        finally:
            self._making.release()

    def _are_renewed(self, stale: Sequence[str]) -> bool:
        """Small ones while the asker waits, which takes as long as a query on disk; others in the background."""
        known = [self._kept[project][1] for project in stale if project in self._kept]
        small = [one for one in known if one is not None and one.words.documents <= QUICK_ROWS]
        if len(small) == len(stale):
            self.renew(stale)
            return all(self._kept.get(project, (None, None))[0] == self._state() for project in stale)
        is_rested = time.monotonic() >= self._next or len(known) < len(stale)  # a project is waited for the first time
        if is_rested and not self._making.locked():
            threading.Thread(target=self.renew, args=(stale,), name="memhook-parts", daemon=True).start()
        return False

    def _make(self, project: str) -> None:
        drops, state = self._drops, self._state()  # before reading: what is written meanwhile makes it stale
        if state is None or self._kept.get(project, (None, None))[0] == state:
            return
        snapshot = self._read(project)
        with self._changing:
            if drops == self._drops:
                self._kept.pop(project, None)
                self._kept[project] = (state, snapshot)
                self._leave_room()

    def _leave_room(self) -> None:
        held = sum(_rows(snapshot) for _, snapshot in self._kept.values())
        for project in list(self._kept)[:-2]:  # the last two are what the last prompt asked for
            if held <= self._rows:
                return
            held -= _rows(self._kept.pop(project)[1])

    def _used(self, projects: Sequence[str]) -> list[tuple[str, Snapshot]] | None:
        found = []
        with self._changing:
            for project in projects:
                kept = self._kept.pop(project, None)
                if kept is not None:
                    self._kept[project] = kept
                if kept is None or kept[1] is None:
                    return None
                found.append((project, kept[1]))
        return found


def _rows(snapshot: Snapshot | None) -> int:
    return snapshot.words.documents if snapshot else 0
