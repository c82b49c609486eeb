"""Operations that change several memories at once, refuse what has changed meanwhile, and can be undone.

Each returns the memories and `undo`: the call that reverts it, as method and parameters.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from memhook.answering.explore import record_of
from memhook.core.memory import Memory
from memhook.engine.caller import Caller
from memhook.engine.operations import check_home, mute, release, typed
from memhook.screening.policy import masked_fields
from memhook.store.ledger import Proposal
from memhook.writing import remember, revision
from memhook.writing.revision import plain_form, version_of


def revise(
    caller: Caller,
    references: Sequence[str],
    versions: Mapping[str, str] = {},
    add_tags: Sequence[str] = (),
    remove_tags: Sequence[str] = (),
    **fields: Any,
) -> dict[str, Any]:
    """Set these fields of each memory, and add or remove tags; `versions` are those the change was made from, by id."""
    if "muted" in fields:
        return _annotated(caller, references, "muted", bool(fields["muted"]))
    if "released" in fields:
        return _annotated(caller, references, "released", bool(fields["released"]))
    before = _own(caller, references)
    given = typed(fields, caller.now)
    wanted = {one.id: {**given, **_tags(one, given, add_tags, remove_tags)} for one in before}
    after = remember.edited_together(caller.library, wanted, caller.now, versions=versions)
    return {**changed(caller, before, after, after), "masked": list(masked_fields(given)[1])}


def retract(caller: Caller, references: Sequence[str], versions: Mapping[str, str] = {}) -> dict[str, Any]:
    """Forget memories; undoing that brings them back under their URNs."""
    before = _own(caller, references)
    remember.forgotten(caller.library, [one.id for one in before], caller.now, versions)
    return changed(caller, before, [], before)


def put_back(
    caller: Caller,
    memories: Sequence[Mapping[str, Any]],
    versions: Mapping[str, str] = {},
    proposals: Sequence[int] = (),
    withdrawn: Sequence[int] = (),
) -> dict[str, Any]:
    """Put memories back as they were, and proposals into the inbox. `versions` are those made by the change to undo.

    The `withdrawn` proposals were made only to be declined, so they are deleted.
    """
    restored = revision.put_back(caller.library, memories, versions) if memories else []
    if proposals:
        caller.record.decide(proposals, decided=False)
    if withdrawn:
        caller.record.withdraw(withdrawn)
    return {"memories": [versioned(one) for one in restored]}


def changed(
    caller: Caller,
    before: Sequence[Memory],
    after: Sequence[Memory],
    shown: Sequence[Memory],
    proposals: Sequence[Proposal] = (),
) -> dict[str, Any]:
    """Record the proposals as decided; return the memories `shown` after a change, and the call that reverts it."""
    if numbers := [one.number for one in proposals]:
        caller.record.decide(numbers)
    current = {one.id: one for one in after}
    back = {
        "memories": [plain_form(one) for one in before],
        "versions": {one.id: version_of(one) for one in after},
        "proposals": numbers,
    }
    records = [versioned(current.get(one.id, one)) for one in shown]
    return {"memories": records, "undo": {"method": "put_back", "params": back}}


def _own(caller: Caller, references: Sequence[str]) -> list[Memory]:
    check_home(caller, references)
    return remember.found(caller.library, references)


def _tags(memory: Memory, given: Mapping[str, Any], add: Sequence[str], remove: Sequence[str]) -> dict[str, Any]:
    if not add and not remove:
        return {}
    kept = [tag for tag in given.get("tags", memory.tags) if tag not in remove]
    return {"tags": tuple(dict.fromkeys([*kept, *add]))}


def _annotated(caller: Caller, references: Sequence[str], what: str, value: bool) -> dict[str, Any]:
    """Mute or release memories, or undo that: they do not count as changed, and may be in a shared store."""
    change = {"muted": mute, "released": release}[what]
    others = [one.id for one in remember.found(caller.all, references) if bool(getattr(one, what)) != value]
    records = change(caller, others, value) if others else []
    undo = {"method": "revise", "params": {"references": others, what: not value}}
    return {"memories": records, "undo": undo if others else None}


def versioned(memory: Memory) -> dict[str, Any]:
    """Return the record of a memory with its version, which a change names."""
    return {**record_of(memory), "version": version_of(memory)}
