"""Analyse text into terms, stored text and queries alike.

terms(text)       the terms in order of appearance, with repeats; join them with spaces to index them
term_spans(text)  the same terms, each with its offsets in the original text

A term is case-folded, contains no white space and is never empty. An identifier or path gives its parts and the whole,
in any spelling: `getSyncBranch`, `get_sync_branch` and `get-sync-branch` share the term `getsyncbranch`. Words are
stemmed, English stop words dropped unless there is nothing else, Latin accents folded, and scripts without spaces cut
into character pairs. A change of the output must raise SCHEMA_VERSION, so that stored terms are rebuilt.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import lru_cache
from threading import Lock

import Stemmer

from memhook.core.normal import normalized
from memhook.patterns import regex

MAX_TERM_CHARS = 64

# Vowel signs and other marks that `\w` does not match but that belong to words.
_MARKS = (
    "\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u064b-\u065f\u0670"
    "\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed\u0900-\u0903\u093a-\u094f\u0951-\u0957\u0962\u0963"
    "\u0981-\u0983\u09bc-\u09cd\u0a01-\u0a03\u0a3c-\u0a4d\u0a81-\u0a83\u0abc-\u0acd\u0b01-\u0b03\u0b3c-\u0b4d"
    "\u0b82\u0bbe-\u0bcd\u0c00-\u0c04\u0c3c-\u0c4d\u0c81-\u0c83\u0cbc-\u0ccd\u0d00-\u0d03\u0d3b-\u0d4d"
    "\u0dca-\u0ddf\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u0eb1\u0eb4-\u0ebc\u0ec8-\u0ece\u0f71-\u0f84\u102b-\u103e"
    "\u17b4-\u17d3"
)
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\U00020000-\U0003ffff"
)
_WORD = rf"(?:[^\W_]|[{_MARKS}])"
_FLAG = r"(?<![\w-])--?[A-Za-z][A-Za-z0-9_-]*"
_LANGUAGE = r"[cCfF](?:\+\+|#)(?!\w)"
_CHUNK = regex(rf"{_LANGUAGE}|{_FLAG}|{_WORD}++(?:(?:_*+[./-]_*+|_++){_WORD}++)*+")
_UNSPACED_RUN = regex(rf"[{_UNSPACED}]+")
_ANY_UNSPACED = regex(rf"[{_UNSPACED}]")
_PIECE = regex(r"[^/._-]+")
_CAMEL = regex(r"[A-Z]+(?![a-z])[0-9]*|[A-Z]?[a-z]+[0-9]*|[0-9]+")
_VERSION = regex(r"v(\d+(?:\.\d+)+)")
_LATIN_MARKED = regex("([a-z])[\u0300-\u036f]+")
_POINTING = regex("[\u0591-\u05c7\u064b-\u0652\u0670]+")
_SPECIAL_LATIN = str.maketrans({"ø": "o", "ł": "l", "đ": "d", "ı": "i", "æ": "ae", "œ": "oe", "þ": "th", "ð": "d"})

# The characters that compose to one: a base with its marks, or the letters of one Hangul syllable. The number of marks
# is limited so that a text of nothing but marks takes linear time (normalization sorts them).
_CLUSTER = regex(
    r"[\u1100-\u115f][\u1160-\u11a7][\u11a8-\u11ff]?|[^\u0300-\u036f\uff9e\uff9f][\u0300-\u036f\uff9e\uff9f\u3099\u309a]{0,8}|.",
    re.DOTALL,
)

_STOP_WORDS_TEXT = """
    a about after again all also am an and any are aren as at be because been before being between both but by can
    could couldn d did didn do does doesn doing don during each few for from further get got had hadn has hasn
    have haven having he her here hers him his how i if in into is isn it its itself just let ll m me more most my
    myself no nor not now of off on once only or other our ours out over own please re same she should shouldn so
    some such t than that the their theirs them then there these they this those through to too under until up ve
    very was wasn we were weren what when where which while who whom why will with won would wouldn you your yours
    s
