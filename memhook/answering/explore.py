"""Search and list memories a page at a time; changes between two pages neither shift nor repeat the others."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from memhook.answering.block import Ranked
from memhook.answering.pack import recency_since
from memhook.answering.recall import CANDIDATES, Matches
from memhook.core.anchor_index import named_in_words
from memhook.core.anchors import anchors_of
from memhook.core.memory import Memory, Trait, names_with, plain
from memhook.core.ranking import Ordering, placed
from memhook.errors import InvalidInput
from memhook.library.joined import ReadableStore, Searchable
from memhook.screening.policy import shown_as
from memhook.store.table.filters import Filter

_NO_CURSOR = InvalidInput("The cursor does not belong to this query.", "Request the first page, without a cursor.")
_RECORDED = names_with(Trait.RECORDED)
_MOMENTS = names_with(Trait.RECORDED, datetime)


@dataclass(frozen=True, slots=True)
class Question:
    """A query: `asked` identifies it in cursors; `allowed` takes the time of the first page, for relative dates."""

    asked: Any
    allowed: Callable[[datetime], Filter]
    limit: int
    cursor: str = ""

    def __post_init__(self) -> None:
        if self.limit < 0:
            raise InvalidInput(f"limit must be 0 or more, not {self.limit}.")


def search_page(
    library: Searchable, query: str, question: Question, ordering: Ordering, half_life_days: float, now: datetime
) -> tuple[list[Ranked], str | None]:
    """Return a page and the cursor of the next: the memories by relevance, each 50 of them sorted by `ordering`.

    A memory found for a later page never precedes those already shown.
    """
    seen, last = 0, None
    if question.cursor:
        moment, seen, *place = place_of(question.cursor, question.asked, 6)
        now, last = datetime.fromisoformat(moment), tuple(place)
    pool = CANDIDATES * max(1, -(-(seen + question.limit) // CANDIDATES))
    found = Matches(library, query, question.allowed(now), pool)
    recency = {key: recency_since(one, half_life_days, now) for key, one in found.last_used().items()}
    scores = [(key, score) for key, score in found.scores.items() if key in recency]
    keys = sorted(_key(rank, *one, recency[one[0]], ordering) for rank, one in enumerate(scores))
    rest = keys[_behind(last, keys) :]
    page, passed = _page(found, [key[-1] for key in rest], question.limit)
    is_more = len(rest) > passed or len(scores) >= pool
    following = None
    if page and is_more:
        following = cursor(question.asked, [now.isoformat(), seen + len(page), *rest[passed - 1]])
    return [replace(one, parts={**one.parts, "recency": recency[one.memory.id]}) for one in page], following


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


def _key(rank: int, name: str, score: float, recency: float, ordering: Ordering) -> tuple[int, float, float, str]:
    return rank // CANDIDATES, -placed(score, recency, ordering), -score, name


def _page(found: Matches, ids: Sequence[str], limit: int) -> tuple[list[Ranked], int]:
    """Fetch the first `limit` that may be shown, and return how many were passed up to the last of them."""
    page: list[Ranked] = []
    passed = 0
    while len(page) < limit and passed < len(ids):
        some = ids[passed : passed + limit]
        fit = {one.memory.id: one for one in found.ranked(some)}
        shown = [key for key in some if key in fit][: limit - len(page)]
        page += [fit[key] for key in shown]
        passed += some.index(shown[-1]) + 1 if len(page) == limit else len(some)
    return page, passed


def cursor(question: Any, place: list[Any]) -> str:
    """Encode `place`, the start of the next page of `question`, a JSON value."""
    text = json.dumps([_mark(question), *place], separators=(",", ":"))
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def place_of(text: str, question: Any, length: int) -> list[Any]:
    """Decode the `length` values in a cursor of this question; raise InvalidInput for any other cursor."""
    try:
        padded = text + "=" * (-len(text) % 4)
        mark, *place = json.loads(base64.urlsafe_b64decode(padded.encode("ascii", "replace")))
    except (ValueError, TypeError, RecursionError):
        raise _NO_CURSOR from None
    if mark != _mark(question) or len(place) != length:
        raise _NO_CURSOR
    return list(place)


def _mark(question: Any) -> str:
    return hashlib.sha256(json.dumps(question, sort_keys=True).encode()).hexdigest()[:12]


def anchors_shown(memory: Memory) -> dict[str, list[str]]:
    """Return what a tool call has to touch, without secrets: the anchors, and what the text names in plain words."""
    memory = shown_as(memory)
    anchors = memory.anchors or anchors_of(memory.title, memory.content)  # older versions stored none
    in_words = named_in_words(anchors, memory.content, memory.title)
    return {"anchors": list(anchors), "anchors_in_words": list(in_words)}


def record_of(memory: Memory) -> dict[str, Any]:
    """Return a memory as a plain record, without secrets that an earlier version stored unmasked."""
    memory = shown_as(memory)
    values = {name: plain(getattr(memory, name)) for name in _RECORDED}
    values |= {name: values[name].isoformat() for name in _MOMENTS if values[name] is not None}
    return {"id": memory.id, "urn": memory.urn, **values, "store": memory.store}
