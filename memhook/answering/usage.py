"""What memhook has cost and what it was good for, from the ledger."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from memhook.answering.silence import SHOWN, Silence
from memhook.core.memory import Memory
from memhook.library.access import OWNER, in_reach, is_open, open_ones
from memhook.library.joined import ReadableStore
from memhook.screening.policy import judged, shown_as
from memhook.store.ledger import Ledger, Recorded

EXAMPLES = 5


def usage(
    store: ReadableStore, ledger: Ledger, now: datetime, days: int | None = None, project: str | None = None
) -> dict[str, Any]:
    """Of the last `days`, or of all that is kept; of one project, or of all."""
    since = None if days is None else now - timedelta(days=days)
    events = ledger.events(since, project)
    return {
        "since": events[0].at.isoformat() if events else None,
        "project": project,
        **_spending(events),
        **_surfaced(store, ledger.surfaced(since, project), now, project),
    }


def _spending(events: Sequence[Recorded]) -> dict[str, Any]:
    prompts = [event for event in events if "prompt" in event.event.lower()]  # each client has its own name for it
    spoken = [event.tokens for event in prompts if event.outcome == SHOWN]
    sessions: dict[str, int] = defaultdict(int)
    for event in events:
        sessions[event.session] += event.tokens
    return {
        "prompts": len(prompts),
        "with_injection": len(spoken),
        "share": round(len(spoken) / len(prompts), 4) if prompts else 0.0,
        "silent": dict(Counter(event.outcome for event in prompts if event.outcome != SHOWN).most_common()),
        "tokens_per_prompt": _percentiles([event.tokens for event in prompts]),
        "tokens_per_injection": _percentiles(spoken),
        "sessions": len(sessions),
        "sessions_used_up": len({event.session for event in events if event.outcome == Silence.SPENT}),
        "tokens_per_session": _percentiles(list(sessions.values())),
    }


def _surfaced(store: ReadableStore, times: Mapping[str, int], now: datetime, project: str | None) -> dict[str, Any]:
    """Which memories came up most, and which of those that may come up never did."""
    most = _first_open(store, list(times))
    could = open_ones(now) if project is None else replace(open_ones(now), projects=in_reach(project).projects)
    never = [key for key in store.ids(could) if key not in times]
    return {
        "surfaced": len(times),
        "surfaced_most": [{**_name(memory), "times": times[memory.id]} for memory in most],
        "never_surfaced": len(never),
        "never_examples": [_name(memory) for memory in _first_open(store, never)],
    }


def _first_open(store: ReadableStore, ids: Sequence[str]) -> list[Memory]:
    """The first few that still exist and may be named."""
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
