"""`pack`: as many whole memories about a topic as fit a budget."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from types import MappingProxyType

from memhook.answering.block import Ranked
from memhook.answering.inject import NOTHING_RELEVANT
from memhook.core.fencing import indented, one_line
from memhook.core.memory import Memory
from memhook.core.packing import packed
from memhook.core.ranking import Ordering, placed, recency
from memhook.core.rendering import Level, Rendering, framed, origin_of
from memhook.core.tokens import estimated_tokens
from memhook.errors import InvalidInput

MIN_TOKENS, MAX_TOKENS = 1, 100_000
TOPIC_CHARS = 120
TITLE_CHARS = 500  # the longest title possible
NAME_CHARS = 60
NAMED_TOO_LARGE = 3


@dataclass(frozen=True, slots=True)
class Bundle:
    """The text and the memories in it, in order; `note` names what was left out, with the reason."""

    text: str
    memories: tuple[Memory, ...] = ()
    note: str = ""


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

    fresh = (
        replace(one, parts={**one.parts, "recency": recency_since(_last_used(one.memory), half_life_days, now)})
        for one in ranked
    )
    return sorted(fresh, key=place)


def recency_since(last_used: datetime, half_life_days: float, now: datetime) -> float:
    """Return the recency as a part of a score."""
    return round(recency((now - last_used) / timedelta(days=1), half_life_days), 4)


def bundle(
    topic: str,
    memories: Sequence[Memory],
    budget_tokens: int,
    remarks: Mapping[str, str] = MappingProxyType({}),
    relevant: Collection[str] = (),
) -> Bundle:
    """Pack whole memories in their order; skip those too large for the rest of the budget.

    `remarks`, by id, are shown beside them. Memories in `relevant`, a set of ids, that do not fit are listed in the
    note, and in the text if that takes no more than a third of the budget.
    """
    budget = clamped(budget_tokens)
    if not memories:
        return Bundle("", note=NOTHING_RELEVANT)
    entries = {memory.id: _entry(memory, remarks.get(memory.id, "")) for memory in memories}
    chosen, tail = _chosen(topic, entries, budget), ""
    named = entries.keys() & {*relevant}
    note = _too_large([one for one in memories if one.id in named - {*chosen}], entries, budget)
    if beside := _chosen_beside_a_note(topic, memories, entries, budget, named, chosen):
        chosen, note = beside
        tail = f"({note})\n"
    if chosen:
        frame = framed("", tail)
        body = f"{frame.head}{''.join(entries[key].text for key in chosen)}{frame.tail}"
        shown = tuple(memory for memory in memories if memory.id in chosen)
        return Bundle(_headed(topic, len(chosen), body), shown, note)
    texts = _empty(topic, f"({note})\n" if note else "", budget)
    return Bundle(next((text for text in texts if estimated_tokens(text) <= budget), ""), note=note)


def _chosen(topic: str, entries: Mapping[str, Rendering], budget: int, tail: str = "") -> list[str]:
    # The heading is written last: reserve room for the longest it can be.
    reserved = framed(_heading(topic, len(entries), budget), tail)
    keys = list(entries)
    filled = packed([[entry] for entry in entries.values()], budget, [reserved], skips=True)
    return [keys[one.index] for one in filled.chosen]


def _chosen_beside_a_note(
    topic: str,
    memories: Sequence[Memory],
    entries: Mapping[str, Rendering],
    budget: int,
    named: Set[str],
    chosen: list[str],
) -> tuple[list[str], str] | None:
    """Return the memories of `chosen` that fit beside the note, and the note; None without note, or if it is too long.

    The note may displace memories that are not relevant.
    """
    note = ""
    is_needed = not named.isdisjoint(chosen)
    large: set[str] = set()
    while missed := named - {*chosen} - large:
        large |= missed  # the note itself takes room, so that another memory may no longer fit
        note = _too_large([one for one in memories if one.id in large], entries, budget)
        others = {key: entry for key, entry in entries.items() if key not in large}
        chosen = _chosen(topic, others, budget, f"({note})\n")
        if 3 * estimated_tokens(note) > budget or (is_needed and not chosen):
            return None
    return (chosen, note) if note else None


def _too_large(some: Sequence[Memory], entries: Mapping[str, Rendering], budget: int) -> str:
    """Return the note that names the first few of `some`: fewer if it would take more than a third of the budget."""
    notes = [_left_out(some, entries, count) for count in range(NAMED_TOO_LARGE, 0, -1)] if some else [""]
    return next((note for note in notes if 3 * estimated_tokens(note) <= budget), notes[-1])


def _left_out(some: Sequence[Memory], entries: Mapping[str, Rendering], count: int) -> str:
    names = [
        f"**{one_line(memory.title, NAME_CHARS)}** ({memory.urn}, {entries[memory.id].tokens} tokens)"
        for memory in some[:count]
    ]
    more = f" and {len(some) - len(names)} more" if len(some) > len(names) else ""
    return f"left out for lack of room: {', '.join(names)}{more}"


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


def _empty(topic: str, line: str, budget: int) -> Iterator[str]:
    note = f"(no memory fits into {budget} tokens)"
    yield _headed(topic, 0, f"{note}\n{line}")
    yield _headed(topic, 0, f"{note}\n")
    yield note


def _last_used(memory: Memory) -> datetime:
    return memory.accessed or memory.updated
