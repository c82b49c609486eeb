"""Screen the whole store a few memories at a time, so that no prompt waits for it.

Secrets that an older version did not recognize are masked on disk too, once per version; until then they are masked
whenever they are shown.
"""

from __future__ import annotations

import logging
from dataclasses import replace

from memhook import __version__
from memhook.core.memory import Memory, content_hash
from memhook.library.access import OWNER
from memhook.screening.policy import MOST_FIT, judged, shown_as, sorted_out
from memhook.store.memories import MemoryStore
from memhook.store.table import changes
from memhook.turns import stand_aside

log = logging.getLogger("memhook")

BATCH = 128  # every few seconds, for 20 ms
MARK = "masked"


class Sweep:
    """The sweep of one store. Each version of memhook has its own masks, and so reads the whole store once.

    Each process does too, unless the store has more memories than the cache of screened ones holds.
    """

    def __init__(self, store: MemoryStore, masks: str = __version__, batch: int = BATCH) -> None:
        self._store = store
        self._masks = masks
        self._batch = batch
        self._last = ""
        self._found: list[str] = []
        self._is_done = False

    def step(self) -> int:
        """Screen the next few memories; after the last, rewrite those that had secrets and return how many."""
        if self._is_done or not self._store.exists or self._store.is_deleted:
            return 0
        is_masked = self._store.mark(MARK) == self._masks
        if is_masked and self._store.count() > MOST_FIT:
            self._is_done = True
            return 0
        batch = self._store.after(self._last, self._batch)
        for memory in batch:
            stand_aside()
            sorted_out([memory])
        if not is_masked:
            self._found += [memory.id for memory in batch if shown_as(memory) != memory or _is_free(memory)]
        if len(batch) == self._batch:
            self._last = batch[-1].id
            return 0
        self._is_done = True
        return 0 if is_masked else self._finished()

    def _finished(self) -> int:
        with self._store.writing():
            current = self._store.by_reference(self._found, OWNER)  # they may have been changed since
            masked = [_masked(memory) for memory in current if shown_as(memory) != memory]
            for memory in filter(_is_free, current):
                self._store.write(changes.set_quarantine, judged(memory))
            if masked:
                self._store.write(changes.rewrite, masked)
            self._store.set_mark(MARK, self._masks)
        if masked:
            log.warning("masked secrets in %s", ", ".join(memory.urn for memory in masked))
        return len(masked)


def _is_free(memory: Memory) -> bool:
    """Whether its quarantine no longer applies by the current rules: a memory that the user wrote has none."""
    return bool(memory.quarantine) and not judged(memory).quarantine


def _masked(memory: Memory) -> Memory:
    shown = shown_as(memory)
    own_hash = memory.content_hash if memory.redacted else content_hash(shown.content)
    return judged(replace(shown, content_hash=own_hash))
