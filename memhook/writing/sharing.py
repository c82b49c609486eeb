"""Find the store that has a memory, and copy memories between stores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from memhook.core.memory import Memory, Origin, Sensitivity, Trait, id_of, names_with
from memhook.errors import InvalidInput, NotFound
from memhook.library.access import OWNER
from memhook.library.library import Library
from memhook.store.table.filters import Filter
from memhook.writing.remember import draft_of, edited, found, remembered, unnamed

# The fields that a copy takes over. Whether it was read, muted or released is not among them.
COPIED = names_with(Trait.COPIED)


def refuse_shared_ones(library: Library, others: Sequence[Library], references: Sequence[str], visible: Filter) -> None:
    """Raise InvalidInput for a memory that only a shared store has, if the caller may see it."""
    try:
        found(library, references, visible)
    except NotFound:
        names = [id_of(reference) for reference in references]
        for other in others:
            if other is not library and (there := other.store.by_reference(names, visible)):
                raise InvalidInput(
                    f"{there[0].urn} is in the shared store {other.name}: a change affects everybody.",
                    f"If you want that, add: --store {other.name}",
                ) from None


def holder(libraries: Sequence[Library], references: Sequence[str]) -> Library:
    """Return the first library that has all of these; if none has, the first, which then reports the missing ones."""
    names = [id_of(reference) for reference in references]
    having_all = (one for one in libraries if not unnamed(references, one.store.by_reference(names, OWNER)))
    return next(having_all, libraries[0])


def shared_copy(memory: Memory, target: Library, now: datetime) -> tuple[Memory, str]:
    """Copy a memory to another store, under its own URN, or update an earlier copy; return the copy and the outcome."""
    _refuse_private(memory)
    there = target.store.by_reference([memory.id], OWNER)
    if there:
        changes = {name: getattr(memory, name) for name in COPIED if getattr(memory, name) != getattr(there[0], name)}
        if not changes:
            return there[0], "already there"
        return edited(target, memory.id, changes, now), "updated"
    known = {one.id for one in target.store.by_reference(memory.supersedes, OWNER)}
    supersedes = tuple(name for name in memory.supersedes if name in known)
    # No row has the origin "shared": each reader derives it, and older versions do not know it.
    origin = Origin.IMPORT if memory.origin is Origin.SHARED else memory.origin
    draft = replace(draft_of(memory), supersedes=supersedes, origin=origin, aliases=(), muted=False, accessed=None)
    stored = remembered(target, [draft], now, again=True)[0]
    assert stored.memory is not None  # noqa: S101  only an import can be refused
    return stored.memory, stored.outcome


def _refuse_private(memory: Memory) -> None:
    if memory.sensitivity is not Sensitivity.NORMAL:
        raise InvalidInput(
            f"{memory.urn} is {memory.sensitivity}, so it stays in your own store.",
            f"If it may be shared: memhook edit {memory.urn} --sensitivity normal",
        )
    if memory.origin is Origin.CAPTURED:
        raise InvalidInput(
            f"{memory.urn} was captured and nobody has reviewed it, so it is not shared.",
            f"Read it; if it is right: memhook inbox keep {memory.urn}",
        )
    if memory.redacted:
        raise InvalidInput(f"{memory.urn} is redacted: there is nothing to share.")
    if memory.quarantine:
        raise InvalidInput(
            f"{memory.urn} is in quarantine, so it is not shared: it {memory.quarantine}.",
            f"Read it; if that is a mistake: memhook release {memory.urn}",
        )
