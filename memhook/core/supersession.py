"""Estimate whether a new memory contradicts an older one: the same subject with another value.

chance_to_supersede(older, newer, cosine)   0 to 1; from PROPOSED on it is worth a question to the author

Sentences are compared in pairs. What counts: how near the texts are, how many words the nearest sentences share, words
that one negates and the other does not, words of change ("since", "replaced"), and a name that the new text ends.
Against it counts a word that differs where the subject or a circumstance stands ("staging uses", "in the web folder"):
then both may be true. The weights are a logistic regression over pairs written by hand; the guide has the figures.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, product

from memhook.core.terms import STOP_WORDS, folded, terms

PROPOSED = 0.55
WITHOUT_MODEL = 0.65  # the cosine assumed where none is known: words have to say more
MOST_SENTENCES = 40  # of each text: of a long one the beginning
READ_CHARS = 8_000


def _table(words: str) -> frozenset[str]:
    return frozenset(words.split())


_NEGATIONS = _table(
    "not no never nobody none cannot neither nor banned forbidden nicht kein keine nie pas jamais nunca"
)
_ENDINGS = _table("""
gone dropped removed retired replaced closed switched deprecated abandoned dead deleted dissolved obsolete old instead
former formerly previously longer anymore moved migrated off stopped unsupported
ersetzt abgeschaltet entfernt supprime remplace reemplazado eliminado
""")
_CHANGES = _ENDINGS | _table("""
now since upgraded raised lowered bumped changed renamed became becomes jetzt seit mehr desormais depuis ahora ya
""")
_SAYING_LITTLE = STOP_WORDS | _NEGATIONS | _CHANGES
_CIRCUMSTANCES = _table("in for of before when during under fur bei pour dans para en")
_VERBS = _table("is are was were has have had use uses run runs ist sind est sont es son usa")
_NUMBERS = _table("one two three four five six seven eight nine ten once twice")

_SENTENCE_END = re.compile(r"(?<=[.!?;])\s+|\n+")
_CLAUSE_END = re.compile(r"(?<=[,:])\s+|(?<=\S)\s++(?=(?:but|instead|while|because)\b)|\s[–—-]\s|[()]")
_WORD = re.compile(r"[^\s`\"'()\[\]{},;!?]+(?:'t)?")
_NUMBER = re.compile(r"[v#$€]?\d", re.IGNORECASE)
_NAME = re.compile(r"\w[A-Z]|\w[._/@:+-]\w|\d")

_WEIGHTS = {
    "cosine": 7.15,
    "shared": 3.61,
    "circumstance": -1.86,
    "extra": -0.46,
    "flip": 1.87,
    "change": 3.01,
    "ended": 1.63,
    "length": -1.91,
}
_CONSTANT = -4.62


@dataclass(frozen=True, slots=True)
class _Word:
    """`whole` is the word as one term, `keys` its parts too; `is_value` for numbers, versions, names and code.

    `is_circumstance` is set where a subject or a circumstance stands: before the verb, or after "in", "for" and such.
    `is_negative` is set where its clause negates or ends something.
    """

    whole: str
    keys: frozenset[str]
    is_number: bool
    is_value: bool
    is_circumstance: bool
    is_negative: bool


@dataclass(frozen=True, slots=True)
class _Sentence:
    words: tuple[_Word, ...]
    is_change: bool
    has_verb: bool
    keys: frozenset[str]


@dataclass(frozen=True, slots=True)
class _Clause:
    words: tuple[tuple[str, bool], ...]  # each with whether it is code
    plain: tuple[str, ...]
    is_negative: bool


def chance_to_supersede(older: str, newer: str, cosine: float | None) -> float:
    """Return how likely `newer` is to replace what `older` says; `cosine` is that of their vectors."""
    old, new = _sentences(older), _sentences(newer)
    if _says_all_of(old, new) or _says_all_of(new, old):
        return 0.0
    parts = _evidence(old, new, cosine)
    return 1.0 / (1.0 + math.exp(-_CONSTANT - sum(_WEIGHTS[name] * value for name, value in parts.items())))


def evidence(older: str, newer: str, cosine: float | None) -> dict[str, float]:
    """Return what counts for and against it, by the names of the weights."""
    return _evidence(_sentences(older), _sentences(newer), cosine)


def _evidence(old: Sequence[_Sentence], new: Sequence[_Sentence], cosine: float | None) -> dict[str, float]:
    return {
        "cosine": WITHOUT_MODEL if cosine is None else cosine,
        **_nearest(old, new),
        "change": float(any(one.is_change for one in new) and not any(one.is_change for one in old)),
        "ended": float(_names_what_ended(old, new)),
        "length": math.log1p(len(old)) + math.log1p(len(new)),
    }


def _nearest(old: Sequence[_Sentence], new: Sequence[_Sentence]) -> dict[str, float]:
    """The comparison of the two sentences that say most against each other."""
    none = {"shared": 0.0, "circumstance": 0.0, "extra": 0.0, "flip": 0.0}
    pairs = (_compared(one, other) for one, other in product(old, new) if one.keys & other.keys)
    return max(pairs, key=lambda found: sum(_WEIGHTS[name] * value for name, value in found.items()), default=none)


def _compared(old: _Sentence, new: _Sentence) -> dict[str, float]:
    common = [word for word in old.words if word.keys & new.keys]
    fewer = min(len(old.words), len(new.words))
    negative = {key for word in new.words if word.is_negative for key in word.keys}
    flipped = sum(1 for word in common if word.is_negative != (not word.keys.isdisjoint(negative)))
    differs = _is_about_another(old, new), _is_about_another(new, old)
    return {
        "shared": min(1.0, len(common) / fewer),
        "circumstance": float(all(differs)),
        "extra": float(differs[0] != differs[1]),
        "flip": min(1.0, flipped / fewer),
    }


def _is_about_another(sentence: _Sentence, other: _Sentence) -> bool:
    """Whether a word that only this sentence has stands where the subject or a circumstance does."""
    last = max((at for at, word in enumerate(sentence.words) if word.whole in other.keys), default=0)
    return any(
        word.is_circumstance or (not sentence.has_verb and at < last)
        for at, word in enumerate(sentence.words)
        if word.whole not in other.keys and not word.is_number
    )


def _names_what_ended(old: Sequence[_Sentence], new: Sequence[_Sentence]) -> bool:
    """Whether the new text negates or ends a name or a value that the old one only states."""
    stated, denied = _by_polarity(old)
    kept, ended = _by_polarity(new)
    values = {key for sentence in (*old, *new) for word in sentence.words if word.is_value for key in word.keys}
    return bool((stated - denied) & (ended - kept) & values)


def _says_all_of(sentences: Sequence[_Sentence], other: Sequence[_Sentence]) -> bool:
    """Whether a text only repeats the other one, in more words but without another value."""
    ours, theirs = _by_polarity(sentences), _by_polarity(other)
    known = theirs[0] | theirs[1]
    added = (word for sentence in sentences for word in sentence.words if word.whole not in known)
    return theirs[0] <= ours[0] and theirs[1] <= ours[1] and not any(word.is_value for word in added)


def _by_polarity(sentences: Sequence[_Sentence]) -> tuple[set[str], set[str]]:
    words = [word for sentence in sentences for word in sentence.words]
    positive = {key for word in words if not word.is_negative for key in word.keys}
    return positive, {key for word in words if word.is_negative for key in word.keys}


def _sentences(text: str) -> list[_Sentence]:
    found = filter(None, (_sentence(part) for part in _SENTENCE_END.split(text[:READ_CHARS]) if part))
    return list(islice(found, MOST_SENTENCES))


def _sentence(text: str) -> _Sentence | None:
    clauses = [_clause(part) for part in _CLAUSE_END.split(text) if part]
    plain = [word for clause in clauses for word in clause.plain]
    has_verb = not _VERBS.isdisjoint(plain)
    words = tuple(_words(clauses, has_verb))
    keys = frozenset(key for word in words for key in word.keys)
    return _Sentence(words, not _CHANGES.isdisjoint(plain), has_verb, keys) if words else None


def _clause(text: str) -> _Clause:
    found = [(match.group().strip(".:*"), text[max(0, match.start() - 1)] == "`") for match in _WORD.finditer(text)]
    plain = tuple(folded(word) for word, _ in found)
    is_negative = any(word in _NEGATIONS or word in _ENDINGS or word.endswith("n't") for word in plain)
    return _Clause(tuple(found), plain, is_negative)


def _words(clauses: Sequence[_Clause], has_verb: bool) -> Iterator[_Word]:
    after_preposition, is_before_verb, is_first = False, has_verb, True
    every = (
        (word, is_code, low, clause.is_negative)
        for clause in clauses
        for (word, is_code), low in zip(clause.words, clause.plain, strict=True)
    )
    for at, (word, is_code, low, is_negative) in enumerate(every):
        after_preposition = after_preposition or low in _CIRCUMSTANCES
        is_before_verb = is_before_verb and low not in _VERBS
        if not low or low in _SAYING_LITTLE:
            continue
        found = terms(word) or [low]
        is_number = bool(_NUMBER.match(word)) or low in _NUMBERS
        is_name = is_code or bool(_NAME.search(word)) or (word[0].isupper() and at > 0)
        is_circumstance = after_preposition or is_before_verb or (is_first and not has_verb)
        yield _Word(found[0], frozenset(found), is_number, is_number or is_name, is_circumstance, is_negative)
        after_preposition = is_first = False
