"""The one passage of a long text to show.

passage(content, weights, spans, limit)  the most relevant piece, as one paragraph
front(content, limit)                    the beginning, with its line breaks

Limits count code points. Cuts fall between sentences or words if possible; a passage records on which side it is cut.
"""

from __future__ import annotations

import unicodedata
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from memhook.patterns import regex

HORIZON = 50_000
"""The characters searched for a passage: a long log must not cost more than a note."""

Span = tuple[str, int, int]

_VISIBLE = regex(r"\S")
SENTENCE_END = regex(r"[.!?…][\"'”’)\]*`]*(?=\s)|[。！？][」』”’）]*|\n")
_UNSPACED = regex(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3000-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff00-\uffef"
    "\U00020000-\U0003ffff]"
)
_JOINS_LEFT = regex("[\u1160-\u11ff\u200d\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f\udc00-\udfff]")
_JOINS_RIGHT = regex("[\u200d\ud800-\udbff]")
_FLAG_HALVES = "".join(chr(code) for code in range(0x1F1E6, 0x1F200))
_MOST_FLAGS = 1000
_LONGEST_CLUSTER = 16


@dataclass(frozen=True, slots=True)
class Passage:
    """A part of a content, from offset `start` to `end`. It is not cut where only white space is left out."""

    text: str
    start: int
    end: int
    cut_before: bool
    cut_after: bool

    @property
    def marked(self) -> str:
        return f"{'… ' if self.cut_before else ''}{self.text}{' …' if self.cut_after else ''}"


def passage(content: str, weights: Mapping[str, float], spans: Iterable[Span], limit_chars: int) -> Passage:
    """Return the heaviest of the pieces that `content` is cut into, each of at most `limit_chars` characters.

    Each term counts once; ties go to the earliest piece, so that without any of the terms it is the front. `spans` are
    the terms of `content`, or of its first `HORIZON` characters.

    The heaviest of all windows instead of pieces finds no more: of 275 excerpts of 200 characters, .79 have the words
    that the prompt needs either way.
    """
    pieces = list(_pieces(content, limit_chars))
    starts = [piece.start for piece in pieces]
    terms: list[set[str]] = [set() for _ in pieces]
    for term, start, end in spans:
        at = bisect_right(starts, start) - 1
        if at >= 0 and end <= pieces[at].end:
            terms[at].add(term)
    totals = [sum(weights.get(term, 0.0) for term in sorted(some)) for some in terms]
    found = pieces[totals.index(max(totals))]
    return replace(found, text=" ".join(found.text.split()))


def _pieces(content: str, limit: int) -> Iterator[Passage]:
    start = 0
    while start < min(len(content), HORIZON) or not start:
        piece = front(content, limit, start)
        yield piece
        start = piece.end if piece.text else piece.start + max(limit, 1)


def front(content: str, limit_chars: int, start: int = 0) -> Passage:
    """Return at most `limit_chars` characters from `start` on, up to a sentence end if the last third has one."""
    if len(content) <= limit_chars:
        return Passage(content, 0, len(content), cut_before=False, cut_after=False)
    start = _first_visible(content, start, min(len(content), start + HORIZON))
    stop = min(start + limit_chars, len(content))
    sentence = _last_sentence_end(content, start + 2 * limit_chars // 3, stop) if stop < len(content) else None
    return _passage(content, start, sentence or _word_end(content, start, start, stop))


def _passage(content: str, start: int, end: int) -> Passage:
    text = content[start:end].rstrip()
    end = start + len(text)
    is_cut = [_VISIBLE.search(content, *rest) is not None for rest in ((0, start), (end, len(content)))]
    return Passage(text, start, end, *is_cut)


def _last_sentence_end(content: str, low: int, high: int) -> int | None:
    # Read one more character: the white space that ends a sentence may be the first one left out.
    ends = [found.end() for found in SENTENCE_END.finditer(content, low, high + 1) if low < found.end() <= high]
    return ends[-1] if ends else None


def _word_end(content: str, start: int, low: int, high: int) -> int:
    """Return the last end of a word in `low..high`, or the last character boundary if that wastes half the limit."""
    low = max(low, (start + high) // 2)
    found = next((at for at in range(high, low - 1, -1) if _between_words(content, at)), None)
    return _between_characters(content, range(high, low - 1, -1)) if found is None else found


def _first_visible(content: str, low: int, high: int) -> int:
    return next((at for at in range(low, high) if not content[at].isspace()), high)


def _between_words(content: str, at: int) -> bool:
    if at in (0, len(content)) or content[at - 1].isspace() or content[at].isspace():
        return True
    return _UNSPACED.search(content, at - 1, at + 1) is not None and _is_between_characters(content, at)


def _between_characters(content: str, places: range) -> int:
    near = places[:_LONGEST_CLUSTER]
    return next((at for at in near if _is_between_characters(content, at)), places.start)


def _is_between_characters(content: str, at: int) -> bool:
    """Return whether `at` is a boundary between two visible characters, not inside one."""
    if at in (0, len(content)):
        return True
    if (
        _JOINS_RIGHT.match(content, at - 1)
        or _JOINS_LEFT.match(content, at)
        or unicodedata.category(content[at])[0] == "M"
    ):
        return False
    if content[at] not in _FLAG_HALVES:
        return True
    before = content[max(0, at - _MOST_FLAGS) : at]
    return (len(before) - len(before.rstrip(_FLAG_HALVES))) % 2 == 0
