"""The messages of errors that a note may have, and whether an error is one of them.

spoken_messages(note)           messages in quotes, and the sentences that are explained like one
message_details(message, note)  the names, numbers and ports without which it is another message
is_reported(words, error)       whether an error has the words of a message
error_words(text)               the words of an error
content_words(message)          the words by which a message is recognised, without numbers, names and paths
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import chain, takewhile

from memhook.core.directives import is_directive
from memhook.core.sentences import CLAUSE, CODE_SPAN, SENTENCE_END, is_predicate
from memhook.core.terms import STOP_WORDS
from memhook.patterns import regex

MOST_WORDS = 8
MOST_SOURCES = 3  # before a message, each with a colon
FEW = 4  # words that an error must have, if nothing in the note marks them as a message
NEAR = 4  # words of an error between two of a message, for each of its first words
MOST_STARTS = 50  # places of an error at which a message may start

_QUOTED = regex(r"(?<![\w'\"`])(?:'([^'\n]{8,80})'|\"([^\"\n]{8,80})\"|`([^`\n]{8,80})`)(?!\w)")
# Words after which a message may start.
_SAYING = regex(
    r"^(?:(?:an?|the|if|when|you|get|getting|see|seeing|error) )*|\b(?:error|get|message|saying|says|see|with) "
)
EXPLAINED = regex(
    r"\b(?:because|caused|comes?|expected|harmless|ignore|means?|normal|say(?:s|ing)|usually)\b|->|[=→]|:$"
)
_CLAUSE_END = regex(r"(?<!\([a-z])[,;:.!?()=→–—]+(?:\s|$)")
_STATUS = regex(r"(?i:\bexit(?:s|ed)?(?: with)?(?: code| status)?|\bHTTP(?:/\d(?:\.\d)?)?)[ :=]{1,2}-?\d+\b")
# The name, number or port that an error is about: with a different one it is a different error.
_DETAIL = regex(
    r"['\"‘]([\w@~/][\w@.:/-]{1,80})['\"’]|(?:(?:\d|localhost):|\bport )(\d{2,5})\b|\b(0x[\dA-Fa-f]+)\b"
    r"|\b([a-z]+:[a-z]+/[a-z-]+)"  # the instance of a component
    r"|(?i:code|err(?:no|or)|exception|signal|status) (\d+)\b"
)
_MESSAGE_GOES_ON = regex(r":? (?=[\"'‘(])|: | (?:for|in|of|on) (?:[a-z]+ )?(?=[\"'‘])")
_IN_TEST = regex(r"`? in `?(\w+_\w+)\b")
_DETAILS_END = regex(rf"[.,;!?]\s|`|\n|\s[–—-]|{EXPLAINED.pattern}")
_WITH_DETAIL = regex(
    r"`? (?:avec|com|con|mit|with) `(\d[^`\s]*)`|`? (?:(?:at|on) )?(?:port |`?[\w.-]+:)(\d{4,5})\b"
)  # `ImagePullBackOff` with `401`
_QUOTES = frozenset("\"'’”»`")
_WORD = regex(r"\w+(?:['’-]\w+)*")
_DIGIT = regex(r"[\d_]")

# What is not a word of a message: quotations, and tokens with a path, a number or the package of an exception.
_QUOTATION = regex(r"""`[^`\n]{0,120}`|"[^"\n]{0,120}"|(?<!\w)'[^'\n]{0,120}'(?!\w)|<[^<>\n]{0,80}>""")
_TOKEN = regex(r"[^\s,;]+")
_PACKAGE = regex(r"^\W*(?:\w+\.)+(?=[A-Z])")  # of an exception: psycopg2.OperationalError
_OF_NAMES = regex(r"[/\\@\d_]")


def spoken_messages(note: str) -> Iterator[str]:
    """Yield two words in quotes, the start of a sentence that explains it as a message, and the note's first words."""
    quoted = (next(filter(None, one)) for one in _QUOTED.findall(note))
    yield from (" ".join(words) for one in quoted if len(words := error_words(one)) == 2)
    parts = SENTENCE_END.split(CODE_SPAN.sub(_without_message, note), maxsplit=MOST_SOURCES + 1)
    # "x509: certificate ...", "avrdude: stk500_recv(): programmer ...", or "Build: ..."
    sources = [*takewhile(lambda one: one.endswith(":") and len(one.split()) <= 2, parts[:MOST_SOURCES])]
    whole = " ".join((*chain.from_iterable(map(error_words, sources)), *parts[len(sources) :][:1]))
    for at, sentence in enumerate((*parts[:2], *([whole[: CLAUSE * 2]] if sources else []))):
        is_explained = bool(EXPLAINED.search(sentence))
        if is_explained or at > 1:
            yield from _explained(sentence)
        elif not at and len(words := error_words(sentence)[:FEW]) == FEW:
            yield " ".join(words)


def _explained(sentence: str) -> Iterator[str]:
    for start in _SAYING.finditer(sentence):
        clause = _CLAUSE_END.split(sentence[start.end() :], maxsplit=1)[0]
        if " " in clause and not _STATUS.match(clause):
            yield " ".join(error_words(clause)[:MOST_WORDS])


def _without_message(span: re.Match[str]) -> str:
    """Return the text of a code span, but " . " for one with a message: that is an anchor, so its parts are none."""
    return " . " if ": " in span[0] else span[0]


def message_details(message: str, note: str) -> tuple[str, ...]:
    """Return the details in the message, and those after it in the note, up to its explanation.

    There are none after the name of an exception if that clause asks for something, for then it is no message.
    """
    at = note.find(message)
    behind = note[at + len(message) :][: 2 * CLAUSE] if at >= 0 else ""
    if given := _WITH_DETAIL.match(behind):
        return (given[1] or given[2],)
    if " " in message:
        if given := _IN_TEST.match(behind):
            return (given[1],)
        clause = "" if behind[:1] in _QUOTES else _clause(behind)
    elif message.endswith(("Error", "Exception")):
        goes_on = _MESSAGE_GOES_ON.match(behind)
        clause = _clause(behind[goes_on.end() :]) if goes_on else ""
        if is_directive(clause):
            return ()
    else:
        return ()
    return tuple(filter(None, chain.from_iterable(_DETAIL.findall(message + clause))))


def _clause(text: str) -> str:
    return _DETAILS_END.split(text, maxsplit=1)[0]


def is_reported(words: Sequence[str], error: Sequence[str], *, may_end: bool = False) -> bool:
    """Return whether an error has the words in their order, each near the one before.

    With `may_end`, only the first words of a longer message are required, up to a word of the note's own sentence.
    """
    starts = [at for at, word in enumerate(error) if word in words[:1]][:MOST_STARTS]
    most = (_near(words) + 1) * len(words)
    found = max((_found(words, error[at : at + most]) for at in starts), default=0)
    if found < len(words) and not (may_end and len(words) > FEW and _is_end(words[found])):
        return False
    return sum(len(word) > 3 and not _DIGIT.search(word) for word in words[:found]) > 1


def _found(words: Sequence[str], error: Sequence[str]) -> int:
    """Return how many of the words the error has, from the first on."""
    at = -1
    for found, word in enumerate(words):
        near = error[at + 1 : at + 2 + _near(words)]
        if word not in near:
            return found
        at += near.index(word) + 1
    return len(words)


def _near(words: Sequence[str]) -> int:
    return NEAR * min(len(words), FEW)


def _is_end(word: str) -> bool:
    return word in STOP_WORDS or (word.isalpha() and is_predicate(word))


def error_words(text: str) -> list[str]:
    return [word.lower().replace("’", "'") for word in _WORD.findall(text)]


def content_words(message: str) -> list[str]:
    """Return the words that an error must have; none if the message has too few to be recognised."""
    tokens = (_PACKAGE.sub("", token) for token in _TOKEN.findall(_QUOTATION.sub(" ", message)))
    words = error_words(" ".join(token for token in tokens if not _OF_NAMES.search(token)))
    content = [word for word in words if len(word) > 3]
    if len(content) > 2 or (len(content) == 2 and min(map(len, content)) > 5):
        return content
    return words if content and len(words) > 3 else []
