"""Explain why memories were shown or not: for a recorded event, or for a prompt asked now, as plain values.

Memories that are confidential, restricted or quarantined now are counted, not named.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from memhook.answering import silence
from memhook.answering.answer import Outcome, Surroundings, prompt_outcome
from memhook.answering.recall import BELOW_RELEVANCE, withheld_memories
from memhook.answering.silence import Silence
from memhook.core.fencing import without_entries
from memhook.core.grading import EDGES, FLOOR, Calibration, Strictness, grade_of, nearness_needed
from memhook.core.memory import URN_PREFIX, Memory
from memhook.core.packing import PartLimit
from memhook.core.rendering import END
from memhook.library.access import OWNER, is_closed, is_open, was_withheld
from memhook.library.joined import Searchable
from memhook.patterns import regex
from memhook.screening.policy import judged, shown_as
from memhook.screening.secrets import without
from memhook.settings import Settings
from memhook.store.embedding.encoder import multilingual_calibration
from memhook.store.ledger import Considered, Injection
from memhook.store.pauses import Pause

PROMPT_EVENT = "UserPromptSubmit"
WITHHELD = "- (a memory that by now is confidential, restricted, redacted, quarantined or forgotten)"
# Parts of a score that are the same for every candidate.
OF_THE_PROMPT = ("request", "foreign_request", "talk", "chance")
LEAST_CHANCE = 0.0005  # chances are recorded with four digits: nothing can be computed from a smaller one

# Only memhook's own lines start at the margin, so remembered text cannot forge a frame.
_BETWEEN_PARTS = regex(rf"(?<=\n{re.escape(END)})\n(?=## )")


def explained_record(injection: Injection, library: Searchable, settings: Settings) -> dict[str, Any]:
    """Explain a recorded event, with today's titles and thresholds."""
    memories = _looked_up(library, injection.considered)
    known = [one for one in injection.considered if _may_be_named(one, memories.get(one.memory))]
    withheld = Counter(_kind(memory) for memory in memories.values() if not is_open(memory))
    weighed = [one for one in injection.considered if not was_withheld(one.reason)]
    report = _report(injection, known, weighed, memories, settings, library.calibration)
    return {**report, "recorded": True, "withheld": dict(withheld)}


def explained_prompt(
    prompt: str,
    session: str,
    around: Surroundings,
    pause: Pause | None,
    part_limit: PartLimit | None,
    *,
    with_withheld: bool = True,
) -> dict[str, Any]:
    """Explain what `prompt` would get now, by the code that answers hooks. Nothing is recorded.

    With `with_withheld`, a second search finds the memories that hooks may not show.
    """
    with around.stages.timed("total"):
        reason = silence.at_rest(around.settings, pause)
        outcome = Outcome(reason) if reason else prompt_outcome(prompt, around, part_limit)
    block = outcome.block
    injection = outcome.injection(
        PROMPT_EVENT, session, "", "", around.project.id, around.settings.max_tokens, around.now, around.stages
    )
    was_searched = with_withheld and not reason and outcome.silence not in (Silence.SMALL_TALK, Silence.FOR_MEMHOOK)
    left_out, withheld = _withheld(prompt, around) if was_searched else ([], {})
    candidates = sorted((*block.considered, *left_out), key=lambda one: -one.score)
    memories = _looked_up(around.library, candidates)
    candidates = [one for one in candidates if one.memory not in memories or is_open(memories[one.memory])]
    report = _report(injection, candidates, block.considered, memories, around.settings, around.library.calibration)
    return {**report, "recorded": False, "withheld": withheld, "read_as": dict(outcome.read_as)}


def withheld_from(
    prompt: str, library: Searchable, project: str, settings: Settings, now: datetime
) -> tuple[Considered, ...]:
    """Return the records of relevant memories that a hook may not show, for the ledger."""
    found = withheld_memories(library, prompt, project, settings, now)
    return tuple(one.considered(reason) for one, reason in found if reason != BELOW_RELEVANCE)


def _withheld(prompt: str, around: Surroundings) -> tuple[list[Considered], dict[str, int]]:
    """Return the memories excluded by the filter: those that may be named, and counts of the others by kind."""
    found = withheld_memories(around.library, prompt, around.project.id, around.settings, around.now)
    named = [one.considered(reason) for one, reason in found if is_open(one.memory)]
    unnamed = [one.memory for one, reason in found if reason != BELOW_RELEVANCE and not is_open(one.memory)]
    return named, dict(Counter(map(_kind, unnamed)))


