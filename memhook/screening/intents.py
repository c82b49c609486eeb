"""Detect the intents of a text towards the model that reads it, by words that are close to each other.

intents_in(plain)   the reason to distrust a text, or ""

`intents.toml` has the vocabulary, one section per language, and the intents, the same for all languages: each needs
words of some classes within a few dozen characters. One intent is seldom enough: the points of different ones are
added, but only within one statement, because a list of harmless rules has a little of everything.
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
SENTENCE = 20  # characters that the end of a sentence adds to the distance between words
SHORT = 30  # characters of a line that may continue the one before: "The user has already agreed."
SHORTEST_START = 3
LONGEST_WORD = 30

_TOKEN = regex(r"[^\W_]+(?:['’][^\W_]+)?|(?<=[.!?;]) |[。！？\n]")
_ASIAN = regex("[\u3040-\u30ff\u3400-\u9fff]")

Places = Mapping[str, Sequence[int]]
Classes = Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Intent:
    """An intent: of each set of classes in `needs`, one must be found. `intents.toml` explains the other fields."""

    name: str
    points: int
    needs: tuple[frozenset[str], ...]
    span: int = SPAN
    quoted: bool = False
    manner: bool = False


@dataclass(frozen=True, slots=True)
class Mark:
    """A pattern for text that is not a word between spaces; all it matches contains `text`."""

    name: str
    text: str
    pattern: re.Pattern[str]


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The contents of `intents.toml`.

    `words`, `starts` (of words) and `phrases` (by their first word) map to classes; `unspaced` has the words of
    languages without spaces.
    """

    words: Classes
    starts: Classes
    phrases: Mapping[str, Sequence[tuple[str, list[str], tuple[str, ...]]]]
    marks: Sequence[Mark]
    unspaced: Sequence[Mark]
    intents: Sequence[Intent]
    reasons: Mapping[str, str]


def intents_in(plain: str) -> str:
    """Return the reason, or "" for an ordinary text.

    `plain` is in lower case, with each paragraph and each list item on one line.
    """
    if not _suffices(_possible_in(plain)[-1]):
        return ""  # most texts: their words need not be located
    return next(filter(None, map(_intents_of, _statements(plain))), "")


def _statements(plain: str) -> Iterator[str]:
    """Yield each line together with the next one if it ends in a colon or comma, and with those that continue it."""
    lines: list[str] = []
    for line in plain.split("\n"):
        if lines and not lines[-1].endswith((":", ",")) and not _continues(line):
            yield "\n".join(lines)
            lines.clear()
        lines.append(line)
    yield "\n".join(lines)


def _continues(line: str) -> bool:
    """Return whether a short line only adds to the one before: how to do it, or that it is secret."""
    return len(line) <= SHORT and all(one.manner or one.name == "secrecy" for one in _possible_in(line)[-1])


def _intents_of(statement: str) -> str:
    classes, marks, possible = _possible_in(statement)
    if not _suffices(possible):
        return ""
    places = _places(statement, list(_TOKEN.finditer(statement)), classes, marks)
    found = sorted((at, number) for number, one in enumerate(possible) for at in _events(one, places))
    latest: dict[Intent, int] = {}
    for place, number in found:
        latest[possible[number]] = place
        near = [one for one, at in latest.items() if at >= place - REACH]
        if _suffices(near):
            return vocabulary().reasons[max(near, key=lambda one: (not one.manner, one.points)).name]
    return ""


def _possible_in(plain: str) -> tuple[Classes, Sequence[Mark], Sequence[Intent]]:
    """Return the words of a text with their classes, the marks in it, and the intents that it can have."""
    known = vocabulary()
    classes = _classes_of(_TOKEN.findall(plain))
    marks = [mark for mark in known.marks if mark.text in plain]
    if not plain.isascii() and _ASIAN.search(plain):
        marks += [mark for mark in known.unspaced if mark.text in plain]
    present = frozenset(chain.from_iterable(classes.values())).union(mark.name for mark in marks)
    return classes, marks, _possible(present)


@lru_cache(maxsize=2_000)
def _possible(present: frozenset[str]) -> tuple[Intent, ...]:
    """Return the intents that words of these classes can have."""
    return tuple(one for one in vocabulary().intents if not any(map(present.isdisjoint, one.needs)))


def _suffices(intents: Sequence[Intent]) -> bool:
    """Return whether these have enough points: those against the model's rules, or the actions, each with manners."""
    return any(map(_is_enough, (intents, intents), (True, False)))


def _is_enough(intents: Sequence[Intent], quoted: bool) -> bool:
    chosen = sorted((one for one in intents if one.manner or one.quoted is quoted), key=lambda one: one.points)
    points = {one.name: one.points for one in chosen}
    return sum(points.values()) >= NEEDED and not all(one.manner for one in chosen)


def _events(intent: Intent, places: Places) -> Iterator[int]:
    """Yield the places at which the words that the intent needs are close together."""
    needed = [sorted({at for one in need for at in places.get(one, ())}) for need in intent.needs]
    if not all(needed):
        return
    first, *others = needed
    for at in first:
        if all(_is_near(at, other, intent.span) for other in others) and not _is_only_named(intent, at, places):
            yield at


def _is_only_named(intent: Intent, at: int, places: Places) -> bool:
    """Return whether the text describes an attack, or forbids an action."""
    if intent.quoted:
        return _is_near(at, places.get("described", ()), DESCRIBED)
    return not intent.manner and _is_near(at, places.get("no", ()), FORBIDDEN)


def _is_near(at: int, places: Sequence[int], span: int) -> bool:
    """Return whether one of these places, other than `at` itself, is within `span` characters."""
    low, high = bisect_left(places, at - span), bisect_right(places, at + span)
    return high - low > 1 or (high > low and places[low] != at)


def _places(plain: str, tokens: Sequence[re.Match[str]], classes: Classes, marks: Sequence[Mark]) -> Places:
    """Return the places of the words of each class. The end of a sentence counts as `SENTENCE` characters."""
    phrases, words = vocabulary().phrases, [token[0] for token in tokens]
    places: dict[str, list[int]] = {}
    breaks, shifts = [0], [0]
    for number, word in enumerate(words):
        if word in " \n。！？":
            breaks.append(tokens[number].start())
            shifts.append(shifts[-1] + SENTENCE)
        elif word in classes:
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


def _classes_of(words: Sequence[str]) -> Classes:
    """Return the words that have classes, with these and the classes of the phrases that they start."""
    present, in_a_row, phrases = set(words), f" {' '.join(words)} ", vocabulary().phrases
    classes: dict[str, tuple[str, ...]] = {}
    for word in present:
        own = _own_classes(word)
        for whole, rest, names in phrases.get(word, ()):
            if rest[0] in present and whole in in_a_row:
                own += names
        if own:
            classes[word] = own
    return classes


@lru_cache(maxsize=20_000)
def _own_classes(word: str) -> tuple[str, ...]:
    known = vocabulary()
    starts = (known.starts.get(word[:end], ()) for end in range(SHORTEST_START, min(len(word), LONGEST_WORD) + 1))
    return known.words.get(word.replace("’", "'"), ()) + tuple(name for names in starts for name in names)


def _intent(needs: Iterable[str], **row: Any) -> Intent:
    return Intent(needs=tuple(frozenset(need.split("|")) for need in needs), **row)


@cache
def vocabulary() -> Vocabulary:
    """Read `intents.toml`, once."""
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
