"""The operation behind `tidy`: what in the store may need a decision. It changes nothing."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

from memhook.answering.doubts import is_never_used
from memhook.core.memory import Memory, are_two
from memhook.engine.caller import Caller
from memhook.engine.revising import versioned
from memhook.library.access import in_reach, open_ones
from memhook.store.ledger import Usage
from memhook.store.table.filters import Filter
from memhook.writing.closeness import neighbours, superseding

MOST_COMPARED = 300
NEVER_SHOWN_DAYS = 30

Item = dict[str, Any]


def tidy_list(caller: Caller, here: bool = False, limit: int = 50) -> dict[str, Any]:
    """Duplicates, contradictions, stale memories, those often shown and never used, and those never shown.

    A contradiction is about the older memory; `other` is the newer one, as for a duplicate.
    """
    allowed = replace(open_ones(caller.now), projects=in_reach(caller.project.id).projects if here else ())
    memories = caller.library.store.newest(allowed, MOST_COMPARED)
    items = [*_duplicates(caller, memories), *_proposed(caller, allowed), *_by_use(caller, memories)]
    once = {frozenset((item["memory"]["id"], (item["other"] or {}).get("id"))): item for item in reversed(items)}
    kept = list(reversed(once.values()))
    return {"items": kept[:limit], "total": len(kept), "kinds": dict(Counter(item["kind"] for item in kept))}


def _duplicates(caller: Caller, memories: Sequence[Memory]) -> Iterator[Item]:
    """Nearly the same texts. What they supersede is proposed, unless the user has declined it before."""
    for memory in memories:
        near = neighbours(caller.library, memory, caller.rights.visible)
        older = [one for one in near.close if one.updated <= memory.updated and not are_two(one, memory)]
        yield from (_item("duplicate", one, "nearly the same text", memory) for one in older)
        caller.accounts.propose(superseding(memory, near), caller.now)


def _proposed(caller: Caller, allowed: Filter) -> Iterator[Item]:
    """What waits in the inbox, of memories of any age."""
    waiting = caller.accounts.proposals()
    named = {name for one in waiting for name in (one.memory, one.other) if name}
    by_id = caller.library.store.by_ids(sorted(named), allowed)
    proposals = [one for one in waiting if one.memory in by_id and (not one.other or one.other in by_id)]
    for asked, kind in (("supersede", "contradiction"), ("retire", "stale")):
        for one in proposals:
            if one.kind == asked:
                yield _item(kind, by_id[one.memory], one.reason, by_id.get(one.other))


def _by_use(caller: Caller, memories: Sequence[Memory]) -> Iterator[Item]:
    usage = defaultdict(Usage, caller.accounts.usage([memory.id for memory in memories]))
    for memory in memories if caller.accounts.has_receipts() else ():
        if is_never_used(usage[memory.id]):
            yield _item("never used", memory, f"shown {usage[memory.id].shown} times, never used")
    old = caller.now - timedelta(days=NEVER_SHOWN_DAYS)
    for memory in memories:
        is_unknown = not usage[memory.id].shown and not usage[memory.id].used
        if is_unknown and memory.created < old and not memory.pinned:
            yield _item("never shown", memory, f"stored {memory.created.date()}, never shown")


def _item(kind: str, memory: Memory, reason: str, other: Memory | None = None) -> Item:
    return {"kind": kind, "memory": versioned(memory), "other": versioned(other) if other else None, "reason": reason}
