"""The anchors of what a filter lets through, indexed when they are first asked for and kept in step with the table."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from dataclasses import dataclass, field, replace
from weakref import ref

from memhook.core.actions import Action
from memhook.core.anchor_index import AnchorIndex, Match
from memhook.core.anchors import anchors_of
from memhook.store.cache.cache import Reach
from memhook.store.cache.snapshot import Snapshot
from memhook.store.table.filters import Filter

KEPT_FILTERS = 8  # one for each project that is worked on at the same time
AT_ONCE_SECONDS = 0.2  # that a tool call waits for the index: the first of a large store is answered from a part of it
BEHIND_SECONDS, PAUSE_SECONDS = 0.02, 0.1  # in the background, in turns, so that prompts hardly wait for it
AT_ONCE = 50  # memories


@dataclass(slots=True)
class _Indexed:
    """The index of one filter, the parts it was made from, and the text that each memory had.

    `wanted` is what it is being made from, in the background.
    """

    index: AnchorIndex = field(default_factory=AnchorIndex)
    parts: tuple[ref[Snapshot], ...] = ()
    stamps: dict[str, str] = field(default_factory=dict)
    wanted: Reach | None = None

    def is_of(self, reach: Reach) -> bool:
        return [part() for part in self.parts] == [part for part, _ in reach]


class AnchorCache:
    """Only what changed is indexed again: reading the anchors of a memory takes longer than comparing its stamp."""

    def __init__(self) -> None:
        self._kept: OrderedDict[Filter, _Indexed] = OrderedDict()
        self._lock = threading.Lock()

    def matches(self, action: Action, allowed: Filter, reach: Reach | None) -> list[Match]:
        """As of the last state that was in memory: what is still there and allowed, whoever reads them finds out."""
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
            self._kept.clear()

    def _renew(self, indexed: _Indexed, reach: Reach) -> None:
        """At once, or else as much as there is time for, and the rest in the background."""
        if indexed.wanted is not None:
            indexed.wanted = reach
        elif not _is_renewed(indexed, reach, AT_ONCE_SECONDS):
            indexed.wanted = reach
            threading.Thread(target=self._finish, args=(indexed,), name="memhook-anchors", daemon=True).start()

    def _finish(self, indexed: _Indexed) -> None:
        while True:
            with self._lock:
                if indexed.wanted is None or _is_renewed(indexed, indexed.wanted, BEHIND_SECONDS):
                    indexed.wanted = None
                    return
            time.sleep(PAUSE_SECONDS)


def _is_renewed(indexed: _Indexed, reach: Reach, seconds: float) -> bool:
    """Index again what has changed, and return whether there was time for all of it."""
    deadline = time.monotonic() + seconds
    stamps = {key: stamp for part, places in reach for key, stamp in part.stamps(places)}
    for key in indexed.stamps.keys() - stamps.keys():
        indexed.index.remove(key)
        del indexed.stamps[key]
    changed = [key for key, stamp in stamps.items() if indexed.stamps.get(key) != stamp]
    for start in range(0, len(changed), AT_ONCE):
        if start and time.monotonic() > deadline:
            return False
        some = changed[start : start + AT_ONCE]
        for part, places in reach:
            for memory in part.memories(some, places).values():
                anchors = memory.anchors or anchors_of(memory.title, memory.content)  # of an older version: none
                indexed.index.file(memory.id, anchors, memory.content, memory.title)
        indexed.stamps |= {key: stamps[key] for key in some}
    indexed.parts = tuple(ref(part) for part, _ in reach)
    return True
