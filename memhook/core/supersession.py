"""Estimate whether a new memory contradicts an older one: the same subject with another value.

chance_to_supersede(older, newer, cosine)   0 to 1; from PROPOSED on it is worth a question to the author
announces_change(older, newer)              whether the texts tell which is the newer one

Sentences are compared in pairs, those of the newer text also clause by clause: "Ask Jo about translations, Ilse has
left" has all words of "Ask Ilse about translations", its first clause has not. Against a contradiction speaks above all
a subject of which the older sentence knows nothing ("avatar uploads" and "uploads"), or another one of several
("antenna 3", "antenna 5"); for it, another value of the same kind. The words that only one of them has form runs; a run
of the older sentence and one of the newer fill the same *slot* if the word before or behind them is the same: "listens
on port 8091", "listens on port 9191". One slot with another value is a contradiction, several are a statement about
another thing ("the EU bucket is called a", "the US bucket is called b"). What the first sentences of both announce (a
change, a denial) counts beside the best pair. The weights are a logistic regression over pairs written by hand; the
guide has the figures.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, islice, pairwise, product, takewhile

from memhook.core.terms import STOP_WORDS, folded, terms

PROPOSED = 0.64
WITHOUT_MODEL = 0.65  # the cosine assumed where none is known: words have to say more
MOST_SENTENCES = 24  # of each text: of a long one the beginning
MOST_WORDS = 60  # of a sentence
READ_CHARS = 8_000
SAME_START, SAME_SHARE = 4, 0.6  # letters of two forms of a word, and of the shorter one
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
# Where something holds: with another one of these, both statements may be true.
_PLACES = _table("""
staging production prod live dev development local locally test ci preview demo sandbox eu us asia macos linux windows
debian ubuntu android ios frontend backend client server nightly stable beta mobile web desktop python javascript
typescript rust java
""")
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

_SENTENCE_END = re.compile(r"(?<=[.!?;])\s+|\n+")
_CLAUSE_END = re.compile(r"(?<=[,:])\s+|(?<=\S)\s++(?=(?:but|instead|while|because|since)\b)|\s[–—-]\s|[()]")
_ASIDE = re.compile(r"(?<=,)\s+|(?<=\S)\s++(?=(?:but|instead|while|because|since)\b)|\s[–—-]\s|[()]")
_WORD = re.compile(r"`[^`\n]{1,80}`|[^\s`\"'()\[\]{},;!?]+(?:'t)?")
_NUMBER = re.compile(r"[v#$€]?\d", re.IGNORECASE)
_NAME = re.compile(r"\w[A-Z]|\w[._/@:+-]\w|\d|^[/#@.-]|`")
_AMOUNT = re.compile(r"[v#$€~]?(\d[\d.,:]*)([a-z%]{0,7})")
# "no more than 5" denies nothing, and "are removed after a week" is a rule, not the end of one.
_BOUND = re.compile(r"\b(?:no (?:more|less|fewer|later|longer) than|not only|at most|at least)\b", re.IGNORECASE)
_HABIT = re.compile(r"\b(?:are|be|gets?) (?=(?:removed|deleted|dropped|closed|stopped|moved)\b)", re.IGNORECASE)
_HABITUAL = "~"
_IS = "is"

# Not fitted are the two for what never contradicts: entries of a series, and a sentence that only adds to another one.
_WEIGHTS: Mapping[str, float] = {
    "cosine": 11.46,
    "length": -1.37,
    "changed": 2.38,
    "number added": -1.33,
    "same heading": -4.93,
    "unopposed": -6.00,
    "change": 1.02,
    "old named": 0.60,
    "new subject": -0.94,
    "after is": -1.52,
    "several": -2.20,
    "places": -1.47,
    "same amount": -5.36,
    "other measure": -4.09,
    "instance": -5.09,
    "names": 0.60,
}
_CONSTANT = -6.68


@dataclass(frozen=True, slots=True)
class _Word:
    """`keys` tell whether another text has the same word, `parts` whether it has a part of it."""

    low: str
    keys: frozenset[str]
    parts: frozenset[str]
    is_number: bool
    is_name: bool
    is_negative: bool
    is_content: bool
    is_label: bool = False
    """It stands before a colon."""


@dataclass(frozen=True, slots=True)
class _Sentence:
    """Its words, and of the words that say something the number, the keys and the parts, also of the negated ones."""

    words: tuple[_Word, ...]
    size: int
    keys: frozenset[str]
    parts: frozenset[str]
    negative: frozenset[str]
    is_change: bool
    amounts: frozenset[tuple[str, str]]
    subject: int
    """The place where it ends."""


@dataclass(frozen=True, slots=True)
class _Text:
    """Its sentences, the words of the first ones, and the keys and parts of all that say something."""

    sentences: tuple[_Sentence, ...]
    start: tuple[_Word, ...]
    keys: frozenset[str]
    parts: frozenset[str]


@dataclass(frozen=True, slots=True)
class _Run:
    """Words that only one of two sentences has, and what stands around them; `before` is empty at the start."""

    words: tuple[_Word, ...]
    before: str
    behind: frozenset[str]

    @property
    def kind(self) -> str:
        if any(word.is_name for word in self.words):
            return "name"
        return "number" if any(word.is_number for word in self.words) else "words"


_NO_WORD = _Word("", frozenset(), frozenset(), False, False, False, False)


def chance_to_supersede(older: str, newer: str, cosine: float | None) -> float:
    """Return how likely `newer` is to replace what `older` says; `cosine` is that of their vectors."""
    parts = evidence(older, newer, cosine)
    if not parts:
        return 0.0
    return 1.0 / (1.0 + math.exp(-_CONSTANT - _weighed(parts)))


def announces_change(older: str, newer: str) -> bool:
    """Return whether the newer text says that something has changed, and the older one does not say so of the newer."""
    return _change_told(older, newer) and not _change_told(newer, older)


def _change_told(older: str, newer: str) -> bool:
    parts = evidence(older, newer, None)
    return bool(parts.get("changed") or parts.get("change"))


def evidence(older: str, newer: str, cosine: float | None) -> dict[str, float]:
    """Return what counts for and against it, by the names of the weights; nothing if the texts share no word."""
    old, new = _text(older), _text(newer)
    if old.parts.isdisjoint(new.parts):
        return {}
    both = {*old.sentences} & {*new.sentences}  # what both say, neither takes back: a list with a number in each line
    clauses = (*new.sentences, *islice(_clauses(newer), MOST_SENTENCES))
    stated, said = ([one for one in some if one not in both] for some in (old.sentences, clauses))
    pairs = product(stated, said)
    opposed = max(filter(None, (_opposed(*pair, new) for pair in pairs)), key=_weighed, default=None)
    return {
        "cosine": WITHOUT_MODEL if cosine is None else cosine,
        "length": math.log1p(len(old.sentences)) + math.log1p(len(new.sentences)),
        **_announced(old.start, new.start),
        "same heading": float(_have_same_heading(old.sentences, new.sentences)),
        **({"unopposed": 1.0} if opposed is None else opposed),
    }


def _announced(old: Sequence[_Word], new: Sequence[_Word]) -> dict[str, float]:
    """Compare the starts of two texts as a whole."""
    before, after = {word.low for word in old}, {word.low for word in new}
    return {
        "changed": float(not after.isdisjoint(_CHANGES) and before.isdisjoint(_CHANGES)),
        "number added": float(any(word.is_number for word in new) and not any(word.is_number for word in old)),
    }


def _have_same_heading(old: Sequence[_Sentence], new: Sequence[_Sentence]) -> bool:
    """Return whether both are entries of a series, such as a report a day."""
    return min(len(old), len(new)) > 1 and old[0].keys == new[0].keys


def _weighed(parts: Mapping[str, float]) -> float:
    return sum(_WEIGHTS[name] * value for name, value in parts.items())


def _opposed(old: _Sentence, new: _Sentence, newer: _Text) -> dict[str, float]:
    """Compare two sentences; nothing where they share no word, or one only adds to the other."""
    if old.parts.isdisjoint(new.parts):
        return {}
    ours, theirs = _runs(old, new), _runs(new, old)
    if not (ours and theirs) and not _is_denied(old, new, bool(theirs)):
        return {}
    slots = _slots(ours, theirs)
    replaced = [word for run in ([one for one, _ in slots] or ours) for word in run.words]
    return {
        "change": float(new.is_change and not old.is_change),
        "old named": float(any(not word.keys.isdisjoint(newer.keys) for word in replaced)),
        "several": float(len(slots) > 1 and not _are_numbers(slots)),
        "after is": float(len(slots) == 1 and _is_bare(*slots[0])),
        **_of_amounts(old, new),
        **_of_subjects(old, new),
    }


def _is_denied(old: _Sentence, new: _Sentence, has_more: bool) -> bool:
    common = [word for word in old.words if word.is_content and word.parts & new.parts]
    flipped = sum(word.is_negative == word.parts.isdisjoint(new.negative) for word in common)
    return bool(flipped) and (has_more or 2 * flipped >= len(common))


def _are_numbers(slots: Sequence[tuple[_Run, _Run]]) -> bool:
    """Whether only numbers differ, such as two versions raised at once."""
    return all(run.kind == "number" for pair in slots for run in pair)


def _is_bare(run: _Run, other: _Run) -> bool:
    """Whether only "is" stands before both: then it may be another property."""
    return run.before == _IS and not _are_alike(run.behind, other.behind)


def _of_amounts(old: _Sentence, new: _Sentence) -> dict[str, float]:
    ours, theirs = old.amounts, new.amounts
    is_other = bool({kind for kind, _ in ours - theirs} & {kind for kind, _ in theirs - ours})
    return {
        "same amount": float(any(number[0].isdigit() for _, number in ours & theirs) and not is_other),
        "other measure": float(bool(ours - theirs and theirs - ours) and not is_other),
    }


def _of_subjects(old: _Sentence, new: _Sentence) -> dict[str, float]:
    """What only one of them has, and whether it is the subject, a name, or a place."""
    ours, theirs = _unknown(old, new), _unknown(new, old)
    of_old, of_new = _in_subject(old, ours), _in_subject(new, theirs)
    is_turned = not of_old and len(of_new) == _subject_size(new)  # "built with Sphinx", "mkdocs builds"
    all_of = [[word for _, word in words] for words in (ours, theirs)]
    return {
        "new subject": 0.0 if is_turned else min(2.0, sum(not _is_amount(word) for word in of_new)),
        "instance": float(all(any(map(str.isdigit, " ".join(one.low for one in some))) for some in (of_old, of_new))),
        "names": float(all(any(word.is_name for word in words) for words in all_of)),
        "places": float(all(any(word.low in _PLACES for word in words) for words in all_of)),
    }


def _in_subject(sentence: _Sentence, words: Sequence[tuple[int, _Word]]) -> list[_Word]:
    return [word for place, word in words if place < sentence.subject]


def _subject_size(sentence: _Sentence) -> int:
    return sum(word.is_content for word in sentence.words[: sentence.subject])


def _unknown(sentence: _Sentence, other: _Sentence) -> list[tuple[int, _Word]]:
    """The words that the other one has in no form, with their places."""
    missing = [
        (at, word) for at, word in enumerate(sentence.words) if word.is_content and word.parts.isdisjoint(other.parts)
    ]
    known = {word.low[:SAME_START]: word.low for word in other.words if word.is_content and not word.is_number}
    return [(at, word) for at, word in missing if word.is_number or not _is_form_of(word.low, known)]


def _is_form_of(word: str, known: Mapping[str, str]) -> bool:
    """Whether a word begins as one of these does, which are filed under their first letters."""
    other = known.get(word[:SAME_START], "") if len(word) >= SAME_START else ""
    same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(word, other, strict=False)))
    return same >= max(SAME_START, SAME_SHARE * min(len(word), len(other)))


def _is_amount(word: _Word) -> bool:
    return word.is_number or _unit(word.low) is not None


def _slots(ours: Sequence[_Run], theirs: Sequence[_Run]) -> list[tuple[_Run, _Run]]:
    """Pair the runs that stand in the same place, each with the one that fits best."""
    found, left = [], list(theirs)
    for run in ours:
        best = max(left, key=lambda other: _fit(run, other), default=None)
        if best is not None and _fit(run, best) > 0:
            found.append((run, best))
            left.remove(best)
    return found


def _fit(run: _Run, other: _Run) -> float:
    if run.kind != other.kind and "number" in (run.kind, other.kind):
        return 0.0
    before, behind = run.before == other.before, _are_alike(run.behind, other.behind)
    if (before and (run.before or behind)) or (behind and run.behind):
        return before + behind + 0.5 * (run.kind == other.kind)
    return 0.0


def _are_alike(keys: frozenset[str], others: frozenset[str]) -> bool:
    return not keys.isdisjoint(others) or keys == others


def _runs(sentence: _Sentence, other: _Sentence) -> list[_Run]:
    words, found, start = sentence.words, [], 0
    own = [word.is_content and word.keys.isdisjoint(other.keys) for word in words]
    for is_own, group in groupby(own):
        end = start + sum(1 for _ in group)
        if is_own:
            behind = words[end].keys if end < len(words) else frozenset()
            found.append(_Run(words[start:end], _before(words[:start]), behind))
        start = end
    return found


def _before(words: Sequence[_Word]) -> str:
    """The last word that says something about what follows; those of one meaning are the same."""
    low = next((word.low for word in reversed(words) if word.low not in _LIGHT), "")
    if low in _COPULAS:
        return _IS
    if low in _MEANS:
        return "with"
    return low if low in _PREPOSITIONS else (terms(low) or [low])[0]


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
        elif word.low.endswith("day") and word.low in _TIMES:
            yield "time", word.low
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
    parts = (part for part in _SENTENCE_END.split(text[:READ_CHARS]) if part)
    sentences = tuple(islice(filter(None, map(_sentence, parts)), MOST_SENTENCES))
    return _Text(
        sentences,
        tuple(word for one in sentences[:ANNOUNCING] for word in one.words),
        frozenset(key for one in sentences for key in one.keys),
        frozenset(part for one in sentences for part in one.parts),
    )


def _clauses(text: str) -> Iterator[_Sentence]:
    """The clauses of sentences with several that say enough to be compared alone; a change is one of the sentence."""
    for part in islice(_SENTENCE_END.split(text[:READ_CHARS]), MOST_SENTENCES):
        clauses = [clause for clause in _ASIDE.split(part) if clause and clause.strip()]
        found = [_sentence(clause) for clause in clauses] if len(clauses) > 1 else []
        is_change = any(one.is_change for one in found if one)
        yield from (replace(one, is_change=is_change) for one in found if one and one.size > 1)


def _sentence(text: str) -> _Sentence | None:
    words = tuple(islice(_words(text), MOST_WORDS))
    content = [word for word in words if word.is_content]
    if not content:
        return None
    keys = frozenset(key for word in content for key in word.keys)
    parts = frozenset(part for word in content for part in word.parts)
    negative = frozenset(part for word in content if word.is_negative for part in word.parts)
    is_change = any(word.low in _CHANGES for word in words)
    subject = _subject_end(words, len(content))
    return _Sentence(words, len(content), keys, parts, negative, is_change, frozenset(_amounts(words)), subject)


def _words(sentence: str) -> Iterator[_Word]:
    is_first = True
    for clause in _CLAUSE_END.split(_HABIT.sub(_HABITUAL, _BOUND.sub(" ", sentence))):
        found = [word for one in _WORD.findall(clause or "") if (word := one.strip(".:*"))]
        label = found[-1] if found and clause.rstrip().endswith(":") else ""
        plain = [folded(word) for word in found]
        is_negative = any(low in _DENYING or low in _ENDINGS or low.endswith("n't") for low in plain)
        for word, low in zip(found, plain, strict=True):
            is_negative = is_negative or low in _LACKING
            if low and low not in _ARTICLES:
                yield replace(_word(word, low, is_first, is_negative), is_label=word == label)
                is_first = False


def _word(word: str, low: str, is_first: bool, is_negative: bool) -> _Word:
    is_code = word.startswith("`")
    low = low.removesuffix("s") if low.removesuffix("s") in _TIMES else low  # "on Thursdays"
    is_number = not is_code and (bool(_NUMBER.match(word)) or low in _DIGITS or low in _TIMES)
    is_marked = is_number or bool(_NAME.search(word))
    bare = low.strip("`~")
    found = terms(bare) or [bare]
    whole = _DIGITS.get(low, bare if is_marked else found[0])
    parts = {whole} if is_number else {whole, *found}
    is_name = not is_number and (is_marked or (word[0].isupper() and not is_first))
    is_content = is_number or is_code or low not in _SAYING_LITTLE
    return _Word(low, frozenset({whole}), frozenset(parts), is_number, is_name, is_negative, is_content)
