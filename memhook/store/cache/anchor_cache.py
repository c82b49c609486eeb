"""The anchors of what a filter lets through, indexed when they are first asked for and kept in step with the table."""

from __future__ import annotations

import threading
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


@dataclass(slots=True)
class _Indexed:
    """The index of one filter, the parts it was made from, and the text that each memory had."""

    index: AnchorIndex = field(default_factory=AnchorIndex)
    parts: tuple[ref[Snapshot], ...] = ()
    stamps: dict[str, str] = field(default_factory=dict)

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
                _renew(indexed, reach)
            return indexed.index.matches(action)

    def drop(self) -> None:
        with self._lock:
            self._kept.clear()


def _renew(indexed: _Indexed, reach: Reach) -> None:
    stamps = {key: stamp for part, places in reach for key, stamp in part.stamps(places)}
    changed = {key for key, stamp in stamps.items() if indexed.stamps.get(key) != stamp}
    for key in indexed.stamps.keys() - stamps.keys():
        indexed.index.remove(key)
    for part, places in reach:
        for memory in part.memories(changed, places).values():
            own = anchors_of(memory.title, memory.content)
            anchors = memory.anchors or own  # older ones and other people's stores have none
            indexed.index.file(memory.id, anchors, memory.content, is_read=anchors == own)
    indexed.stamps, indexed.parts = stamps, tuple(ref(part) for part, _ in reach)
