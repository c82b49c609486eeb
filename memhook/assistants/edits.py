"""What memhook writes into one file of an assistant, and how it takes exactly that out again."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memhook.files import json_edit, toml_table

SERVER = "memhook"


@dataclass(frozen=True, slots=True)
class Edit:
    """`add` and `remove` turn the text of the file into another; an empty text means that there is no file.

    `remove` is also given what the file held before memhook: what stood there empty then stays.
    """

    path: Path
    add: Callable[[str], str]
    remove: Callable[[str, str], str]

    def is_in(self, text: str) -> bool:
        return self.remove(text, "") != text


def whole_file(path: Path, content: str, is_ours: Callable[[str], bool]) -> Edit:
    """A file of memhook's own. One of that name which does not run memhook is somebody else's."""
    return Edit(path, lambda _: content, lambda text, _: "" if is_ours(text) else text)


def joined(path: Path, *edits: Edit) -> Edit:
    """Several edits of one file as one."""

    def add(text: str) -> str:
        for edit in edits:
            text = edit.add(text)
        return text

    def remove(text: str, found: str) -> str:
        for edit in reversed(edits):
            text = edit.remove(text, found)
        return text

    return Edit(path, add, remove)


def hook_groups(path: Path, wanted: Mapping[str, Sequence[Mapping[str, Any]]], is_ours: Callable[[str], bool]) -> Edit:
    """`hooks` as Claude Code has it: for each event a list of groups, and in each a list of commands."""

    def add(text: str) -> str:
        groups = {event: {"hooks": [dict(hook) for hook in hooks]} for event, hooks in wanted.items()}
        if _ours(text, is_ours) == sorted(groups.items(), key=_event):
            return text
        text = remove(text, text)
        for event, group in groups.items():
            text = json_edit.with_item(text, ("hooks", event), group)
        return text

    def remove(text: str, found: str) -> str:
        while ours := _first_of_ours(text, is_ours):
            text = json_edit.without(text, ours, found)
        return text

    return Edit(path, add, remove)


def json_server(path: Path, at: tuple[str, ...], value: Mapping[str, Any], is_ours: Callable[[str], bool]) -> Edit:
    """The MCP server as a member of the object at `at`. One that the user wrote stays as it is."""

    def add(text: str) -> str:
        there = json_edit.value_at(text, (*at, SERVER))
        return text if there == value or _is_other(there) else json_edit.with_member(text, (*at, SERVER), dict(value))

    def remove(text: str, found: str) -> str:
        there = json_edit.value_at(text, (*at, SERVER)) if text else None
        return text if there is None or _is_other(there) else json_edit.without(text, (*at, SERVER), found)

    def _is_other(there: Any) -> bool:
        return there is not None and not is_ours(_command_of(there))

    return Edit(path, add, remove)


def toml_server(path: Path, at: tuple[str, ...], value: Mapping[str, Any], is_ours: Callable[[str], bool]) -> Edit:
    """The same in a TOML file."""

    def add(text: str) -> str:
        there = toml_table.table_at(text, (*at, SERVER))
        is_settled = there is not None and (there == value or not is_ours(_command_of(there)))
        return text if is_settled else toml_table.with_table(text, (*at, SERVER), value)

    def remove(text: str, _: str) -> str:
        there = toml_table.table_at(text, (*at, SERVER))
        is_there = there is not None and is_ours(_command_of(there))
        return toml_table.without_table(text, (*at, SERVER)) if is_there else text

    return Edit(path, add, remove)


def _command_of(entry: Any) -> str:
    command = entry.get("command", "") if isinstance(entry, Mapping) else ""
    return " ".join(map(str, command)) if isinstance(command, list) else str(command)


def _groups(text: str) -> list[tuple[str, int, Any]]:
    hooks = json_edit.value_at(text, ("hooks",))
    events = hooks.items() if isinstance(hooks, dict) else ()
    return [
        (event, index, group)
        for event, groups in events
        if isinstance(groups, list)
        for index, group in enumerate(groups)
        if isinstance(group, dict) and isinstance(group.get("hooks"), list)
    ]


def _ours(text: str, is_ours: Callable[[str], bool]) -> list[tuple[str, Any]]:
    """By event: in which order a file has its events says nothing."""
    found = _groups(text) if text else []
    ours = [(event, group) for event, _, group in found if any(is_ours(_command_of(hook)) for hook in group["hooks"])]
    return sorted(ours, key=_event)


def _event(one: tuple[str, Any]) -> str:
    return one[0]


def _first_of_ours(text: str, is_ours: Callable[[str], bool]) -> json_edit.Path | None:
    """The path of the first command of memhook's, or of the group if that holds nothing else."""
    for event, index, group in _groups(text) if text else ():
        for number, hook in enumerate(group["hooks"]):
            if is_ours(_command_of(hook)):
                alone = all(is_ours(_command_of(other)) for other in group["hooks"])
                path: json_edit.Path = ("hooks", event, index)
                return path if alone else (*path, "hooks", number)
    return None
