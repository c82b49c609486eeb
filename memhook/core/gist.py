"""The author's own words in a prompt, without pasted text and courtesies.

A log of forty lines below a question of two lines dominates the vector of the prompt. So the author's words are
searched for separately as well, and the better of the two answers counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from memhook.core.pasted import is_machine
from memhook.core.small_talk import is_small_talk

WORTH_LEAVING_OUT = 0.8  # a gist longer than this share of the prompt gets the same answer as the prompt
FEWEST_WORDS = 2  # "any idea?" above a log says nothing: the log decides

_FENCE = re.compile(r" {0,3}(?:`{3,}|~{3,})")
_WORD = re.compile(r"\w{3,}")
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")
_COURTESY = re.compile(
    r"""
    \b(?:(?:can|could|would|will|may|might)\ (?:you|i|we|someone)|please|kindly|help(?:\ me)?|have|take|a\ look|when|
    you\ (?:have|get)|need|anything|else|know|let|moment|minute|chance|question|quick|everyone|team|there|see|below|
    above|following|attached|a\ lot|in\ advance|many|appreciate[d]?|i\ (?:get|got|see|am\ getting)|any\ ideas?|would|be|
    great|glad|hope|day|having|issue|problem|look(?:ing)?|into|check|find|here\ is|here's|log|logs|output|trace)\b
    """,
    re.VERBOSE | re.IGNORECASE,
)


def gist(prompt: str) -> str:
    """Return the author's words, or "" if they are nearly the whole prompt or too few to search for."""
    own = "\n".join(_own_lines(prompt))
    own_words = " ".join(sentence for sentence in _SENTENCE.split(own) if not _is_courtesy(sentence)).strip()
    is_less = len(own_words) < WORTH_LEAVING_OUT * len(prompt)
    return own_words if is_less and len(_WORD.findall(own_words)) >= FEWEST_WORDS else ""


def _own_lines(prompt: str) -> Iterator[str]:
    fenced = False
    for line in prompt.splitlines():
        if _FENCE.match(line):
            fenced = not fenced
        elif not fenced and line.strip() and not is_machine(line):
            yield line


def _is_courtesy(sentence: str) -> bool:
    return is_small_talk(_COURTESY.sub(" ", sentence))
