"""The cache of a store too large for memory, by project: a prompt asks for one project and for what is global."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Collection, Mapping, Sequence

from memhook.store.cache.refresh import NOTHING, QUICK_ROWS, RESTS, Part, State, part_read
from memhook.store.cache.snapshot import Snapshot

log = logging.getLogger("memhook")

ANSWER_SECONDS = 0.5  # until then a project is not read into memory, which would take the time of who asked for it


class Parts:
    """Projects, each while it is what the table holds; those that were not asked for the longest go first.

    `read` gives the snapshot of a project, or None when it is too large; at most `rows` of all together are in memory.
    """

    def __init__(self, state: Callable[[], State], read: Callable[[str], Snapshot | None], rows: int) -> None:
        self._state = state
        self._read = read
        self._rows = rows
        self._kept: dict[str, Part] = {}
        self._changing = threading.Lock()
        self._making = threading.Lock()
        self._drops = 0
        self._next = 0.0

    def current(self, projects: Sequence[str]) -> dict[str, Sequence[Snapshot]]:
        """Those in memory that have all of what was written since, by project; the others are read soon."""
        state = self._state()
        if state is None:
            return {}
        if stale := [project for project in projects if self._kept.get(project, NOTHING).state != state]:
            self._renew_stale(stale)
        return self._used(projects, state)

    @property
    def projects(self) -> set[str]:
        with self._changing:
            return set(self._kept)

    def carry(self, before: State, after: State, changed: Collection[str], added: Mapping[str, Snapshot]) -> None:
        """All that was written between these states went to the projects `changed`; `added` is it, as far as given."""
        with self._changing:
            for project, part in self._kept.items():
                is_known = project not in changed or project in added
                if before is not None and part.state == before and is_known:
                    self._kept[project] = part.with_added(added.get(project), after)

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

    def _renew_stale(self, stale: Sequence[str]) -> None:
        """Small ones while the asker waits, which takes as long as a query on disk; others once it has its answer."""
        known = [self._kept[project] for project in stale if project in self._kept]
        if len(known) == len(stale) and all(part.snapshots and part.rows <= QUICK_ROWS for part in known):
            self.renew(stale)
            return
        is_rested = time.monotonic() >= self._next or len(known) < len(stale)  # one is asked for the first time
        if is_rested and not self._making.locked():
            later = threading.Timer(ANSWER_SECONDS, self.renew, [stale])
            later.name, later.daemon = "memhook-parts", True
            later.start()

    def _make(self, project: str) -> None:
        drops, state = self._drops, self._state()  # before reading: what is written meanwhile makes it stale
        if state is None or self._kept.get(project, NOTHING).state == state:
            return
        snapshot = self._read(project)
        with self._changing:
            if drops == self._drops:
                self._kept.pop(project, None)
                self._kept[project] = part_read(snapshot, state, self._state())
                self._leave_room()

    def _leave_room(self) -> None:
        held = sum(part.rows for part in self._kept.values())
        for project in list(self._kept)[:-2]:  # the last two are what the last prompt asked for
            if held <= self._rows:
                return
            held -= self._kept.pop(project).rows

    def _used(self, projects: Sequence[str], state: State) -> dict[str, Sequence[Snapshot]]:
        found: dict[str, Sequence[Snapshot]] = {}
        with self._changing:
            for project in projects:
                part = self._kept.pop(project, NOTHING)
                if part is not NOTHING:
                    self._kept[project] = part
                if part.state == state and part.snapshots is not None:
                    found[project] = part.snapshots
        return found
