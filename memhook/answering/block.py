"""From ranked memories to finished text: what is new to the session, at which detail, within the budget."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from memhook.core.excerpts import Range, excerpt
from memhook.core.memory import Memory
from memhook.core.packing import Packed, PartLimit, Policy, packed
from memhook.core.rendering import HOOK, Frame, Level, Rendering, Renderings, rendering
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
class Extent:
    """How many characters of a memory's content a preview shows: of the best one more than of the others."""

    preview_chars: int
    best_chars: int = 0

    def allowance(self, rank: int) -> int:
        return max(self.best_chars, self.preview_chars) if rank == 0 else self.preview_chars

    def steps(self, rank: int) -> tuple[int, ...]:
        """What may be shown, the most first: half as much again and again, where the budget is short."""
        steps = [self.allowance(rank)]
        while steps[-1] > self.preview_chars:
            steps.append(max(steps[-1] // 2, self.preview_chars))
        return tuple(steps)


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
    extent: Extent,
    weights: Mapping[str, float],
    account: Mapping[str, Sequence[Shown]],
) -> Block:
    """The memories, best first, without what the session's `account` says it has seen."""
    offers = [
        _Offer(one.memory, _details(one.memory, detail, budget, extent.steps(rank)), weights, account)
        for rank, one in enumerate(ranked)
    ]
    policy = Policy.SKIP if detail == "full" else Policy.CASCADE
    block = packed(offers, budget.tokens, budget.frames, budget.part_limit, policy)
    return Block(block.parts, tuple(_considered(ranked, offers, block)), block.tokens)


_Detail = tuple[Level, int]
"""A level, and how many characters a preview shows."""


class _Offer:
    """What one memory offers to the packer: its renderings, richest first, that tell the session something new."""

    def __init__(
        self,
        memory: Memory,
        details: Iterable[_Detail],
        weights: Mapping[str, float],
        account: Mapping[str, Sequence[Shown]],
    ) -> None:
        self._content = memory.content
        showings = account.get(memory.id, ())
        self._showings = [showing for showing in showings if showing.content_hash == memory.content_hash]

        def render(detail: _Detail) -> Rendering:
            level, limit = detail
            return rendering(memory, level, HOOK, shown=partial(excerpt, weights=weights, limit_chars=limit))

        self._renderings = Renderings(details, render)

    def __iter__(self) -> Iterator[Rendering]:
        return (one for one in self._renderings if self.is_new(one))

    @property
    def was_shown(self) -> bool:
        return bool(self._showings)

    def is_new(self, offered: Rendering) -> bool:
        """A richer level adds something, and so do passages of which less than half was seen, and what was missing.

        A light showing is a summary: it shows no passage, so that a preview is still new.
        """
        seen = max((Level[showing.level.upper()] for showing in self._showings), default=None)
        if seen is None or offered.level > seen:
            return True
        if seen > Level.LIGHT:
            return False
        offered_chars = _visible(self._content, offered.passages)
        known = [passage for showing in self._showings for passage in showing.passages]
        new_chars = _visible(self._content, _outside(offered.passages, known))
        return 2 * new_chars > offered_chars or (offered.is_whole and new_chars > 0)


def _visible(content: str, passages: Iterable[Range]) -> int:
    return sum(len(word) for start, end in passages for word in content[start:end].split())


def _outside(passages: Iterable[Range], known: Iterable[Range]) -> Iterator[Range]:
    """The parts of `passages` that none of `known` has."""
    covered = sorted(known)
    for start, end in passages:
        at = start
        for low, high in covered:
            if at < min(low, end):
                yield at, min(low, end)
            at = max(at, high)
        if at < end:
            yield at, end


def _details(memory: Memory, detail: Detail, budget: Budget, steps: Sequence[int]) -> list[_Detail]:
    if detail == "preview":
        return [(Level.PREVIEW, limit) for limit in steps]
    if detail == "cascade" or not _fits_alone(memory, budget):
        return [(level, 0) for level in (Level.FULL, Level.MEDIUM, Level.LIGHT)]
    return [(Level.FULL, 0)]


def _fits_alone(memory: Memory, budget: Budget) -> bool:
    """Whether the whole memory can ever arrive: one above the client's limit drops a level instead of never coming."""
    whole = rendering(memory, Level.FULL, HOOK)
    frame = budget.frames[0]
    alone = (frame.head, whole.text, frame.tail)
    limit = budget.part_limit
    fits_part = limit is None or sum(map(limit.measure, alone)) <= limit.size
    return fits_part and whole.tokens + frame.tokens <= budget.tokens


def _considered(ranked: Sequence[Ranked], offers: Sequence[_Offer], block: Packed) -> Iterable[Considered]:
    chosen = {choice.index: choice for choice in block.chosen}
    reasons = {left.index: left.reason.value for left in block.left_out}
    for index, (one, offer) in enumerate(zip(ranked, offers, strict=True)):
        entry = partial(Considered, one.memory.id, one.memory.content_hash, one.score, parts=one.parts)
        if index in chosen:
            text = chosen[index].rendering
            part = chosen[index].part + 1
            yield entry("", text.level.name.lower(), text.passages, text.tokens, part=part)
        else:
            nothing_new = offer.was_shown and not any(True for _ in offer)
            yield entry(ALREADY_SHOWN if nothing_new else reasons.get(index, "over budget"))
