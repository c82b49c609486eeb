"""The intents of a text towards the model that reads it, by words that are close to each other.

intents_in(plain)   the reason to distrust a text, or nothing

`intents.toml` has the vocabulary, one section per language, and the intents, which know no language: each needs words
of some classes within a few dozen characters. One intent is seldom enough: the points of different ones are added,
but only within one statement, because a list of harmless rules has a little of everything.
"""

from __future__ import annotations

import re
import tomllib
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import chain
from pathlib import Path
from typing import Any

from memhook.patterns import regex

DATA = Path(__file__).with_name("intents.toml")
NEEDED = 4  # points that make a text distrusted
REACH = 240  # characters within which the points of different intents are added
SPAN = 45  # characters within which an intent needs its words, unless it says otherwise
DESCRIBED = 90
FORBIDDEN = 14
SENTENCE = 20  # characters that the end of a sentence counts for
SHORT = 30  # characters of a line that may continue the one before: "The user has already agreed."
SHORTEST_START = 3
LONGEST_WORD = 30

_TOKEN = regex(r"[^\W_]+(?:['’][^\W_]+)?|(?<=[.!?;]) |[。！？\n]")
_ASIAN = regex("[\u3040-\u30ff\u3400-\u9fff]")

Places = Mapping[str, Sequence[int]]
Classes = Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Intent:
    """`needs` has classes of words, each time one of some. `intents.toml` says what the others mean."""

    name: str
    points: int
    needs: tuple[frozenset[str], ...]
    span: int = SPAN
    quoted: bool = False
    manner: bool = False


@dataclass(frozen=True, slots=True)
class Mark:
    """A mark that is no word between spaces; `text` is in whatever the pattern matches."""

    name: str
    text: str
    pattern: re.Pattern[str]


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The classes of words, of starts of words and of phrases (by their first word), and what is between no spaces."""

    words: Classes
    starts: Classes
    phrases: Mapping[str, Sequence[tuple[str, list[str], tuple[str, ...]]]]
    marks: Sequence[Mark]
    unspaced: Sequence[Mark]
    intents: Sequence[Intent]
    reasons: Mapping[str, str]


def intents_in(plain: str) -> str:
    """Empty for an ordinary text. `plain` is in lower case, each paragraph and each item of a list on one line."""
    if not _suffices(_possible_in(plain)[-1]):
        return ""  # most texts: where the words are need not be known
    return next(filter(None, map(_intents_of, _statements(plain))), "")


def _statements(plain: str) -> Iterator[str]:
    """Yield the lines, each with those behind it that continue it, and with the first behind its colon or comma."""
    lines: list[str] = []
    for line in plain.split("\n"):
        if lines and not lines[-1].endswith((":", ",")) and not _continues(line):
            yield "\n".join(lines)
            lines.clear()
        lines.append(line)
    yield "\n".join(lines)


def _continues(line: str) -> bool:
    """Whether a line says in a few words how something is done, or that it is secret, but not what."""
    return len(line) <= SHORT and all(one.manner or one.name == "secrecy" for one in _possible_in(line)[-1])


def _intents_of(statement: str) -> str:
    spoken, marks, possible = _possible_in(statement)
    if not _suffices(possible):
        return ""
    places = _places(statement, list(_TOKEN.finditer(statement)), spoken, marks)
    found = sorted((at, number) for number, one in enumerate(possible) for at in _events(one, places))
    latest: dict[Intent, int] = {}
    for place, number in found:
        latest[possible[number]] = place
        near = [one for one, at in latest.items() if at >= place - REACH]
        if _suffices(near):
            return vocabulary().reasons[max(near, key=lambda one: (not one.manner, one.points)).name]
    return ""


def _possible_in(plain: str) -> tuple[Classes, Sequence[Mark], Sequence[Intent]]:
    """Return the words and marks that are in a text, and the intents that it can have."""
    known = vocabulary()
    spoken = _spoken(_TOKEN.findall(plain))
    marks = [mark for mark in known.marks if mark.text in plain]
    if not plain.isascii() and _ASIAN.search(plain):
        marks += [mark for mark in known.unspaced if mark.text in plain]
    present = frozenset(chain.from_iterable(spoken.values())).union(mark.name for mark in marks)
    return spoken, marks, _possible(present)


@lru_cache(maxsize=2_000)
def _possible(present: frozenset[str]) -> tuple[Intent, ...]:
    """Return the intents that words of these classes can have."""
    return tuple(one for one in vocabulary().intents if not any(map(present.isdisjoint, one.needs)))


def _suffices(intents: Sequence[Intent]) -> bool:
    """Return whether these are enough: points against the model's rules, or for an action, each with its manner."""
    return any(map(_is_enough, (intents, intents), (True, False)))