def _report(
    injection: Injection,
    candidates: Sequence[Considered],
    judged: Sequence[Considered],
    memories: Mapping[str, Memory],
    settings: Settings,
    calibration: Calibration,
) -> dict[str, Any]:
    is_prompt = injection.event == PROMPT_EVENT
    level = Strictness(settings.hooks.relevance) if is_prompt else None
    return {
        "at": injection.at.isoformat(),
        "event": injection.event,
        "client": injection.client,
        "session": injection.session,
        "agent": injection.agent,
        "project": injection.project,
        "outcome": injection.outcome,
        "relevance": _relevance(judged, settings, calibration) if is_prompt else None,
        "budget": injection.budget,
        "tokens": injection.tokens,
        "milliseconds": injection.milliseconds,
        "candidates": [_candidate(one, memories.get(one.memory), level) for one in candidates],
        "parts": _parts(injection, memories),
    }


def _relevance(judged: Sequence[Considered], settings: Settings, calibration: Calibration) -> dict[str, Any]:
    """Return the chance, today's thresholds, and the cosine or setting that would reach them."""
    level = Strictness(settings.hooks.relevance)
    edges = EDGES[level]
    parts = max(judged, key=lambda one: one.score).parts if judged else {}
    chance = parts.get("chance")
    is_foreign = "foreign_request" in parts
    cosine = "multilingual" if is_foreign else "dense"
    nearest = max((one.parts[cosine] for one in judged if cosine in one.parts), default=None)
    weights = multilingual_calibration() if is_foreign else calibration
    return {
        "level": level.value,
        "unsure_from": edges.unsure,
        "sure_from": edges.sure,
        "floor": FLOOR,
        "chance": chance,
        "request": parts.get("foreign_request" if is_foreign else "request"),
        "talk": parts.get("talk"),
        "cosine": cosine,
        "nearest": nearest,
        "nearness_needed": _nearness_needed(parts, nearest, parts.get(cosine), edges.unsure, weights),
        "speaks_at": None if chance is None else _laxer_level(chance, level),
        "grade": None if chance is None else grade_of(chance, level).value,
    }


def _nearness_needed(
    parts: Mapping[str, float], nearest: float | None, best: float | None, edge: float, calibration: Calibration
) -> float | None:
    """Return the cosine at which a memory, otherwise like the best one, would have been shown, or None if unknown.

    It is known only if the calibrated model decided, which records the kind of request.
    """
    chance = parts.get("chance", 0.0)
    is_calibrated = parts.get("request") or parts.get("foreign_request")
    if nearest is None or best is None or not is_calibrated or not LEAST_CHANCE <= chance < edge:
        return None
    needed = nearness_needed(edge, chance, nearest, best, calibration)
    return needed if needed <= 1.0 else None


def _laxer_level(chance: float, level: Strictness) -> str | None:
    """Return the strictest level that shows something at `chance`, if this one does not."""
    speaking = [other for other in Strictness if EDGES[other].unsure <= chance]
    return None if level in speaking or not speaking else max(speaking, key=lambda one: EDGES[one].unsure).value


def _candidate(one: Considered, memory: Memory | None, level: Strictness | None) -> dict[str, Any]:
    is_same = memory is not None and memory.content_hash == one.content_hash
    return {
        "urn": URN_PREFIX + one.memory,
        "title": memory.title if memory else None,
        "exists": memory is not None,
        "changed_since": memory is not None and not is_same,
        "score": one.score,
        "grade": grade_of(one.score, level).value if level else None,
        "score_parts": {name: value for name, value in one.parts.items() if name not in OF_THE_PROMPT},
        "shown": not one.reason,
        "reason": one.reason,
        "level": one.level,
        "is_whole": is_same and memory is not None and one.passages == ((0, len(memory.content)),),
        "passages": [list(passage) for passage in one.passages],
        "tokens": one.tokens,
        "part": one.part,
    }


def _parts(injection: Injection, memories: Mapping[str, Memory]) -> list[str]:
    """Return the emitted text by parts, without memories that may no longer be shown."""
    seen = {memory.id for memory in memories.values() if is_open(memory)}
    hidden = {one.memory for one in injection.considered} - seen
    text = without(without_entries(injection.text, hidden, WITHHELD))
    return _BETWEEN_PARTS.split(text) if text else []


def _may_be_named(one: Considered, memory: Memory | None) -> bool:
    return is_open(memory) if memory else not is_closed(one.reason)


def _kind(memory: Memory) -> str:
    if memory.quarantine:
        return f"quarantined ({memory.quarantine})"
    return "redacted" if memory.redacted else memory.sensitivity.value


def _looked_up(library: Searchable, considered: Sequence[Considered]) -> dict[str, Memory]:
    ids = list(dict.fromkeys(one.memory for one in considered))
    return {memory.id: shown_as(judged(memory)) for memory in library.store.by_reference(ids, OWNER)}