"""
STOP_WORDS = frozenset(_STOP_WORDS_TEXT.split())

# Snowball's algorithms, by the script of the word: stored text and prompt must be stemmed alike, and a single word
# reveals no more than its script. Stemming German, Spanish and French as well would find their inflections, but would
# conflate "data", "date" and "database", and "require" and "request".
_STEMMERS = {
    script: Stemmer.Stemmer(language, 0)  # 0: no cache of its own
    for script, language in {
        "latin": "english",
        "cyrillic": "russian",
        "greek": "greek",
        "armenian": "armenian",
        "arabic": "arabic",
        "devanagari": "hindi",
        "tamil": "tamil",
    }.items()
}
_SCRIPT = regex(
    "(?P<latin>[a-z]{3,})|(?P<cyrillic>[\u0400-\u04ff]+)|(?P<greek>[\u0370-\u03ff\u1f00-\u1fff]+)"
    "|(?P<armenian>[\u0531-\u0587]+)|(?P<arabic>[\u0620-\u06ff]+)|(?P<devanagari>[\u0900-\u097f]+)"
    "|(?P<tamil>[\u0b80-\u0bff]+)"
)
_stemmer_lock = Lock()  # a Stemmer is not thread-safe

_Relative = tuple[tuple[str, int, int], ...]


def terms(text: str) -> list[str]:
    """Return the terms of `text` in order of appearance."""
    return [term for term, _, _ in term_spans(text)]


def term_spans(text: str) -> list[tuple[str, int, int]]:
    """Return each term with its half-open range of `text`; a part lies within its whole."""
    if text.isascii() or unicodedata.is_normalized("NFKC", text):
        return _spans_of_normal(text)
    normal, starts, ends = _normalised_with_offsets(text)
    return [(term, starts[start], ends[end - 1]) for term, start, end in _spans_of_normal(normal)]


def _spans_of_normal(text: str) -> list[tuple[str, int, int]]:
    found: list[tuple[str, int, int]] = []
    stopped: list[tuple[str, int, int]] = []
    for match in _CHUNK.finditer(text):
        chunk, at = match.group(), match.start()
        if (word := chunk.lower()) in STOP_WORDS:
            stopped.append((word, at, match.end()))
            continue
        analysed = _analysed_once(chunk) if len(chunk) <= MAX_TERM_CHARS else _analysed(chunk)
        found.extend((term, at + start, at + end) for term, start, end in analysed)
    return found or stopped


def _normalised_with_offsets(text: str) -> tuple[str, list[int], list[int]]:
    """Return NFKC of `text`, and for each of its characters the start and end of its source."""
    normal: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    at = 0
    for cluster in _CLUSTER.findall(text):
        composed = unicodedata.normalize("NFKC", cluster)
        normal.append(composed)
        starts.extend([at] * len(composed))
        at += len(cluster)
        ends.extend([at] * len(composed))
    return "".join(normal), starts, ends


def _analysed(chunk: str) -> _Relative:
    if chunk.isascii() and chunk.isalpha() and (chunk.islower() or chunk[1:].islower()):
        return ((_cut(stemmed(chunk.lower())), 0, len(chunk)),)
    if chunk[0] == "-" or chunk[-1] in "+#":
        return _flag_or_language(chunk)
    if _ANY_UNSPACED.search(chunk):
        return tuple(_pairs_and_rest(chunk))
    # Folding drops vowel points, so a chunk of nothing else leaves an empty term.
    return tuple(found for found in _compound(chunk) if found[0])


_analysed_once = lru_cache(maxsize=1 << 15)(_analysed)


def _flag_or_language(chunk: str) -> _Relative:
    whole = (_cut(folded(chunk)), 0, len(chunk))
    if chunk[-1] in "+#" or len(chunk.lstrip("-")) == 1:
        return (whole,)
    dashes = len(chunk) - len(chunk.lstrip("-"))
    return (
        whole,
        *((term, dashes + start, dashes + end) for term, start, end in _analysed(chunk[dashes:].rstrip("-_"))),
    )


def _pairs_and_rest(chunk: str) -> Iterator[tuple[str, int, int]]:
    """Yield the character pairs of the unspaced runs, and the terms of the text between them."""
    at = 0
    for run in _UNSPACED_RUN.finditer(chunk):
        yield from _rest(chunk, at, run.start())
        start, at = run.span()
        if at - start == 1:
            yield chunk[start:at], start, at
        for first in range(start, at - 1):
            yield chunk[first : first + 2], first, first + 2
    yield from _rest(chunk, at, len(chunk))


def _rest(chunk: str, start: int, end: int) -> Iterator[tuple[str, int, int]]:
    inner = chunk[start:end].strip("/._-")
    if inner and inner.lower() not in STOP_WORDS:
        offset = chunk.index(inner, start)
        yield from ((term, offset + a, offset + b) for term, a, b in _analysed(inner))


def _compound(chunk: str) -> Iterator[tuple[str, int, int]]:
    """Yield a path, its segments, their dotted parts, the words, and the parts of camel case."""
    end = len(chunk)
    if "/" in chunk:
        yield _cut(_joined(chunk)), 0, end
    for start, stop in _ranges(chunk, 0, end, "/"):
        if (segment := chunk[start:stop]).count("."):
            yield from _dotted_whole(segment, start)
        for inner_start, inner_stop in _ranges(chunk, start, stop, "."):
            yield from _words(chunk, inner_start, inner_stop, alone=inner_stop - inner_start == end)


def _dotted_whole(segment: str, start: int) -> Iterator[tuple[str, int, int]]:
    whole = _joined(segment)
    yield _cut(whole), start, start + len(segment)
    if version := _VERSION.fullmatch(whole):
        yield _cut(version[1]), start, start + len(segment)


def _words(chunk: str, start: int, stop: int, *, alone: bool) -> Iterator[tuple[str, int, int]]:
    pieces = [(start + m.start(), start + m.end()) for m in _PIECE.finditer(chunk[start:stop])]
    if len(pieces) > 1:
        yield _cut(_joined(chunk[start:stop])), start, stop
    for a, b in pieces:
        yield from _word(chunk[a:b], a, alone=alone and len(pieces) == 1)


def _word(word: str, at: int, *, alone: bool) -> Iterator[tuple[str, int, int]]:
    """Yield a word and its camel-case parts. Single characters and small numbers count only if alone."""
    plain = folded(word)
    if not plain or (not alone and (plain in STOP_WORDS or len(plain) == 1 or (len(plain) < 3 and plain.isdigit()))):
        return
    yield _cut(stemmed(plain)), at, at + len(word)
    humps = list(_CAMEL.finditer(word)) if word.isascii() and not word.islower() and not word.isupper() else []
    if len(humps) < 2:
        return
    for hump in humps:
        part = hump.group().lower()
        if len(part) > 1 and part not in STOP_WORDS and not part.isdigit():
            yield _cut(stemmed(part)), at + hump.start(), at + hump.end()


def _ranges(chunk: str, start: int, stop: int, separator: str) -> Iterator[tuple[int, int]]:
    while (at := chunk.find(separator, start, stop)) >= 0:
        yield start, at
        start = at + 1
    yield start, stop


def _joined(compound: str) -> str:
    """Return one spelling for camel, snake and kebab case."""
    return folded(compound).replace("_", "").replace("-", "")


def folded(word: str) -> str:
    """Return `word` in lower case, without accents."""
    if word.isascii():
        return word.lower()
    decomposed = normalized("NFKD", word.casefold())
    plain = _POINTING.sub("", _LATIN_MARKED.sub(r"\1", decomposed)).translate(_SPECIAL_LATIN)
    return normalized("NFKC", plain)


def _cut(term: str) -> str:
    return term[:MAX_TERM_CHARS]


def stemmed(word: str) -> str:
    """Return the stem of a case-folded word, by the algorithm for its script."""
    return stems([word])[0]


def stems(words: Sequence[str]) -> list[str]:
    """Return the stems of case-folded words, in their order."""
    scripts = [_SCRIPT.fullmatch(word) if len(word) <= MAX_TERM_CHARS else None for word in words]
    with _stemmer_lock:
        return [
            word if script is None or script.lastgroup is None else _STEMMERS[script.lastgroup].stemWord(word)
            for word, script in zip(words, scripts, strict=True)
        ]