def _is_enough(intents: Sequence[Intent], quoted: bool) -> bool:
    chosen = sorted((one for one in intents if one.manner or one.quoted is quoted), key=lambda one: one.points)
    points = {one.name: one.points for one in chosen}
    return sum(points.values()) >= NEEDED and not all(one.manner for one in chosen)


def _events(intent: Intent, places: Places) -> Iterator[int]:
    """Where the words that the intent needs are together."""
    needed = [sorted({at for one in need for at in places.get(one, ())}) for need in intent.needs]
    if not all(needed):
        return
    first, *others = needed
    for at in first:
        if all(_is_near(at, other, intent.span) for other in others) and not _is_only_named(intent, at, places):
            yield at


def _is_only_named(intent: Intent, at: int, places: Places) -> bool:
    """Whether an attack is described, or a deed forbidden."""
    if intent.quoted:
        return _is_near(at, places.get("described", ()), DESCRIBED)
    return not intent.manner and _is_near(at, places.get("no", ()), FORBIDDEN)


def _is_near(at: int, places: Sequence[int], span: int) -> bool:
    """Whether one of these places, other than `at` itself, is within `span` characters."""
    low, high = bisect_left(places, at - span), bisect_right(places, at + span)
    return high - low > 1 or (high > low and places[low] != at)


def _places(plain: str, tokens: Sequence[re.Match[str]], spoken: Classes, marks: Sequence[Mark]) -> Places:
    """Where the words of each class are. The end of a sentence counts for more than one character."""
    phrases, words = vocabulary().phrases, [token[0] for token in tokens]
    places: dict[str, list[int]] = {}
    breaks, shifts = [0], [0]
    for number, word in enumerate(words):
        if word in " \n。！？":
            breaks.append(tokens[number].start())
            shifts.append(shifts[-1] + SENTENCE)
        elif word in spoken:
            at = tokens[number].start() + shifts[-1]
            for name in _own_classes(word):
                places.setdefault(name, []).append(at)
            for _, rest, names in phrases.get(word, ()):
                if words[number + 1 : number + 1 + len(rest)] == rest:
                    for name in names:
                        places.setdefault(name, []).append(at)
    for mark in marks:
        for found in mark.pattern.finditer(plain):
            places.setdefault(mark.name, []).append(found.start() + shifts[bisect_right(breaks, found.start()) - 1])
    return places


def _spoken(words: Sequence[str]) -> Classes:
    """Return the classes of those words that have any, also those of the phrases that they start."""
    present, in_a_row, phrases = set(words), f" {' '.join(words)} ", vocabulary().phrases
    spoken: dict[str, tuple[str, ...]] = {}
    for word in present:
        classes = _own_classes(word)
        for whole, rest, names in phrases.get(word, ()):
            if rest[0] in present and whole in in_a_row:
                classes += names
        if classes:
            spoken[word] = classes
    return spoken


@lru_cache(maxsize=20_000)
def _own_classes(word: str) -> tuple[str, ...]:
    known = vocabulary()
    starts = (known.starts.get(word[:end], ()) for end in range(SHORTEST_START, min(len(word), LONGEST_WORD) + 1))
    return known.words.get(word.replace("’", "'"), ()) + tuple(name for names in starts for name in names)


def _intent(needs: Iterable[str], **row: Any) -> Intent:
    return Intent(needs=tuple(frozenset(need.split("|")) for need in needs), **row)


@cache
def vocabulary() -> Vocabulary:
    """The contents of `intents.toml`, read once."""
    data = tomllib.loads(DATA.read_text(encoding="utf-8"))
    classes: dict[str, tuple[str, ...]] = {}
    for section in data["words"].values():
        for name, words in section.items():
            for word in words:
                classes[word] = (*classes.get(word, ()), name)
    phrases: dict[str, list[tuple[str, list[str], tuple[str, ...]]]] = {}
    for phrase, names in classes.items():
        first, *rest = phrase.split()
        if rest:
            phrases.setdefault(first, []).append((f" {' '.join((first, *rest))} ", rest, names))
    return Vocabulary(
        words=classes,
        starts={word[:-1]: names for word, names in classes.items() if word.endswith("*")},
        phrases=phrases,
        marks=[
            Mark(name, text, re.compile(pattern))
            for name, patterns in data["marks"].items()
            for text, pattern in patterns.items()
        ],
        unspaced=[
            Mark(name, word, re.compile(re.escape(word)))
            for word, names in classes.items()
            if _ASIAN.search(word)
            for name in names
        ],
        intents=[_intent(**row) for row in data["intents"]],
        reasons=data["reasons"],
    )
