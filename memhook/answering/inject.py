"""`inject`: finished text for a prompt, from a search or from memories that are named."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from memhook.answering.block import Ranked
from memhook.core.fencing import label, one_line
from memhook.core.memory import Memory, id_of
from memhook.core.packing import packed
from memhook.core.passages import HORIZON, Passage, as_it_stands, passage
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
from memhook.core.terms import term_spans, terms
from memhook.core.tokens import estimated_tokens
from memhook.errors import InvalidInput
from memhook.library.joined import Searchable
from memhook.store.table.filters import Filter

# How much of a memory is shown, richest first: all of it, a part of so many characters chosen for the query, a summary.
FULL = ((Level.FULL, 0),)
MEDIUM = ((Level.MEDIUM, MEDIUM_CHARS), (Level.MEDIUM, 500), (Level.MEDIUM, 300), (Level.MEDIUM, 200))
LIGHT = ((Level.LIGHT, SUMMARY_CHARS), (Level.LIGHT, 0))
# Behind the best one, a level is given while there is room for a memory of the usual size at it: so a small budget goes
# to one memory in full, the next as a part and the others in a line, however long they happen to be.
ROOMS = {Level.FULL: 400, Level.MEDIUM: 150}
# Of the budget, for the names of what comes after: less names fewer of the gold memories, more carries less of their
# text (guide/measurements.md).
KEPT_SHARE = 0.12
QUERY_CHARS = 120
REFERENCE_CHARS = 60
MAX_HITS = 1_000
NAMED_UNKNOWN = 10
NOTHING_RELEVANT = "No memory bears on this."


_Step = tuple[Level, int]


@dataclass(frozen=True, slots=True)
class Hit:
    """A memory somebody found before, by URN, id or alias. Without a score it comes after those with one."""

    reference: str
    score: float | None


@dataclass(frozen=True, slots=True)
class Found:
    """Memories in their order with their scores, and the references nothing was found for.

    The last `weak` of them may bear on the query, the others do.
    """

    ranked: tuple[tuple[Memory, float | None], ...]
    unknown: tuple[str, ...] = ()
    weak: int = 0


@dataclass(frozen=True, slots=True)
class Enrichment:
    """The text, which may be a note that nothing fits, or empty. `note` says why, if that fits."""

    text: str
    memories: tuple[Memory, ...] = ()
    unknown: tuple[str, ...] = ()
    note: str = ""


def hits_of(values: Iterable[Any]) -> list[Hit]:
    """Hits as a caller writes them: {"id" or "urn", "score"?}; raises InvalidInput for what is none."""
    hits = [_hit(value) for value in values]
    if len(hits) > MAX_HITS:
        raise InvalidInput(f"There are {len(hits)} hits, more than the {MAX_HITS} that can be used.")
    return hits


def named(library: Searchable, hits: Sequence[Hit], allowed: Filter) -> Found:
    """The memories named, best score first; what `allowed` leaves out is as unknown as what does not exist."""
    memories = library.fit_to_show(library.store.by_reference([id_of(hit.reference) for hit in hits], allowed))
    by_name = {name: memory for memory in memories for name in (*memory.aliases, memory.id)}
    in_order = sorted(hits, key=lambda hit: -math.inf if hit.score is None else hit.score, reverse=True)
    scores: dict[Memory, float | None] = {}
    for hit in in_order:
        if memory := by_name.get(id_of(hit.reference)):
            scores.setdefault(memory, hit.score)
    unknown = dict.fromkeys(hit.reference for hit in hits if id_of(hit.reference) not in by_name)
    return Found(tuple(scores.items()), tuple(unknown))


def found(relevant: Sequence[Ranked], weak: Sequence[Ranked] = ()) -> Found:
    return Found(tuple((one.memory, one.score) for one in (*relevant, *weak)), weak=len(weak))


def enrichment(found: Found, query: str, max_tokens: int, weights: Mapping[str, float] | None = None) -> Enrichment:
    """The memories at the richest levels that fit, in their order, within `max_tokens`, heading included.

    `weights` say how much each term of the query counts where a part of a memory is chosen; without, all count alike.
    """
    if not found.ranked and not found.unknown:
        return Enrichment("", note=_first_that_fits([NOTHING_RELEVANT], max_tokens))
    head = f"## Relevant Context{': ' if query.strip() else ''}{one_line(query, QUERY_CHARS)}\n"
    counting = dict.fromkeys(terms(query), 1.0) if weights is None else weights
    offers = [
        Renderings(_steps(found, place), partial(_rendered, memory, score, counting))
        for place, (memory, score) in enumerate(found.ranked)
    ]
    frame = framed(head, _unknown_line(found.unknown, max_tokens))
    block = packed(offers, max_tokens, [frame], kept_share=KEPT_SHARE, rooms=ROOMS)
    if block.parts:
        memories = tuple(found.ranked[choice.index][0] for choice in block.chosen)
        return Enrichment(block.parts[0], memories, found.unknown)
    note = _too_little(len(found.ranked), max_tokens) if found.ranked else ""
    return Enrichment(_first_that_fits(_bare(head, note, found.unknown), max_tokens), (), found.unknown)


def _steps(found: Found, place: int) -> tuple[_Step, ...]:
    """In one line what may bear on the query; where nothing surely does, the best of it as a part."""
    if place < len(found.ranked) - found.weak:
        return *FULL, *MEDIUM, *LIGHT
    return (*MEDIUM, *LIGHT) if place == 0 else LIGHT


def _rendered(memory: Memory, score: float | None, weights: Mapping[str, float], step: _Step) -> Rendering:
    level, limit = step

    def shown(content: str) -> Passage:
        return as_it_stands(_part(content, weights, limit), content)

    return rendering(memory, level, INJECT, score=score, shown_medium=shown, summary_chars=limit)


def _part(content: str, weights: Mapping[str, float], limit: int) -> Passage:
    spans = term_spans(content[:HORIZON]) if len(content) > limit and weights else ()
    return passage(content, weights, spans, limit)


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
    """What is said when no memory is shown, the fullest wording first."""
    remark = f"\n({note})\n" if note else ""
    for line in _unknown_lines(unknown):
        yield f"{head}{remark}{line}"
        yield f"{remark}{line}"


def _unknown_line(unknown: Sequence[str], max_tokens: int) -> str:
    """A line that leaves most of the budget to what is known."""
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
    what = "1 memory" if memories == 1 else f"{memories} memories"
    return f"{what} found, too large for {max_tokens} tokens"
