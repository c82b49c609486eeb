"""Estimate whether a new memory contradicts an older one: the same subject with another value.

chance_to_supersede(older, newer, cosine)   0 to 1; from PROPOSED on it is worth a question to the author
announces_change(older, newer)              whether the texts tell which is the newer one

The two texts are compared as wholes: which words of the older one the newer one lacks, and how far it repeats them in
order (the *frame*). Words that are copied, or an unknown subject in a repeated frame, speak against a contradiction: so
look notes about a sibling ("antenna 3", "antenna 5") or another property. A sentence that is repeated with one other
value ("listens on port 8091", "listens on port 9191") is one, and what it repeats does not count. For it speak a word
of the older text in a clause that ends something ("Jenkins was removed"), a word of change and other names; against it,
the same amounts, or those of another measure. The weights are a logistic regression over pairs of several authors; it
guesses at what only knowledge tells, and the guide has the figures.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from itertools import islice, pairwise, product

from memhook.core.terms import STOP_WORDS, folded, terms
from memhook.patterns import regex

PROPOSED = 0.67
# Where the cosine is not known: that of texts without a common word, and what is added if all are. Both are lower than
# those of the model (.68 and .22 on the pairs of the fit), so that words have to say more.
NOTHING_SHARED, ALL_SHARED = 0.55, 0.3
MOST_SENTENCES = 24  # of each text: of a long one the beginning
MOST_WORDS = 60  # of a sentence
READ_CHARS = 8_000
ANNOUNCING = 3  # sentences at the start of a text: "now" or "never" further on is about something else


def _table(words: str) -> frozenset[str]:
    return frozenset(words.split())


_DENYING = _table("""
not never nobody cannot neither nor banned forbidden disabled optional off nicht nie pas jamais nunca
""")
_LACKING = _table("no none without kein keine ohne sans sin")  # they deny only what follows
_NEGATIONS = _DENYING | _LACKING
_ENDINGS = _table("""
gone dropped removed retired replaced closed switched deprecated abandoned dead deleted dissolved obsolete instead
former formerly previously longer anymore moved migrated stopped unsupported revoked cancelled unmaintained
archived decommissioned discontinued ditched ended given handed killed left out outdated over phased scrapped shut
stale superseded uninstalled unused withdrawn
ersetzt abgeschaltet entfernt supprime remplace reemplazado eliminado
""")
_CHANGES = _ENDINGS | _table("""
now since upgraded raised lowered bumped changed renamed became becomes rewritten split
jetzt seit mehr desormais depuis ahora ya
""")
_ARTICLES = _table("a an the our all also only just any this that der die das le la les el los un une")
_COPULAS = _table("is are was were be been am has have gets get ist sind est sont es son")
_MEANS = _table("with by using use uses through via mit von avec par con por")
_PREPOSITIONS = _table("in at on under from to into inside below after for until within")
# Verbs that say little: whether a state "is", "is kept" or "lives" somewhere makes no difference.
_LIGHT = _table("""
called named go goes went sent send made make done kept keep used need needs needed require required requires must
should can run runs running lives stored come comes taken given write written work works set allowed allow allows
say says means lets let do does will may might would shall please we you they it belongs responsible
""")
_VERBS = _COPULAS | _LIGHT | _MEANS
_NARROWING = _PREPOSITIONS - {"for"}
_SAYING_LITTLE = STOP_WORDS | _NEGATIONS | _CHANGES | _LIGHT | _MEANS | _PREPOSITIONS | _COPULAS

_SECONDS = {"ms": 0.001, "s": 1, "sec": 1, "min": 60, "h": 3_600, "second": 1, "minute": 60, "hour": 3_600}
_SECONDS |= {"day": 86_400, "week": 604_800, "month": 2_592_000, "year": 31_536_000}
_SECONDS |= {"hourly": 3_600, "daily": 86_400, "nightly": 86_400, "weekly": 604_800, "monthly": 2_592_000}
_BYTES = {"b": 1, "byte": 1, "kb": 1e3, "mb": 1e6, "mi": 1e6, "gb": 1e9, "gi": 1e9, "tb": 1e12}
# The dimension of a unit, and what it is in the smallest one.
_UNITS: Mapping[str, tuple[str, float]] = {
    **{unit: ("time", factor) for unit, factor in _SECONDS.items()},
    **{unit: ("size", factor) for unit, factor in _BYTES.items()},
    "%": ("share", 1),
    "percent": ("share", 1),
}
_DIGITS = {
    "one": "1", "two": "2", "three": "3", "four": "4", "five": "5",
    "six": "6", "seven": "7", "eight": "8", "nine": "9", "ten": "10",
}  # fmt: skip
_TIMES = _table("""
monday tuesday wednesday thursday friday saturday sunday january february april june july august september october
november december daily weekly hourly nightly monthly yearly night hour day week month year
""")

_SENTENCE_END = regex(r"(?<=[.!?;])\s+|\n+")
_CLAUSE_END = regex(r"(?<=[,:])\s+|(?<=\S)\s++(?=(?:but|instead|while|because|since)\b)|\s[–—-]\s|[()]")
_WORD = regex(r"`[^`\n]{1,80}`|[^\s`\"'()\[\]{},;!?]+(?:'t)?")
_NUMBER = regex(r"[v#$€]?\d", re.IGNORECASE)
_NAME = regex(r"\w[A-Z]|\w[._/@:+-]\w|\d|^[/#@.-]|`")
_AMOUNT = regex(r"[v#$€~]?(\d[\d.,:]*)([a-z%]{0,7})")
# "no more than 5" denies nothing.
_BOUND = regex(r"\b(?:no (?:more|less|fewer|later|longer) than|not only|at most|at least)\b", re.IGNORECASE)

_WEIGHTS: Mapping[str, float] = {
    "cosine": 8.66,
    "old words": -1.34,
    "sentences": -0.13,
    "several": -1.05,
    "new subject": -1.81,
    "lost subject": 0.85,
    "reworded subject": -0.31,
    "copied": -3.99,
    "known": 2.75,
    "names": 0.82,
    "name lost": -0.65,
    "ended": 1.73,
    "denied": 0.87,
    "label": 1.66,
    "amounts kept": -1.21,
    "amount added": -0.51,
    "other measure": -0.58,
    "change": 0.93,
    "old denies": -0.85,
    "new denies": -2.16,
    "one denies": 1.31,
}
_CONSTANT = -4.48


@dataclass(frozen=True, slots=True)
class _Word:
    """`key` tells whether another text has the same word, `parts` whether it has a part of it."""

    low: str
    key: str
    parts: frozenset[str]
    is_number: bool
    is_name: bool
    is_content: bool
    is_denied: bool = False
    """It stands in a clause with "not", or behind a "no"."""
    is_ended: bool = False
    """It stands in a clause that says that something has ended."""
    is_label: bool = False
    """It stands before a colon."""


@dataclass(frozen=True, slots=True)
class _Sentence:
    """Its words, the parts of those that say something, and the place where its subject ends."""

    words: tuple[_Word, ...]
    parts: frozenset[str]
    subject: int


@dataclass(frozen=True, slots=True)
class _Text:
    sentences: tuple[_Sentence, ...]
    words: tuple[_Word, ...]
    parts: frozenset[str]
    amounts: frozenset[tuple[str, str]]

    def lacks(self, word: _Word) -> bool:
        return word.is_content and word.parts.isdisjoint(self.parts)


@dataclass(frozen=True, slots=True)
class _Slot:
    """Words of two sentences that stand in the same place."""

    old: tuple[_Word, ...]
    new: tuple[_Word, ...]

    @property
    def is_filled(self) -> bool:
        return _says_something(self.old) and _says_something(self.new)


_NO_WORD = _Word("", "", frozenset(), False, False, False)


def chance_to_supersede(older: str, newer: str, cosine: float | None) -> float:
    """Return how likely `newer` is to replace what `older` says; `cosine` is that of their vectors."""
    parts = evidence(older, newer, cosine)
    if not parts:
        return 0.0
    return 1.0 / (1.0 + math.exp(-_CONSTANT - sum(_WEIGHTS[name] * value for name, value in parts.items())))


def announces_change(older: str, newer: str) -> bool:
    """Return whether the newer text has more words for a change than the older one."""
    return len(_changes(_text(newer))) > len(_changes(_text(older)))


def evidence(older: str, newer: str, cosine: float | None) -> dict[str, float]:
    """Return what counts for and against it, by the names of the weights; nothing if the texts share no word."""
    old, new = _text(older), _text(newer)
    if old.parts.isdisjoint(new.parts):
        return {}
    words = _of_words(old, new)
    return {
        "cosine": NOTHING_SHARED + ALL_SHARED * words["known"] if cosine is None else cosine,
        **_of_lengths(old, new),
        **_of_order(old, new),
        **words,
        **_of_amounts(old, new),
        **_of_announcements(old, new),
    }


def _of_lengths(old: _Text, new: _Text) -> dict[str, float]:
    return {
        "old words": math.log1p(len(old.words)),
        "sentences": math.log1p(len(old.sentences)) + math.log1p(len(new.sentences)),
    }


def _of_order(old: _Text, new: _Text) -> dict[str, float]:
    """How far the newer text repeats the older one word by word, and where the two sentences most alike differ."""
    frame = _share_in_order(old.words[:MOST_WORDS], new.sentences[0].words)
    one, other = _most_alike(old, new)
    slots = _slots(one, other)
    is_other = _is_other_value(one, other, slots)
    is_unknown = any(old.lacks(word) for word in other.words[: other.subject])
    is_lost = any(new.lacks(word) for word in one.words[: one.subject])
    return {
        "several": frame * (sum(slot.is_filled for slot in slots) > 1),
        "new subject": frame * is_unknown,
        "lost subject": frame * is_lost,
        "reworded subject": (1 - frame) * is_lost,
        "copied": 0.0 if is_other else _share_of_neighbours(old, new),
    }


def _share_in_order(words: Sequence[_Word], others: Sequence[_Word]) -> float:
    blocks = _compared(words, others).get_matching_blocks()
    return sum(block.size for block in blocks) / min(len(words), len(others))


def _compared(words: Sequence[_Word], others: Sequence[_Word]) -> SequenceMatcher[str]:
    return SequenceMatcher(None, [word.key for word in words], [word.key for word in others], autojunk=False)


def _most_alike(old: _Text, new: _Text) -> tuple[_Sentence, _Sentence]:
    """Return the two sentences that share most of their words."""
    both = {*old.sentences} & {*new.sentences}  # what both say, neither takes back: a list with a number in each line
    stated, said = (tuple(one for one in some if one not in both) for some in (old.sentences, new.sentences))
    pairs = product(stated or old.sentences, said or new.sentences)
    return max(pairs, key=lambda pair: len(pair[0].parts & pair[1].parts) / len(pair[0].parts | pair[1].parts))


def _slots(one: _Sentence, other: _Sentence) -> list[_Slot]:
    """Return where they differ in words that say something."""
    codes = _compared(one.words, other.words).get_opcodes()
    found = [_Slot(one.words[a:b], other.words[c:d]) for tag, a, b, c, d in codes if tag != "equal"]
    return [slot for slot in found if _says_something(slot.old) or _says_something(slot.new)]


def _is_other_value(one: _Sentence, other: _Sentence, slots: Sequence[_Slot]) -> bool:
    """Return whether a sentence is repeated with another number, or one other word."""
    if not slots or not slots[0].is_filled or any(slot.old for slot in slots[1:]):
        return False
    slot = slots[0]
    if all(map(_is_amount, (*slot.old, *slot.new))):
        return {*_amounts(one.words)} != {*_amounts(other.words)}
    return len(slot.old) == len(slot.new) == 1


def _share_of_neighbours(old: _Text, new: _Text) -> float:
    """Return how many of the neighbouring words are neighbours in the newer text too."""
    ours, theirs = ({(word.key, behind.key) for word, behind in pairwise(text.words)} for text in (old, new))
    return len(ours & theirs) / max(1, len(ours))


def _of_words(old: _Text, new: _Text) -> dict[str, float]:
    lost, unknown = [word for word in old.words if new.lacks(word)], [word for word in new.words if old.lacks(word)]
    shared = [word for word in new.words if word.is_content and not old.lacks(word)]
    content = [word for word in old.words if word.is_content]
    return {
        "known": 1 - len(lost) / len(content),
        "names": float(all(any(word.is_name for word in words) for words in (lost, unknown))),
        "name lost": float(any(word.is_name for word in lost)),
        "ended": float(any(word.is_ended for word in shared)),
        "denied": float(any(word.is_denied for word in shared)),
        "label": float(any(word.is_label for word in new.sentences[0].words[:6])),
    }


def _of_amounts(old: _Text, new: _Text) -> dict[str, float]:
    ours, theirs = old.amounts - new.amounts, new.amounts - old.amounts
    is_other = not {kind for kind, _ in ours}.isdisjoint(kind for kind, _ in theirs)
    return {
        "amounts kept": float(bool(old.amounts) and not ours),
        "amount added": float(bool(new.amounts) and not old.amounts),
        "other measure": float(bool(ours and theirs) and not is_other),
    }


def _of_announcements(old: _Text, new: _Text) -> dict[str, float]:
    before, after = (any(map(_is_denial, _start(text))) for text in (old, new))
    return {
        "change": float(len(_changes(new)) > len(_changes(old))),
        "old denies": float(before),
        "new denies": float(after),
        "one denies": float(before != after),
    }


def _changes(text: _Text) -> set[str]:
    return {word.low for word in _start(text)} & _CHANGES


def _start(text: _Text) -> Iterator[_Word]:
    return (word for one in text.sentences[:ANNOUNCING] for word in one.words)


def _is_denial(word: _Word) -> bool:
    return word.low in _NEGATIONS or word.low.endswith("n't")


def _says_something(words: Sequence[_Word]) -> bool:
    return any(word.is_content for word in words)


def _is_amount(word: _Word) -> bool:
    return word.is_number or _unit(word.low) is not None


def _amounts(words: Sequence[_Word]) -> Iterator[tuple[str, str]]:
    """The amounts of a sentence, each with its dimension, in one unit: "90 s" is "1.5 minutes"."""
    before = _NO_WORD
    for word, behind in pairwise((*words, _NO_WORD)):
        found = _AMOUNT.fullmatch(_DIGITS.get(word.low, word.low))
        if found:
            number = found[1].rstrip(".,:")
            unit = _unit(found[2]) if found[2] else _unit(behind.low)
            is_whole = number.replace(",", "").replace(".", "", 1).isdigit()
            if unit and is_whole:
                yield unit[0], f"{float(number.replace(',', '')) * unit[1]:g}"
            else:
                yield "clock" if ":" in number or behind.low in ("am", "pm") else "", number
        elif word.low in _TIMES and (unit := _unit(word.low)) and not before.is_number:  # "daily", "after a week"
            yield unit[0], f"{unit[1]:g}"
        before = word


def _unit(word: str) -> tuple[str, float] | None:
    return _UNITS.get(word) or _UNITS.get(word.removesuffix("s"))


def _subject_end(words: Sequence[_Word], size: int) -> int:
    """The place behind a label, or of the first verb or preposition after a word that says something, or the middle."""
    is_any = False
    for place, word in enumerate(words):
        if word.is_label:
            return place + 1
        if (place and word.low in _VERBS) or (is_any and word.low in _NARROWING):
            return place
        is_any = is_any or word.is_content
    return max(1, len(words) // 2) if size > 1 else len(words)


def _text(text: str) -> _Text:
    parts = [part for part in _SENTENCE_END.split(text[:READ_CHARS]) if part]
    sentences = tuple(islice(filter(None, map(_sentence, parts)), MOST_SENTENCES))
    words = tuple(word for one in sentences for word in one.words)
    said = frozenset(part for one in sentences for part in one.parts)
    return _Text(sentences, words, said, frozenset(_amounts(words)))


def _sentence(text: str) -> _Sentence | None:
    words = tuple(islice(_words(text), MOST_WORDS))
    content = [word for word in words if word.is_content]
    if not content:
        return None
    return _Sentence(words, frozenset(part for one in content for part in one.parts), _subject_end(words, len(content)))


def _words(sentence: str) -> Iterator[_Word]:
    is_first = True
    for clause in _CLAUSE_END.split(_BOUND.sub(" ", sentence)):
        found = [word for one in _WORD.findall(clause or "") if (word := one.strip(".:*"))]
        label = found[-1] if found and clause.rstrip().endswith(":") else ""
        plain = [folded(word) for word in found]
        is_ended = any(low in _ENDINGS for low in plain)
        is_denied = any(low in _DENYING or low.endswith("n't") for low in plain)
        for word, low in zip(found, plain, strict=True):
            is_denied = is_denied or low in _LACKING
            if low and low not in _ARTICLES:
                said = _word(word, low, is_first)
                yield replace(said, is_denied=is_denied, is_ended=is_ended, is_label=word == label)
                is_first = False


def _word(word: str, low: str, is_first: bool) -> _Word:
    is_code = word.startswith("`")
    low = low.removesuffix("s") if low.removesuffix("s") in _TIMES else low  # "on Thursdays"
    is_number = not is_code and (bool(_NUMBER.match(word)) or low in _DIGITS or low in _TIMES)
    is_marked = is_number or bool(_NAME.search(word))
    bare = low.strip("`")
    found = terms(bare) or [bare]
    key = _DIGITS.get(low, bare if is_marked else found[0])
    parts = {key} if is_number else {key, *found}
    is_name = not is_number and (is_marked or (word[0].isupper() and not is_first))
    is_content = is_number or is_code or low not in _SAYING_LITTLE
    return _Word(low, key, frozenset(parts), is_number, is_name, is_content)
