"""Mark superseded memories: the author sets `supersedes`; `superseded_by` is derived from it, for queries."""

from __future__ import annotations

from collections.abc import Sequence

from memhook.core.memory import Memory
from memhook.errors import InvalidInput
from memhook.library.access import OWNER
from memhook.store.memories import MemoryStore
from memhook.store.table import changes

LONGEST_CHAIN = 100


def mark(store: MemoryStore, memories: Sequence[Memory]) -> None:
    """Update `superseded_by` after storing these memories."""
    names = {name: memory.id for memory in memories for name in (memory.id, *memory.aliases)}
    is_named = store.knows(superseded_by=list(names.values()), supersedes=list(names))
    if not is_named and not any(memory.supersedes for memory in memories):
        return
    named = _named(store, [name for memory in memories for name in memory.supersedes])
    followed = store.find("superseded_by", [memory.id for memory in memories], forgotten=None)
    for memory in memories:
        old = [named[name] for name in memory.supersedes if name in named and named[name] != memory.id]
        _set_successor(store, [one for one in old if one != memory.superseded_by], memory.id)
        no_longer = [one.id for one in followed if one.superseded_by == memory.id and one.id not in old]
        _set_successor(store, no_longer, "")
    for successor in store.find("supersedes", list(names)):
        replaced = [names[name] for name in successor.supersedes if name in names]
        _set_successor(store, [one for one in replaced if one != successor.id], successor.id)


def _named(store: MemoryStore, names: Sequence[str]) -> dict[str, str]:
    memories = store.by_reference(list(dict.fromkeys(names)), OWNER)
    by_alias = {alias: memory.id for memory in memories for alias in memory.aliases}
    return by_alias | {memory.id: memory.id for memory in memories}


def hand_over(store: MemoryStore, deleted: Sequence[Memory]) -> None:
    """Make the successors of deleted memories, if there are any, those of the memories that these superseded."""
    successors = {memory.id: memory.superseded_by for memory in deleted}
    for old in store.find("superseded_by", list(successors), forgotten=None):
        heir = old.superseded_by
        while heir in successors:
            heir = successors[heir]
        _set_successor(store, [old.id], heir)


def set_heir(store: MemoryStore, memory: Memory, heir: str) -> None:
    """Make `heir` the successor of the memories that this one superseded."""
    _set_successor(store, [old.id for old in store.find("superseded_by", [memory.id], forgotten=None)], heir)


def _set_successor(store: MemoryStore, ids: Sequence[str], successor: str) -> None:
    if ids:
        store.write(changes.update, ids, superseded_by=successor)


def refuse_circle(store: MemoryStore, memory: Memory) -> None:
    """Raise InvalidInput if memories would supersede each other: none of them would be shown again."""
    names = {memory.id, *memory.aliases}
    ahead = list(memory.supersedes)
    for _ in range(LONGEST_CHAIN):
        if names & set(ahead):
            raise InvalidInput("A memory cannot supersede itself, directly or through others.", "Do not name it.")
        ahead = [name for one in store.by_reference(ahead, OWNER) for name in one.supersedes]
        if not ahead:
            return
