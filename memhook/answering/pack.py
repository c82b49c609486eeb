"""`pack`: as many whole memories about a topic as fit a budget."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from types import MappingProxyType

from memhook.answering.block import Ranked
from memhook.core.fencing import indented, one_line
from memhook.core.memory import Memory
from memhook.core.ordering import Ordering, placed, recency
from memhook.core.packing import packed
from memhook.core.rendering import Level, Rendering, framed, origin_of
from memhook.core.tokens import estimated_tokens
from memhook.errors import InvalidInput

CANDIDATES = 50
MIN_TOKENS, MAX_TOKENS = 1, 100_000
SECONDS_A_DAY = 86_400
TOPIC_CHARS = 120
TITLE_CHARS = 500  # the longest title possible


@dataclass(frozen=True, slots=True)
class Bundle:
    """The text and the memories in it, in their order."""

    text: str
    memories: tuple[Memory, ...] = ()


def ordering_of(name: str) -> Ordering:
    try:
        return Ordering(name)
    except ValueError:
        raise InvalidInput(f"Unknown ordering {name!r}.", f"Use one of: {', '.join(Ordering)}.") from None


def clamped(budget_tokens: int) -> int:
    return max(MIN_TOKENS, min(MAX_TOKENS, budget_tokens))


def ordered(ranked: Iterable[Ranked], ordering: Ordering, half_life_days: float, now: datetime) -> list[Ranked]:
    """Sort by `ordering`; ties by score, then by id."""

    def place(one: Ranked) -> tuple[float, float, str]:
        return -placed(one.score, one.parts["recency"], ordering), -one.score, one.memory.id

    return sorted(with_recency(ranked, half_life_days, now), key=place)


def with_recency(ranked: Iterable[Ranked], half_life_days: float, now: datetime) -> list[Ranked]:
    """Add its recency to the score parts of each."""
    return [
        replace(one, parts={**one.parts, "recency": round(recency(_age(one.memory, now), half_life_days), 4)})
        for one in ranked
    ]


def bundle(
    topic: str,
    memories: Sequence[Memory],
    budget_tokens: int,
    remarks: Mapping[str, str] = MappingProxyType({}),
) -> Bundle:
    """Pack whole memories in their order; skip those too large for the rest of the budget.

    `remarks` stand beside them, by id.
    """
    budget = clamped(budget_tokens)
    # The heading is written last: reserve room for the longest it can be.
    reserved = framed(_heading(topic, len(memories), budget))
    entries = [[_entry(memory, remarks.get(memory.id, ""))] for memory in memories]
    chosen = packed(entries, budget, [reserved], skips=True).chosen
    if chosen:
        frame = framed("")
        body = f"{frame.head}{''.join(choice.rendering.text for choice in chosen)}{frame.tail}"
        return Bundle(_headed(topic, len(chosen), body), tuple(memories[choice.index] for choice in chosen))
    return Bundle(next((text for text in _empty(topic, len(memories), budget) if estimated_tokens(text) <= budget), ""))


def _entry(memory: Memory, remark: str) -> Rendering:
    """Render a header line with title, URN and origin, and the content indented below it; nothing is cut."""
    name = f"**{title}** " if (title := one_line(memory.title, TITLE_CHARS)) else ""
    facts = ", ".join(filter(None, (*origin_of(memory), remark)))
    text = f"- {name}[{memory.urn}] ({facts})\n{indented(memory.content)}"
    return Rendering(Level.FULL, text, estimated_tokens(text))


def _heading(topic: str, count: int, tokens: int) -> str:
    memories = "1 memory" if count == 1 else f"{count} memories"
    return f"## Context for '{one_line(topic, TOPIC_CHARS)}' ({memories}, ~{tokens} tokens)\n"


def _headed(topic: str, count: int, body: str) -> str:
    """Prepend the heading, whose token count includes itself: raise it until it is stable."""
    tokens = 0
    while True:
        text = f"{_heading(topic, count, tokens)}{body}".removesuffix("\n")
        if (actual := estimated_tokens(text)) <= tokens:
            return text
        tokens = actual


def _empty(topic: str, candidates: int, budget: int) -> Iterator[str]:
    note = f"(no memory fits into {budget} tokens)" if candidates else "(no memories)"
    yield _headed(topic, 0, f"{note}\n")
    yield note


def _age(memory: Memory, now: datetime) -> float:
    """Return the days since the memory was last accessed, else changed."""
    return (now - (memory.accessed or memory.updated)).total_seconds() / SECONDS_A_DAY
