"""Which memory took the place of which: `supersedes` is what is written down, `superseded_by` what a query looks at."""

from __future__ import annotations

from collections.abc import Sequence

from memhook.context.access import OWNER
from memhook.core.memory import Memory
from memhook.errors import InvalidInput
from memhook.store.memories import MemoryStore

LONGEST_CHAIN = 100


def mark(store: MemoryStore, memories: Sequence[Memory]) -> None:
    """Bring `superseded_by` in line with what these, just stored, supersede and are superseded by."""
    for memory in memories:
        old = [one.id for one in store.by_reference(memory.supersedes, OWNER) if one.id != memory.id]
        store.set_successor([one for one in old if one != memory.superseded_by], memory.id)
        store.set_successor([one.id for one in store.superseded_by(memory.id) if one.id not in old], "")
    names = {name: memory.id for memory in memories for name in (memory.id, *memory.aliases)}
    for successor in store.superseding(list(names)):
        replaced = [names[name] for name in successor.supersedes if name in names]
        store.set_successor([one for one in replaced if one != successor.id], successor.id)


def hand_over(store: MemoryStore, gone: Sequence[Memory]) -> None:
    """What the forgotten ones had replaced is now replaced by what replaced them, if anything still does."""
    successors = {memory.id: memory.superseded_by for memory in gone}
    for memory in gone:
        heir = memory.superseded_by
        while heir in successors:
            heir = successors[heir]
        store.set_successor([old.id for old in store.superseded_by(memory.id)], heir)


def refuse_circle(store: MemoryStore, memory: Memory) -> None:
    """Memories that supersede each other would never be seen again."""
    names = {memory.id, *memory.aliases}
    ahead = list(memory.supersedes)
    for _ in range(LONGEST_CHAIN):
        if names & set(ahead):
            raise InvalidInput("A memory cannot supersede itself, directly or through others.", "Leave it out.")
        ahead = [name for one in store.by_reference(ahead, OWNER) for name in one.supersedes]
        if not ahead:
            return
