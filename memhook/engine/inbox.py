"""Operations for the user's review: the inbox, and the list of `tidy`.

The inbox has captured memories, and proposals about others, until the user decides on them.

An item is named by its memory. Each decision returns the memories and `undo`, the call that reverts it.

    keep    a captured memory becomes the user's own; a proposal is declined
    drop    the memory is forgotten, or superseded by the other one if that was proposed
    merge   the text of a captured memory is added to another one, which becomes the user's own
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from memhook.answering import recall
from memhook.answering.doubts import is_never_used
from memhook.core.memory import Memory, Origin, Sensitivity, are_two, place_of
from memhook.engine.caller import Caller
from memhook.engine.operations import typed
from memhook.engine.revising import changed, versioned
from memhook.errors import InvalidInput
from memhook.library.access import in_reach, is_open, open_ones
from memhook.store.ledger import Proposal, Usage
from memhook.store.table.filters import Filter
from memhook.writing import remember, revision
from memhook.writing.closeness import neighbours, superseding
from memhook.writing.revision import plain_form

CAPTURED = "captured"
NEAREST = 3
REVIEWED: Mapping[str, Any] = {"origin": Origin.USER, "expires": None}
MOST_COMPARED = 300
NEVER_SHOWN_DAYS = 30
SAME_TEXT = "nearly the same text"


def inbox_list(caller: Caller, limit: int = 50, offset: int = 0, here: bool = False) -> dict[str, Any]:
    """Return a page of items, the newest first, and the number of each kind."""
    allowed = _captured(caller, here)
    caller.withdrawn_in(caller.project, caller.now)
    proposed = _proposed(caller, here)
    items = [_item(CAPTURED, memory) for memory in caller.library.store.newest(allowed, offset + limit)]
    items += [_item(one.kind, memory, other, one.reason, one.at) for one, memory, other in proposed]
    kinds = Counter({CAPTURED: caller.library.store.count(allowed)}) + Counter(one.kind for one, *_ in proposed)
    newest = sorted(items, key=lambda item: item["at"], reverse=True)
    return {"items": newest[offset : offset + limit], "total": sum(kinds.values()), "kinds": kinds}


def inbox_keep(
    caller: Caller, references: Sequence[str], versions: Mapping[str, str] = {}, **fields: Any
) -> dict[str, Any]:
    """Make captured memories the user's own, with these fields changed; decline the proposals about others."""
    memories, proposals = _waiting(caller, references, versions)
    before = [one for one in memories if one.origin is Origin.CAPTURED or fields]
    changes = {one.id: {**REVIEWED, **typed(fields, caller.now)} for one in before}
    after = remember.edited_together(caller.library, changes, caller.now, versions=versions) if before else []
    return changed(caller, before, after, memories, proposals)


def inbox_drop(caller: Caller, references: Sequence[str], versions: Mapping[str, str] = {}) -> dict[str, Any]:
    """Forget captured memories, and accept the proposals about others, unless something they name is back."""
    withdrawn = caller.withdrawn_in(caller.project, caller.now)
    memories, proposals = _waiting(caller, references, versions, withdrawn)
    replaced = {one.memory: one.other for one in proposals if one.other}
    successors = remember.found(caller.library, list(dict.fromkeys(replaced.values())))
    changes = {one.id: {"supersedes": _and_replaced(one, replaced)} for one in successors}
    to_forget = [one for one in memories if one.id not in replaced]
    after = remember.edited_together(caller.library, changes, caller.now) if changes else []
    if to_forget:
        remember.forgotten(caller.library, [one.id for one in to_forget], caller.now, versions)
    superseded = {one.id: one for one in remember.found(caller.library, list(replaced))}  # as they are now
    shown = [superseded.get(one.id, one) for one in memories]
    return changed(caller, [*to_forget, *successors], after, shown, proposals)


def inbox_merge(
    caller: Caller, reference: str, into: str, content: str = "", versions: Mapping[str, str] = {}
) -> dict[str, Any]:
    """Add the text of a captured memory to another one, whose text becomes `content` if given; forget the first."""
    (item,), proposals = _waiting(caller, [reference], versions)
    target = remember.found(caller.library, [into])[0]
    if target.id == item.id:
        raise InvalidInput("A memory cannot be merged with itself.", "Name another one.")
    joined = content or _joined(target.content, item.content)
    remember.forgotten(caller.library, [item.id], caller.now, versions)  # first: the other may get the same text
    try:
        after = remember.edited(caller.library, target.id, {**REVIEWED, "content": joined}, caller.now)
    except Exception:
        revision.put_back(caller.library, [plain_form(item)], {})
        raise
    return changed(caller, [item, target], [after], [after], proposals)


def inbox_near(caller: Caller, reference: str) -> list[dict[str, Any]]:
    """Return the memories nearest to this one, to merge it into; only open ones, because their titles are shown."""
    memory = remember.found(caller.library, [reference])[0]
    open_ones = replace(
        in_reach(memory.project), sensitivities=(Sensitivity.NORMAL,), redacted=False, quarantined=False
    )
    ranked = recall.for_search(caller.library, memory.content, open_ones, NEAREST + 1)
    return [versioned(one.memory) for one in ranked if one.memory.id != memory.id][:NEAREST]


def _captured(caller: Caller, here: bool) -> Filter:
    return Filter(projects=in_reach(caller.project.id).projects if here else (), origins=(Origin.CAPTURED,))


