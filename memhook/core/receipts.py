"""Estimate whether an assistant used a memory: its answer has words that it can only have from the memory.

was_used(memory, known, answer, frequencies, documents)
words_in(text)   the words of the conversation before the answer, for `known`

Only words of the memory that are new to the conversation count. Each counts by how unlikely it is that an answer of
that length has it anyway: a name, a path or a number more than a word of the language, and only words that few other
memories have. Words that follow each other in both texts count once more, so that running a command is enough.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

from memhook.core.memory import Memory, titled
from memhook.core.terms import STOP_WORDS, terms
from memhook.patterns import regex

READ_CHARS = 40_000  # of an answer with its tool calls, and of the conversation before it
# The least chance that a text as long as the memory has a word, or a name, that no other memory has. At .03 for words,
# "even though" and "edge case" counted: of 30 showings, 22 wrongly instead of 9.
CHANCE_OF_WORD = 0.1
CHANCE_OF_NAME = 0.004
LEAST_SURPRISE = 2.0  # of a word, in nats: below, many together are only the vocabulary of the project
ENOUGH_SURPRISE = 8.0  # two names, or a name and the word beside it
LEAST_IN_ALL = 4.0
SHARE_OF_SHORT_MEMORY = 0.7  # of which the conversation may have all but a value
SHORT_WORDS = 20

_WORD = regex(r"[^\s,;()\[\]{}<>\"'*`|→—…]+")
_NAME = regex(r"\w[A-Z]|\w[._/@:+-]\w|\d|^[/#@.-]|_")


def was_used(memory: Memory, known: Iterable[str], answer: str, frequencies: Mapping[str, int], documents: int) -> bool:
    """Return whether the answer has enough words of the memory that are not in `known`, the conversation before it.

    `frequencies` maps a term to the number of memories with it, of `documents` in the project.
    """
    in_memory, in_answer = _words(titled(memory.title, memory.content)), _words(answer[:READ_CHARS])
    before, answered = set(known), dict(in_answer)
    length = max(1.0, len(in_answer) / max(SHORT_WORDS, len(in_memory)))
    surprise = {
        word: _surprise((frequencies.get(word, 1) - 1) / max(1, documents), is_name, length)
        for word, is_name in in_memory
        if word not in before
    }
    found = sum(value for word, value in surprise.items() if word in answered)
    found += sum(max(surprise.get(word, 0.0) for word in pair) for pair in _pairs(in_memory) & _pairs(in_answer))
    share = SHARE_OF_SHORT_MEMORY * sum(surprise.values()) if len(in_memory) <= SHORT_WORDS else ENOUGH_SURPRISE
    return found >= max(LEAST_IN_ALL, min(ENOUGH_SURPRISE, share))


def words_in(text: str) -> list[str]:
    """Return the stems of the words at the end of a text, without stop words."""
    return [word for word, _ in _words(text[-READ_CHARS:])]


def _surprise(share: float, is_name: bool, length: float) -> float:
    """Return how surprising a word is in an answer `length` times as long as the memory; 0 below `LEAST_SURPRISE`."""
    chance = min(0.9, max(CHANCE_OF_NAME if is_name else CHANCE_OF_WORD, share))
    surprise = -math.log(1.0 - (1.0 - chance) ** length)
    return surprise if surprise >= LEAST_SURPRISE else 0.0


def _words(text: str) -> list[tuple[str, bool]]:
    """Return the stems of the words except stop words, and whether each is a name, a path or an address."""
    bare = (word.strip(".:!?#-") for word in _WORD.findall(text))
    return [
        (found[0], len(word) > 2 and bool(_NAME.search(word)))
        for word in bare
        if word.lower() not in STOP_WORDS and (found := terms(word))
    ]


def _pairs(words: Sequence[tuple[str, bool]]) -> set[tuple[str, str]]:
    return {(first, second) for (first, _), (second, _) in pairwise(words) if first != second}
