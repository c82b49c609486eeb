"""The sentences of a note, and how one continues after the name of a tool.

sentences(prose)             the words of each sentence
bare(word)                   a word without the punctuation behind it
is_predicate(word)           whether a sentence continues with this word after a name
found_command(words, note)   where a note has a command
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from memhook.core.terms import STOP_WORDS
from memhook.patterns import regex

CLAUSE = 80  # characters around a name that decide what the note says of it

# Followed by one of these, the name of a tool in a sentence is a command.
_SUBCOMMANDS = """
add apply audit build bump check checkout cherry-pick clean clone commit compose config console copy create delete
deploy destroy dev diff down downgrade drain edit exec export fetch fix fmt format generate get import init install
lint list lock log login logs merge migrate mod plan prune publish pull push rebase release reload remove reset
restart restore revert rollback rollout run scale seed serve start stash state status stop submodule sync tag test
tidy uninstall up update upgrade vet watch worktree
"""
SUBCOMMANDS = frozenset(_SUBCOMMANDS.split())
# Words before a command, not in one.
AROUND = STOP_WORDS | {
    "above", "always", "avoid", "below", "call", "calling", "don't", "every", "execute", "instead", "may", "might",
    "must", "never", "run", "running", "runs", "shall", "use", "using", "via", "without",
}  # fmt: skip
# Words with which a sentence continues after the name of a tool: words that name nothing, or any verb.
NO_NAME = regex(
    r"v?\d[\d.]*|after|against|always|at|before|can(?:not|'t)?|cannot|does|during|for|from|has|in|inside|is|must|needs?|never|on"
    r"|only|should|to|under|when|while|will|with|within|without"
)
PREDICATE = regex(rf"{NO_NAME.pattern}|\w{{2,}}(?:[^s]s|ed)")
SENTENCE_END = regex(r"(?<=[.!?;:])\s+|\n+|\s[–—-]\s")
CODE_SPAN = regex(r"`[^`\n]*`")

_ARTICLES = frozenset(("a", "an", "our", "the", "your"))
_WITH_FLAG = regex(r"\b(?:using|with) (?=-)")
_BETWEEN_WORDS = r"`?\s+(?:(?:using|with)\s+)?`?"  # of a command: "`git push` with `--force`"
_ENDING = ".,;:!?)"


def sentences(prose: str) -> Iterator[list[str]]:
    for sentence in SENTENCE_END.split(_WITH_FLAG.sub("", prose)):
        words = [word.lstrip("(\"'*") for word in sentence.split()]
        words[:1] = (
            word.lower() if word.lower() in SUBCOMMANDS else word for word in words[:1]
        )  # "Restart the broker"
        # "restart the mosquitto service" is `restart mosquitto`
        words = [word for before, word in pairwise(("", *words)) if word not in _ARTICLES or before not in SUBCOMMANDS]
        if words:
            yield words


def bare(word: str) -> str:
    return word.rstrip(_ENDING)


def is_predicate(word: str) -> bool:
    return bool(PREDICATE.fullmatch(word))


def found_command(command: str, note: str, behind: str = "") -> re.Match[str] | None:
    """Return where the note has the words of a command, or of any anchor, with this pattern behind them."""
    return re.search(f"{_BETWEEN_WORDS.join(map(re.escape, command.split()))}{behind}", note)
