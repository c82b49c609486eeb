"""Change one setting of a TOML file in place: comments, order and everything else stay.

The result is verified: it parses as the old file except for the one key.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import tomli_w

from memhook.errors import InvalidInput
from memhook.files.locking import exclusive
from memhook.files.toml_layout import Entry, KeyPath, Layout, comments_in, layout_of, literal
from memhook.files.toml_table import plain
from memhook.paths import Paths, private_directory, write_private
from memhook.settings import Settings, checked, key_path, names_in, refuse_credentials, refuse_unknown, value_of

LOCK_SECONDS = 30.0
REPAIR = "Repair it first: memhook config edit"

_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")


def with_value(text: str, key: str, value: Any) -> str:
    """Set `key` (dotted) to `value`; raise InvalidInput if that is not possible in place."""
    path = key_path(key)
    wanted = _same_with(plain(text, REPAIR), path, value)
    for candidate in _candidates(text, path, literal(value)):
        if _reads_as(candidate, wanted):
            return candidate
    raise InvalidInput(
        f"{key} cannot be set in this file without rewriting it.", "Change it by hand: memhook config edit"
    )


def without(text: str, key: str) -> str:
    """Remove `key`; return the same text if it is not there."""
    path = key_path(key)
    wanted = _same_without(plain(text, REPAIR), path)
    shorter = _without_entry(text, layout_of(text).entry(path))
    if not _reads_as(shorter, wanted):
        raise InvalidInput(f"{key} cannot be removed from this file.", "Change it by hand: memhook config edit")
    return shorter


def with_values(text: str, values: Mapping[str, Any]) -> str:
    for key, value in values.items():
        text = with_value(text, key, checked(key, value))
    return text


def changed_file(paths: Paths, change: Callable[[str], str]) -> bool:
    """Replace the user's file in one step, where a link to it points; return whether it changed."""
    file = paths.config_file
    with exclusive(private_directory(paths.state) / "config.lock", LOCK_SECONDS):
        text = text_of(file)
        try:
            changed = change(text)
        except InvalidInput as error:
            raise InvalidInput(f"{file}: {error.message}", error.hint) from error
        if changed == text:
            return False
        write_private(file.resolve(), changed)
        return True


def text_of(file: Path) -> str:
    try:
        return file.read_bytes().decode("utf-8")
    except FileNotFoundError:
        return ""
    except UnicodeDecodeError as error:
        raise InvalidInput(f"{file} is not UTF-8, so it is left as it is.", REPAIR) from error


def wanted_value(key: str, typed: str) -> Any:
    """The typed text as a value that `key` can have."""
    refuse_unknown(key)
    refuse_credentials(key)
    if any("\ud800" <= character <= "\udfff" for character in typed):
        raise InvalidInput(f"The value for {key} is not UTF-8.", "The file of the settings is.")
    default, meant = value_of(Settings(), key), value_from(typed)
    if isinstance(default, str) and not isinstance(meant, str):
        meant = typed
    if isinstance(default, list) and not isinstance(meant, list):
        meant = names_in(typed)
    if isinstance(meant, bool) and not isinstance(default, bool):
        meant = typed  # else true would be 1
    return checked(key, meant)


def value_from(text: str) -> Any:
    """Parse a typed value: TOML, or else the text itself."""
    try:
        parsed = tomllib.loads(f"v = {text}")
    except (tomllib.TOMLDecodeError, RecursionError):
        return text
    return parsed["v"] if parsed.keys() == {"v"} else text


def _candidates(text: str, path: KeyPath, value: str) -> Iterator[str]:
    """Yield the possible edits, the least surprising first."""
    layout = layout_of(text)
    if entry := layout.entry(path):
        yield _with_new_value(text, entry, value)
        return
    for depth in range(len(path) - 1, -1, -1):
        yield from _beside_relatives(text, layout, path, depth, value)
    yield _with_new_table(text, path, value)


