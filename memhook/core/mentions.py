"""What a short note may name in plain words. Nothing here is certain: a tool call that has the same words proves it.

mentions_of(note)       the commands, tools, types and flags it may name
scope_of(anchor, note)  what an anchor is said of: "git rebase on release/courier" is about that branch only

Unlike anchors they are neither stored nor listed, for "session lifetime" is a command only if somebody runs it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from memhook.core.terms import STOP_WORDS

READ_CHARS = 800  # what a longer text says in passing is not what it is about
MOST_WORDS = 6  # of a command
CLAUSE = 80  # characters in front of a flag that tell whether it is asked for

_SPAN = re.compile(r"`[^`\n]*`")
_SENTENCE_END = re.compile(r"(?<=[.!?;:])\s+|\n+|\s[–—-]\s")
_TOOL = re.compile(r"(?:\./)?[a-z][a-z0-9]+(?:[._/-][a-z0-9_]+)*")
_ARGUMENT = re.compile(r"[a-z.:@/-][\w@:./+=<>*-]*")
_FLAG = re.compile(r"-[A-Za-z]|--?[A-Za-z][\w-]+(?:=\S+)?")
_FLAG_FOLLOWS = ("using", "with")
_TYPE = re.compile(r"(?<![\w./-])(?:[A-Z][a-z0-9]+){2}(?![\w/-])")
_ENDING = ".,;:!?)"
# What stands in front of a command, not in one.
_AROUND = STOP_WORDS | {
    "always", "avoid", "call", "calling", "don't", "every", "execute", "instead", "may", "might", "must", "never",
    "run", "running", "runs", "shall", "use", "using", "via", "without",
}  # fmt: skip
# What a sentence about a tool goes on with.
_PREDICATE = re.compile(
    r"v?\d[\d.]*|can(?:not|'t)?|cannot|does|has|is|must|needs?|never|always|only|should|will|\w{2,}(?:[^s]s|ed)"
)
_ASKED = re.compile(r"\b(?:always|ha(?:s|ve) to|must|needs?|only with|pass|require[sd]?)\b[^.;\n]*$", re.IGNORECASE)
_REFUSED = re.compile(r"\b(?:avoid|don't|never|no|not|without)\b[^.;\n]*$", re.IGNORECASE)
# "Without --atomic it stays half rolled out", "never without --atomic"; "rsync without --checksum" asks for none.
_MISSED = re.compile(r"\bwithout +(?:\S+ +)?$", re.IGNORECASE)
_CONSEQUENCE = re.compile(r"`? +(?:it|never|the|you|\w+[^s]s)\b", re.IGNORECASE)
_FLAG_IN_PROSE = re.compile(r"(?<![\w-])-{1,2}[A-Za-z][\w-]*")
_NAMED = r"`?(?:(?:[~/.]|\w)[\w.@~-]*(?:[-_/.][\w@~-]+|\d)[\w.@/~-]*/?|[\w.-]+/)`?"
_SCOPE = re.compile(
    r"`?\s+(?:(?:against|at|from|in|inside|into|of|on|to|under) +(?:(?:a|an|our|the) +)?|(?:our|the) +)(?:[a-z]+ +)?"
    rf"({_NAMED}(?:(?:, +| +and +| +or +){_NAMED})*)"
)
_JOINED = re.compile(r", +| +and +| +or +")


@dataclass(frozen=True, slots=True)
class Mentions:
    """What a call may prove to be named."""

    commands: tuple[str, ...] = ()
    """As in "adb reverse tcp:8080 is lost with the cable"."""
    tools: tuple[str, ...] = ()
    """Without one of their commands, as in "tflint 0.50 crashes"."""
    types: tuple[str, ...] = ()
    """Names of two humps, of a type in the project or of a product: ShiftRepository, GitHub."""
    asked_flags: frozenset[str] = frozenset()
    """Those that a call should have: one that has them needs no note that asks for them."""


def mentions_of(note: str) -> Mentions:
    note = note[:READ_CHARS]
    prose = _SPAN.sub(" . ", note)
    flags = frozenset(_asked_flags(note))
    sentences = list(_sentences(prose))
    commands = dict.fromkeys(one for words in sentences for one in _commands(words))
    tools = dict.fromkeys(one for words in sentences for one in _tools(words, bool(flags)))
    return Mentions(tuple(commands), tuple(tools), tuple(dict.fromkeys(_TYPE.findall(prose))), flags)


def scope_of(anchor: str, note: str) -> tuple[str, ...]:
    found = re.search(r"\s+(?:(?:using|with)\s+)?".join(map(re.escape, anchor.split())), note)
    scope = _SCOPE.match(note, found.end()) if found else None
    return tuple(one.strip("`").rstrip(_ENDING) for one in _JOINED.split(scope[1])) if scope else ()


def _sentences(prose: str) -> Iterator[list[str]]:
    for sentence in _SENTENCE_END.split(prose):
        if words := [word.lstrip("(\"'*") for word in sentence.split()]:
            yield words


def _commands(words: Sequence[str]) -> Iterator[str]:
    for at in range(len(words) - 1):
        before = words[at - 1] if at else ""
        if _may_be_run(before, words[at], _bare(words[at + 1])):
            yield " ".join(_command(words[at:]))


def _tools(words: Sequence[str], is_flag_asked: bool) -> Iterator[str]:
    """The first word of a sentence about it; where a flag is asked for, whatever the sentence goes on with."""
    tool, behind = _bare(words[0]), _bare("".join(words[1:2]))
    if _TOOL.fullmatch(tool) and tool not in _AROUND:
        is_subject = words[0].endswith(":") or bool(_PREDICATE.fullmatch(behind))
        if is_subject or (is_flag_asked and not _may_be_run("", tool, behind)):
            yield tool


def _asked_flags(note: str) -> Iterator[str]:
    for flag in _FLAG_IN_PROSE.finditer(note):
        if _is_asked(note[: flag.start()][-CLAUSE:], note[flag.end() :]):
            yield flag[0]


def _is_asked(clause: str, behind: str) -> bool:
    if _MISSED.search(clause):
        return bool(_CONSEQUENCE.match(behind) or _REFUSED.search(_MISSED.sub("", clause)))
    return bool(_ASKED.search(clause)) and not _REFUSED.search(clause)


def _may_be_run(before: str, tool: str, argument: str) -> bool:
    if not _TOOL.fullmatch(tool) or tool in _AROUND or argument in STOP_WORDS:
        return False
    if argument.startswith("-"):
        return not _TOOL.fullmatch(before) or before in _AROUND  # not "install -r" of "galaxy install -r"
    return bool(_ARGUMENT.fullmatch(argument))


def _command(words: Sequence[str]) -> Iterator[str]:
    """Two words, those behind that do not go on with the sentence, and the flags among them."""
    for at, word in enumerate(words[: MOST_WORDS + 2]):
        bare = _bare(word)
        is_link = bare in _FLAG_FOLLOWS and at + 1 < len(words) and _FLAG.fullmatch(_bare(words[at + 1]))
        if is_link and at > 1:
            continue
        if at > 1 and not (_FLAG.fullmatch(bare) or _is_given(bare)):
            return
        yield bare
        if bare != word:
            return


def _is_given(word: str) -> bool:
    if any(mark in word for mark in ":_/."):
        return bool(_ARGUMENT.fullmatch(word))
    goes_on = word in _AROUND or word.endswith(("s", "ed", "ing", "-"))
    return not goes_on and bool(_ARGUMENT.fullmatch(word))


def _bare(word: str) -> str:
    return word.rstrip(_ENDING)
