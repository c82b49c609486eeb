"""The operation behind `tidy`: what in the store may need a decision. It changes nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from memhook.answering.doubts import is_never_used
from memhook.answering.records import record_of
from memhook.core.memory import Memory
from memhook.engine.caller import Caller
from memhook.library.access import in_reach, open_ones
from memhook.screening.policy import shown_as
from memhook.store.ledger import Usage
from memhook.writing.closeness import neighbours, superseding
from memhook.writing.revision import version_of

MOST_COMPARED = 300
NEVER_SHOWN_DAYS = 30

Item = dict[str, Any]


def tidy_list(caller: Caller, here: bool = False, limit: int = 50) -> dict[str, Any]:
    """Duplicates, contradictions, stale memories, those often shown and never used, and those never shown.

    A contradiction is about the older memory; `other` is the newer one, as for a duplicate.
    """
    now = datetime.now(UTC)
    allowed = replace(open_ones(now), projects=in_reach(caller.project.id).projects if here else ())
    memories = caller.library.store.newest(allowed, MOST_COMPARED)
    items = [*_pairs(caller, memories, now), *_stale(caller, memories), *_by_use(caller, memories, now)]
    once = {(item["memory"]["id"], (item["other"] or {}).get("id", "")): item for item in reversed(items)}
    kept = list(reversed(once.values()))
    return {"items": kept[:limit], "total": len(kept), "kinds": dict(Counter(item["kind"] for item in kept))}


def _pairs(caller: Caller, memories: Sequence[Memory], now: datetime) -> Iterator[Item]:
    """Duplicates and contradictions; what the user has declined before is not proposed again."""
    for memory in memories:
        near = neighbours(caller.library, memory, caller.rights.visible)
        yield from (
            _item("duplicate", one, "nearly the same text", memory)
            for one in near.close
            if one.updated <= memory.updated
        )
        if caller.ledger:
            caller.ledger.propose(superseding(memory, near), now)
    yield from _proposed(caller, memories, "supersede", "contradiction")


def _stale(caller: Caller, memories: Sequence[Memory]) -> Iterator[Item]:
    yield from _proposed(caller, memories, "retire", "stale")


def _proposed(caller: Caller, memories: Sequence[Memory], asked: str, kind: str) -> Iterator[Item]:
    by_id = {memory.id: memory for memory in memories}
    for one in caller.ledger.proposals() if caller.ledger else ():
        if one.kind == asked and one.memory in by_id and (not one.other or one.other in by_id):
            yield _item(kind, by_id[one.memory], one.reason, by_id.get(one.other))


def _by_use(caller: Caller, memories: Sequence[Memory], now: datetime) -> Iterator[Item]:
    usage = caller.ledger.usage([memory.id for memory in memories]) if caller.ledger and memories else {}
    has_receipts = caller.ledger is not None and caller.ledger.has_receipts()
    old = now - timedelta(days=NEVER_SHOWN_DAYS)
    for memory in memories:
        found = usage.get(memory.id, Usage())
        if has_receipts and is_never_used(found):
            yield _item("never used", memory, f"shown {found.shown} times, never used")
    for memory in memories:
        found = usage.get(memory.id, Usage())
        if not found.shown and not found.used and memory.created < old and not memory.pinned:
            yield _item("never shown", memory, f"stored {memory.created.date()}, never shown")


def _item(kind: str, memory: Memory, reason: str, other: Memory | None = None) -> Item:
    return {"kind": kind, "memory": _record(memory), "other": _record(other) if other else None, "reason": reason}


def _record(memory: Memory) -> dict[str, Any]:
    return {**record_of(shown_as(memory)), "version": version_of(memory)}
