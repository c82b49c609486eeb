"""`inject`: finished text for a prompt, from a search or from given hits."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import accumulate
from typing import Any

from memhook.answering.block import Ranked
from memhook.answering.doubts import NONE, Doubts
from memhook.core.excerpts import excerpt
from memhook.core.fencing import label, one_line
from memhook.core.memory import Memory, id_of
from memhook.core.packing import packed
from memhook.core.rendering import (
    INJECT,
    MEDIUM_CHARS,
    SUMMARY_CHARS,
    Level,
    Rendering,
    Renderings,
    framed,
    rendering,
)
from memhook.core.terms import terms
from memhook.core.tokens import estimated_tokens
from memhook.errors import InvalidInput
from memhook.library.joined import Searchable
from memhook.store.table.filters import Filter

WHOLE = sys.maxsize
# Levels with their characters, richest first: the whole memory, passages chosen for the query, a summary.
FULL = ((Level.FULL, WHOLE),)
FULL_IN_PART = tuple((Level.FULL, chars) for chars in (3200, 2600, 2200, 1900, 1600, 1400, 1200, 1100, 1000, 900))
MEDIUM = tuple((Level.MEDIUM, chars) for chars in (MEDIUM_CHARS, 500, 300, 200, 150, 100))
LIGHT = ((Level.LIGHT, SUMMARY_CHARS), (Level.LIGHT, 0))
# The tokens that a level counts for in the last 1,000 of the budget, whatever a memory takes in fact: so 500 tokens are
# one memory in full, one in medium and the others in a line, 1,000 are two in full and two in medium.
COUNTED = {Level.FULL: 350, Level.MEDIUM: 100, Level.LIGHT: 0}
ROOMY = 1000
HEAD_TOKENS = 50
# The share of the budget reserved for the titles of the rest: with less, fewer of the relevant memories are named, with
# more, less of their text is shown (guide/measurements.md).
RESERVED_SHARE = 0.12
QUERY_CHARS = 120
REFERENCE_CHARS = 60
MAX_HITS = 1_000
NAMED_UNKNOWN = 10
NOTHING_RELEVANT = "No relevant memory found."


_Step = tuple[Level, int]


@dataclass(frozen=True, slots=True)
class Hit:
    """A hit from an earlier search, by URN, id or alias. Hits without a score come last."""

    reference: str
    score: float | None


@dataclass(frozen=True, slots=True)
class Selection:
    """Memories in their order with their scores, and the unknown references.

    The last `weak` of them may be relevant, the others are. `remarks`, by id, are shown beside them.
    """

    ranked: tuple[tuple[Memory, float | None], ...]
    unknown: tuple[str, ...] = ()
    weak: int = 0
    remarks: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Enrichment:
    """The text, and the memories in it. Without memories, it is a note that nothing fits, or empty; `note` says why."""

    text: str
    memories: tuple[Memory, ...] = ()
    unknown: tuple[str, ...] = ()
    note: str = ""


def hits_of(values: Iterable[Any]) -> list[Hit]:
    """Parse hits of the form {"id" or "urn", "score"?}; raise InvalidInput for anything else."""
    hits = [_hit(value) for value in values]
    if len(hits) > MAX_HITS:
        raise InvalidInput(f"Too many hits: {len(hits)}, the limit is {MAX_HITS}.")
    return hits


def named(library: Searchable, hits: Sequence[Hit], allowed: Filter, doubts: Doubts = NONE) -> Selection:
    """Return the memories of the hits, best score first, but each after its successor.

    A memory outside `allowed` is unknown, like a missing one.
    """
    memories = library.fit_to_show(library.store.by_reference([id_of(hit.reference) for hit in hits], allowed))
    by_name = {name: memory for memory in memories for name in (*memory.aliases, memory.id)}
    in_order = sorted(hits, key=lambda hit: -math.inf if hit.score is None else hit.score, reverse=True)
    scores: dict[Memory, float | None] = {}
    for hit in in_order:
        if memory := by_name.get(id_of(hit.reference)):
            scores.setdefault(memory, hit.score)
    unknown = dict.fromkeys(hit.reference for hit in hits if id_of(hit.reference) not in by_name)
    weighed = doubts.newer_first([Ranked(memory, score or 0.0) for memory, score in scores.items()])
    ranked = tuple((one.memory, scores[one.memory]) for one in weighed.ranked)
    return Selection(ranked, tuple(unknown), remarks=weighed.remarks)


def found(relevant: Sequence[Ranked], weak: Sequence[Ranked] = (), doubts: Doubts = NONE) -> Selection:
    weighed = doubts.remarked((*relevant, *weak))
    weak_ids = {one.memory.id for one in weak}
    in_order = sorted(weighed.ranked, key=lambda one: one.memory.id in weak_ids)
    return Selection(tuple((one.memory, one.score) for one in in_order), weak=len(weak), remarks=weighed.remarks)


def enrichment(found: Selection, query: str, max_tokens: int, weights: Mapping[str, float] | None = None) -> Enrichment:
    """Render the memories in their order, at the richest levels that fit `max_tokens`, heading included.

    `weights` has the weight of each term of the query for choosing passages; by default all weigh the same.
    """
    if not found.ranked and not found.unknown:
        return Enrichment("", note=_first_that_fits([NOTHING_RELEVANT], max_tokens))
    head = f"## Relevant Context{': ' if query.strip() else ''}{one_line(query, QUERY_CHARS)}\n"
    counting = dict.fromkeys(terms(query), 1.0) if weights is None else weights
    levels = list(_levels(found, max_tokens))
    offers = [
        Renderings(
            _steps(level, place, len(memory.content), max_tokens),
            partial(_rendered, memory, score, counting, found.remarks.get(memory.id, "")),
        )
        for place, (level, (memory, score)) in enumerate(zip(levels, found.ranked, strict=True))
    ]
    frame = framed(head, _unknown_line(found.unknown, max_tokens))
    block = packed(
        offers, max_tokens, [frame], leaves_enough=_Reserve(levels, offers, int(RESERVED_SHARE * max_tokens))
    )
    if block.parts:
        memories = tuple(found.ranked[choice.index][0] for choice in block.chosen)
        return Enrichment(block.parts[0], memories, found.unknown)
    note = _too_little(len(found.ranked), max_tokens) if found.ranked else ""
    return Enrichment(_first_that_fits(_bare(head, note, found.unknown), max_tokens), (), found.unknown)


def _levels(found: Selection, budget: int) -> Iterator[Level]:
    """Yield the richest level for each rank: the first in full, then lower ones as the budget is counted down.

    While more than `ROOMY` tokens are left, all are in full, and nothing is counted. A weak hit is shown in one line,
    or in medium if it is the second.
    """
    left, counted = budget, min(budget, ROOMY)
    for place, (memory, _) in enumerate(found.ranked):
        is_roomy = left > ROOMY
        level = next(level for level, tokens in COUNTED.items() if tokens <= counted or not place or is_roomy)
        if place >= max(1, len(found.ranked) - found.weak):
            level = min(level, Level.MEDIUM if place == 1 else Level.LIGHT)
        left -= HEAD_TOKENS + len(memory.content) // 4
        counted = counted if is_roomy else max(0, counted - COUNTED[level])
        yield level


def _steps(level: Level, place: int, chars: int, budget: int) -> Iterator[_Step]:
    """Yield the levels to try; the best memory is cut, but not lowered to medium, to make room for the others.

    Those that cannot fit, or show no less than the one before, are not rendered.
    """
    most = 4 * budget  # a token has at most four characters by the estimate
    if level is Level.FULL:
        yield from FULL if chars <= most else ()
        yield from (step for step in (() if place else FULL_IN_PART) if step[1] < min(chars, most))
    if level >= Level.MEDIUM:
        least = next((limit for _, limit in reversed(MEDIUM) if limit >= chars), MEDIUM_CHARS)
        yield from (step for step in MEDIUM if step[1] <= least)
    yield from LIGHT


@dataclass(frozen=True, slots=True)
class _Reserve:
    """The tokens to leave for the memories behind: a passage of the second, and titles up to `reserved` tokens."""

    levels: Sequence[Level]
    offers: Sequence[Renderings[_Step]]
    reserved: int

    def __call__(self, behind: int, left: int) -> bool:
        if behind == 1 < len(self.levels) and self.levels[1] > Level.LIGHT:
            left -= self.offers[1].at(MEDIUM[-1]).tokens
            behind = 2
        titles = (offer.at(LIGHT[-1]).tokens for offer in self.offers[behind:])
        # Lazy: no more titles are rendered than it takes to exceed what is left.
        return left >= self.reserved or all(needed <= left for needed in accumulate(titles))


def _rendered(memory: Memory, score: float | None, weights: Mapping[str, float], remark: str, step: _Step) -> Rendering:
    level, limit = step
    shown = partial(excerpt, weights=weights, limit_chars=limit, is_filled=True)
    return rendering(memory, level, INJECT, score=score, shown=shown, summary_chars=limit, remark=remark)


def _hit(value: Any) -> Hit:
    if isinstance(value, str):
        return Hit(value, None)
    if not isinstance(value, Mapping):
        raise InvalidInput(f"{str(value)[:80]!r} is not a hit.", _HIT)
    reference = value.get("id") or value.get("urn")
    score = value.get("score")
    is_number = isinstance(score, int | float) and not isinstance(score, bool) and math.isfinite(score)
    if not isinstance(reference, str) or not reference.strip() or not (score is None or is_number):
        raise InvalidInput(f"{str(dict(value))[:80]} is not a hit.", _HIT)
    return Hit(reference.strip(), None if score is None else float(score))


_HIT = 'A hit names a memory and may have a score: {"id": "k3v9x2m4p7qa", "score": 0.87}'


def _bare(head: str, note: str, unknown: Sequence[str]) -> Iterator[str]:
    """Yield the texts for an answer without memories, longest first."""
    remark = f"\n({note})\n" if note else ""
    for line in _unknown_lines(unknown):
        yield f"{head}{remark}{line}"
        yield f"{remark}{line}"


def _unknown_line(unknown: Sequence[str], max_tokens: int) -> str:
    """Return the line about unknown references, which may take a third of the budget."""
    return next((line for line in _unknown_lines(unknown) if 3 * estimated_tokens(line) <= max_tokens), "")


def _unknown_lines(unknown: Sequence[str]) -> Iterator[str]:
    if unknown:
        names = [label(id_of(reference), REFERENCE_CHARS) for reference in unknown[:NAMED_UNKNOWN]]
        more = f" and {len(unknown) - len(names)} more" if len(unknown) > len(names) else ""
        yield f"\n(unknown: {', '.join(names)}{more})\n"
        yield f"\n({len(unknown)} unknown)\n"
    yield ""


def _first_that_fits(texts: Iterable[str], max_tokens: int) -> str:
    return next((short for text in texts if estimated_tokens(short := text.strip("\n")) <= max_tokens), "")


def _too_little(memories: int, max_tokens: int) -> str:
    count = "1 memory" if memories == 1 else f"{memories} memories"
    return f"{count} found, too large for {max_tokens} tokens"
