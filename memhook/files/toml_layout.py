"""The position of each value in a valid TOML file; tomllib reads what it means.

tomlkit 0.15 was tried instead: it drops the comments inside an array, moves those above a table, and adds to dotted
keys so that the lines behind them change their table.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import tomli_w

KeyPath = tuple[str, ...]
Span = tuple[int, int]

_KEY_PART = re.compile(r"[A-Za-z0-9_-]+|\"(?:[^\"\\]|\\.)*\"|'[^']*'")
_DOT = re.compile(r"[ \t]*\.[ \t]*")
_EQUALS = re.compile(r"[ \t]*=[ \t]*")
_BLANK = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_STRING = re.compile(
    r'"""(?:\\[\s\S]|[^\\])*?"{3,5}|\'\'\'[\s\S]*?\'{3,5}|"(?:[^"\\]|\\.)*"|\'[^\']*\''  # multi-line strings first
)
_SCALAR = re.compile(r"[^,\]}#\r\n]*[^,\]}#\r\n\s]")
_TO_LINE_END = re.compile(r"[^\r\n]*")


@dataclass(frozen=True, slots=True)
class Entry:
    """A key and its value. `table` is the header above it; `inline` means within braces."""

    path: KeyPath
    table: KeyPath
    start: int
    value: Span
    line_end: int
    inline: bool


@dataclass(frozen=True, slots=True)
class Layout:
    """Entries in the order of the file, and for each table the span from the end of its header to the next one."""

    entries: tuple[Entry, ...]
    tables: Mapping[KeyPath, Span]

    def entry(self, path: KeyPath) -> Entry | None:
        return next((entry for entry in self.entries if entry.path == path), None)


def literal(value: Any) -> str:
    """Return `value` as TOML on one line."""
    if isinstance(value, list | tuple):
        return "[" + ", ".join(literal(item) for item in value) + "]"
    return tomli_w.dumps({"v": value}).removeprefix("v = ").rstrip("\n")


def layout_of(text: str) -> Layout:
    """Return the layout; raises ValueError where the text is found not to be TOML, or nested too deeply."""
    scanner = _Scanner(text)
    try:
        scanner.scan()
    except (IndexError, RecursionError) as error:
        raise ValueError(f"It is not TOML, or nested too deeply, at character {scanner.at}.") from error
    return Layout(tuple(scanner.entries), scanner.tables)


def comments_in(value: str) -> list[str]:
    """Return the comments within a value, as in an array with one item per line."""
    strings_and_comments = re.compile(rf"{_STRING.pattern}|(#[^\r\n]*)")
    return [found[1].rstrip() for found in strings_and_comments.finditer(value) if found[1]]


class _Scanner:
    """Scans a text that tomllib has accepted. Any other text ends in an error, never in a loop."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.entries: list[Entry] = []
        self.tables: dict[KeyPath, Span] = {}

    def scan(self) -> None:
        table: KeyPath = ()
        start = 0
        self._skip(_BLANK)
        while self.at < len(self.text):
            if self.text[self.at] == "[":
                self.tables[table] = (start, self.at)
                table = self._header()
                self._skip(_TO_LINE_END)
                start = self.at
            else:
                self._pair(table, table, inline=False)
            self._skip(_BLANK)
        self.tables[table] = (start, len(self.text))

    def _header(self) -> KeyPath:
        is_array = self.text.startswith("[[", self.at)
        self.at += 2 if is_array else 1
        self._skip(_BLANK)
        path = self._key()
        # An entry in an array of tables has no path of its own.
        return (*path, f"[{self.at}]") if is_array else path

    def _pair(self, table: KeyPath, prefix: KeyPath, *, inline: bool) -> None:
        start = self.at
        path = prefix + self._key()
        self._skip(_EQUALS)
        value_start = self.at
        number = len(self.entries)
        self._value(table, path)
        value = (value_start, self.at)
        if not inline:
            self._skip(_TO_LINE_END)
        self.entries.insert(number, Entry(path, table, start, value, self.at, inline))

    def _key(self) -> KeyPath:
        parts = [self._key_part()]
        while self._skip(_DOT):
            parts.append(self._key_part())
        return tuple(parts)

    def _key_part(self) -> str:
        raw = self._skip(_KEY_PART)
        return str(tomllib.loads(f"v = {raw}")["v"]) if raw[0] in "\"'" else raw

    def _value(self, table: KeyPath, path: KeyPath) -> None:
        opening, start = self.text[self.at], self.at
        if opening in "\"'":
            self._skip(_STRING)
        elif opening == "[":
            self._array(table, path)
        elif opening == "{":
            self._inline_table(table, path)
        else:
            self._skip(_SCALAR)
        if self.at == start:
            raise ValueError(f"There is no value at character {start}.")

    def _array(self, table: KeyPath, path: KeyPath) -> None:
        self.at += 1
        self._skip(_BLANK)
        while self.text[self.at] != "]":
            self._value(table, (*path, f"[{self.at}]"))
            self._past_comma()
        self.at += 1

    def _inline_table(self, table: KeyPath, path: KeyPath) -> None:
        self.at += 1
        self._skip(_BLANK)
        while self.text[self.at] != "}":
            self._pair(table, path, inline=True)
            self._past_comma()
        self.at += 1

    def _past_comma(self) -> None:
        self._skip(_BLANK)
        if self.text[self.at] == ",":
            self.at += 1
            self._skip(_BLANK)

    def _skip(self, pattern: re.Pattern[str]) -> str:
        found = pattern.match(self.text, self.at)
        if found is None:
            return ""
        self.at = found.end()
        return found[0]
