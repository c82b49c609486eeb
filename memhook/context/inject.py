"""From ranked memories to finished text: what is new to the session, at which detail, within the budget."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from memhook.core.memory import Memory
from memhook.core.packing import Packed, PartLimit, Policy, packed
from memhook.core.passages import HORIZON, Passage, passage
from memhook.core.rendering import HOOK, Frame, Level, Rendering, Renderings, rendering
from memhook.core.terms import term_spans
from memhook.settings import Detail
from memhook.store.ledger import Considered, Shown

ALREADY_SHOWN = "already shown"


@dataclass(frozen=True, slots=True)
class Ranked:
    """A memory in its place, with its score and what the score is made of."""

    memory: Memory
    score: float
    parts: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Budget:
    """What bounds a block: tokens over all, and the client's limit for each of its parts."""

    tokens: int
    frames: Sequence[Frame]
    part_limit: PartLimit | None = None


@dataclass(frozen=True, slots=True)
class Block:
    """Finished text in parts, and what became of every memory that was ranked."""

    parts: tuple[str, ...] = ()
    considered: tuple[Considered, ...] = ()
    tokens: int = 0

    @property
    def text(self) -> str:
        return "\n".join(self.parts)


def hook_block(
    ranked: Sequence[Ranked],
    budget: Budget,
    detail: Detail,
    preview_chars: int,
    weights: Mapping[str, float],
    account: Mapping[str, Sequence[Shown]],
) -> Block:
    """The memories, best first, without what the session's `account` says it has seen."""
    shown = partial(_shown_passage, weights=weights, limit=preview_chars)
    offers = [_Offer(one.memory, detail, budget, shown, account.get(one.memory.id, ())) for one in ranked]
    policy = Policy.SKIP if detail == "full" else Policy.CASCADE
    block = packed(offers, budget.tokens, budget.frames, budget.part_limit, policy)
    return Block(block.parts, tuple(_considered(ranked, offers, block)), block.tokens)


class _Offer:
    """What one memory offers to the packer: its renderings, richest first, that tell the session something new."""

    def __init__(
        self,
        memory: Memory,
        detail: Detail,
        budget: Budget,
        shown: Callable[[str], Passage],
        showings: Iterable[Shown],
    ) -> None:
        self._showings = [showing for showing in showings if showing.content_hash == memory.content_hash]
        levels = _levels(memory, detail, budget)
        self._renderings = Renderings(levels, lambda level: rendering(memory, level, HOOK, shown=shown))

    def __iter__(self) -> Iterator[Rendering]:
        return (one for one in self._renderings if self.is_new(one))

    @property
    def was_shown(self) -> bool:
        return bool(self._showings)

    def is_new(self, offered: Rendering) -> bool:
        return all(_adds(offered, showing) for showing in self._showings)


def _adds(offered: Rendering, showing: Shown) -> bool:
    """A richer level adds something, and so does a passage of which less than half was seen."""
    seen = Level[showing.level.upper()]
    if offered.level > seen:
        return True
    if offered.passage is None or seen is not Level.PREVIEW:
        return False
    start, end = offered.passage
    overlap = min(end, showing.passage[1]) - max(start, showing.passage[0])
    return 2 * overlap < end - start


def _levels(memory: Memory, detail: Detail, budget: Budget) -> tuple[Level, ...]:
    if detail == "preview":
        return (Level.PREVIEW,)
    if detail == "cascade" or not _fits_alone(memory, budget):
        return (Level.FULL, Level.MEDIUM, Level.LIGHT)
    return (Level.FULL,)


def _fits_alone(memory: Memory, budget: Budget) -> bool:
    """Whether the whole memory can ever arrive: one above the client's limit drops a level instead of never coming."""
    whole = rendering(memory, Level.FULL, HOOK)
    frame = budget.frames[0]
    alone = (frame.head, whole.text, frame.tail)
    limit = budget.part_limit
    fits_part = limit is None or sum(map(limit.measure, alone)) <= limit.size
    return fits_part and whole.tokens + frame.tokens <= budget.tokens


def _shown_passage(content: str, weights: Mapping[str, float], limit: int) -> Passage:
    spans = term_spans(content[:HORIZON]) if len(content) > limit else ()
    return passage(content, weights, spans, limit)


def _considered(ranked: Sequence[Ranked], offers: Sequence[_Offer], block: Packed) -> Iterable[Considered]:
    chosen = {choice.index: choice for choice in block.chosen}
    reasons = {left.index: left.reason.value for left in block.left_out}
    for index, (one, offer) in enumerate(zip(ranked, offers, strict=True)):
        entry = partial(Considered, one.memory.id, one.memory.content_hash, one.score, parts=one.parts)
        if index in chosen:
            text = chosen[index].rendering
            part = chosen[index].part + 1
            yield entry("", text.level.name.lower(), text.passage or (0, 0), text.tokens, part=part)
        else:
            nothing_new = offer.was_shown and not any(True for _ in offer)
            yield entry(ALREADY_SHOWN if nothing_new else reasons.get(index, "over budget"))
