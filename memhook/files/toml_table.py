"""Adding a table at the end of a TOML file or removing it: nothing else of the file changes.

A table's header may be at the end of any file that does not have the table, so text is only appended.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from typing import Any

from memhook.errors import InvalidInput
from memhook.files.toml_layout import KeyPath, layout_of, literal


def plain(text: str, repair: str = "Repair it first, then try again.") -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise InvalidInput(f"It is not valid TOML: {error}.", repair) from error


def table_at(text: str, path: KeyPath) -> Mapping[str, Any] | None:
    tree: Any = plain(text)
    for key in path:
        if not isinstance(tree, dict) or key not in tree:
            return None
        tree = tree[key]
    return tree if isinstance(tree, dict) else None


def with_table(text: str, path: KeyPath, values: Mapping[str, Any]) -> str:
    """Return `text` with that table at its end, replacing the one it may have."""
    text = without_table(text, path)
    newline = "\r\n" if "\r\n" in text else "\n"
    lines = [f"[{'.'.join(path)}]", *(f"{key} = {literal(value)}" for key, value in values.items())]
    ended = text if not text or text.endswith("\n") else text + newline
    changed = ended + (newline if text.strip() else "") + newline.join(lines) + newline
    if _readable(changed) and table_at(changed, path) == values:
        return changed
    raise InvalidInput(
        f"It gives {path[0]} in a way that no table can be added to.", f"Write it as tables: [{path[0]}.NAME]"
    )


def without_table(text: str, path: KeyPath) -> str:
    """Return the text without that table; the same text when it has none."""
    if table_at(text, path) is None:
        return text
    for table, (start, end) in reversed(list(layout_of(text).tables.items())):
        if table[: len(path)] == path:
            header = text.rfind("\n", 0, text.rindex("[", 0, start)) + 1
            text = text[: _without_gap(text, header)] + text[_end_of_table(text, start, end) :]
    if table_at(text, path) is not None:
        raise InvalidInput(f"Its {'.'.join(path)} cannot be removed.", "Remove it by hand.")
    return text


def _without_gap(text: str, header: int) -> int:
    """The start of its span: one empty line above it belongs to it."""
    found = re.compile(r"(?<=\n)\r?\n\Z").search(text[:header])
    return found.start() if found else header


def _end_of_table(text: str, start: int, end: int) -> int:
    """The end of its span: comments above the next header belong to the next table."""
    body = text[start:end]
    kept = re.search(r"(?:^[ \t]*(?:#[^\n]*)?\r?\n)*[ \t]*\Z", body[body.find("\n") + 1 :], re.MULTILINE)
    return end - len(kept[0]) if kept and end < len(text) else end


def _readable(text: str) -> bool:
    try:
        tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError):
        return False
    return True
