"""Tell whether an assistant went by a memory: does its answer have what only the memory could have told it?

was_used(memory, prompt, answer)   from the texts alone; nothing of them is kept

What counts is what the prompt did not have and the answer has: anchors of the memory (a path, a command, a code), its
names and values, or several of its rarer words together.
"""

from __future__ import annotations

import re
from collections.abc import Set

from memhook.core.anchors import Kind, anchors_of, is_distinctive, kind_of
from memhook.core.memory import Memory
from memhook.core.terms import terms

READ_CHARS = 40_000  # of an answer with its tool calls
SHARE_OF_TERMS = 0.5
FEWEST_TERMS = 4
SHARE_BESIDE_AN_ANCHOR = 0.3  # of the terms beyond the first ten: in a long memory some are found by chance
FEWEST_BESIDE_AN_ANCHOR = 2
SHORTEST_ANCHOR = 6
SHARE_AROUND_A_VALUE = 0.7

_IN_EVERY_PROJECT = frozenset({"agents", "changelog", "claude", "dockerfile", "package", "readme"})
_TWO_WORDS = re.compile(r"[a-z]+/[a-z]+")  # a folder, or "install/upgrade"
_TELLING = frozenset({Kind.PATH, Kind.FOLDER, Kind.COMMAND, Kind.FLAG, Kind.CODE, Kind.COMMIT, Kind.LITERAL})


def was_used(memory: Memory, prompt: str, answer: str) -> bool:
    """Return whether the answer has what of the memory the prompt had not."""
    asked, given = _readable(prompt), _readable(answer)
    known, answered = set(terms(asked)), set(terms(given))
    every = set(terms(f"{memory.title}\n{memory.content}"))
    own = every - known
    shared = own & answered
    if len(shared) >= max(FEWEST_TERMS, SHARE_OF_TERMS * len(own)) or _has_value(shared, every, known | answered):
        return True
    needed = max(FEWEST_BESIDE_AN_ANCHOR, SHARE_BESIDE_AN_ANCHOR * (len(own) - 10))
    return len(shared) >= needed and _has_new_anchor(memory, asked, given)


def _has_value(shared: Set[str], every: Set[str], said: Set[str]) -> bool:
    """Whether the answer gives a number of a memory nearly all of whose words are in the exchange."""
    has_number = any(len(one) > 1 and any(map(str.isdigit, one)) for one in shared)
    return has_number and len(every & said) >= SHARE_AROUND_A_VALUE * len(every)


def _has_new_anchor(memory: Memory, asked: str, given: str) -> bool:
    anchors = (_readable(one) for one in anchors_of(memory.title, memory.content) if _tells(one))
    return any(one in given and one not in asked for one in anchors)


def _tells(anchor: str) -> bool:
    """Whether an answer would hardly have it by chance, as it would the name of a README."""
    kind = kind_of(anchor)
    is_common = anchor.rpartition(".")[0].lower() in _IN_EVERY_PROJECT or _TWO_WORDS.fullmatch(anchor)
    if len(anchor) < SHORTEST_ANCHOR or is_common:
        return False
    return kind in _TELLING or (kind is Kind.IDENTIFIER and is_distinctive(anchor))


def _readable(text: str) -> str:
    return text[:READ_CHARS].casefold()
