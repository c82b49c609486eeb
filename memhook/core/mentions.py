"""Find the names that a short note may mention in plain words; a tool call with the same words is the proof.

Unlike anchors, mentions are neither stored nor listed: "session lifetime" is a command only if somebody runs it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from memhook.core.directives import READ_CHARS, asked_flags, refused_names
from memhook.core.error_messages import spoken_messages
from memhook.core.sentences import CODE_SPAN
from memhook.core.spoken_commands import spoken_commands, spoken_tools, with_joined_flags
from memhook.patterns import regex

_TYPE = regex(r"(?<![\w./-])(?:[A-Z][a-z0-9]+){2}(?![\w/-]|[.#:]+\w)")
_MEMBER = regex(r"(?<![\w./-])((?:[A-Z][a-z0-9]+)+)(?:\.|#|::)([A-Za-z_]\w*)")
_FILE = regex(r"(?<![\w./@:-])[a-z][\w-]{2,}\.[a-z]\w{0,10}(?![\w/.(-]*\w)")
# "avrdude: not responding = no power", "tflint fails with 'no plugin'": a sentence about one error of a tool.
_REPORTING = regex(
    r"(?:^|[.;!?\n]\s+)([a-z][\w.-]{1,40})"
    r"(?:: [^;!?\n]{8,160}? (?:[=-]*>|[=→]|means?) | (?:\w{2,40}s|exited) (?:that |with )?[\"'“‘`])"
)


@dataclass(frozen=True, slots=True)
class Mentions:
    """The names that a note may mention."""

    commands: tuple[str, ...] = ()
    """As in "adb reverse tcp:8080 is lost with the cable"."""
    tools: tuple[str, ...] = ()
    """Tools without a subcommand, as in "tflint 0.50 crashes"."""
    types: tuple[str, ...] = ()
    """CamelCase names of two parts, of a type in the project or of a product: ShiftRepository, GitHub."""
    members: tuple[str, ...] = ()
    """Members of a type, as in `PawnTicket#extend!`: code calls them on an object of any name."""
    files: tuple[str, ...] = ()
    """Files with any extension: memory.x"""
    messages: tuple[str, ...] = ()
    """As in "deadlock detected in the netting", of which an error may have the first words."""
    refused: tuple[str, ...] = ()
    """What may be a tool or a package that the note forbids, in lower case: "no SOPS", "chrono was removed"."""
    asked_flags: frozenset[str] = frozenset()
    """Flags that the note asks for: a call that has them does not need the note."""


def mentions_of(note: str) -> Mentions:
    note = with_joined_flags(note[:READ_CHARS])
    prose = CODE_SPAN.sub(" . ", note)
    flags = frozenset(asked_flags(note))
    tools = [*spoken_tools(prose, flags)]
    reporting = set(_REPORTING.findall(note))
    return Mentions(
        _each_once((*spoken_commands(prose), *(one for one in tools if " " in one))),
        _each_once(one for one in tools if " " not in one and one not in reporting),
        _each_once(_TYPE.findall(prose)),
        _each_once(f"{one}.{member}" for one, member in _MEMBER.findall(note)),
        _each_once(_FILE.findall(prose)),
        _each_once(spoken_messages(note)),
        _each_once(refused_names(note)),
        flags,
    )


def _each_once(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))
