"""Operations on the inbox: captured memories, and proposals about others, until the user decides on them.

An item is named by its memory. Each decision returns the memories and `undo`, the call that takes it back.

    keep    a captured memory becomes the user's own; of a proposal, nothing changes
    drop    the memory is forgotten, or superseded by the other one if that was proposed
    merge   what a captured memory says is added to another one, which is the user's own then
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from memhook.answering import recall
from memhook.core.memory import Memory, Origin, Sensitivity
from memhook.core.places import parsed
from memhook.engine.caller import Caller
from memhook.engine.operations import typed
from memhook.engine.revising import changed, versioned
from memhook.errors import InvalidInput
from memhook.library.access import in_reach, is_open
from memhook.store.ledger import Proposal
from memhook.store.table.filters import Filter
from memhook.writing import remember, revision
from memhook.writing.revision import plain_form

CAPTURED = "captured"
NEAREST = 3
REVIEWED: Mapping[str, Any] = {"origin": Origin.USER, "expires": None}


def inbox_list(caller: Caller, limit: int = 50, offset: int = 0, here: bool = False) -> dict[str, Any]:
    """A page of items, the newest first, and how many there are of each kind."""
    allowed = _captured(caller, here)
    proposed = _proposed(caller, here)
    items = [_item(CAPTURED, memory) for memory in caller.library.store.newest(allowed, offset + limit)]
    items += [_item(one.kind, memory, other, one) for one, memory, other in proposed]
    kinds = Counter({CAPTURED: caller.library.store.count(allowed)}) + Counter(one.kind for one, *_ in proposed)
    newest = sorted(items, key=lambda item: item["at"], reverse=True)
    return {"items": newest[offset : offset + limit], "total": sum(kinds.values()), "kinds": kinds}


def inbox_keep(
    caller: Caller, references: Sequence[str], versions: Mapping[str, str] = {}, **fields: Any
) -> dict[str, Any]:
    """Make captured memories the user's own, with these fields changed; decline what is proposed about others."""
    memories, proposals = _waiting(caller, references, versions)
    before = [one for one in memories if one.origin is Origin.CAPTURED or fields]
    changes = {one.id: {**REVIEWED, **typed(fields, caller.now)} for one in before}
    after = remember.edited_together(caller.library, changes, caller.now, versions=versions) if before else []
    return changed(caller, before, after, memories, proposals)


def inbox_drop(caller: Caller, references: Sequence[str], versions: Mapping[str, str] = {}) -> dict[str, Any]:
    """Forget captured memories, and do what is proposed about others."""
    memories, proposals = _waiting(caller, references, versions)
    replaced = {one.memory: one.other for one in proposals if one.other}
    successors = remember.found(caller.library, list(dict.fromkeys(replaced.values())))
    changes = {one.id: {"supersedes": _and_replaced(one, replaced)} for one in successors}
    gone = [one for one in memories if one.id not in replaced]
    after = remember.edited_together(caller.library, changes, caller.now) if changes else []
    if gone:
        remember.forgotten(caller.library, [one.id for one in gone], caller.now, versions)
    return changed(caller, [*gone, *successors], after, memories, proposals)


def inbox_merge(
    caller: Caller, reference: str, into: str, content: str = "", versions: Mapping[str, str] = {}
) -> dict[str, Any]:
    """Add what a captured memory says to another one, or replace the text of that by `content`; the first one goes."""
    (item,), proposals = _waiting(caller, [reference], versions)
    target = remember.found(caller.library, [into])[0]
    if target.id == item.id:
        raise InvalidInput("A memory cannot be merged with itself.", "Name another one.")
    joined = content or _joined(target.content, item.content)
    remember.forgotten(caller.library, [item.id], caller.now, versions)  # first: the other may become the same text
    try:
        after = remember.edited(caller.library, target.id, {**REVIEWED, "content": joined}, caller.now)
    except Exception:
        revision.put_back(caller.library, [plain_form(item)], {})
        raise
    return changed(caller, [item, target], [after], [after], proposals)


def inbox_near(caller: Caller, reference: str) -> list[dict[str, Any]]:
    """The memories nearest to this one, which it may be merged into; their titles are shown, so only open ones."""
    memory = remember.found(caller.library, [reference])[0]
    open_ones = replace(
        in_reach(memory.project), sensitivities=(Sensitivity.NORMAL,), redacted=False, quarantined=False
    )
    ranked = recall.for_search(caller.library, memory.content, open_ones, NEAREST + 1)
    return [versioned(one.memory) for one in ranked if one.memory.id != memory.id][:NEAREST]


def _captured(caller: Caller, here: bool) -> Filter:
    return Filter(projects=in_reach(caller.project.id).projects if here else (), origins=(Origin.CAPTURED,))


def _proposed(caller: Caller, here: bool = False) -> list[tuple[Proposal, Memory, Memory | None]]:
    """The open proposals with the memories they are about, as far as these are current and may be named.

    One about each: what superseded a memory says more than that its files are gone.
    """
    proposals = caller.accounts.proposals()
    superseded = {one.memory for one in proposals if one.other}
    proposals = [one for one in proposals if one.other or one.memory not in superseded]
    names = [name for one in proposals for name in (one.memory, one.other) if name]
    found = caller.library.store.by_ids(list(dict.fromkeys(names)), Filter(redacted=False, superseded=False))
    there = {name: memory for name, memory in found.items() if is_open(memory)}
    reach = in_reach(caller.project.id).projects
    return [
        (one, there[one.memory], there.get(one.other))
        for one in proposals
        if one.memory in there and one.other in ("", *there) and (not here or there[one.memory].project in reach)
    ]


def _waiting(
    caller: Caller, references: Sequence[str], versions: Mapping[str, str]
) -> tuple[list[Memory], list[Proposal]]:
    """The items of these names; raises InvalidInput for one that is not in the inbox, Conflict for a changed one."""
    memories = remember.found(caller.library, references)
    revision.refuse_changed(memories, versions)
    ids = {memory.id for memory in memories}
    proposals = [one for one, *_ in _proposed(caller) if one.memory in ids]
    asked_about = {one.memory for one in proposals}
    for memory in memories:
        if memory.origin is not Origin.CAPTURED and memory.id not in asked_about:
            raise InvalidInput(f"{memory.urn} does not wait for a review.", "See: memhook inbox")
    return memories, proposals


def _and_replaced(memory: Memory, replaced: Mapping[str, str]) -> tuple[str, ...]:
    ours = [old for old, new in replaced.items() if new == memory.id]
    return tuple(dict.fromkeys((*memory.supersedes, *ours)))


def _joined(text: str, more: str) -> str:
    """Both texts, or the one that contains the other."""
    if more.strip() in text:
        return text
    return more if text.strip() in more else f"{text.rstrip()}\n\n{more.strip()}"


def _item(kind: str, memory: Memory, other: Memory | None = None, proposal: Proposal | None = None) -> dict[str, Any]:
    at = proposal.at if proposal and proposal.at else memory.created
    return {
        "kind": kind,
        "memory": versioned(memory),
        "other": versioned(other) if other else None,
        "reason": proposal.reason if proposal else "",
        "from": parsed(memory.session).words,
        "at": at.isoformat(),
    }
