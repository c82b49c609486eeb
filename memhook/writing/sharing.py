"""Between stores: which of them holds a memory, and copying one over."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal

from memhook.core.memory import Memory, Origin, Sensitivity, Trait, id_of, names_with
from memhook.errors import InvalidInput, NotFound
from memhook.library.access import OWNER
from memhook.library.library import Library
from memhook.store.table.filters import Filter
from memhook.writing.remember import draft_of, edited, found, remembered

# What a memory says. Who has read it, muted it or let it through is not part of that.
SAID = names_with(Trait.COPIED)


@dataclass(frozen=True, slots=True)
class Shared:
    """The copy, and what was done to make it."""

    memory: Memory
    outcome: Literal["stored", "already there", "updated"]


def refuse_shared_ones(library: Library, others: Sequence[Library], references: Sequence[str], visible: Filter) -> None:
    """Raise InvalidInput for what only a store of others has, as far as the one who asks may know of it."""
    try:
        found(library, references, visible)
    except NotFound:
        names = [id_of(reference) for reference in references]
        for other in others:
            if other is not library and (there := other.store.by_reference(names, visible)):
                raise InvalidInput(
                    f"{there[0].urn} is in the shared store {other.name}: a change there is one for everybody.",
                    f"If that is meant, add: --store {other.name}",
                ) from None


def holder(libraries: Sequence[Library], references: Sequence[str]) -> Library:
    """The first that has all of these; without any, the first, which says what is missing."""
    names = [id_of(reference) for reference in references]
    return next((one for one in libraries if _has_all(one, names)), libraries[0])


def shared_copy(memory: Memory, target: Library, now: datetime) -> Shared:
    """The memory in another store, under its own URN; one that was copied before is brought up to what it says now."""
    _refuse_private(memory)
    there = target.store.by_reference([memory.id], OWNER)
    if there:
        changes = {name: getattr(memory, name) for name in SAID if getattr(memory, name) != getattr(there[0], name)}
        if not changes:
            return Shared(there[0], "already there")
        return Shared(edited(target, memory.id, changes, now), "updated")
    known = {one.id for one in target.store.by_reference(memory.supersedes, OWNER)}
    supersedes = tuple(name for name in memory.supersedes if name in known)
    # No row says "shared": that is found out by each reader, and an older memhook would not know the word.
    origin = Origin.IMPORT if memory.origin is Origin.SHARED else memory.origin
    draft = replace(draft_of(memory), supersedes=supersedes, aliases=(), muted=False, accessed=None, id=memory.id)
    draft = replace(draft, origin=origin)
    stored = remembered(target, [draft], now, again=True)[0]
    assert stored.memory is not None  # noqa: S101  only an import can be refused
    return Shared(stored.memory, "stored" if stored.outcome == "stored" else "already there")


def _refuse_private(memory: Memory) -> None:
    if memory.sensitivity is not Sensitivity.NORMAL:
        raise InvalidInput(
            f"{memory.urn} is {memory.sensitivity}, so it stays in your own store.",
            f"If it may be shared: memhook edit {memory.urn} --sensitivity normal",
        )
    if memory.redacted:
        raise InvalidInput(f"{memory.urn} is redacted: there is nothing left of it to share.")
    if memory.quarantine:
        raise InvalidInput(
            f"{memory.urn} is in quarantine, so it is not handed on: it {memory.quarantine}.",
            f"Read it; if that is a mistake: memhook release {memory.urn}",
        )


def _has_all(library: Library, names: Sequence[str]) -> bool:
    known = {name for one in library.store.by_reference(names, OWNER) for name in (one.id, *one.aliases)}
    return known >= set(names)
