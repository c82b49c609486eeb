"""An edit of an assistant's file that can be undone: hooks, an MCP server, or a file of memhook's own."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from typing import Any

from memhook.errors import InvalidInput
from memhook.files import json_edit, toml_edit
from memhook.files.layout import Path as Place
from memhook.patterns import regex

PLUGIN = SERVER = "memhook"

_OUR_LAUNCHER = regex(r"memhook/launch\b")


@dataclass(frozen=True, slots=True)
class Edit:
    """`add` and `remove` return the changed text of the file; an empty text means that there is no file.

    `remove` also takes the text from before memhook: objects and lists that were empty in it stay.
    """

    path: Path
    add: Callable[[str], str]
    remove: Callable[[str, str], str]

    def is_in(self, text: str) -> bool:
        return self.remove(text, "") != text


def is_ours(text: str) -> bool:
    """Whether a command, or a whole file, runs memhook's launcher."""
    return bool(_OUR_LAUNCHER.search(text))


def whole_file(path: Path, content: str) -> Edit:
    """Write a file of memhook's own. A file of that name that does not run memhook is never removed."""
    return Edit(path, lambda _: content, lambda text, _: "" if is_ours(text) else text)


def joined(path: Path, *edits: Edit) -> Edit:
    """Combine several edits of one file."""
    return Edit(
        path,
        lambda text: reduce(lambda so_far, edit: edit.add(so_far), edits, text),
        lambda text, found: reduce(lambda so_far, edit: edit.remove(so_far, found), reversed(edits), text),
    )


def hook_groups(path: Path, groups: Mapping[str, dict[str, Any]]) -> Edit:
    """Edit `hooks` in Claude Code's format: for each event a list of groups, and in each a list of commands."""

    def add(text: str) -> str:
        ours = [(event, group) for event, _, group in _groups(text) if any(map(_runs_memhook, group["hooks"]))]
        if sorted(ours, key=lambda one: one[0]) == sorted(groups.items()):  # whatever the order of events
            return text
        text = remove(text, text)
        for event, group in groups.items():
            text = json_edit.with_item(text, ("hooks", event), group)
        return text

    def remove(text: str, found: str) -> str:
        while ours := _first_of_ours(text):
            text = json_edit.without(text, ours, found)
        return text

    return Edit(path, add, remove)


def json_server(path: Path, at: tuple[str, ...], value: Mapping[str, Any]) -> Edit:
    """Add the MCP server to the object at `at`. An entry that the user wrote is not changed."""
    return _server(path, (*at, SERVER), value, json_edit.value_at, json_edit.with_member, json_edit.without)


def toml_server(path: Path, at: tuple[str, ...], value: Mapping[str, Any]) -> Edit:
    """The same in a TOML file."""
    without = toml_edit.without_table
    key = (*at, SERVER)
    return _server(path, key, value, toml_edit.table_at, toml_edit.with_table, lambda text, key, _: without(text, key))


def _server(
    path: Path,
    key: tuple[str, ...],
    value: Mapping[str, Any],
    value_at: Callable[[str, tuple[str, ...]], Any],
    with_value: Callable[[str, tuple[str, ...], dict[str, Any]], str],
    without: Callable[[str, tuple[str, ...], str], str],
) -> Edit:
    def add(text: str) -> str:
        there = value_at(text, key)
        is_settled = there is not None and (there == value or not _runs_memhook(there))
        return text if is_settled else with_value(text, key, dict(value))

    def remove(text: str, found: str) -> str:
        return without(text, key, found) if _runs_memhook(value_at(text, key)) else text

    return Edit(path, add, remove)


def json_text(value: Any) -> str:
    return json.dumps(value, indent=2) + "\n"


def json_object(file: Path) -> Mapping[str, Any]:
    """Return the object in a JSON file with comments; empty when there is none."""
    try:
        value = json_edit.plain(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, InvalidInput):
        return {}
    return value if isinstance(value, dict) else {}


def _runs_memhook(entry: Any) -> bool:
    command = entry.get("command", "") if isinstance(entry, Mapping) else ""
    return is_ours(" ".join(map(str, command)) if isinstance(command, list) else str(command))


def _groups(text: str) -> Iterator[tuple[str, int, Any]]:
    """Yield each group of hooks with its event and its index in the event's list."""
    hooks = json_edit.value_at(text, ("hooks",))
    for event, groups in hooks.items() if isinstance(hooks, dict) else ():
        for index, group in enumerate(groups if isinstance(groups, list) else ()):
            if isinstance(group, dict) and isinstance(group.get("hooks"), list):
                yield event, index, group


def _first_of_ours(text: str) -> Place | None:
    """Return the path of memhook's first command, or of its group if that has no other."""
    for event, index, group in _groups(text):
        ours = [_runs_memhook(hook) for hook in group["hooks"]]
        if any(ours):
            path: Place = ("hooks", event, index)
            return path if all(ours) else (*path, "hooks", ours.index(True))
    return None
