"""Where a text has which phrases: quickly none at all, for the start of a word that they have is not there."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

START_CHARS = (4, 7)
SHORTEST_PIECE = 4
ANY_TEXT = ""
FOREIGN_TEXT = "é"
OTHER_SCRIPT = "я"
"""In place of a word's start, for a phrase that has none to be looked up by."""

_NO_WORD = bytes(char if chr(char).isalnum() else 0x20 for char in range(128)) + b" " * 128
_LETTER_OF_OTHER_SCRIPT = re.compile("[\u0370-\u1fff\u3040-\ud7ff\uf900-\ufaff]")
_PIECE = re.compile("[a-z0-9]+")


@dataclass(frozen=True, slots=True, eq=False)
class Group:
    """Phrases, of which one must be in the text; each after the start of a word that it has."""

    phrases: tuple[str, ...]
    starts: frozenset[str]
    by_start: Mapping[str, Sequence[str]]
    is_common: bool


@dataclass(frozen=True, slots=True)
class Sign:
    """What the pattern matches has a phrase of each group, and so a word that starts with one of `starts`.

    It has at most `reach` characters. The first group is the one that a text is least likely to have often.
    """

    reason: str
    groups: tuple[Group, ...]
    starts: frozenset[str]
    source: str
    reach: int
    telling: tuple[Group, ...] = ()
    """Where the pattern starts with the first group: those of the others that are worth a look before it is tried."""
    written_out: Callable[[str], str] = str
    """Makes a regular expression of the source."""

    @property
    def pattern(self) -> re.Pattern[str]:
        """Compiled when first needed: all of them take a second, and most texts need few."""
        return _compiled(self.written_out, self.source)


@cache
def _compiled(written_out: Callable[[str], str], source: str) -> re.Pattern[str]:
    return re.compile(written_out(source))


@cache  # signs that have a group in common look for it once
def group_of(words: str) -> Group:
    """Of phrases that may stand within a word. An underscore stands for a space."""
    phrases = [word.replace("_", " ") for word in words.split()]
    return _group((_start(phrase), phrase) for phrase in phrases)


@cache
def group_of_words(words: str) -> Group:
    """Of phrases that are whole words, but for those with a star at the end."""
    phrases = [word.replace("_", " ") for word in words.split()]
    return _group((_start(some.rstrip("*"), is_whole=not some.endswith("*")), some.rstrip("*")) for some in phrases)


def _group(phrases: Iterable[tuple[str, str]]) -> Group:
    by_start: dict[str, list[str]] = {}
    for start, phrase in phrases:
        by_start.setdefault(start, []).append(phrase)
    every = tuple(phrase for some in by_start.values() for phrase in some)
    short = sum(len(some) for start, some in by_start.items() if _is_short(start))
    return Group(every, frozenset(by_start), by_start, "," in every or short > len(every) / 2)


def rarest_starts(groups: Iterable[Group]) -> frozenset[str]:
    return min((group.starts for group in groups), key=_commonness)


def _commonness(starts: frozenset[str]) -> tuple[bool, int, int]:
    return ANY_TEXT in starts, sum(map(_is_short, starts)), len(starts)


def _is_short(start: str) -> bool:
    """Most texts have it."""
    return len(start) < START_CHARS[0] and start not in (ANY_TEXT, FOREIGN_TEXT, OTHER_SCRIPT)


def _start(phrase: str, is_whole: bool = False) -> str:
    """Of its longest word: a text has the phrase only if one of its words is, or starts, so."""
    if _LETTER_OF_OTHER_SCRIPT.search(phrase):
        return OTHER_SCRIPT
    longest = max(_PIECE.findall(phrase), key=len, default="")
    if not phrase.isascii() and len(longest) < SHORTEST_PIECE:
        return FOREIGN_TEXT
    few, many = START_CHARS
    return longest if is_whole else longest[:many] if len(longest) >= many else longest[:few]


@dataclass(frozen=True, slots=True, eq=False)
class Index:
    """The numbers of signs by their starts; and, a bit for each group, which groups a start is of and a sign needs."""

    starts: frozenset[str]
    numbers: Mapping[str, Sequence[int]]
    groups_of: Mapping[str, int]
    needed: Sequence[int]


def indexed(signs: Sequence[Sign]) -> Index:
    numbers: dict[str, list[int]] = {}
    groups_of: dict[str, int] = {}
    bits = {group: 1 << place for place, group in enumerate({group: 0 for sign in signs for group in sign.groups})}
    for number, sign in enumerate(signs):
        for start in sign.starts:
            numbers.setdefault(start, []).append(number)
    for group, bit in bits.items():
        for start in group.starts:
            groups_of[start] = groups_of.get(start, 0) | bit
    needed = [sum({bits[group] for group in sign.groups}) for sign in signs]
    return Index(frozenset(groups_of), numbers, groups_of, needed)


class Finder:
    """For all the signs that ask, each phrase is looked for once."""

    def __init__(self, plain: str) -> None:
        self.plain = plain
        self._words = _starts_of_words(plain)
        self._has: dict[Group, bool] = {}
        self._places: dict[Group, list[int]] = {}
        self._may_have: dict[Index, list[int]] = {}

    def may_have(self, index: Index) -> list[int]:
        """The signs of whose every group a start is there."""
        if (known := self._may_have.get(index)) is None:
            known = self._may_have[index] = self._candidates(index)
        return known

    def _candidates(self, index: Index) -> list[int]:
        there, candidates = 0, set[int]()
        for start in self._words & index.starts:
            there |= index.groups_of[start]
            if some := index.numbers.get(start):
                candidates.update(some)
        return [number for number in candidates if there & index.needed[number] == index.needed[number]]

    def has(self, group: Group) -> bool:
        if (known := self._has.get(group)) is None:
            known = self._has[group] = self._looks_up(group)
        return known

    def _looks_up(self, group: Group) -> bool:
        for start in self._words & group.starts:  # plain loops, for this is most of the work
            for phrase in group.by_start[start]:
                if phrase in self.plain:
                    return True
        return False

    def places(self, group: Group) -> list[int]:
        if (known := self._places.get(group)) is None:
            known = self._places[group] = sorted(self._finds(group))
        return known

    def _finds(self, group: Group) -> list[int]:
        plain, found = self.plain, []
        for start in self._words & group.starts:
            for phrase in group.by_start[start]:
                place = plain.find(phrase)
                while place >= 0:
                    found.append(place)
                    place = plain.find(phrase, place + 1)
        return found


def _starts_of_words(plain: str) -> set[str]:
    words = set(plain.encode("ascii", "replace").translate(_NO_WORD).decode("ascii").split())
    starts = words | {word[:chars] for chars in START_CHARS for word in words}
    starts.add(ANY_TEXT)
    if not plain.isascii():
        starts.add(FOREIGN_TEXT)
        if _LETTER_OF_OTHER_SCRIPT.search(plain):
            starts.add(OTHER_SCRIPT)
    return starts


def near(places: Iterable[int], reach: int) -> Iterator[tuple[int, int]]:
    """What is within reach of these places, each part of it once."""
    start, end = 0, -1
    for place in places:
        if place - reach > end:
            if end >= 0:
                yield start, end
            start = max(0, place - reach)
        end = place + reach
    if end >= 0:
        yield start, end
