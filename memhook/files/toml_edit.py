"""Changing a TOML file in place: comments, order and everything else stay.

with_value(text, path, value)   set the key at `path` to that value
without(text, path)             remove the key
with_table(text, path, values)  add the table at the end, where no other line changes its meaning
without_table(text, path)       remove the table

Each result is verified: it parses as the old file except for the one key or table. tomlkit 0.15 was tried instead: it
drops the comments inside an array, moves those above a table, and adds to dotted keys so that the lines behind them
change their table.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import tomli_w

from memhook.errors import InvalidInput
from memhook.files.layout import Entry, Layout, comments_in, newline_of, spliced, toml_layout
from memhook.patterns import regex

REPAIR = "Repair it first, then try again."
BY_HAND = "Change it by hand."

KeyPath = tuple[str, ...]

_BARE_KEY = regex(r"[A-Za-z0-9_-]+")


def plain(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise InvalidInput(f"It is not valid TOML: {error}.", REPAIR) from error


def literal(value: Any) -> str:
    """Return `value` as TOML on one line."""
    if isinstance(value, list | tuple):
        return "[" + ", ".join(literal(item) for item in value) + "]"
    return tomli_w.dumps({"v": value}).removeprefix("v = ").rstrip("\n")


def table_at(text: str, path: KeyPath) -> Mapping[str, Any] | None:
    tree: Any = plain(text)
    for key in path:
        tree = tree.get(key) if isinstance(tree, dict) else None
    return tree if isinstance(tree, dict) else None


def with_value(text: str, path: KeyPath, value: Any) -> str:
    """Set the key at `path`; raise InvalidInput if that is not possible in place."""
    wanted = _same_with(plain(text), path, value)
    for candidate in _candidates(text, path, literal(value)):
        if _reads_as(candidate, wanted):
            return candidate
    raise InvalidInput(f"{_dotted(path)} cannot be set in this file without rewriting it.", BY_HAND)


def without(text: str, path: KeyPath) -> str:
    """Remove the key; return the same text if it is not there."""
    wanted = _same_without(plain(text), path)
    shorter = text
    if entry := toml_layout(text).entry(path):
        shorter = _without_pair(text, entry) if entry.table is None else _without_line(text, entry)
    if not _reads_as(shorter, wanted):
        raise InvalidInput(f"{_dotted(path)} cannot be removed from this file.", BY_HAND)
    return shorter


def with_table(text: str, path: KeyPath, values: Mapping[str, Any]) -> str:
    """Return `text` with that table at its end, replacing the one it may have."""
    text = without_table(text, path)
    wanted = _same_with(plain(text), path, values)
    changed = _with_new_table(text, path, [_pair([key], literal(value)) for key, value in values.items()])
    if not _reads_as(changed, wanted):
        raise InvalidInput(
            f"It gives {path[0]} in a way that no table can be added to.", f"Write it as tables: [{path[0]}.NAME]"
        )
    return changed


def without_table(text: str, path: KeyPath) -> str:
    """Return the text without that table; the same text when it has none."""
    if table_at(text, path) is None:
        return text
    for table, (start, end) in reversed(list(toml_layout(text).tables.items())):
        if table[: len(path)] == path:
            header = text.rfind("\n", 0, text.rindex("[", 0, start)) + 1
            text = text[: _without_gap(text, header)] + text[_end_of_table(text, start, end) :]
    if table_at(text, path) is not None:
        raise InvalidInput(f"Its {_dotted(path)} cannot be removed.", "Remove it by hand.")
    return text


def _candidates(text: str, path: KeyPath, value: str) -> Iterator[str]:
    """Yield the possible edits, the least surprising first."""
    layout = toml_layout(text)
    if entry := layout.entry(path):
        yield _with_new_value(text, entry, value)
        return
    for depth in range(len(path) - 1, -1, -1):
        yield from _beside_relatives(text, layout, path, depth, value)
    yield _with_new_table(text, path[:-1], [_pair(path[-1:], value)])


def _with_new_value(text: str, entry: Entry, value: str) -> str:
    """Replace the value by one line; comments within the old value move above it."""
    changed = spliced(text, *entry.value, value)
    line = text.rfind("\n", 0, entry.start) + 1
    margin = text[line : entry.start]
    comments = [] if entry.table is None else comments_in(text[slice(*entry.value)])
    return spliced(changed, line, line, "".join(f"{margin}{comment}{newline_of(text)}" for comment in comments))


def _beside_relatives(text: str, layout: Layout, path: KeyPath, depth: int, value: str) -> Iterator[str]:
    """Yield edits that add to the table `path[:depth]`, in each notation that the file uses for it."""
    table = path[:depth]
    inline = layout.entry(table)
    if inline is not None:
        yield _into_inline_table(text, layout, inline, _pair(path[depth:], value))
    dotted = [e for e in layout.entries if e.table is not None and len(e.table) < depth and e.path[:depth] == table]
    if dotted:
        shared = len(dotted[-1].table or ())
        yield _line_after(text, _line_end(text, dotted[-1]), _pair(path[shared:], value))
    if depth == len(path) - 1 and table in layout.tables:
        yield from _into_section(text, layout, table, _pair(path[depth:], value))


def _into_section(text: str, layout: Layout, table: KeyPath, line: str) -> Iterator[str]:
    start, end = layout.tables[table]
    key = re.escape(line.split(" = ", 1)[0])
    commented = re.compile(rf"^[ \t]*#[ \t]*{key}[ \t]*=[^\r\n]*", re.MULTILINE)
    for found in commented.finditer(text, start, end):
        yield _line_after(text, found.end(), line)
    lines = [e for e in layout.entries if e.table == table]
    if lines:
        yield _line_after(text, _line_end(text, lines[-1]), line)
    elif table:
        yield _line_after(text, start, line)
    elif end < len(text):
        at = _start_of_comment_above(text, end)
        yield spliced(text, at, at, line + newline_of(text) * 2)
    else:
        yield _with_ended_last_line(text) + line + newline_of(text)


def _with_new_table(text: str, table: KeyPath, lines: Iterable[str]) -> str:
    newline = newline_of(text)
    gap = newline if text.strip() else ""
    return _with_ended_last_line(text) + gap + newline.join([f"[{_dotted(table)}]", *lines, ""])


def _into_inline_table(text: str, layout: Layout, table: Entry, pair: str) -> str:
    start, end = table.value
    ends = [entry.value[1] for entry in layout.entries if entry.table is None and start < entry.start < end]
    if ends:
        return spliced(text, max(ends), max(ends), f", {pair}")
    return spliced(text, start, end, f"{{ {pair} }}")


def _without_line(text: str, entry: Entry) -> str:
    start = text.rfind("\n", 0, entry.start) + 1
    return spliced(text, start, text.find("\n", entry.value[1]) + 1 or len(text), "")


def _without_pair(text: str, entry: Entry) -> str:
    """Remove a pair with the comma after it, else with the one before."""
    end = entry.value[1]
    if after := re.compile(r"\s*,[ \t]*").match(text, end):
        return spliced(text, entry.start, after.end(), "")
    before = re.search(r"[ \t]*,?\s*\Z", text[: entry.start])
    return spliced(text, before.start() if before else entry.start, end, "")


def _without_gap(text: str, header: int) -> int:
    """Return the start of the table: one empty line above it belongs to it."""
    found = re.compile(r"(?<=\n)\r?\n\Z").search(text[:header])
    return found.start() if found else header


def _end_of_table(text: str, start: int, end: int) -> int:
    """Return the end of the table: comments above the next header belong to the next table."""
    body = text[start:end]
    kept = re.search(r"(?:^[ \t]*(?:#[^\n]*)?\r?\n)*[ \t]*\Z", body[body.find("\n") + 1 :], re.MULTILINE)
    return end - len(kept[0]) if kept and end < len(text) else end


def _line_end(text: str, entry: Entry) -> int:
    """Return the end of the line on which the entry ends, with its comment."""
    return entry.value[1] + len(text[entry.value[1] :].split("\n", 1)[0].rstrip("\r"))


def _line_after(text: str, at: int, line: str) -> str:
    return spliced(text, at, at, newline_of(text) + line)


def _start_of_comment_above(text: str, at: int) -> int:
    """Return the start of the comment lines directly above a table's header, which belong to it."""
    comments = re.search(r"(?:^[ \t]*#[^\n]*\n)*[ \t]*\Z", text[:at], re.MULTILINE)
    return comments.start() if comments else at


