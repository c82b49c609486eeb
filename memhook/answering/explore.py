"""Search and list, a page at a time. Changes between two pages neither shift nor repeat the rest."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from memhook.answering.block import Ranked
from memhook.answering.pack import with_recency
from memhook.answering.paging import cursor, place_of
from memhook.answering.recall import CANDIDATES, for_search
from memhook.core.memory import Memory
from memhook.core.ordering import Ordering, placed
from memhook.errors import InvalidInput
from memhook.library.joined import ReadableStore, Searchable
from memhook.store.table.filters import Filter

Allowed = Callable[[datetime], Filter]


@dataclass(frozen=True, slots=True)
class Question:
    """A query: `asked` identifies it in cursors; `allowed` gets the time of the first page, for relative dates."""

    asked: Any
    allowed: Allowed
    limit: int
    cursor: str = ""

    def __post_init__(self) -> None:
        if self.limit < 0:
            raise InvalidInput(f"limit must be 0 or more, not {self.limit}.")


def search_page(
    library: Searchable, query: str, question: Question, ordering: Ordering, half_life_days: float, now: datetime
) -> tuple[list[Ranked], str | None]:
    """Return a page and the cursor of the next, sorted by `ordering` within each 50 by relevance.

    Later finds never precede what was shown.
    """
    seen, last = 0, None
    if question.cursor:
        moment, seen, *place = place_of(question.cursor, question.asked, 6)
        now, last = datetime.fromisoformat(moment), tuple(place)
    pool = CANDIDATES * max(1, -(-(seen + question.limit) // CANDIDATES))
    found = for_search(library, query, question.allowed(now), pool)
    fresh = with_recency(found, half_life_days, now)
    keyed = sorted((_key(rank, one, ordering), rank) for rank, one in enumerate(fresh))
    rest = [(key, fresh[rank]) for key, rank in keyed[_behind(last, [key for key, _ in keyed]) :]]
    page = rest[: question.limit]
    is_more = len(rest) > len(page) or len(found) >= pool
    following = None
    if page and is_more:
        following = cursor(question.asked, [now.isoformat(), seen + len(page), *page[-1][0]])
    return [one for _, one in page], following


def list_page(
    store: ReadableStore, question: Question, now: datetime, offset: int = 0
) -> tuple[list[Memory], str | None]:
    """Return a page and the cursor of the next, last changed first."""
    last = None
    if question.cursor:
        moment, updated, key = place_of(question.cursor, question.asked, 3)
        now, last = datetime.fromisoformat(moment), (datetime.fromisoformat(updated), str(key))
    found = store.newest(question.allowed(now), question.limit + 1, offset, last)
    page = found[: question.limit]
    following = None
    if page and len(found) > len(page):
        following = cursor(question.asked, [now.isoformat(), page[-1].updated.isoformat(), page[-1].id])
    return page, following


def _behind(last: tuple[Any, ...] | None, keys: Sequence[tuple[Any, ...]]) -> int:
    """Return the start of the next page: after the last memory shown, or if it was deleted, after its position.

    The memory is found by its id, not its score: each added memory changes all scores slightly.
    """
    if last is None:
        return 0
    found = next((place for place, key in enumerate(keys) if key[-1] == last[-1]), None)
    return sum(key <= last for key in keys) if found is None else found + 1


def _key(rank: int, one: Ranked, ordering: Ordering) -> tuple[int, float, float, str]:
    value = placed(one.score, one.parts["recency"], ordering)
    return rank // CANDIDATES, -value, -one.score, one.memory.id
