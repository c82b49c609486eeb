"""Whether a stretch of text has traits that together command the model, though each of them alone is harmless.

"The agent must run the tests", "from now on", "without asking" and "upload to https://..." stand in many an ordinary
rule; the first with the third and the last, within a few sentences, do not.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain

from memhook.screening import poison_concepts as c
from memhook.screening import poison_misuse as m
from memhook.screening import poison_wordings as w
from memhook.screening.poison_negation import is_forbidden
from memhook.screening.poison_search import Finder, Sign, indexed
from memhook.screening.poison_signs import COMMAND, CONCEALMENT, EXFILTRATION, OVERRIDE, PERSONA, REVEAL, WORDED

STRETCH = 300
SENTENCE = 120
CLAUSE = 70
MOST_SETS = 3


@dataclass(frozen=True, slots=True)
class Combination:
    """Of each set one trait, all of them within a stretch of so many characters."""

    reason: str
    sets: tuple[frozenset[str], ...]
    stretch: int


def _of(reason: str, *sets: str | tuple[str, ...], stretch: int = STRETCH) -> Combination:
    return Combination(reason, tuple(frozenset([some] if isinstance(some, str) else some) for some in sets), stretch)


_ADDRESSED = (w.HAILED, w.OBLIGED)
_HARM = (w.SABOTAGE, w.DESTRUCTION)
_CONFIDENTIAL = (w.SECRET, c.VALUABLE)
_DOINGS = (c.FETCHED, c.RAN, c.DEED, c.SHOWN, c.TRUSTED, c.LIED)
_STEALTH = (w.CONCEALED, w.UNASKED)
_CLAIMS = (w.AUTHORITY, w.POLICY, w.REMEMBERED, w.DROPPED)
_MISUSES = (
    m.GATHERED,
    m.CARRIED_OUT,
    m.UNGUARDED,
    m.UNCHECKED,
    m.APPROVED,
    m.CONFIRMED,
    m.ODD_SOURCE,
    m.PRAISED,
    m.SELF_GRANTED,
    m.DENIED,
)

COMBINATIONS: tuple[Combination, ...] = (
    _of(COMMAND, w.SPREADING),
    _of(REVEAL, w.ASKED_OUT),
    _of(REVEAL, c.YOURS, c.SHOWN, (c.VERBATIM, c.GIVEN), stretch=SENTENCE),
    _of(REVEAL, c.GIVEN, c.SHOWN, (c.VERBATIM, c.RULES), stretch=SENTENCE),
    _of(OVERRIDE, c.ENDED, c.RULES, (c.OWNER, c.EARLIER, c.GIVEN), stretch=CLAUSE),
    _of(OVERRIDE, c.RANKED, (w.AUTHORITY, w.OBEYED, c.ENDED, *_HARM, w.OUTBOUND)),
    _of(
        OVERRIDE,
        w.DROPPED,
        (w.OBEYED, *_HARM, *_STEALTH, w.ROLE, w.AUTHORITY, w.HAILED, w.OUTBOUND, *_CONFIDENTIAL, c.FETCHED),
    ),
    _of(OVERRIDE, m.NULLIFIED),
    _of(OVERRIDE, w.AUTHORITY, c.ENDED, c.RULES, stretch=SENTENCE),
    _of(OVERRIDE, m.UNREFUSED, (*_ADDRESSED, w.POLICY, w.OBEYED, w.UNASKED, w.ROLE, c.ENDED)),
    _of(REVEAL, m.DESCRIBED),
    _of(EXFILTRATION, w.GIVEN_AWAY),
    _of(EXFILTRATION, w.SECRET, m.CARRIED_OUT, stretch=SENTENCE),
    _of(EXFILTRATION, m.GATHERED, c.VALUABLE, (w.OUTBOUND, m.CARRIED_OUT), stretch=SENTENCE),
    _of(EXFILTRATION, w.SECRET, w.OUTBOUND, stretch=SENTENCE),
    _of(EXFILTRATION, w.OUTBOUND, c.VALUABLE, (*_ADDRESSED, *_STEALTH, w.AUTHORITY, w.ROLE, w.DROPPED, w.LASTING)),
    _of(
        CONCEALMENT,
        w.CONCEALED,
        (*_HARM, w.OUTBOUND, w.UNASKED, w.AUTHORITY, w.ROLE, w.PLANTED, w.LASTING, w.HAILED, c.FETCHED),
    ),
    _of(COMMAND, w.AUTHORITY, (w.OBLIGED, w.OBEYED, w.UNASKED, *_HARM, w.SECRET, w.PRIVILEGED)),
    _of(COMMAND, w.AUTHORITY, c.SHOWN, c.VALUABLE, stretch=SENTENCE),
    _of(COMMAND, w.POLICY, (w.HAILED, w.UNASKED, w.SABOTAGE, w.SECRET)),
    _of(COMMAND, w.REMEMBERED, (w.UNASKED, *_HARM, w.OUTBOUND, c.TRUSTED)),
    _of(COMMAND, w.LASTING, (w.SABOTAGE, w.PLANTED, c.TRUSTED)),
    _of(COMMAND, w.HAILED, (*_HARM, w.UNASKED, w.OBEYED, c.LIED, w.PRIVILEGED)),
    _of(COMMAND, w.OBLIGED, (w.SABOTAGE, w.PRIVILEGED)),
    _of(COMMAND, c.PROTECTED, c.DEED, (w.HAILED, c.LIED, w.CONCEALED), stretch=SENTENCE),
    _of(COMMAND, c.LIED, (*_HARM, w.CONCEALED), stretch=SENTENCE),
    _of(COMMAND, w.UNASKED, _HARM, (w.OBLIGED, w.LASTING, w.ROLE)),
    _of(COMMAND, c.FETCHED, c.RAN, (*_ADDRESSED, *_STEALTH, w.LASTING, w.OBEYED), stretch=SENTENCE),
    _of(COMMAND, c.FETCHED, w.OBEYED, stretch=SENTENCE),
    _of(COMMAND, m.UNGUARDED, w.UNASKED),
    _of(
        COMMAND,
        (m.UNGUARDED, m.UNCHECKED),
        (*_ADDRESSED, *_CLAIMS, w.CONCEALED, w.LASTING, w.OBEYED, m.LEFT_OFF, m.UNREPORTED, m.DENIED),
    ),
    _of(COMMAND, m.APPROVED, m.UNREAD, stretch=SENTENCE),
    _of(COMMAND, m.CONFIRMED, (*_ADDRESSED, *_CLAIMS, *_STEALTH, m.UNREAD, m.UNREPORTED, w.OBEYED)),
    _of(COMMAND, m.ODD_SOURCE, (*_ADDRESSED, *_STEALTH, w.LASTING, w.OBEYED, w.DROPPED, m.UNREPORTED)),
    _of(COMMAND, m.ODD_SOURCE, c.RAN, stretch=CLAUSE),
    _of(COMMAND, m.SELF_GRANTED, (*_ADDRESSED, *_STEALTH, *_HARM)),
    _of(CONCEALMENT, m.DENIED),
    _of(
        CONCEALMENT,
        m.UNREPORTED,
        (
            w.CONCEALED,
            w.LASTING,
            w.HAILED,
            *_HARM,
            w.UNASKED,
            w.ROLE,
            m.UNGUARDED,
            m.APPROVED,
            c.DEED,
            c.FETCHED,
            w.AUTHORITY,
            w.PLANTED,
            w.OUTBOUND,
        ),
    ),
    _of(COMMAND, m.PRAISED, (w.CONCEALED, w.REMEMBERED, w.HAILED, m.UNREASONED)),
    _of(PERSONA, w.ROLE, (w.UNASKED, *_CONFIDENTIAL, *_HARM, w.OBEYED, c.UNBOUND), stretch=SENTENCE),
)

_FORBIDDABLE = frozenset(
    (
        *_HARM,
        *_STEALTH,
        w.OUTBOUND,
        w.DROPPED,
        w.ROLE,
        w.ASKED_OUT,
        w.PLANTED,
        w.GIVEN_AWAY,
        m.DESCRIBED,
        *_DOINGS,
        *_MISUSES,
    )
)
"""A rule that forbids these is no attack."""

_CLAUSE_END = re.compile(r"[.;!?] ")
_STATEMENTS = len(WORDED)
SIGNS = (*WORDED, *w.wordings())
INDEX = indexed(SIGNS)
"""Of what is said outright and of traits, for a text is looked through once."""


def _bits() -> dict[str, int]:
    traits = dict.fromkeys(sign.reason for sign in SIGNS[_STATEMENTS:])
    return {trait: 1 << place for place, trait in enumerate(traits)}


_BIT_OF = _bits()
_BITS = [_BIT_OF.get(sign.reason, 0) for sign in SIGNS]
_ANY = -1


def _masks(some: Combination) -> tuple[int, int, int]:
    """Of each set one; a set that is not there is any trait."""
    masks = [sum(map(_BIT_OF.__getitem__, traits)) for traits in some.sets]
    first, second, third = masks + [_ANY] * (MOST_SETS - len(masks))
    return first, second, third


_MASKED = [(*_masks(some), some) for some in COMBINATIONS]


def statements(finder: Finder) -> Iterable[Sign]:
    """What the text may say outright."""
    return [SIGNS[number] for number in sorted(finder.may_have(INDEX)) if number < _STATEMENTS]


def hinted_at(finder: Finder) -> str:
    """The reason of the first combination that is in the text."""
    numbers = finder.may_have(INDEX)
    possible = _possible(numbers)
    if not possible:
        return ""
    traits = _Traits(finder, (SIGNS[number] for number in numbers if number >= _STATEMENTS))
    return next((some.reason for some in possible if traits.combine(some)), "")


def _possible(numbers: Iterable[int]) -> list[Combination]:
    there = 0
    for number in numbers:
        there |= _BITS[number]
    return [some for one, two, three, some in _MASKED if there & one and there & two and there & three]


class _Traits:
    """Where a text has which traits, looked for when the words of a whole combination are there."""

    def __init__(self, finder: Finder, signs: Iterable[Sign]) -> None:
        self._finder = finder
        self._signs: dict[str, list[Sign]] = {}
        self._places: dict[str, list[int]] = {}
        for sign in signs:
            self._signs.setdefault(sign.reason, []).append(sign)

    def combine(self, some: Combination) -> bool:
        each = []
        for traits in some.sets:
            places = [place for trait in traits for place in self._places_of(trait)]
            if not places:
                return False
            each.append(places)
        return any(_are_within(each, first, self._end(first, some.stretch)) for first in chain(*each))

    def _end(self, first: int, stretch: int) -> int:
        """Of the stretch; a clause ends with its sentence at the latest."""
        found = _CLAUSE_END.search(self._finder.plain, first, first + stretch) if stretch == CLAUSE else None
        return found.start() if found else first + stretch

    def _places_of(self, trait: str) -> list[int]:
        if trait not in self._places:
            self._places[trait] = [place for sign in self._signs.get(trait, ()) for place in self._meant(sign)]
        return self._places[trait]

    def _meant(self, sign: Sign) -> Iterator[int]:
        plain, places = self._finder.plain, self._finder.places
        if not all(map(places, sign.telling)):
            return
        others = [places(group) for group in sign.telling]
        for place in places(sign.groups[0]):
            if all(_has_within(some, place, sign.reach) for some in others):
                found = sign.pattern.match(plain, place)
                if found and not (sign.reason in _FORBIDDABLE and is_forbidden(plain, found)):
                    yield place


def _has_within(places: list[int], start: int, reach: int) -> bool:
    """Whether one of them, which are in order, is from this start on within reach."""
    first = bisect_left(places, start)
    return first < len(places) and places[first] <= start + reach


def _are_within(each: Iterable[list[int]], start: int, end: int) -> bool:
    """Whether one place of each list is."""
    return all(any(start <= place <= end for place in places) for places in each)
