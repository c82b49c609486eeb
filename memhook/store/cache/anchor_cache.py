"""The anchors of what a filter lets through, indexed when they are first asked for and kept in step with the table."""

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
AT_ONCE_SECONDS = 0.2  # that a tool call waits for the index: the first of a large store is answered from a part of it
READ_AT_ONCE = 10  # memories
PAUSE_SECONDS = 0.005  # between two in the background, each of which takes about 0.001


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
        return [part() for part in self.parts] == _parts(reach)


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
            for indexed in self._kept.values():
                indexed.wanted = None
            self._kept.clear()

    def _renew(self, indexed: _Indexed, reach: Reach) -> None:
        """At once, or else as much as there is time for, and the rest in the background."""
        if indexed.wanted is not None:
            if _parts(indexed.wanted) != _parts(reach):  # else it goes on where it is
                indexed.wanted = reach
        elif not _is_done(_renewal(indexed, reach), AT_ONCE_SECONDS):
            indexed.wanted = reach
            threading.Thread(target=self._finish, args=(indexed,), name="memhook-anchors", daemon=True).start()

    def _finish(self, indexed: _Indexed) -> None:
        """One memory after the other: a tool call waits for no more than one, and a prompt for none."""
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
            indexed.wanted = None  # also after a failure: the next call begins again


def _parts(reach: Reach) -> list[Snapshot]:
    return [part for part, _ in reach]


def _is_done(steps: Iterator[None], seconds: float) -> bool:
    """Whether there was time for all of them; at least one is made."""
    deadline = time.monotonic() + seconds
    return all(time.monotonic() < deadline for _ in steps)


def _renewal(indexed: _Indexed, reach: Reach) -> Iterator[None]:
    """Index again what has changed, one memory a step."""
    stamps = {key: stamp for part, places in reach for key, stamp in part.stamps(places)}
    for key in indexed.stamps.keys() - stamps.keys():
        indexed.index.remove(key)
        del indexed.stamps[key]
    changed = [key for key, stamp in stamps.items() if indexed.stamps.get(key) != stamp]
    for start in range(0, len(changed), READ_AT_ONCE):
        some = changed[start : start + READ_AT_ONCE]
        for memory in (one for part, places in reach for one in part.memories(some, places).values()):
            anchors = memory.anchors or anchors_of(memory.title, memory.content)  # of an older version: none
            indexed.index.file(memory.id, anchors, memory.content, memory.title)
            indexed.stamps[memory.id] = stamps[memory.id]
            yield
    indexed.parts = tuple(ref(part) for part, _ in reach)