def _with_ended_last_line(text: str) -> str:
    return text if not text or text.endswith("\n") else text + newline_of(text)


def _pair(key: Iterable[str], value: str) -> str:
    return f"{_dotted(key)} = {value}"


def _dotted(parts: Iterable[str]) -> str:
    return ".".join(
        part if _BARE_KEY.fullmatch(part) else tomli_w.dumps({part: 0}).removesuffix(" = 0\n") for part in parts
    )


def _same_with(tree: Mapping[str, Any], path: KeyPath, value: Any) -> dict[str, Any]:
    head, *rest = path
    if not rest:
        return {**tree, head: value}
    branch = tree.get(head, {})
    if not isinstance(branch, dict):
        raise InvalidInput(f"{head} has a value in the file; it must be a table.", REPAIR)
    return {**tree, head: _same_with(branch, tuple(rest), value)}


def _same_without(tree: Mapping[str, Any], path: KeyPath) -> dict[str, Any]:
    head, *rest = path
    branch = tree.get(head)
    if rest and isinstance(branch, dict):
        return {**tree, head: _same_without(branch, tuple(rest))}
    return {key: value for key, value in tree.items() if rest or key != head}


def _reads_as(text: str, wanted: Mapping[str, Any]) -> bool:
    try:
        return _comparable(tomllib.loads(text)) == _comparable(wanted)
    except (tomllib.TOMLDecodeError, RecursionError):
        return False


def _comparable(tree: Mapping[str, Any]) -> str:
    """Return JSON, in which 1, 1.0 and true differ and nan equals nan, without empty tables."""
    return json.dumps(_without_empty_tables(tree), sort_keys=True, default=repr)


def _without_empty_tables(tree: Mapping[str, Any]) -> dict[str, Any]:
    kept = {key: _without_empty_tables(value) if isinstance(value, Mapping) else value for key, value in tree.items()}
    return {key: value for key, value in kept.items() if value != {}}
