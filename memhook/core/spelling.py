"""Correct typing errors in a prompt to words of the store.

repaired(text, counts, vocabulary) -> Repaired | None
Vocabulary.of(words)                words that are always correct, such as those of the embedding model

A word is an error if neither the store nor the vocabulary has it, and is repaired if one insertion, deletion,
substitution or transposition makes it a word they have. Only prose is checked: a word with a digit, an underscore, a
slash or a capital inside is an identifier, a path or code.

There is no index of the store's words: a word has some 50 neighbours per letter, which are looked up in the existing
term counts. That is as fast in a store of any size, and never out of date.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from memhook.core.terms import STOP_WORDS, folded, stemmed, stems
from memhook.patterns import regex

MIN_LETTERS, MAX_LETTERS = 4, 24
TRANSPOSED, ONE_MORE_OR_LESS, WRONG_LETTER = range(3)  # from the likeliest error to the least likely
NO_WORD = 2
MAX_SUSPECTS = 12  # a log or another language has more

_CODE = regex(r"```.*?(?:```|\Z)|`[^`\n]*`", re.DOTALL)
_CHUNK = regex(r"\S+")
_OPENING = "\"'“”‘’«»([<*"
_CLOSING = "\"'“”‘’«»)]>*.,;:!?…"  # no opening bracket: that would be a call
_ALPHABETS = ("abcdefghijklmnopqrstuvwxyz", "абвгдежзийклмнопрстуфхцчшщъыьэюяё", "αβγδεζηθικλμνξοπρσςτυφχψω")

_Span = tuple[str, int, int]
_Form = tuple[int, bool, int, int, str]  # the sort key of a word's forms; the last item is the form


@dataclass(frozen=True)
class Vocabulary:
    """Words in lower case."""

    words: frozenset[str]

    @classmethod
    def of(cls, words: Iterable[str]) -> Vocabulary:
        return cls(frozenset(folded(word) for word in words if word.isalpha()) | STOP_WORDS)

    @cached_property
    def terms(self) -> frozenset[str]:
        """The stems of the words; lazy, because stemming takes longer than reading them and few prompts need it."""
        return frozenset(stems(list(self.words)))

    def doubt(self, word: str) -> int:
        """Return 0 for a word, 1 for the plural of one (a model has no token for most plurals), else NO_WORD."""
        if word in self.words:
            return 0
        return 1 if word.endswith("s") and not word.endswith("ss") and word[:-1] in self.words else NO_WORD


NO_VOCABULARY = Vocabulary(frozenset())


@dataclass(frozen=True, slots=True)
class Repaired:
    """The corrected text, and the corrections."""

    text: str
    words: Mapping[str, str]


def repaired(text: str, counts: Mapping[str, int], vocabulary: Vocabulary) -> Repaired | None:
    """Return the corrected text; None if there is no error, or if so many words are unknown that they are no errors.

    `counts` maps each term of the store to its number of memories. Without a vocabulary nothing is repaired: every word
    that the store lacks would look like an error.
    """
    if not vocabulary.words:
        return None
    suspects = [span for span in _prose(text) if not _is_known(span[0], counts, vocabulary)]
    words = dict.fromkeys(word for word, _, _ in suspects)
    if not words or len(words) > MAX_SUSPECTS:
        return None
    meant = {word: found for word in words if (found := _meant(word, counts, vocabulary))}
    unknown = sum(word in meant or not _may_be_a_form(word, vocabulary) for word in words)
    in_store = sum(stemmed(one) in counts for one in meant.values())
    if not in_store or unknown > 2 * in_store + 1:
        return None
    return Repaired(_with(text, suspects, meant), meant)


def _prose(text: str) -> Iterator[_Span]:
    """Yield the words between spaces and punctuation, with their offsets."""
    prose = _CODE.sub(lambda code: " " * len(code[0]), text)
    for chunk in _CHUNK.finditer(prose):
        bare = chunk[0].lstrip(_OPENING)
        start = chunk.end() - len(bare)
        word = bare.rstrip(_CLOSING)
        is_word = MIN_LETTERS <= len(word) <= MAX_LETTERS and word.isalpha()
        if is_word and (word.islower() or word[1:].islower()):
            yield word, start, start + len(word)


def _is_known(word: str, counts: Mapping[str, int], vocabulary: Vocabulary) -> bool:
    plain = folded(word)
    return vocabulary.doubt(plain) < NO_WORD or stemmed(plain) in counts


def _may_be_a_form(word: str, vocabulary: Vocabulary) -> bool:
    """Return whether a word of the vocabulary has the same stem: "reconcilation" looks like a form of "reconcile"."""
    return stemmed(folded(word)) in vocabulary.terms


def _meant(word: str, counts: Mapping[str, int], vocabulary: Vocabulary) -> str | None:
    """Return the likeliest correction: by the kind of error, then by the number of memories with the word."""
    kinds = _neighbours(folded(word))
    candidates = list(kinds)
    forms: dict[str, list[_Form]] = defaultdict(list)
    for one, term in zip(candidates, stems(candidates), strict=True):
        doubt = vocabulary.doubt(one)
        # The stem of a common word matches its misspellings too; of the store's own words only the stem is known.
        if doubt < NO_WORD if term in vocabulary.terms else term in counts:
            # A model also has tokens for parts of words: of several forms, the bare stem comes last.
            forms[term].append((doubt, doubt < NO_WORD and one == term, kinds[one], len(one), one))
    places = [(_error_kind(found, term in counts), -counts.get(term, 0), term) for term, found in forms.items()]
    most = WRONG_LETTER - _may_be_a_form(word, vocabulary)  # a possible form needs a likelier error
    likely = [place for place in places if place[0] <= most and (most == WRONG_LETTER or place[1])]
    return min(forms[min(likely)[-1]])[-1] if likely else None


def _error_kind(forms: list[_Form], is_in_store: bool) -> int:
    """Return the kind of error; a word outside the store ranks with the next, less likely kind."""
    return min(kind for _, _, kind, _, _ in forms) + (not is_in_store)


def _neighbours(word: str) -> dict[str, int]:
    """Return the words one error away, each with its kind of error.

    The first letter is seldom wrong, and a word with one more letter at its end is another form of it.
    """
    letters = next((alphabet for alphabet in _ALPHABETS if word[0] in alphabet), "")
    splits = [(word[:at], word[at:]) for at in range(1, len(word) + 1)]
    transposed = [f"{a[:-1]}{b[0]}{a[-1]}{b[1:]}" for a, b in splits if b]
    missed = [a + letter + b for a, b in splits for letter in letters]
    added = [a + b[1:] for a, b in splits if len(b) > 1 or b == a[-1]]
    wrong = [a + letter + b[1:] for a, b in splits if b for letter in letters]
    kinds = dict.fromkeys(wrong, WRONG_LETTER) | dict.fromkeys((*missed, *added), ONE_MORE_OR_LESS)
    kinds |= dict.fromkeys(transposed, TRANSPOSED)
    return {one: kind for one, kind in kinds.items() if one != word}


def _with(text: str, spans: list[_Span], meant: Mapping[str, str]) -> str:
    parts: list[str] = []
    done = 0
    for word, start, end in spans:
        parts += (text[done:start], meant.get(word, word))
        done = end
    return "".join((*parts, text[done:]))