def _proposed(caller: Caller, here: bool = False) -> list[tuple[Proposal, Memory, Memory | None]]:
    """Return the open proposals with their memories, as far as these are current and may be named.

    For a memory that may be superseded, a proposal to retire it is left out: the newer memory says more.
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
    caller: Caller, references: Sequence[str], versions: Mapping[str, str], withdrawn: Container[str] = ()
) -> tuple[list[Memory], list[Proposal]]:
    """Return the memories and their proposals.

    Raises InvalidInput for a memory that is not in the inbox, Conflict for one that has changed.
    """
    memories = remember.found(caller.library, references)
    revision.refuse_changed(memories, versions)
    ids = {memory.id for memory in memories}
    proposals = [one for one, *_ in _proposed(caller) if one.memory in ids]
    asked_about = {one.memory for one in proposals}
    for memory in memories:
        if memory.origin is Origin.CAPTURED or memory.id in asked_about:
            continue
        if memory.id in withdrawn:
            raise InvalidInput(
                f"Something that {memory.urn} names exists again: nothing was dropped.", "See: memhook inbox"
            )
        raise InvalidInput(f"{memory.urn} is not in the inbox.", "See: memhook inbox")
    return memories, proposals


def _and_replaced(memory: Memory, replaced: Mapping[str, str]) -> tuple[str, ...]:
    ours = [old for old, new in replaced.items() if new == memory.id]
    return tuple(dict.fromkeys((*memory.supersedes, *ours)))


def _joined(text: str, more: str) -> str:
    """Return both texts, or the one that contains the other."""
    if more.strip() in text:
        return text
    return more if text.strip() in more else f"{text.rstrip()}\n\n{more.strip()}"


def _item(
    kind: str, memory: Memory, other: Memory | None = None, reason: str = "", at: datetime | None = None
) -> dict[str, Any]:
    return {
        "kind": kind,
        "memory": versioned(memory),
        "other": versioned(other) if other else None,
        "reason": reason,
        "from": place_of(memory.session).words,
        "at": (at or memory.created).isoformat(),
    }


def tidy_list(caller: Caller, here: bool = False, limit: int = 50) -> dict[str, Any]:
    """Return duplicates, contradictions, stale memories, those often shown and never used, and those never shown.

    A contradiction is about the older memory; `other` is the newer one, as for a duplicate.
    """
    allowed = replace(open_ones(caller.now), projects=in_reach(caller.project.id).projects if here else ())
    memories = caller.library.store.newest(allowed, MOST_COMPARED)
    caller.withdrawn_in(caller.project, caller.now)
    items = [*_duplicates(caller, memories), *_asked_about(caller, allowed), *_by_use(caller, memories)]
    once = {frozenset((item["memory"]["id"], (item["other"] or {}).get("id"))): item for item in reversed(items)}
    kept = list(reversed(once.values()))
    return {"items": kept[:limit], "total": len(kept), "kinds": dict(Counter(item["kind"] for item in kept))}


def tidy_keep(caller: Caller, reference: str, other: str = "") -> dict[str, Any]:
    """Decline the proposals about a memory, or about it and the newer `other`: both stay.

    Duplicates have no proposal yet: they get a declined one, so that they are not listed again.
    """
    memories = remember.found(caller.library, [name for name in (reference, other) if name])
    pair = tuple(memory.id for memory in memories)
    asked = _open_ones(caller, pair)
    if asked or not other:
        return changed(caller, [], [], memories, asked)
    caller.record.propose([Proposal("supersede", pair[0], SAME_TEXT, pair[1])], caller.now)
    made = _open_ones(caller, pair)
    answer = changed(caller, [], [], memories, made)
    answer["undo"]["params"] = {"memories": [], "withdrawn": [one.number for one in made]}
    return answer


def _open_ones(caller: Caller, pair: tuple[str, ...]) -> list[Proposal]:
    return [one for one in caller.record.proposals() if {one.memory, one.other} - {""} == set(pair)]


def _duplicates(caller: Caller, memories: Sequence[Memory]) -> Iterator[dict[str, Any]]:
    """Yield nearly the same texts, without pairs that the user has declined; propose what each memory supersedes."""
    declined = caller.accounts.declined()
    for memory in memories:
        near = neighbours(caller.library, memory, caller.rights.visible)
        older = [one for one in near.close if one.updated <= memory.updated and not are_two(one, memory)]
        asked = [one for one in older if frozenset((one.id, memory.id)) not in declined]
        yield from (_item("duplicate", one, memory, SAME_TEXT) for one in asked)
        caller.accounts.propose(superseding(memory, near), caller.now)


def _asked_about(caller: Caller, allowed: Filter) -> Iterator[dict[str, Any]]:
    """Yield the proposals in the inbox, about memories of any age."""
    waiting = caller.accounts.proposals()
    named = {name for one in waiting for name in (one.memory, one.other) if name}
    by_id = caller.library.store.by_ids(sorted(named), allowed)
    proposals = [one for one in waiting if one.memory in by_id and (not one.other or one.other in by_id)]
    for asked, kind in (("supersede", "contradiction"), ("retire", "stale")):
        for one in proposals:
            if one.kind == asked:
                yield _item(kind, by_id[one.memory], by_id.get(one.other), one.reason)


def _by_use(caller: Caller, memories: Sequence[Memory]) -> Iterator[dict[str, Any]]:
    usage = defaultdict(Usage, caller.accounts.usage([memory.id for memory in memories]))
    for memory in memories:
        if is_never_used(usage[memory.id]):
            yield _item("never used", memory, reason=f"shown {usage[memory.id].judged} times, never used")
    old = caller.now - timedelta(days=NEVER_SHOWN_DAYS)
    for memory in memories:
        is_unknown = not usage[memory.id].shown and not usage[memory.id].used
        if is_unknown and memory.created < old and not memory.pinned:
            yield _item("never shown", memory, reason=f"stored {memory.created.date()}, never shown")
