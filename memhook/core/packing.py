"""Fill a token budget with memories.

packed(candidates, budget, frames, part_limit, leaves_enough) -> Packed

Hooks, `inject` and `pack` share this packer. In rank order, each memory is taken at the richest of its renderings that
fits the rest of the budget. The budget covers the whole text, frames included, over all parts; if nothing is chosen,
there are no parts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Reversible, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import partial
from math import inf
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # else each module that uses PartLimit, as every assistant's does, would import rendering
    from memhook.core.rendering import Frame, Rendering


class Reason(StrEnum):
    """Why a candidate is not in the text."""

    OVER_BUDGET = "over budget"
    OVER_PART_LIMIT = "over the client's limit"
    NOTHING_TO_SHOW = "nothing to show"


@dataclass(frozen=True, slots=True)
class PartLimit:
    """The largest size of one part, frame included. `measure` is additive over concatenation."""

    size: int
    measure: Callable[[str], int] = len


@dataclass(frozen=True, slots=True)
class Chosen:
    """A candidate that is in the text: its rank, its rendering, and its part."""

    index: int
    rendering: Rendering
    part: int


@dataclass(frozen=True, slots=True)
class Packed:
    """The finished parts, the candidates in them, and why others are not; `tokens` counts all text of the parts."""

    parts: tuple[str, ...] = ()
    chosen: tuple[Chosen, ...] = ()
    left_out: Mapping[int, Reason] = field(default_factory=dict)
    tokens: int = 0

    @property
    def carried_tokens(self) -> int:
        return sum(choice.rendering.carried_tokens for choice in self.chosen)


def packed(
    candidates: Sequence[Reversible[Rendering]],
    budget: int,
    frames: Sequence[Frame],
    part_limit: PartLimit | None = None,
    leaves_enough: Callable[[int, int], bool] = lambda _behind, _left: True,
    *,
    skips: bool = False,
) -> Packed:
    """Pack the candidates that fit, in their order, each at most once.

    Each candidate has the renderings of one memory, richest first, so that the last takes the fewest tokens; it is
    iterated more than once. A poorer rendering is preferred if a richer one leaves too little for the candidates
    behind: `leaves_enough` takes the rank of the next one and the tokens left.

    `frames` has one frame per part; parts are filled in turn up to `part_limit`. Without a limit there is one part.
    Packing stops at the first candidate that fits at no level, so that no worse one is shown instead; with `skips`, it
    goes on.
    """
    usable = frames if part_limit else frames[:1]
    # At some budgets the frame of another part costs more than the part carries. Taking the number of parts that
    # carries most keeps a larger budget from carrying less.
    ways: list[Packed] = []
    for count in range(1, len(usable) + 1):
        empty = _Place(budget, usable[:count], part_limit)
        ways.append(_filled(candidates, empty, leaves_enough, skips=skips))
        if _is_complete(ways[-1], candidates):
            return ways[-1]
    return max(ways, key=lambda way: way.carried_tokens) if len(ways) > 1 else ways[0]


def _is_complete(way: Packed, candidates: Sequence[Reversible[Rendering]]) -> bool:
    """Return whether every memory is shown at its richest level: more parts cannot carry more."""
    return not way.left_out and all(one.rendering is next(iter(candidates[one.index])) for one in way.chosen)


def utf16_units(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def utf8_bytes(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


@dataclass(frozen=True, slots=True)
class _Place:
    """The state of the packer: the tokens left in the budget, and the room left in the open part."""

    left: int
    frames: Sequence[Frame]
    limit: PartLimit | None
    part: int = -1
    room: float = 0

    def after(self, rendering: Rendering) -> _Place | Reason:
        """Return the state after adding `rendering` to the open part, or to the next if it does not fit."""
        size = self.limit.measure(rendering.text) if self.limit else 0
        place = self._opened() if self.part < 0 or size > self.room else self
        if size > place.room:
            return Reason.OVER_PART_LIMIT
        if rendering.tokens > place.left:
            return Reason.OVER_BUDGET
        return replace(place, left=place.left - rendering.tokens, room=place.room - size)

    def _opened(self) -> _Place:
        part = self.part + 1
        if part >= len(self.frames):
            return replace(self, part=part, room=0)
        frame, limit = self.frames[part], self.limit
        room = limit.size - limit.measure(frame.head) - limit.measure(frame.tail) if limit else inf
        return replace(self, left=self.left - frame.tokens, part=part, room=room)


def _filled(
    candidates: Sequence[Reversible[Rendering]],
    empty: _Place,
    leaves_enough: Callable[[int, int], bool],
    *,
    skips: bool,
) -> Packed:
    place = empty
    chosen: list[Chosen] = []
    left_out: dict[int, Reason] = {}
    for index, renderings in enumerate(candidates):
        found = _richest(renderings, place, partial(leaves_enough, index + 1))
        if not isinstance(found, Reason):
            rendering, place = found
            chosen.append(Chosen(index, rendering, place.part))
        elif skips or found is Reason.NOTHING_TO_SHOW:
            left_out[index] = found
        else:
            left_out |= dict.fromkeys(range(index, len(candidates)), found)
            break
    return Packed(_parts(chosen, empty.frames), tuple(chosen), left_out, empty.left - place.left)


def _richest(
    renderings: Reversible[Rendering], place: _Place, leaves_enough: Callable[[int], bool]
) -> tuple[Rendering, _Place] | Reason:
    """Return the first rendering that leaves enough for the candidates behind, else the last that fits at all."""
    found: tuple[Rendering, _Place] | Reason = Reason.NOTHING_TO_SHOW
    for rendering in renderings:
        after = place.after(rendering)
        if isinstance(after, Reason):
            found = after if isinstance(found, Reason) else found
            continue
        if leaves_enough(after.left):
            return rendering, after
        if isinstance(found, Reason):  # if even the poorest leaves too little, do not render those between
            poorest = next(iter(reversed(renderings)))
            last = place.after(poorest)
            if not isinstance(last, Reason) and not leaves_enough(last.left):
                return poorest, last
        found = rendering, after
    return found


def _parts(chosen: Sequence[Chosen], frames: Sequence[Frame]) -> tuple[str, ...]:
    entries = [""] * (chosen[-1].part + 1 if chosen else 0)
    for choice in chosen:
        entries[choice.part] += choice.rendering.text
    return tuple((frames[at].head + text + frames[at].tail).removesuffix("\n") for at, text in enumerate(entries))
