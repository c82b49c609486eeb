"""Operations that browse memories, events and statistics, for the owner: every memory is listed, with its marks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from memhook.answering import recall, usage
from memhook.answering.explore import record_of
from memhook.core.memory import URN_PREFIX, Memory
from memhook.core.staleness import clause
from memhook.engine.caller import Caller
from memhook.engine.explaining import explain
from memhook.engine.operations import projects_named, sensitivity_named
from memhook.errors import InvalidInput
from memhook.library.access import OWNER, is_open
from memhook.screening.policy import judged, shown_as
from memhook.store.ledger import Injection, Usage
from memhook.store.table.filters import Filter
from memhook.writing import remember
from memhook.writing.revision import version_of

SORTS = ("updated", "created", "title", "shown", "used")
FACETS = ("project", "namespace", "origin", "sensitivity", "tags")
NUMBERED_DAYS = 30
MOST_VERSIONS = 50
MOST_CHECKED = 2000  # memories, against the repository


def browse(
    caller: Caller,
    query: str = "",
    sort: str = "updated",
    limit: int = 50,
    offset: int = 0,
    stale: bool = False,
    **conditions: Any,
) -> dict[str, Any]:
    """Return a page of memories with their versions and use: the best for a query, or all in the order of `sort`.

    With `stale`, only memories of this project that no longer match the repository, the last changed first.
    """
    used = caller.accounts.usage()
    if stale:
        conditions["project"] = caller.project.id
    allowed = _filter(caller, used, **conditions)
    if conditions.get("quarantined"):
        caller.library.quarantine_suspects()
    scores: dict[str, float] = {}
    total = None
    if query.strip():
        ranked = recall.for_search(caller.all, query, allowed, offset + limit)[offset : offset + limit]
        memories = [one.memory for one in ranked]
        scores = {one.memory.id: one.score for one in ranked}
    elif stale:
        found = [one for one in caller.all.store.newest(allowed, MOST_CHECKED) if _doubt(caller, one)]
        memories, total = found[offset : offset + limit], len(found)
    else:
        memories = _sorted(caller, allowed, sort, used, limit, offset)
    return {
        "memories": [{**_record(caller, one, used.get(one.id)), "score": scores.get(one.id)} for one in memories],
        "total": caller.all.store.count(allowed) if total is None else total,
    }


def _doubt(caller: Caller, memory: Memory) -> str:
    """Return in a few words how the repository no longer matches a memory of this project."""
    return clause(caller.doubts_in(caller.project).findings(memory))


def _filter(
    caller: Caller,
    used: Mapping[str, Usage],
    project: str = "",
    namespaces: Sequence[str] = (),
    tags: Sequence[str] = (),
    origins: Sequence[str] = (),
    sensitivity: str = "",
    never_shown: bool = False,
    quarantined: bool = False,
    pinned: bool = False,
    muted: bool = False,
) -> Filter:
    return Filter(
        projects=projects_named(caller, project),
        namespaces=tuple(namespaces),
        tags=tuple(tags),
        origins=tuple(origins),
        sensitivities=(sensitivity_named(sensitivity),) if sensitivity else OWNER.sensitivities,
        except_ids=tuple(sorted(name for name, one in used.items() if one.shown)) if never_shown else (),
        quarantined=True if quarantined else None,
        pinned=True if pinned else None,
        only_muted=muted,
    )


def _sorted(
    caller: Caller, allowed: Filter, sort: str, used: Mapping[str, Usage], limit: int, offset: int
) -> list[Memory]:
    store = caller.all.store
    if sort == "updated":
        return store.newest(allowed, limit, offset)
    if sort in ("created", "title"):
        return store.sorted_by(sort, allowed, limit, offset)
    if sort not in SORTS:
        raise InvalidInput(f"There is no order {sort!r}.", f"It is one of: {', '.join(SORTS)}.")
    ids = sorted(store.ids(allowed), key=lambda name: -getattr(used.get(name, Usage()), sort))[offset : offset + limit]
    found = store.by_ids(ids, allowed)
    return [found[name] for name in ids if name in found]


def _record(caller: Caller, memory: Memory, used: Usage | None = None) -> dict[str, Any]:
    times = asdict(used or Usage())
    times = {name: value.isoformat() if isinstance(value, datetime) else value for name, value in times.items()}
    doubt = _doubt(caller, memory)
    return {**record_of(judged(memory)), "version": version_of(memory), **times, "doubt": doubt}


def look(caller: Caller, reference: str, events: int = 50) -> dict[str, Any]:
    """Return one memory with its predecessors and successors, why it is withheld, and when it was shown to whom."""
    memory = remember.found(caller.all, [reference])[0]
    used = caller.accounts.usage([memory.id])
    return {
        **explain(caller, memory.urn, events),
        "memory": _record(caller, memory, used.get(memory.id)),
        "predecessors": [_record(caller, one) for one in _predecessors(caller, memory)],
        "successors": [_record(caller, one) for one in _named(caller, [memory.superseded_by])],
    }


def _predecessors(caller: Caller, memory: Memory) -> list[Memory]:
    """Return the memories that it superseded, directly or through others."""
    found: dict[str, Memory] = {}
    ahead = _named(caller, memory.supersedes)
    while ahead and len(found) < MOST_VERSIONS:
        found |= {one.id: one for one in ahead}
        names = [name for one in ahead for name in one.supersedes]
        ahead = [one for one in _named(caller, names) if one.id not in found]
    return list(found.values())


def _named(caller: Caller, names: Sequence[str]) -> list[Memory]:
    return caller.all.store.by_reference([name for name in names if name], OWNER)


def facets(caller: Caller) -> dict[str, dict[str, int]]:
    """Return the number of memories by project, namespace, origin, sensitivity and tag, the largest first."""
    counts = caller.all.store.counts(FACETS)
    return {name: dict(Counter(values).most_common()) for name, values in counts.items()}


def events(
    caller: Caller, before: int = 0, limit: int = 60, session: str = "", project: str | None = None
) -> dict[str, Any]:
    """Return the last recorded events, the newest first: of a session or project, or before the number `before`."""
    found = caller.record.recent(limit, before, session, project)
    ids = list(dict.fromkeys(one.memory for _, event in found for one in event.considered if not one.reason))
    open_ones = {
        one.id: shown_as(one) for one in map(judged, caller.all.store.by_reference(ids, OWNER)) if is_open(one)
    }
    return {"events": [_event(number, event, open_ones) for number, event in found]}


def _event(number: int, event: Injection, memories: Mapping[str, Memory]) -> dict[str, Any]:
    """Return the record of an event without its text; memories shown have their titles, if these may be seen."""
    shown = [one for one in event.considered if not one.reason]
    return {
        "number": number,
        **{name: getattr(event, name) for name in ("session", "agent", "client", "event", "project", "outcome")},
        "at": event.at.isoformat(),
        "tokens": event.tokens,
        "budget": event.budget,
        "milliseconds": event.milliseconds,
        "considered": len(event.considered),
        "shown": [
            {
                "urn": URN_PREFIX + one.memory,
                "title": memories[one.memory].title if one.memory in memories else None,
                "level": one.level,
                "tokens": one.tokens,
                "score": one.score,
                "used": one.used,
            }
            for one in shown
        ],
    }


def numbers(caller: Caller, days: int = NUMBERED_DAYS) -> dict[str, Any]:
    """Return events by day, memories by origin and week, how often they were used, and their size."""
    since = caller.now - timedelta(days=days)
    uses = caller.accounts.usage()
    recorded = caller.accounts.events(since)
    shown, used = caller.accounts.showings(since)
    created = caller.library.store.columns(["origin", "created"])
    return {
        "days": usage.by_day(recorded, caller.now, days),
        "origins": usage.by_week(zip(created["origin"], created["created"], strict=True)),
        "shown": shown,
        "used": used,
        "memories_shown": sum(one.shown > 0 for one in uses.values()),
        "memories_used": sum(one.used > 0 for one in uses.values()),
        "bytes": _size(caller.library.store.uri),
        "ledger_bytes": caller.accounts.ledger.path.stat().st_size if caller.accounts.ledger else 0,
    }


def _size(uri: str) -> int | None:
    """Return the bytes of a local store; None for a remote one."""
    if "://" in uri:
        return None
    return sum(file.stat().st_size for file in Path(uri).rglob("*") if file.is_file())
