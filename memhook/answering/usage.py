"""Cost and use of memhook, from the ledger."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from memhook.answering.doubts import is_never_used
from memhook.answering.silence import SHOWN, Silence
from memhook.core.memory import Memory, Origin
from memhook.core.receipts import was_used
from memhook.library.access import OWNER, in_reach, is_open, open_ones
from memhook.library.joined import ReadableStore, Searchable
from memhook.screening.policy import judged, shown_as
from memhook.store.ledger import Ledger, Recorded, Usage

EXAMPLES = 5
NEVER = Usage()


def usage(
    store: ReadableStore, ledger: Ledger, now: datetime, days: int | None = None, project: str | None = None
) -> dict[str, Any]:
    """Return the figures of the last `days` or of the whole ledger, of one project or of all."""
    since = None if days is None else now - timedelta(days=days)
    events = ledger.events(since, project)
    return {
        "since": events[0].at.isoformat() if events else None,
        "project": project,
        **_spending(events),
        **_surfaced(store, ledger.surfaced(since, project), now, project),
        **_used(store, ledger.usage(), now),
        "by_origin": by_origin(store, ledger.usage(), project),
    }


def by_origin(store: ReadableStore, uses: Mapping[str, Usage], project: str | None) -> dict[str, dict[str, int]]:
    """Return how many memories each origin has, how many of them were ever shown, and how many used."""
    reach = OWNER if project is None else in_reach(project)
    ids = {origin: store.ids(replace(reach, origins=(origin.value,))) for origin in Origin}
    return {
        origin.value: {
            "memories": len(some),
            "shown": sum(bool(uses.get(key, NEVER).shown) for key in some),
            "used": sum(bool(uses.get(key, NEVER).used) for key in some),
        }
        for origin, some in ids.items()
        if some
    }


def by_day(events: Sequence[Recorded], now: datetime, days: int) -> list[dict[str, Any]]:
    """Return the prompts, the answered prompts and the tokens of each of the last days, the oldest first."""
    found: dict[str, list[Recorded]] = defaultdict(list)
    for event in events:
        found[f"{event.at:%Y-%m-%d}"].append(event)
    return [
        {
            "day": day,
            "prompts": sum(map(_is_prompt, found[day])),
            "answered": sum(_is_prompt(one) and one.outcome == SHOWN for one in found[day]),
            "tokens": sum(one.tokens for one in found[day]),
        }
        for day in (f"{now - timedelta(days=ago):%Y-%m-%d}" for ago in reversed(range(days)))
    ]


def by_week(written: Iterable[tuple[str, datetime]]) -> dict[str, dict[str, int]]:
    """Return how many memories each origin wrote, by the Monday of the week."""
    weeks: dict[str, Counter[str]] = defaultdict(Counter)
    for origin, created in written:
        weeks[f"{created - timedelta(days=created.weekday()):%Y-%m-%d}"][origin] += 1
    return {week: dict(weeks[week]) for week in sorted(weeks)}


def _is_prompt(event: Recorded) -> bool:
    return "prompt" in event.event.lower()  # each client has its own name for it


def _spending(events: Sequence[Recorded]) -> dict[str, Any]:
    prompts = [event for event in events if _is_prompt(event)]
    injected = [event.tokens for event in prompts if event.outcome == SHOWN]
    sessions: dict[str, int] = defaultdict(int)
    for event in events:
        sessions[event.session] += event.tokens
    return {
        "prompts": len(prompts),
        "with_injection": len(injected),
        "share": round(len(injected) / len(prompts), 4) if prompts else 0.0,
        "silent": dict(Counter(event.outcome for event in prompts if event.outcome != SHOWN).most_common()),
        "tokens_per_prompt": _percentiles([event.tokens for event in prompts]),
        "tokens_per_injection": _percentiles(injected),
        "sessions": len(sessions),
        "sessions_used_up": len({event.session for event in events if event.outcome == Silence.SPENT}),
        "tokens_per_session": _percentiles(list(sessions.values())),
    }


def _surfaced(store: ReadableStore, times: Mapping[str, int], now: datetime, project: str | None) -> dict[str, Any]:
    """Return the memories shown most, and those that could be shown but never were."""
    most = _first_open(store, list(times))
    could = open_ones(now) if project is None else replace(open_ones(now), projects=in_reach(project).projects)
    never = [key for key in store.ids(could) if key not in times]
    return {
        "surfaced": len(times),
        "surfaced_most": [{**_name(memory), "times": times[memory.id]} for memory in most],
        "never_surfaced": len(never),
        "never_examples": [_name(memory) for memory in _first_open(store, never)],
    }


def _used(store: ReadableStore, usage: Mapping[str, Usage], now: datetime) -> dict[str, Any]:
    """Return how often memories were shown and used, the best of the last week, and those never used.

    Without an assistant that reports the end of an exchange, no memory counts as never used.
    """
    week = now - timedelta(days=7)
    best = [key for key, one in usage.items() if one.last_used and one.last_used >= week]
    best.sort(key=lambda key: (-usage[key].used, key))
    never = sorted((key for key, one in usage.items() if is_never_used(one)), key=lambda key: -usage[key].judged)
    return {
        "shown": sum(one.shown for one in usage.values()),
        "used": sum(one.used for one in usage.values()),
        "best_of_week": [{**_name(one), "times": usage[one.id].used} for one in _first_open(store, best)],
        "never_used": len(never),
        "never_used_examples": [{**_name(one), "times": usage[one.id].judged} for one in _first_open(store, never)],
    }


def _first_open(store: ReadableStore, ids: Sequence[str]) -> list[Memory]:
    """Return the first few that still exist and may be named."""
    found: list[Memory] = []
    for start in range(0, len(ids), 10 * EXAMPLES):
        found += filter(is_open, map(judged, store.by_reference(ids[start : start + 10 * EXAMPLES], OWNER)))
        if len(found) >= EXAMPLES:
            break
    return found[:EXAMPLES]


def _name(memory: Memory) -> dict[str, str]:
    return {"urn": memory.urn, "title": shown_as(memory).title}


def _percentiles(values: Sequence[int]) -> dict[str, int]:
    ordered = sorted(values) or [0]
    return {f"p{share}": ordered[max(0, math.ceil(share / 100 * len(ordered)) - 1)] for share in (50, 95)}


def used_in(answer: str, known: Sequence[str], library: Searchable, project: str, shown: Sequence[str]) -> list[str]:
    """Return the memories of `shown` that an answer used; `known` has the words of the conversation before it."""
    frequencies, documents = library.store.statistics.frequencies, library.store.count(in_reach(project))
    memories = library.store.by_ids(shown).items()
    return [key for key, memory in memories if was_used(memory, known, answer, frequencies, documents)]
