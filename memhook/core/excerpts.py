"""Cut excerpts from a long text: the passages that are relevant to the prompt, and the instructions.

excerpt(content, weights, limit_chars)  the whole text if it fits, else passages in their order, joined by "…"

The text is split into units: sentences, list items, lines and blocks of code. A unit scores by the terms of the prompt
that it adds to the units already chosen, by those of its neighbours, and by its form: instructions are mostly code or
follow a label ("Fix: ..."), in any language. Code keeps its lines, every fence is closed, a list item keeps its mark.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from functools import lru_cache
from heapq import heapify, heappop, heapreplace
from itertools import pairwise
from math import fsum
from operator import itemgetter

from memhook.core.passages import HORIZON, SENTENCE_END, Span, front, passage
from memhook.core.terms import term_spans
from memhook.patterns import regex

Range = tuple[int, int]

# Measured on 275 prompts, each with the words its answer needs: excerpts of 200, 375 and 750 characters contain them in
# .79, .92 and .98 of the cases; without the score for code in .75, .89 and .95, without that of neighbours in .77, .91
# and .97, without that for labels in .78, .92 and .97. Scoring numbers and negations as well lowered this.
_CODE, _LABEL, _NEIGHBOUR = 0.2, 0.2, 0.5
_HEAVIEST_TERMS = 8  # of the prompt; they sum to 1.0, so that a long prompt does not outweigh the form
_LEAST_CODE = 400
_WRAPPED_CHARS = 50  # a line this long that ends within a sentence was wrapped by a program

_FENCE = regex(r"[ \t]*(`{3,}|~{3,})")
_ITEM = regex(r"[ \t]*(?:[-*+•]|\d{1,9}[.)])[ \t]+(?=\S)")
_HEADING = regex(r" {0,3}#{1,6}[ \t]")
_VERBATIM = regex(r"(?: {4}|\t)[ \t]*\S|[ \t]*\|")
_CODE_SPAN = regex(r"`[^`\n]+`")
_BARE_CODE = regex(r"[ \t]*(?:[-*+•]|\d{1,9}[.)])[ \t]+`[^`\n]+`[.,;]?")  # a step that is a command and nothing else
_LABELLED = regex(r"[ \t]*(?:[-*+•]|\d{1,9}[.)])?[\s*_]*\w[\w ./'-]{1,40}[*_]{0,2}[:：]")


@dataclass(frozen=True, slots=True)
class Excerpt:
    """An excerpt; `ranges` are offsets into the content. If `is_whole`, it misses nothing but white space."""

    text: str
    ranges: tuple[Range, ...]
    is_whole: bool


class _Form(Enum):
    SENTENCE = "sentence"
    LINE = "line"
    CODE = "code"
    FENCE = "fence"


@dataclass(frozen=True, slots=True)
class _Unit:
    start: int
    end: int
    form: _Form
    text: str


@dataclass(frozen=True, slots=True)
class _Worth:
    """The score of a unit: a fixed part, and its terms, each of which counts until a chosen unit has it."""

    always: float
    terms: frozenset[str]


def excerpt(content: str, weights: Mapping[str, float], limit_chars: int, *, is_filled: bool = False) -> Excerpt:
    """Return at most `limit_chars` characters of `content`, not counting the ellipses at either end.

    If `is_filled`, units without a score use the room that the others leave.
    """
    if len(content) <= limit_chars:
        return Excerpt(_closed(content), ((0, len(content)),), is_whole=True)
    shares = _shares(weights)
    all_spans, whole_units = _parsed(content[:HORIZON])
    spans = [span for span in all_spans if span[0] in shares]
    units = [_fitted(unit, content, weights, spans, _most(unit, limit_chars)) for unit in whole_units]
    taken = _chosen(units, _worths(units, shares, spans), shares, limit_chars, is_filled)
    room = limit_chars - sum(len(units[index].text) + _JOINT for index in taken)
    chosen = [units[index] for index in taken]
    cut = next((place for place, index in enumerate(taken) if units[index] != whole_units[index]), None)
    if cut is not None and room > 0:
        chosen[cut] = _fitted(whole_units[taken[cut]], content, weights, spans, len(chosen[cut].text) + room)
    if not chosen:
        beginning = front(content, limit_chars)
        chosen = [_Unit(beginning.start, beginning.end, _Form.SENTENCE, beginning.text)]
    ranges = tuple(_merged(chosen, content))
    is_whole = len(ranges) == 1 and _is_blank(content, 0, ranges[0][0]) and _is_blank(content, ranges[0][1], None)
    return Excerpt(_marked(chosen, content), ((0, len(content)),) if is_whole else ranges, is_whole)


@lru_cache(maxsize=32)
def _parsed(content: str) -> tuple[Sequence[Span], Sequence[_Unit]]:
    """Return the terms in their order, and the units; cached because several lengths of one text are tried."""
    return sorted(term_spans(content), key=_start), _units(content)


def _most(unit: _Unit, limit: int) -> int:
    """Return the characters a unit may take: half the excerpt for code, which would leave no room for a rule."""
    return max(limit // 2, min(limit, _LEAST_CODE)) if unit.form in (_Form.CODE, _Form.FENCE) else limit


def _shares(weights: Mapping[str, float]) -> dict[str, float]:
    """Scale the weights so that the heaviest terms sum to 1."""
    whole = sum(sorted((weight for weight in weights.values() if weight > 0), reverse=True)[:_HEAVIEST_TERMS])
    return {term: weight / whole for term, weight in weights.items() if weight > 0}


def _chosen(
    units: Sequence[_Unit], worths: Sequence[_Worth], shares: Mapping[str, float], limit: int, is_filled: bool
) -> list[int]:
    """Choose greedily by added score until no unit adds anything or fits; ties keep their order.

    If no unit has a score, or if `is_filled`, go on with units that add nothing, from the start of the text.
    """
    seen: set[str] = set()

    def added(index: int) -> float:
        return worths[index].always + fsum(shares[term] for term in worths[index].terms - seen)

    room, taken = limit, set[int]()
    # The score a unit adds only falls as others are chosen: the first whose value is still current is the best.
    heap = [(-added(index), index) for index in range(len(units))]
    heapify(heap)
    takes_any = is_filled or not heap or heap[0][0] == 0
    while heap and (takes_any or heap[0][0] < 0):
        value, index = heap[0]
        size = len(units[index].text) + (_JOINT if taken else 0)
        if size > room:
            heappop(heap)
        elif (now := -added(index)) > value:
            heapreplace(heap, (now, index))
        else:
            heappop(heap)
            taken.add(index)
            seen |= worths[index].terms
            room -= size
    return sorted(taken)


_JOINT = len("\n…\n")


def _worths(units: Sequence[_Unit], shares: Mapping[str, float], spans: Sequence[Span]) -> list[_Worth]:
    terms = [frozenset(term for term, _, _ in _within(spans, unit.start, unit.end)) for unit in units]
    relevance = [0.0, *(fsum(shares[term] for term in some) for some in terms), 0.0]
    return [
        _Worth(_form_worth(unit) + _NEIGHBOUR * max(relevance[at], relevance[at + 2]), some)
        for at, (unit, some) in enumerate(zip(units, terms, strict=True))
    ]


def _within(spans: Sequence[Span], start: int, end: int) -> list[Span]:
    low, high = (bisect_left(spans, edge, key=_start) for edge in (start, end))
    return [span for span in spans[low:high] if span[2] <= end]


_start = itemgetter(1)


def _form_worth(unit: _Unit) -> float:
    is_code = unit.form in (_Form.CODE, _Form.FENCE) or _CODE_SPAN.search(unit.text)
    # A step that is only a command is as much an instruction as "Check the nodes: `command`".
    is_labelled = _LABELLED.match(unit.text) or _BARE_CODE.fullmatch(unit.text)
    return (_CODE if is_code else 0.0) + (_LABEL if is_labelled else 0.0)


def _units(content: str) -> list[_Unit]:
    lines = list(_lines(content))
    units: list[_Unit] = []
    at = 0
    while at < len(lines):
        form, after = _form_at(content, lines, at)
        start, end = lines[at][0], lines[after - 1][1]
        if form is _Form.SENTENCE:
            units.extend(_sentences(content, start, end))
        elif form is not None:
            units.append(_Unit(start, end, form, _closed(content[start:end])))
        at = after
    return units


def _lines(content: str) -> Iterator[Range]:
    start = 0
    while start < len(content):
        end = content.find("\n", start)
        end = len(content) if end < 0 else end
        yield start, end
        start = end + 1


def _form_at(content: str, lines: Sequence[Range], at: int) -> tuple[_Form | None, int]:
    """Return the form that starts in this line (None: the line is blank), and the line after its end."""
    start, end = lines[at]
    after = at + 1
    if _is_blank(content, start, end):
        return None, after
    if fence := _FENCE.match(content, start, end):
        while after < len(lines) and not _closes(content, lines[after], fence[1]):
            after += 1
        return _Form.FENCE, min(after + 1, len(lines))
    if _ITEM.match(content, start, end):
        while after < len(lines) and _continues(content, lines[after]):
            after += 1
        return _Form.LINE, after
    if _HEADING.match(content, start, end):
        return _Form.LINE, after
    form = _Form.CODE if _VERBATIM.match(content, start, end) else _Form.SENTENCE
    while after < len(lines) and _is_more(content, lines[after], form):
        after += 1
    return form, after


def _closes(content: str, line: Range, fence: str) -> bool:
    text = content[line[0] : line[1]].strip()
    return text.startswith(fence) and not text.strip(fence[0])


def _continues(content: str, line: Range) -> bool:
    """Return whether the line continues the list item above: indented, not blank, no item or fence itself."""
    is_indented = content.startswith((" ", "\t"), *line)
    return is_indented and not (
        _is_blank(content, *line) or _ITEM.match(content, *line) or _FENCE.match(content, *line)
    )


def _is_more(content: str, line: Range, form: _Form) -> bool:
    if _is_blank(content, *line) or any(sign.match(content, *line) for sign in (_FENCE, _ITEM, _HEADING)):
        return False
    return (_VERBATIM.match(content, *line) is not None) == (form is _Form.CODE)


def _sentences(content: str, start: int, end: int) -> Iterator[_Unit]:
    ends = [found.end() for found in SENTENCE_END.finditer(content, start, end) if not _is_wrap(content, found)]
    for low, high in pairwise([start, *ends, end]):
        text = content[low:high].lstrip()
        if text.rstrip():
            first = high - len(text)
            yield _Unit(first, first + len(text.rstrip()), _Form.SENTENCE, " ".join(text.split()))


def _is_wrap(content: str, found: re.Match[str]) -> bool:
    """Return whether the sentence continues on the next line."""
    if found[0] != "\n":
        return False
    line = content[content.rfind("\n", 0, found.start()) + 1 : found.start()].rstrip()
    return line.endswith((",", "，", "、")) or (len(line) >= _WRAPPED_CHARS and not line.endswith((":", "：")))


def _is_blank(content: str, start: int, end: int | None) -> bool:
    return not content[start:end].strip()


def _fitted(unit: _Unit, content: str, weights: Mapping[str, float], spans: Sequence[Span], limit: int) -> _Unit:
    """Cut the unit to `limit`: code to whole lines, a list item to its mark and a passage."""
    if len(unit.text) <= limit:
        return unit
    if unit.form in (_Form.CODE, _Form.FENCE):
        return _fitted_code(unit, content, spans, weights, limit)
    mark = _ITEM.match(content, unit.start, unit.end)
    start = mark.end() if mark else unit.start
    before = f"{mark[0]}… " if mark else ""
    within = [(term, low - start, high - start) for term, low, high in _within(spans, start, unit.end)]
    found = passage(content[start : unit.end], weights, within, limit - len(before))
    text = f"{before if found.start else before.removesuffix('… ')}{found.text}"
    return _Unit(start + found.start if found.start else unit.start, start + found.end, unit.form, text)


def _fitted_code(unit: _Unit, content: str, spans: Sequence[Span], weights: Mapping[str, float], limit: int) -> _Unit:
    """Cut a block of code to the lines around the heaviest one, within its own fence."""
    lines = [(unit.start + low, unit.start + high) for low, high in _lines(content[unit.start : unit.end])]
    opening = closing = ""
    if unit.form is _Form.FENCE and (mark := _FENCE.match(content, *lines[0])):
        opening, closing = f"{content[slice(*lines[0])].rstrip()}\n", f"\n{mark[0]}"
        is_closed = len(lines) > 1 and _closes(content, lines[-1], mark[1])
        lines = lines[1:-1] if is_closed else lines[1:]
    room = limit - len(opening) - len(closing)
    if not lines or room <= 0:
        beginning = front(content[unit.start : unit.end], limit)
        return _Unit(unit.start, unit.start + beginning.end, _Form.SENTENCE, " ".join(beginning.text.split()))
    weight = [0.0] * len(lines)
    starts = [start for start, _ in lines]
    for term, start, _ in _within(spans, lines[0][0], lines[-1][1]):
        weight[bisect_right(starts, start) - 1] += weights[term]
    first = last = weight.index(max(weight))
    while last + 1 < len(lines) and lines[last + 1][1] - lines[first][0] <= room:
        last += 1
    while first and lines[last][1] - lines[first - 1][0] <= room:
        first -= 1
    start, end = lines[first][0], min(lines[last][1], lines[first][0] + room)
    return replace(unit, start=start, end=end, text=f"{opening}{content[start:end]}{closing}")


def _closed(text: str) -> str:
    """Close the fence that `text` leaves open."""
    if "```" not in text and "~~~" not in text:
        return text
    fence, opening = "", ""
    for line in text.split("\n"):
        mark = _FENCE.match(line)
        if mark and not fence:
            fence, opening = mark[1], mark[0]
        elif mark and line.strip().startswith(fence) and not line.strip().strip(fence[0]):
            fence = ""
    return f"{text.rstrip()}\n{opening}" if fence else text


def _marked(chosen: Sequence[_Unit], content: str) -> str:
    pieces = [_opening(chosen[0], content), chosen[0].text]
    for left, right in pairwise(chosen):
        pieces += [_between(left, right, content), right.text]
    last = chosen[-1]
    if not _is_blank(content, last.end, None):
        pieces.append("\n…" if last.form in (_Form.CODE, _Form.FENCE) else " …")
    return "".join(pieces)


def _opening(first: _Unit, content: str) -> str:
    if _is_blank(content, 0, first.start):
        return ""
    return "… " if first.form is _Form.SENTENCE else "…\n"


def _between(left: _Unit, right: _Unit, content: str) -> str:
    """Return the white space between two units, with an ellipsis if text between them is left out."""
    space = content[left.end : right.start]
    if not space.strip():
        return "\n" if "\n" in space else space
    before = "\n" if left.form in (_Form.CODE, _Form.FENCE) else " "
    return f"{before}…" + (" " if right.form is _Form.SENTENCE else "\n")


def _merged(chosen: Sequence[_Unit], content: str) -> Iterator[Range]:
    start, end = chosen[0].start, chosen[0].end
    for unit in chosen[1:]:
        if not _is_blank(content, end, unit.start):
            yield start, end
            start = unit.start
        end = unit.end
    yield start, end
