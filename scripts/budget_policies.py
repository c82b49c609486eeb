"""Ways to spend a token budget on the same ranked memories, for `scripts/evaluate` to compare. Not part of memhook.

POLICIES   by name: those of the hook, `inject` and `pack`, and some that other tools use

Each gets the memories that the hook found worth showing, in order, and returns the finished text; `inject` searches by
itself, because it goes further down. All but `inject` and `pack` use the hook's entries and frame, so that they differ
only in how they spend the budget.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Reversible, Sequence
from functools import lru_cache, partial
from itertools import pairwise

from memhook.answering import inject, recall
from memhook.answering.block import Ranked
from memhook.core.excerpts import Excerpt, excerpt
from memhook.core.memory import Memory
from memhook.core.packing import packed
from memhook.core.passages import front
from memhook.core.rendering import HOOK, PROMPT_HEADING, Level, Rendering, hook_frames, rendering
from memhook.core.terms import terms
from memhook.core.tokens import estimated_tokens
from memhook.evaluation.policies import Policy, Prompted, hook_policy, pack_policy
from memhook.library.access import surfacing

FRAME = hook_frames(PROMPT_HEADING)[0]
MEDIUM_CHARS = 800

Shown = Callable[[str], Excerpt]


def _chosen(weights: Mapping[str, float], limit: int) -> Shown:
    """Render the relevant passages, as the hook's previews do."""
    return partial(excerpt, weights=weights, limit_chars=limit)


def _front(content: str, limit: int) -> Excerpt:
    beginning = front(content, limit)
    return Excerpt(beginning.marked, ((beginning.start, beginning.end),), not beginning.cut_after)


def _preview(memory: Memory, shown: Shown) -> Rendering:
    return rendering(memory, Level.PREVIEW, HOOK, shown=shown)


def _greedy(offers: Sequence[Reversible[Rendering]], budget: int) -> Sequence[str]:
    return packed(offers, budget, [FRAME]).parts


def previews_from_the_front(asked: Prompted, budget: int) -> Sequence[str]:
    shown = partial(_front, limit=asked.around.settings.preview_chars)
    return _greedy([[_preview(one.memory, shown)] for one in asked.recalled.worth_showing], budget)


def injected(asked: Prompted, budget: int) -> Sequence[str]:
    """Return the text of `inject`: a cascade of passages chosen for the prompt, and one line per weaker hit."""
    around = asked.around
    allowed = surfacing(around.project.id, around.settings, around.now)
    relevant, weak, weights = recall.for_enrichment(
        around.library, asked.prompt, allowed, around.settings.hooks.relevance
    )
    block = inject.enrichment(inject.found(relevant, weak), asked.prompt, budget, weights)
    return (block.text,) if block.memories else ()


def truncated(asked: Prompted, budget: int) -> Sequence[str]:
    """Show whole memories until the budget ends, the last one cut."""
    left = budget - FRAME.tokens
    texts: list[str] = []
    for one in asked.recalled.worth_showing:
        whole = rendering(one.memory, Level.FULL, HOOK)
        texts.append(whole.text if whole.tokens <= left else _cut(whole.text, left))
        left -= whole.tokens
        if left <= 0:
            break
    body = "".join(texts)
    return (f"{FRAME.head}{body}{FRAME.tail}".removesuffix("\n"),) if body else ()


def previews_then_richer(asked: Prompted, budget: int) -> Sequence[str]:
    """Show a preview of each memory that fits, and spend the rest on richer levels of the best ones."""
    offers = [_levels(one, asked) for one in asked.recalled.worth_showing]
    left = budget - FRAME.tokens
    chosen: list[Rendering] = []
    for renderings in offers:
        if renderings[-1].tokens > left:
            break
        chosen.append(renderings[-1])
        left -= renderings[-1].tokens
    for index in range(len(chosen)):
        richest = next(one for one in offers[index] if one.tokens - chosen[index].tokens <= left)
        left -= richest.tokens - chosen[index].tokens
        chosen[index] = richest
    return _finished(chosen)


