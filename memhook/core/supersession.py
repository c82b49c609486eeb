"""Estimate whether a new memory contradicts an older one: the same subject with another value.

chance_to_supersede(older, newer, cosine)   0 to 1; from PROPOSED on it is worth a question to the author
announces_change(older, newer)              whether the texts tell which is the newer one

Sentences are compared in pairs, those of the newer text also clause by clause: "Ask Jo about translations, Ilse has
left" has all words of "Ask Ilse about translations", its first clause has not. The words that only one of them has form
runs; a run of the older sentence and one of the newer fill the same *slot* if the word before or behind them is the
same: "listens on port 8091", "listens on port 9191". One slot with another value is a contradiction. Two of them are a
statement about another thing ("the EU bucket is called a", "the US bucket is called b"), none is another aspect, and a
sentence that has all words of the other one only adds to it. What the first sentences of both announce (a change, an
opposite, a condition) counts beside the best pair. The weights are a logistic regression over pairs written by hand;
the guide has the figures.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, islice, product

from memhook.core.terms import STOP_WORDS, folded, terms

PROPOSED = 0.61
WITHOUT_MODEL = 0.65  # the cosine assumed where none is known: words have to say more
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
_SAYING_LITTLE = STOP_WORDS | _NEGATIONS | _CHANGES | _LIGHT | _MEANS | _PREPOSITIONS | _COPULAS
# Where something holds: with another one of these, both statements may be true.
_PLACES = _table("""
staging production prod live dev development local locally test ci preview demo sandbox eu us asia macos linux windows
debian ubuntu android ios frontend backend client server nightly stable beta mobile web desktop python javascript
typescript rust java
""")
_OPPOSITES = _table("""
on/off optional/mandatory optional/required always/never any/only all/only every/only must/may never/may
enabled/disabled public/internal public/private manual/automatic manually/automatically hand/automatically hand/itself
synchronously/background open/closed nobody/everyone slow/fast works/broken with/without
""")
_UNITS = {
    unit: dimension
    for dimension, units in {
        "time": "ms s sec second seconds min minute minutes h hour hours day days week weeks month months year years",
        "size": "b kb mb gb tb byte bytes",
        "share": "% percent",
    }.items()
    for unit in units.split()
}
_CONDITIONS = _table("when if while unless except whenever once before after during behind without")
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
_AMOUNT = re.compile(r"(\d[\d.,]*)([a-z%]{1,7})$")
# "no more than 5" denies nothing, and "are removed after a week" is a rule, not the end of one.
_BOUND = re.compile(r"\b(?:no (?:more|less|fewer|later|longer) than|not only|at most|at least)\b", re.IGNORECASE)
_HABIT = re.compile(r"\b(?:are|be|gets?) (?=(?:removed|deleted|dropped|closed|stopped|moved)\b)", re.IGNORECASE)
_HABITUAL = "~"
_IS = "is"

_WEIGHTS: Mapping[str, float] = {
    "cosine": 7.59,
    "length": -1.36,
    "changed": 1.71,
    "opposite": 2.27,
    "number added": -0.85,
    "names": 0.43,
    "condition first": -2.44,
    "denied": 0.50,
    "same heading": -4.93,
    "unopposed": -1.35,
    "shared": 3.53,
    "flip": -1.08,
    "change": 1.29,
    "other amount": 2.19,
    "old named": 1.28,
    "new subject": -0.65,
    "after is": -1.34,
    "several": -2.29,
    "nowhere": -1.08,
    "places": -3.55,
    "same number": -2.69,
    "other measure": -1.21,
}
_CONSTANT = -5.86


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


@dataclass(frozen=True, slots=True)
class _Sentence:
    """Its words, and of the words that say something the number, the keys and the parts, also of the negated ones."""

    words: tuple[_Word, ...]
    size: int
    keys: frozenset[str]
    parts: frozenset[str]
    negative: frozenset[str]
    is_change: bool


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
    opposed = max(filter(None, (_opposed(*pair, old, new) for pair in pairs)), key=_weighed, default=None)
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
    denied = frozenset(part for word in new if word.is_content and word.is_negative for part in word.parts)
    stated = [word for word in old if word.is_content and not word.is_negative]
    return {
        "changed": float(not after.isdisjoint(_CHANGES) and before.isdisjoint(_CHANGES)),
        "opposite": float(any(_swapped(pair.split("/"), before, after) for pair in _OPPOSITES)),
        "number added": float(any(word.is_number for word in new) and not any(word.is_number for word in old)),
        "names": float(bool(_names(old) - _names(new) and _names(new) - _names(old))),
        "condition first": float(bool(new) and new[0].low in _CONDITIONS),
        "denied": float(any(not word.parts.isdisjoint(denied) for word in stated)),
    }


def _swapped(pair: Sequence[str], before: set[str], after: set[str]) -> bool:
    return {*pair} & before - after != set() and {*pair} & after - before != set()


def _have_same_heading(old: Sequence[_Sentence], new: Sequence[_Sentence]) -> bool:
    """Return whether both are entries of a series, such as a report a day."""
    return min(len(old), len(new)) > 1 and old[0].keys == new[0].keys


def _names(words: Sequence[_Word]) -> set[str]:
    return {key for word in words if word.is_name and word.is_content for key in word.keys}


def _weighed(parts: Mapping[str, float]) -> float:
    return sum(_WEIGHTS[name] * value for name, value in parts.items())


def _opposed(old: _Sentence, new: _Sentence, older: _Text, newer: _Text) -> dict[str, float]:
    """Compare two sentences; nothing where they share no word, or one has all words of the other."""
    if old.parts.isdisjoint(new.parts):
        return {}
    common = [word for word in old.words if word.is_content and word.parts & new.parts]
    flipped = sum(word.is_negative == word.parts.isdisjoint(new.negative) for word in common)
    ours, theirs = _runs(old, new), _runs(new, old)
    is_denied = flipped and (theirs or 2 * flipped >= len(common))
    if not is_denied and not (ours and theirs):
        return {}
    fewer, slots = min(old.size, new.size), _slots(ours, theirs)
    replaced = [word for run in ([one for one, _ in slots] or ours) for word in run.words]
    return {
        "shared": min(1.0, len(common) / fewer),
        "flip": min(1.0, flipped / fewer),
        "change": float(new.is_change and not old.is_change),
        "other amount": float(_has_other_amount(old, new)),
        "old named": float(any(not word.keys.isdisjoint(newer.keys) for word in replaced)),
        "new subject": min(2.0, sum(word.parts.isdisjoint(older.parts) for word in _subject(new.words))),
        **_of_slots(slots, bool(ours)),
        **_of_values(common, ours, theirs, slots),
    }


def _of_slots(slots: Sequence[tuple[_Run, _Run]], is_different: bool) -> dict[str, float]:
    are_numbers = all(run.kind == "number" for pair in slots for run in pair)  # two versions raised at once
    is_bare = len(slots) == 1 and not _are_alike(*(run.behind for run in slots[0]))
    return {
        "after is": float(is_bare and slots[0][0].before == _IS),
        "several": float(len(slots) > 1 and not are_numbers),
        "nowhere": float(is_different and not slots),
    }


def _of_values(
    common: Sequence[_Word], ours: Sequence[_Run], theirs: Sequence[_Run], slots: Sequence[tuple[_Run, _Run]]
) -> dict[str, float]:
    places = all(any(word.low in _PLACES for run in runs for word in run.words) for runs in (ours, theirs))
    numbers = all(any(word.is_number for run in runs for word in run.words) for runs in (ours, theirs))
    return {
        "places": float(places),
        "same number": float(not numbers and any(word.is_number and word.low not in _TIMES for word in common)),
        "other measure": float(numbers and not any(old.kind == "number" for old, _ in slots)),
    }


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


def _has_other_amount(old: _Sentence, new: _Sentence) -> bool:
    """Return whether both give an amount of the same thing, in any order of words, and not the same one."""
    amounts = [dict(_amounts(one.words)) for one in (old, new)]
    if not all(amounts) or amounts[0].keys() & amounts[1].keys():
        return False
    if not {*amounts[0].values()} & {*amounts[1].values()}:
        return False
    ours, theirs = (frozenset(_measured(one.words)) for one in (old, new))
    return bool(ours and theirs) and (ours <= new.parts or theirs <= old.parts)


def _amounts(words: Sequence[_Word]) -> Iterator[tuple[str, str]]:
    """Numbers, each with the dimension of the word behind it."""
    for place, word in enumerate(words):
        if word.is_number:
            found = _AMOUNT.match(word.low)
            number, unit = found.groups() if found else (word.low, "")
            following = words[place + 1].low if place + 1 < len(words) else ""
            yield number, _UNITS.get(unit or following, "")


def _measured(words: Sequence[_Word]) -> Iterator[str]:
    return (min(word.keys) for word in words if word.is_content and not word.is_number and word.low not in _UNITS)


def _subject(words: Sequence[_Word]) -> Iterator[_Word]:
    """The words that say something in front of the first verb or preposition, as far as these are known."""
    is_any = False
    for place, word in enumerate(words):
        if (place and word.low in _COPULAS | _LIGHT | _MEANS) or (is_any and word.low in _PREPOSITIONS):
            return
        if word.is_content:
            is_any = True
            yield word


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
    return _Sentence(words, len(content), keys, parts, negative, any(word.low in _CHANGES for word in words))


def _words(sentence: str) -> Iterator[_Word]:
    is_first = True
    for clause in _CLAUSE_END.split(_HABIT.sub(_HABITUAL, _BOUND.sub(" ", sentence))):
        found = [word for one in _WORD.findall(clause or "") if (word := one.strip(".:*"))]
        plain = [folded(word) for word in found]
        is_negative = any(low in _DENYING or low in _ENDINGS or low.endswith("n't") for low in plain)
        for word, low in zip(found, plain, strict=True):
            is_negative = is_negative or low in _LACKING
            if low and low not in _ARTICLES:
                yield _word(word, low, is_first, is_negative)
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