def _with_new_value(text: str, entry: Entry, value: str) -> str:
    """Replace the value by one line; comments within the old value move above it."""
    changed = _spliced(text, *entry.value, value)
    line = text.rfind("\n", 0, entry.start) + 1
    margin = text[line : entry.start]
    comments = [] if entry.inline else comments_in(text[slice(*entry.value)])
    return _spliced(changed, line, line, "".join(f"{margin}{comment}{_newline(text)}" for comment in comments))


def _beside_relatives(text: str, layout: Layout, path: KeyPath, depth: int, value: str) -> Iterator[str]:
    """Yield edits that add to the table `path[:depth]`, in each notation that the file uses for it."""
    table = path[:depth]
    inline = layout.entry(table)
    if inline is not None:
        yield _into_inline_table(text, layout, inline, f"{_dotted(path[depth:])} = {value}")
    dotted = [e for e in layout.entries if not e.inline and len(e.table) < depth and e.path[:depth] == table]
    if dotted:
        line = f"{_dotted(path[len(dotted[-1].table) :])} = {value}"
        yield _line_after(text, dotted[-1].line_end, line)
    if depth == len(path) - 1 and table in layout.tables:
        yield from _into_section(text, layout, table, f"{_dotted(path[depth:])} = {value}")


def _into_section(text: str, layout: Layout, table: KeyPath, line: str) -> Iterator[str]:
    start, end = layout.tables[table]
    key = re.escape(line.split(" = ", 1)[0])
    commented = re.compile(rf"^[ \t]*#[ \t]*{key}[ \t]*=[^\r\n]*", re.MULTILINE)
    for found in commented.finditer(text, start, end):
        yield _line_after(text, found.end(), line)
    lines = [e for e in layout.entries if not e.inline and e.table == table]
    if lines:
        yield _line_after(text, lines[-1].line_end, line)
    elif table:
        yield _line_after(text, start, line)
    elif end < len(text):
        at = _start_of_comment_above(text, end)
        yield _spliced(text, at, at, line + _newline(text) * 2)
    else:
        yield _with_ended_last_line(text) + line + _newline(text)


def _with_new_table(text: str, path: KeyPath, value: str) -> str:
    newline = _newline(text)
    gap = newline if text.strip() else ""
    header = f"[{_dotted(path[:-1])}]"
    return f"{_with_ended_last_line(text)}{gap}{header}{newline}{_dotted(path[-1:])} = {value}{newline}"


def _into_inline_table(text: str, layout: Layout, table: Entry, pair: str) -> str:
    start, end = table.value
    ends = [entry.value[1] for entry in layout.entries if entry.inline and start < entry.start < end]
    if ends:
        return _spliced(text, max(ends), max(ends), f", {pair}")
    return _spliced(text, start, end, f"{{ {pair} }}")


def _without_entry(text: str, entry: Entry | None) -> str:
    if entry is None:
        return text
    return _without_pair(text, entry) if entry.inline else _without_line(text, entry)


def _without_line(text: str, entry: Entry) -> str:
    start = text.rfind("\n", 0, entry.start) + 1
    newline = re.compile(r"\r?\n|\Z").match(text, entry.line_end)
    return _spliced(text, start, newline.end() if newline else len(text), "")


def _without_pair(text: str, entry: Entry) -> str:
    """Remove a pair with the comma after it, else with the one before."""
    end = entry.value[1]
    if after := re.compile(r"\s*,[ \t]*").match(text, end):
        return _spliced(text, entry.start, after.end(), "")
    before = re.search(r"[ \t]*,?\s*\Z", text[: entry.start])
    return _spliced(text, before.start() if before else entry.start, end, "")


def _line_after(text: str, at: int, line: str) -> str:
    return _spliced(text, at, at, _newline(text) + line)


def _spliced(text: str, start: int, end: int, new: str) -> str:
    return text[:start] + new + text[end:]


def _start_of_comment_above(text: str, at: int) -> int:
    """Return the start of the comment lines directly above a table's header, which belong to it."""
    comments = re.search(r"(?:^[ \t]*#[^\n]*\n)*[ \t]*\Z", text[:at], re.MULTILINE)
    return comments.start() if comments else at


def _with_ended_last_line(text: str) -> str:
    return text if not text or text.endswith("\n") else text + _newline(text)


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


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
