"""Index the anchors of the memories that a filter allows: built on first use, then updated with the table."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from weakref import ref

from memhook.core.actions import Action
from memhook.core.anchor_index import AnchorIndex, Match
from memhook.core.anchors import anchors_of
from memhook.store.cache.cache import Reach
from memhook.store.cache.snapshot import Snapshot
from memhook.store.table.filters import Filter
from memhook.turns import stand_aside

KEPT_FILTERS = 8  # one for each project that is worked on at the same time
AT_ONCE_SECONDS = 0.2  # a tool call waits for the index: on a large store, the first call gets a partial one
READ_AT_ONCE = 10  # memories
PAUSE_SECONDS = 0.005  # between two steps in the background, each of which takes about 0.001


@dataclass(slots=True)
class _Indexed:
    """The index for one filter, the snapshots it was built from, and the stamp of each indexed memory.

    `wanted` is what a background thread is building it from.
    """

    index: AnchorIndex = field(default_factory=AnchorIndex)
    parts: tuple[ref[Snapshot], ...] = ()
    stamps: dict[str, str] = field(default_factory=dict)
    wanted: Reach | None = None

    def is_of(self, reach: Reach) -> bool:
        return [part() for part in self.parts] == _parts(reach)


class AnchorCache:
    """Reindexes only changed memories: reading the anchors of a memory takes longer than comparing its stamp."""

    def __init__(self) -> None:
        self._kept: OrderedDict[Filter, _Indexed] = OrderedDict()
        self._lock = threading.Lock()

    def matches(self, action: Action, allowed: Filter, reach: Reach | None) -> list[Match]:
        """Return matches as of the last cached state; the caller checks that they still exist and are allowed."""
        with self._lock:
            lasting = replace(allowed, alive_at=None)
            indexed = self._kept.setdefault(lasting, _Indexed())
            self._kept.move_to_end(lasting)
            if len(self._kept) > KEPT_FILTERS:
                self._kept.popitem(last=False)
            if reach is not None and not indexed.is_of(reach):
                self._renew(indexed, reach)
            return indexed.index.matches(action)

    def drop(self) -> None:
        with self._lock:
            for indexed in self._kept.values():
                indexed.wanted = None
            self._kept.clear()

    def _renew(self, indexed: _Indexed, reach: Reach) -> None:
        """Update the index for at most AT_ONCE_SECONDS; a background thread does the rest."""
        if indexed.wanted is not None:
            if _parts(indexed.wanted) != _parts(reach):  # else the thread continues where it is
                indexed.wanted = reach
        elif not _is_done(_renewal(indexed, reach), AT_ONCE_SECONDS):
            indexed.wanted = reach
            threading.Thread(target=self._finish, args=(indexed,), name="memhook-anchors", daemon=True).start()

    def _finish(self, indexed: _Indexed) -> None:
        """Index one memory at a time: a tool call waits for at most one, and a prompt for none."""
        reach: Reach | None = None
        steps: Iterator[None] = iter(())
        try:
            while True:
                time.sleep(PAUSE_SECONDS)
                stand_aside()
                with self._lock:
                    if indexed.wanted is None:
                        return
                    if reach is not indexed.wanted:
                        reach = indexed.wanted
                        steps = _renewal(indexed, reach)
                    if _is_done(steps, 0.0):
                        return
        finally:
            indexed.wanted = None  # also after a failure: the next call starts again


def _parts(reach: Reach) -> list[Snapshot]:
    return [part for part, _ in reach]


def _is_done(steps: Iterator[None], seconds: float) -> bool:
    """Run the steps, at least one, and return whether there was time for all of them."""
    deadline = time.monotonic() + seconds
    return all(time.monotonic() < deadline for _ in steps)


def _renewal(indexed: _Indexed, reach: Reach) -> Iterator[None]:
    """Reindex the changed memories, one per step."""
    stamps = {key: stamp for part, places in reach for key, stamp in part.stamps(places)}
    for key in indexed.stamps.keys() - stamps.keys():
        indexed.index.remove(key)
        del indexed.stamps[key]
    changed = [key for key, stamp in stamps.items() if indexed.stamps.get(key) != stamp]
    for start in range(0, len(changed), READ_AT_ONCE):
        some = changed[start : start + READ_AT_ONCE]
        for memory in (one for part, places in reach for one in part.memories(some, places).values()):
            anchors = memory.anchors or anchors_of(memory.title, memory.content)  # older versions stored none
            indexed.index.file(memory.id, anchors, memory.content, memory.title)
            indexed.stamps[memory.id] = stamps[memory.id]
            yield
    indexed.parts = tuple(ref(part) for part, _ in reach)
