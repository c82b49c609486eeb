"""The one passage of a long text to show.

passage(content, weights, spans, limit)  the most relevant passage, as one paragraph
front(content, limit)                    the beginning, with its line breaks

Limits count code points. Cuts fall between sentences or words if possible; a passage records on which side it is cut.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from operator import itemgetter

HORIZON = 50_000
"""The characters searched for a passage: a long log must not cost more than a note."""

Span = tuple[str, int, int]

SENTENCE_END = re.compile(r"[.!?…][\"'”’)\]*`]*(?=\s)|[。！？][」』”’）]*|\n")
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3000-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff00-\uffef"
    "\U00020000-\U0003ffff]"
)
_JOINS_LEFT = re.compile("[\u1160-\u11ff\u200d\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f\udc00-\udfff]")
_JOINS_RIGHT = re.compile("[\u200d\ud800-\udbff]")
_FLAG_HALVES = "".join(chr(code) for code in range(0x1F1E6, 0x1F200))
_MOST_FLAGS = 1000
_LONGEST_CLUSTER = 16


@dataclass(frozen=True, slots=True)
class Passage:
    """A part of a content; `start` and `end` are offsets into it. Cutting off white space alone does not count."""

    text: str
    start: int
    end: int
    cut_before: bool
    cut_after: bool

    @property
    def marked(self) -> str:
        return f"{'… ' if self.cut_before else ''}{self.text}{' …' if self.cut_after else ''}"


def passage(content: str, weights: Mapping[str, float], spans: Iterable[Span], limit_chars: int) -> Passage:
    """Return the heaviest window of at most `limit_chars` characters; without any of the terms, the front.

    Each term counts once; ties go to the earliest window. `spans` are those of `content`, or of its first `HORIZON`
    characters.
    """
    best = _heaviest(spans, weights, limit_chars) if len(content) > limit_chars else None
    found = _around(content, *best, limit_chars) if best else front(content, limit_chars)
    return Passage(" ".join(found.text.split()), found.start, found.end, found.cut_before, found.cut_after)


def front(content: str, limit_chars: int) -> Passage:
    """Return at most `limit_chars` characters from the start, up to a sentence end if the last third has one."""
    if len(content) <= limit_chars:
        return Passage(content, 0, len(content), cut_before=False, cut_after=False)
    start = _first_visible(content, 0, min(len(content), HORIZON))
    stop = min(start + limit_chars, len(content))
    sentence = _last_sentence_end(content, start + 2 * limit_chars // 3, stop)
    return _passage(content, start, sentence or _word_end(content, start, start, stop))


def _heaviest(spans: Iterable[Span], weights: Mapping[str, float], limit: int) -> tuple[int, int] | None:
    """Return the start of the heaviest window, and where each of its terms has occurred once."""
    # Integers, so that rounding does not make a window's weight depend on the windows before it.
    value = {term: round(weight * 1_000_000) for term, weight in weights.items() if weight > 0}
    hits = [hit for hit in spans if hit[0] in value and hit[2] <= HORIZON and hit[2] - hit[1] <= limit]
    by_start, by_end = sorted(hits, key=itemgetter(1, 2)), iter([*sorted(hits, key=itemgetter(2, 1)), None])
    inside: Counter[str] = Counter()
    weight, heaviest, best = 0, 0, -1
    entering = next(by_end)
    for leaving, start, _ in by_start:
        while entering and entering[2] <= start + limit:
            weight += 0 if inside[entering[0]] else value[entering[0]]
            inside[entering[0]] += 1
            entering = next(by_end)
        if weight > heaviest:
            heaviest, best = weight, start
        inside[leaving] -= 1
        weight -= 0 if inside[leaving] else value[leaving]
    return (best, _last_first(by_start, best, best + limit)) if best >= 0 else None


def _last_first(hits: list[Span], start: int, stop: int) -> int:
    firsts: dict[str, int] = {}
    for term, _, end in (hit for hit in hits if hit[1] >= start and hit[2] <= stop):
        firsts.setdefault(term, end)
    return max(firsts.values())


def _around(content: str, first: int, last: int, limit: int) -> Passage:
    """Return the terms between `first` and `last` with as much context as the limit allows."""
    start = _start(content, first, last, limit)
    stop = min(start + limit, len(content))
    sentence = _last_sentence_end(content, max(last, start + 2 * limit // 3), stop) if stop < len(content) else None
    return _passage(content, start, sentence or _word_end(content, start, last, stop))


def _start(content: str, first: int, last: int, limit: int) -> int:
    if last <= 2 * limit // 3:
        return _first_visible(content, 0, first)
    earliest = max(0, last - limit)
    starts = _sentence_starts(content, earliest, first)
    start = starts[-1] if starts else _word_start(content, first - (first - earliest) // 2, first)
    if start + limit <= len(content):
        return start
    # The content ends before the limit: spend the rest on what comes before.
    earliest = len(content) - limit
    return next(iter(_sentence_starts(content, earliest, start)), None) or _word_start(content, earliest, start)


def _passage(content: str, start: int, end: int) -> Passage:
    text = content[start:end].rstrip()
    end = start + len(text)
    return Passage(text, start, end, bool(content[:start].strip()), bool(content[end:].strip()))


def _sentence_starts(content: str, low: int, high: int) -> list[int]:
    """Return the offsets in `low..high` at which a sentence or a line starts."""
    ends = [found.end() for found in SENTENCE_END.finditer(content, max(0, low - 1), high)]
    starts = (_first_visible(content, end, high) for end in ([0, *ends] if low == 0 else ends))
    return [start for start in starts if low <= start]


def _last_sentence_end(content: str, low: int, high: int) -> int | None:
    # Read one more character: the white space that ends a sentence may be the first one left out.
    ends = [found.end() for found in SENTENCE_END.finditer(content, low, high + 1) if low < found.end() <= high]
    return ends[-1] if ends else None


def _word_start(content: str, low: int, high: int) -> int:
    """Return the first start of a word in `low..high`, else the first boundary between characters."""
    low = _first_visible(content, low, high)
    words = (at for at in range(low, high + 1) if not content[at : at + 1].isspace() and _between_words(content, at))
    found = next(words, None)
    return _between_characters(content, range(low, high)) if found is None else found


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
