"""Tell whether an assistant went by a memory: does its answer have what only the memory could have told it?

was_used(memory, prompt, answer)   from the texts alone; nothing of them is kept

What counts is what the prompt did not have and the answer has: words of the memory that follow each other there as
well, a number of it, a whole command, and of a short memory any anchor (a path, a flag, a code). Single words count for
nothing: a long answer has a third of those of any memory of its project.
"""

from __future__ import annotations

import re
from collections.abc import Sequence, Set
from itertools import pairwise

from memhook.core.anchors import Kind, anchors_of, is_distinctive, kind_of
from memhook.core.memory import Memory
from memhook.core.terms import STOP_WORDS, terms

READ_CHARS = 40_000  # of an answer with its tool calls
SHARE_OF_PAIRS = 0.12
FEWEST_PAIRS = 3
SEVERAL_ANCHORS = 2
FEWEST_BESIDE_ANCHORS = 2  # pairs, or of a short memory words
SHORT_TERMS = 20  # of a memory that one anchor is the point of
SHORTEST_ANCHOR = 6
WORDS_OF_A_WHOLE_COMMAND = 3
SHARE_AROUND_A_VALUE = 0.7

_WORD = re.compile(r"[^\s,;()\[\]{}<>\"'*`|→—…]+")
_IN_EVERY_PROJECT = frozenset({"agents", "changelog", "claude", "dockerfile", "package", "readme"})
_TWO_WORDS = re.compile(r"[a-z]+/[a-z]+")  # a folder, or "install/upgrade"
_TELLING = frozenset({Kind.PATH, Kind.FOLDER, Kind.COMMAND, Kind.FLAG, Kind.CODE, Kind.COMMIT, Kind.LITERAL})


def was_used(memory: Memory, prompt: str, answer: str) -> bool:
    """Return whether the answer has what of the memory the prompt had not."""
    text, asked, given = _text(memory), prompt[:READ_CHARS], answer[:READ_CHARS]
    pairs = _new_pairs(text, asked)
    followed = len(pairs.intersection(pairwise(_words(given))))
    if followed >= max(FEWEST_PAIRS, SHARE_OF_PAIRS * len(pairs)):
        return True
    every, known, answered = set(terms(text)), set(terms(asked)), set(terms(given))
    shared = (every - known) & answered
    if _has_value(shared, every, known | answered):
        return True
    anchors = _new_anchors(memory, asked, given)
    is_short = len(every - known) <= SHORT_TERMS and len(shared) >= FEWEST_BESIDE_ANCHORS
    are_several = len(anchors) >= SEVERAL_ANCHORS and followed >= FEWEST_BESIDE_ANCHORS
    return bool(anchors) and (is_short or are_several or any(map(_is_whole_command, anchors)))


def _new_pairs(text: str, asked: str) -> set[tuple[str, str]]:
    known = set(_words(asked))
    return {pair for pair in pairwise(_words(text)) if not known.issuperset(pair) and len(set(pair)) > 1}


def _words(text: str) -> list[str]:
    """The stems of the words that say something; a path, an address or a name in code is one word."""
    bare = (word.strip(".:!?#-") for word in _WORD.findall(text))
    return [found[0] for word in bare if word.lower() not in STOP_WORDS and (found := terms(word))]


def _text(memory: Memory) -> str:
    """Return the content, with the title before it unless it only repeats the beginning."""
    is_derived = memory.content.startswith(memory.title.rstrip("…"))
    return memory.content if is_derived else f"{memory.title}\n{memory.content}"


def _has_value(shared: Set[str], every: Set[str], said: Set[str]) -> bool:
    """Whether the answer gives a number of a memory nearly all of whose words are in the exchange."""
    has_number = any(len(one) > 1 and any(map(str.isdigit, one)) for one in shared)
    return has_number and len(every & said) >= SHARE_AROUND_A_VALUE * len(every)


def _new_anchors(memory: Memory, asked: str, given: str) -> Sequence[str]:
    every = filter(_tells, anchors_of(memory.title, memory.content))
    said, had = given.casefold(), asked.casefold()
    return [one for one in every if _has(said, low := one.casefold()) and low not in had]


def _has(text: str, name: str) -> bool:
    """Whether it is there as a whole: `npm run dev:agent` is not `npm run dev`."""
    return name in text and bool(re.search(rf"(?<![\w-]){re.escape(name)}(?![\w:-])", text))


def _is_whole_command(anchor: str) -> bool:
    return kind_of(anchor) is Kind.COMMAND and len(anchor.split()) >= WORDS_OF_A_WHOLE_COMMAND


def _tells(anchor: str) -> bool:
    """Whether an answer would hardly have it by chance, as it would the name of a README."""
    kind = kind_of(anchor)
    is_common = anchor.rpartition(".")[0].lower() in _IN_EVERY_PROJECT or _TWO_WORDS.fullmatch(anchor)
    if len(anchor) < SHORTEST_ANCHOR or is_common:
        return False
    return kind in _TELLING or (kind is Kind.IDENTIFIER and is_distinctive(anchor))
