"""Turn ranked memories into the block of a hook: new to the session, at a level of detail, within the budget."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from types import MappingProxyType

from memhook.answering.account import Account
from memhook.answering.silence import ALREADY_SHOWN
from memhook.core.excerpts import excerpt
from memhook.core.memory import Memory
from memhook.core.packing import Packed, PartLimit, packed
from memhook.core.rendering import HOOK, Frame, Level, Rendering, Renderings, rendering
from memhook.settings import Detail
from memhook.store.ledger import Considered


@dataclass(frozen=True, slots=True)
class Ranked:
    """A ranked memory, with its score and the parts of the score."""

    memory: Memory
    score: float
    parts: dict[str, float] = field(default_factory=dict)

    def considered(self, reason: str) -> Considered:
        """Return the record of a memory that is not shown for this reason, "" if it is shown."""
        return Considered(self.memory.id, self.memory.content_hash, self.score, reason, parts=self.parts)


@dataclass(frozen=True, slots=True)
class Budget:
    """The limits of a block: tokens in total, and the client's limit for each part."""

    tokens: int
    frames: Sequence[Frame]
    part_limit: PartLimit | None = None


@dataclass(frozen=True, slots=True)
class Extent:
    """The characters of content that a preview shows: more for the best memory than for the others.

    If `is_filled`, the others may be half a preview, too, and a memory that does not fit is skipped.
    """

    preview_chars: int
    best_chars: int = 0
    is_filled: bool = False

    def steps(self, rank: int) -> tuple[int, ...]:
        """Return the lengths to try, longest first, each half the one before.

        The best memory may be half a preview: better than nothing in a small budget.
        """
        steps = [self.preview_chars if rank else max(self.best_chars, self.preview_chars)]
        while steps[-1] > self.preview_chars:
            steps.append(max(steps[-1] // 2, self.preview_chars))
        return tuple(steps) if rank and not self.is_filled else (*steps, self.preview_chars // 2)


@dataclass(frozen=True, slots=True)
class Block:
    """Finished text in parts, the titles of the memories in it, and the result for every ranked memory."""

    parts: tuple[str, ...] = ()
    considered: tuple[Considered, ...] = ()
    tokens: int = 0
    titles: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        return "\n".join(self.parts)


def hook_block(
    ranked: Sequence[Ranked],
    budget: Budget,
    detail: Detail,
    extent: Extent,
    weights: Mapping[str, float],
    account: Account,
    remarks: Mapping[str, str] = MappingProxyType({}),
) -> Block:
    """Pack the memories, best first, without what the session has seen; `remarks`, by id, are shown beside them."""

    def renderings(rank: int, memory: Memory) -> Renderings[_Detail]:
        def render(chosen: _Detail) -> Rendering:
            level, limit = chosen
            shown = partial(excerpt, weights=weights, limit_chars=limit) if level is Level.PREVIEW else None
            return rendering(memory, level, HOOK, shown=shown, remark=remarks.get(memory.id, ""))

        return Renderings(_details(memory, detail, budget, extent.steps(rank)), render, account.is_new(memory))

    offers = [renderings(rank, one.memory) for rank, one in enumerate(ranked)]
    skips = detail == "full" or extent.is_filled
    block = packed(offers, budget.tokens, budget.frames, budget.part_limit, skips=skips)
    titles = tuple(ranked[choice.index].memory.title for choice in block.chosen)
    return Block(block.parts, tuple(_considered(ranked, offers, block, account)), block.tokens, titles)


_Detail = tuple[Level, int]
"""A level, and the number of characters a preview shows."""


def _details(memory: Memory, detail: Detail, budget: Budget, steps: Sequence[int]) -> list[_Detail]:
    if detail == "preview":
        return [(Level.PREVIEW, limit) for limit in steps]
    if detail == "cascade" or not _fits_alone(memory, budget):
        return [(level, 0) for level in (Level.FULL, Level.MEDIUM, Level.LIGHT)]
    return [(Level.FULL, 0)]


def _fits_alone(memory: Memory, budget: Budget) -> bool:
    """Return whether the whole memory fits an empty block; if not, a poorer level is shown instead."""
    whole = [rendering(memory, Level.FULL, HOOK)]
    return bool(packed([whole], budget.tokens, budget.frames[:1], budget.part_limit).chosen)


def _considered(
    ranked: Sequence[Ranked], offers: Sequence[Renderings[_Detail]], block: Packed, account: Account
) -> Iterable[Considered]:
    chosen = {choice.index: choice for choice in block.chosen}
    for index, (one, offer) in enumerate(zip(ranked, offers, strict=True)):
        if choice := chosen.get(index):
            text = choice.rendering
            level, part = text.level.name.lower(), choice.part + 1
            yield replace(one.considered(""), level=level, passages=text.passages, tokens=text.tokens, part=part)
        else:
            nothing_new = account.has_seen(one.memory) and not any(True for _ in offer)
            yield one.considered(ALREADY_SHOWN if nothing_new else block.left_out[index].value)
