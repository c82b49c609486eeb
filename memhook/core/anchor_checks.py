"""Whether a tool call has what a memory means by an anchor, once one of its keys was found."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from memhook.core.anchor_details import Details
from memhook.core.anchor_keys import glob_pattern
from memhook.core.commands import base, flag_name
from memhook.core.error_messages import error_words, is_reported
from memhook.core.tool_calls import ToolCall
from memhook.patterns import regex

# Kinds of keys that an error has, and that a command has. A name may be in both.
_OF_ERRORS = frozenset(("code", "err", "id", "msg", "said", "type"))
_OF_COMMANDS = frozenset(("alone", "cmd", "flag", "id", "lit", "path", "tool"))
_PLACEHOLDER = regex(r"<|\{|\*")
_NEEDS_NO_TOOL = 4  # hyphens of a flag: --max-tasks-per-child can hardly be another tool's


def holds(key: str, anchor: str, details: Details, call: ToolCall) -> bool:
    """Return whether the memory matches by this key and anchor."""
    kind, _, name = key.partition(":")
    if not _is_meant(kind, anchor, details, call):
        return False
    is_run = kind in _OF_COMMANDS and not (kind == "path" and call.writes(name))
    if is_run and call.complies_with(details.asked_flags):
        return False
    is_started = is_run and kind in ("id", "path") and base(name) in call.programs - call.hosts
    if is_started and (told := [*_told(base(name), details)]):
        is_itself = anchor in details.subjects and call.names(anchor)
        return is_itself or any(call.has(words, flags) for words, flags in told)
    if kind == "cmd":
        return call.runs(details.commands[anchor])
    if kind == "flag":
        return _holds_for_flag(flag_name(anchor), details, call)
    return has_whole(kind, anchor, call)


def has_whole(kind: str, anchor: str, call: ToolCall) -> bool:
    """Return whether the call has the whole anchor, for the kinds whose key is only a part of it."""
    check = _CHECKS.get(kind)
    return check is None or check(anchor, call)


def _is_meant(kind: str, anchor: str, details: Details, call: ToolCall) -> bool:
    """Return whether the call is about the scope of the anchor, and its error has the details of the message."""
    scope = details.scopes.get(anchor)
    if scope is not None and not any(map(call.is_about, scope)):
        return False
    if kind in _OF_ERRORS and not call.reports_names(details.message_details.get(anchor, ())):
        return False
    if kind == "code":
        return call.reports_half(details.messages_of_codes.get(anchor, ()))
    return kind != "id" or anchor not in details.arguments or call.runs_or_reports(anchor)


def _told(program: str, details: Details) -> Iterable[tuple[Sequence[str], frozenset[str]]]:
    """Yield the subcommands, with flags, that the memory has for a program: it does not apply to other ones."""
    for command in details.commands.values():
        for line in command.lines:
            starts = (at for at, word in enumerate(line[:2]) if base(word) == program)
            yield from ((line[at + 1 : at + 2], command.flags) for at in starts)


def _holds_for_flag(flag: str, details: Details, call: ToolCall) -> bool:
    """Return whether a flag of the call matches: not if the note asks for it, and only with a tool that it names.

    A definition (-DNO_WATCHDOG) or a long name needs no tool.
    """
    if any(one.partition(" ")[0] == flag for one in details.asked_flags):
        return False
    needs_tool = "_" not in flag and flag.count("-") < _NEEDS_NO_TOOL and not details.has_no_tool
    return not needs_tool or not call.tools_with(flag).isdisjoint(details.words)


def _fixed_part(anchor: str) -> str:
    """Return an address up to its first placeholder: `s3://lake/<zone>/<table>/`."""
    return _PLACEHOLDER.split(anchor, maxsplit=1)[0] if "://" in anchor else anchor


_CHECKS: dict[str, Callable[[str, ToolCall], bool]] = {
    "glob": lambda anchor, call: any(map(glob_pattern(anchor).search, call.action.paths)),
    "lit": lambda anchor, call: call.has_expression(_fixed_part(anchor)),
    "member": lambda anchor, call: call.is_about(anchor.partition(".")[2]),
    "msg": lambda anchor, call: call.reports(anchor),
    "said": lambda anchor, call: is_reported(error_words(anchor), call.error_words, may_end=True),
}