def weighed(asked: Prompted, budget: int) -> Sequence[str]:
    """Choose greedily the level, of any memory, that adds most value for its tokens.

    The value of a level is the memory's score times its content: name, words of the prompt and text, a third each. Only
    the levels on the upper hull of value over tokens are steps, so that the steps of a memory become more expensive.
    """
    found = asked.recalled.worth_showing
    left = budget - FRAME.tokens
    steps = sorted(
        (
            (-(after[0] - before[0]) / max(1, after[1].tokens - _tokens(before)), index, place, after[1])
            for index, one in enumerate(found)
            for place, (before, after) in enumerate(pairwise(_hull(one, asked)))
        ),
        key=lambda step: step[:3],
    )
    taken: dict[int, Rendering] = {}
    closed: set[int] = set()
    for _, index, _, after in steps:
        cost = after.tokens - (taken[index].tokens if index in taken else 0)
        if index in closed or cost > left:
            closed.add(index)
            continue
        left -= cost
        taken[index] = after
    return _finished([taken[index] for index in sorted(taken)])


_Point = tuple[float, Rendering | None]


def _tokens(point: _Point) -> int:
    return point[1].tokens if point[1] else 0


def _hull(one: Ranked, asked: Prompted) -> list[tuple[float, Rendering]]:
    """Return the upper hull: the levels that no mixture of a cheaper and a more expensive one beats."""
    points: list[_Point] = [(0.0, None)]
    for level in reversed(_levels(one, asked)):
        point = (one.score * _worth(level, one.memory, asked.recalled.weights), level)
        if level.tokens <= _tokens(points[-1]) or point[0] <= points[-1][0]:
            continue
        while len(points) > 1 and _slope(points[-1], point) >= _slope(points[-2], points[-1]):
            points.pop()
        points.append(point)
    return points  # type: ignore[return-value]


def _slope(before: _Point, after: _Point) -> float:
    return (after[0] - before[0]) / max(1, _tokens(after) - _tokens(before))


def _worth(level: Rendering, memory: Memory, weights: Mapping[str, float]) -> float:
    present = _distinct_terms(f"{memory.title}\n{memory.content}") & weights.keys()
    seen = _distinct_terms(level.text) & present
    words = sum(weights[term] for term in seen) / (sum(weights[term] for term in present) or 1.0)
    shown = sum(end - start for start, end in level.passages or ((0, len(memory.content)),))
    return (1.0 + words + shown / max(1, len(memory.content))) / 3


def _levels(one: Ranked, asked: Prompted) -> tuple[Rendering, ...]:
    return _rendered(one.memory, tuple(asked.recalled.weights.items()), asked.around.settings.preview_chars)


@lru_cache(maxsize=256)  # each budget asks for them again
def _rendered(memory: Memory, weights: tuple[tuple[str, float], ...], preview_chars: int) -> tuple[Rendering, ...]:
    """Return the whole memory, a long passage and a preview, without levels that cost more than a richer one."""
    levels = [rendering(memory, Level.FULL, HOOK)]
    for limit in (MEDIUM_CHARS, preview_chars):
        poorer = _preview(memory, _chosen(dict(weights), limit))
        if poorer.tokens < levels[-1].tokens:
            levels.append(poorer)
    return tuple(levels)


@lru_cache(maxsize=1024)
def _distinct_terms(text: str) -> frozenset[str]:
    return frozenset(terms(text))


def _finished(chosen: Sequence[Rendering]) -> Sequence[str]:
    body = "".join(one.text for one in chosen)
    return (f"{FRAME.head}{body}{FRAME.tail}".removesuffix("\n"),) if chosen else ()


def _cut(text: str, tokens: int) -> str:
    """Return the longest start of `text` within the tokens, ended by a newline; "" if it names no memory."""
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if estimated_tokens(f"{text[:middle]}\n") <= tokens else (low, middle - 1)
    return f"{text[:low]}\n" if "\n" in text[:low] else ""


POLICIES: Mapping[str, Policy] = {
    "previews": hook_policy("preview"),
    "front-cut previews": previews_from_the_front,
    "cascade": hook_policy("cascade"),
    "inject": injected,
    "previews, then richer": previews_then_richer,
    "weighed": weighed,
    "truncated": truncated,
    "whole or skipped": pack_policy,
}
