"""Commands: those that a memory names, those of a tool call, and whether the one is the other.

command_of(anchor, text)            a command as a memory means it
is_run(command, words)              whether a call is that command
positional(words), flags_of(words)  the words of a command that are no flags, and the flags
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from memhook.core.anchors import Kind, kind_of

CLAUSE = 60  # characters around a command that tell whether it is asked for

GAP = re.compile(r"<[^<>\s]*>|\*+")  # that somebody fills in
_ENDS = ("|", ">", "<", "&&")
_VARIABLE = re.compile(r"[A-Z_][A-Z0-9_]*=")
_GLUED = re.compile(r"-[A-Za-z]\d+")  # -j16
_VALUED = re.compile(r"-[A-Za-z]")
_PLAIN_VALUE = re.compile(r"[\w.]+")
_SUBCOMMAND = re.compile(r"[a-z][a-z-]*")
_LETTERS = {"-f": "--force", "-r": "--recursive", "-R": "--recursive"}  # which mean the same everywhere
_FILE = re.compile(r"[./]")  # behind -f
_WITH = r"\s+(?:(?:using|with)\s+)?"

# In the clause in front of a command, or behind it.
_FORBIDDEN = re.compile(r"\b(?:never|not|don't|no|nor|avoid|nie|nicht|kein|keine|nunca|no|jamais|pas)\b[^.;:\n]*$")
_ASKED_FOR = re.compile(
    r"\b(?:always|by|execute|must|need|needs|run|runs|through|use|uses|using|via|with"
    r"|immer|mit|nimm|nutze|per|verwende|con|siempre|usa|avec|toujours|utilise)\b[^.;\n]*$|[:→]\W*$"
)
_UNREAD = re.compile("[\u0370-\u1fff\u2e80-\ud7ff]")  # scripts of languages that the patterns do not know
_REFUSED = re.compile(r"[`\s]*(?:is |are )?(?:banned|forbidden|never|not|verboten|nie|nunca|jamais)\b")
_NEEDED = re.compile(r"[`\s]*(?:is|are)? ?(?:needed|required|mandatory|first|instead)\b")


@dataclass(frozen=True, slots=True)
class Command:
    """Its words without the flags, in both readings, and the flags of which a call must have one.

    One that is spoken stands in a sentence, which may go on where it ends.
    """

    lines: tuple[tuple[str, ...], ...]
    flags: frozenset[str]
    is_spoken: bool = False


def command_of(anchor: str, text: str, *, is_spoken: bool = False) -> Command:
    return Command(readings(command_words(anchor)), needed_flags(anchor, text), is_spoken)


def command_words(anchor: str) -> list[str]:
    """Up to where it is piped or leaves a gap, without variables and quotes."""
    words = anchor.split()
    end = next((at for at, word in enumerate(words) if word in _ENDS or GAP.search(word)), len(words))
    return [re.sub(r"[\"']", "", word) for word in words[:end] if not _VARIABLE.match(word)]


def readings(words: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    """Nobody knows whether a word behind a flag is its value."""
    return tuple(dict.fromkeys((positional(words), positional(words, without_values=True))))


def positional(words: Sequence[str], *, without_values: bool = False) -> tuple[str, ...]:
    """The words of a command that are no flags; without what may be the value of the flag before it."""
    kept = [
        word
        for before, word in pairwise(("", *words))
        if not word.startswith("-") and not (without_values and before.startswith("-") and "=" not in before)
    ]
    return tuple(_plain(word) for word in kept)


def _plain(word: str) -> str:
    """Without the folder one is in, and of a task without its project: `./gradlew`, `:app:test`."""
    return word.rpartition(":")[2] if word.startswith(":") else word.removeprefix("./")


def is_subcommand(word: str) -> bool:
    """Whether it may say what a tool is to do: it is no path, number or name in parts."""
    return bool(_SUBCOMMAND.fullmatch(word))


def flag_name(word: str) -> str:
    return word[:2] if _GLUED.fullmatch(word) else word.partition("=")[0]


def flags_of(words: Sequence[str]) -> Iterator[str]:
    """The flags of a command, a short one with the word behind it, which is its value: `-L hardware`."""
    for word, behind in pairwise((*words, "")):
        if word.startswith("-") and word.strip("-"):
            value = word[2:] if _GLUED.fullmatch(word) else behind if _VALUED.fullmatch(word) else ""
            yield f"{flag_name(word)} {value}" if _PLAIN_VALUE.fullmatch(value) else flag_name(word)


def has_one(flags: frozenset[str], words: Sequence[str]) -> bool:
    """Whether a call has one of the flags, if there are any."""
    if not flags:
        return True
    given = {*map(flag_name, words), *flags_of(words)}
    short = (word for word, behind in pairwise((*words, "")) if word in _LETTERS and not _FILE.search(behind))
    return not flags.isdisjoint(given.union(map(_LETTERS.__getitem__, short)))


def needed_flags(anchor: str, text: str) -> frozenset[str]:
    """The flags of a command, one of which a call must have to be what the text is about.

    "Never `git push --force`" says nothing of other pushes. "Run `npm ci --prefer-offline`" is about every `npm ci`;
    so is a call with several flags that is not forbidden, which is a recipe.
    """
    if kind_of(anchor) is not Kind.COMMAND:
        return frozenset()
    flags = frozenset(flags_of(anchor.split()))
    found = re.search(_WITH.join(map(re.escape, anchor.split())), text) if flags else None
    if not found:
        return flags
    clause, rest = text[: found.start()][-CLAUSE:].lower(), text[found.end() :][:CLAUSE].lower()
    if _FORBIDDEN.search(clause) or _REFUSED.match(rest):
        return flags
    is_recipe = len(flags) > 1 or _ASKED_FOR.search(clause) or _NEEDED.match(rest) or _UNREAD.search(clause)
    return frozenset() if is_recipe else flags


def is_run(command: Command, words: Sequence[str]) -> bool:
    """Whether a call has the first two words of the command somewhere, goes on like it, and has one of its flags."""
    if not has_one(command.flags, words):
        return False
    return any(_goes_like(ours, theirs, command.is_spoken) for ours in command.lines for theirs in readings(words))


def _goes_like(ours: Sequence[str], theirs: Sequence[str], is_spoken: bool) -> bool:
    behind = (theirs[at + 2 :] for at, pair in enumerate(pairwise(theirs)) if pair == tuple(ours[:2]))
    return any(_agree(ours[2:], rest, is_spoken) for rest in behind)


def _agree(ours: Sequence[str], theirs: Sequence[str], is_spoken: bool) -> bool:
    """The third word has to be the same; in a sentence it may be no word of the command.

    So there, as further on, only a word of the same form is another one: "pm clear" is not `pm list`. Values far
    behind seldom matter.
    """
    if ours and not is_spoken and ours[:1] != theirs[:1]:
        return False
    for place, (one, other) in enumerate(zip(ours, theirs, strict=False)):
        is_told = is_subcommand(one)
        if one != other and is_told == is_subcommand(other) and (is_told or not place):
            return False
    return True
