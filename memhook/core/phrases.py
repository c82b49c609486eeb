"""The words of `phrases.toml`, which has a section per language, compiled for finding them.

opening(sentence)          a request to remember at its start
closing(sentence)          the same for languages whose verb comes last, and what stands before it
mentions_a_request(text)   whether it is worth looking for either
starts_with(text, words)   the words, of those given, that a text starts with
before(text, words)        the part of a text in front of them
holds(text, words)         whether a text has one of them as a word
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import chain
from pathlib import Path

MOST_LEADS = 4

# Scripts that put no blank between words: there, a phrase needs no end of a word after it.
_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
_ENDS_UNSPACED = re.compile(f"[{_UNSPACED}]$")
_NO_WORD_BEFORE, _NO_WORD_AFTER = r"(?<![\w'-])", r"(?![\w'-]|\.\w)"  # not the name of a file either
_GAP = "…"
_REQUESTS = ("remember", "write", "after")
_PAUSE = rf"(?:[ \t]*[,:;!.、，：！—–-]+[ \t]*|[ \t]+|(?<=[{_UNSPACED}]))"


@dataclass(frozen=True, slots=True, eq=False)
class Language:
    """The lists of one section; most languages lack some."""

    name: str
    words: Mapping[str, tuple[str, ...]]

    def __getitem__(self, kind: str) -> tuple[str, ...]:
        return self.words.get(kind, ())


@cache
def languages() -> tuple[Language, ...]:
    data = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
    return tuple(
        Language(name, {kind: tuple(words) for kind, words in section.items()}) for name, section in data.items()
    )


def plain(text: str) -> str:
    """The text as the phrases are written, character for character: lower case, one kind of apostrophe."""
    lowered = text.lower()
    if len(lowered) != len(text):  # a few letters become two
        lowered = "".join(low if len(low := one.lower()) == 1 else one for one in text)
    return lowered.replace("’", "'").replace("‘", "'")


@dataclass(frozen=True, slots=True)
class Opening:
    """A request at the start of a sentence; `is_plain` where its words ask for nothing else."""

    language: Language
    lead: str
    rest: str
    is_plain: bool


def opening(sentence: str) -> Opening | None:
    """Return the request that a plain sentence opens with."""
    for language in languages():
        if found := _opening(language).match(sentence):
            return Opening(language, found["lead"], sentence[found.end() :], found["plain"] is not None)
    return None


def closing(sentence: str) -> tuple[Language, str] | None:
    found = _closing().search(sentence.rstrip(" \t.!。！"))
    return (_by_phrase("after")[found["closer"]], sentence[: found.start()]) if found else None


def mentions_a_request(text: str) -> bool:
    """Whether a plain text may have an opening or a closing, quickly."""
    has = text.__contains__  # hundreds of phrases, at every prompt
    return any(map(has, _whole())) or any(all(map(has, pieces)) for pieces in _parted())


def starts_with(text: str, words: tuple[str, ...]) -> str:
    found = _alternatives(words).match(text) if words else None
    return found[0] if found else ""


def before(text: str, words: tuple[str, ...]) -> str:
    """Return the text up to the first of the words, or all of it."""
    found = _alternatives(words).search(text) if words else None
    return text[: found.start()] if found else text


def holds(text: str, words: tuple[str, ...]) -> bool:
    # The pattern tries every phrase at every character: it is for the few texts that contain one at all.
    return any(map(text.__contains__, words)) and _alternatives(words).search(text) is not None


@cache
def all_of(kind: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(chain.from_iterable(language[kind] for language in languages())))


@cache
def _whole() -> tuple[str, ...]:
    return tuple(phrase for kind in _REQUESTS for phrase in all_of(kind) if _GAP not in phrase)


@cache
def _parted() -> tuple[tuple[str, ...], ...]:
    parted = (phrase.split(_GAP) for kind in _REQUESTS for phrase in all_of(kind) if _GAP in phrase)
    return tuple(tuple(piece.strip() for piece in pieces) for pieces in parted)


@cache
def _opening(language: Language) -> re.Pattern[str]:
    """Words before a request are of its language: "i" means "and" in one, and opens a report in another."""
    leads = rf"(?P<lead>(?:(?:{_either(language['lead'])}){_PAUSE}){{0,{MOST_LEADS}}})"
    plain, other = (_either(language[kind], language["this"]) or "(?!)" for kind in ("remember", "write"))
    return re.compile(rf"{leads}(?:(?P<plain>{plain})|(?:{other}))")


@cache
def _closing() -> re.Pattern[str]:
    return re.compile(rf"(?P<closer>{_either(all_of('after'))})$")


@cache
def _by_phrase(kind: str) -> Mapping[str, Language]:
    return {phrase: language for language in reversed(languages()) for phrase in language[kind]}


@cache
def _alternatives(words: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile(_either(words))


def _either(words: Iterable[str], in_gaps: Iterable[str] = ()) -> str:
    """A pattern for any of the phrases, the longest first, each as whole words.

    Whether a word starts here is asked once for all of them, which is several times as quick.
    """
    longest_first = sorted(words, key=len, reverse=True)
    gap = rf"(?: (?:{'|'.join(map(re.escape, in_gaps))}))?" if in_gaps else ""
    unspaced = [_spelled(phrase, gap) for phrase in longest_first if _ENDS_UNSPACED.search(phrase)]
    spaced = [_ended(phrase, gap) for phrase in longest_first if not _ENDS_UNSPACED.search(phrase)]
    first = [f"{_NO_WORD_BEFORE}(?:{'|'.join(spaced)})"] if spaced else []
    return "|".join([*first, *unspaced])


def _ended(phrase: str, gap: str) -> str:
    """An elided "qu'" has its word right behind it."""
    return _spelled(phrase, gap) + ("" if phrase.endswith("'") else _NO_WORD_AFTER)


def _spelled(phrase: str, gap: str) -> str:
    return re.escape(phrase).replace(re.escape(f" {_GAP}"), gap)
