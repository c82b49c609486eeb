"""The position of each value in a JSON or TOML text; json and tomllib parse the values.

Comments are blanked out first, so that one scanner serves both. It expects a text that the library accepts: any other
text raises ValueError, and never loops.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from memhook.patterns import regex

Path = tuple[str | int, ...]
"""Keys, and the numbers of items in arrays."""
Span = tuple[int, int]

_BARE = r"[A-Za-z0-9_-]+"
_QUOTED = r""""(?:[^"\\]|\\[\s\S])*"?|'[^']*'?"""
_STRING = rf'''"""(?:[^\\]|\\[\s\S])*?(?:"{{3,5}}|\Z)|\'\'\'[\s\S]*?(?:\'{{3,5}}|\Z)|{_QUOTED}'''
_COMMENT = r"#[^\r\n]*"
_JSON_COMMENT = r"//[^\n]*|/\*[\s\S]*?(?:\*/|\Z)|\ufeff"
_TRAILING_COMMA = r",(?=\s*[]}])"

_BLANK = regex(r"\s*")
_KEY_PART = regex(rf"{_QUOTED}|{_BARE}")
_KEY = regex(rf"({_KEY_PART.pattern})(?:[ \t]*\.[ \t]*({_KEY_PART.pattern}))*")
_SEPARATOR = regex(r"\s*[=:]\s*")
_COMMA = regex(r"\s*,?\s*")
_HEADER = regex(r"\[\[?[ \t]*")
_SCALAR = regex(rf"{_STRING}|[^,\]}}\r\n]*[^,\]}}\s]")
_LINE = regex(r"[^\r\n]*")


@dataclass(frozen=True, slots=True)
class Entry:
    """A key or an item, where it starts, and its value. `table` is the header above it; None within brackets."""

    path: Path
    start: int
    value: Span
    table: Path | None = None


@dataclass(frozen=True, slots=True)
class Layout:
    """Entries, those in brackets before the one around them; for each table the span from its header to the next."""

    entries: tuple[Entry, ...]
    tables: Mapping[Path, Span]

    def entry(self, path: Path) -> Entry | None:
        return next((entry for entry in self.entries if entry.path == path), None)


def toml_layout(text: str) -> Layout:
    """Return the layout; raise ValueError if the text is not TOML or nested too deeply."""
    scanner = _Scanner(_without(_COMMENT, text), lambda raw: str(tomllib.loads(f"v = {raw}")["v"]))
    try:
        tables = scanner.document()
    except (IndexError, RecursionError) as error:
        raise ValueError(f"It is not TOML, or nested too deeply, at character {scanner.at}.") from error
    return Layout(tuple(scanner.entries), tables)


def json_entries(text: str) -> list[Entry]:
    """Return the entries of a JSON text with comments, the whole as the last one; raise ValueError as above."""
    scanner = _Scanner(without_json_comments(text), lambda raw: str(json.loads(raw, strict=False)))
    try:
        scanner.skip(_BLANK)
        scanner.value((), scanner.at)
    except (IndexError, RecursionError) as error:
        raise ValueError(f"It is not JSON, or nested too deeply, at character {scanner.at}.") from error
    return scanner.entries


def without_json_comments(text: str) -> str:
    """Return the text with blanks in place of comments: each value stays where it is."""
    return _without(_JSON_COMMENT, text)


def plain_json(text: str) -> str:
    """Return the same without trailing commas, as json reads it."""
    return _without(_TRAILING_COMMA, without_json_comments(text))


def comments_in(value: str) -> list[str]:
    """Return the comments within a TOML value, as in an array with one item per line."""
    return [found[1].rstrip() for found in re.finditer(rf"{_STRING}|({_COMMENT})", value) if found[1]]


def spliced(text: str, start: int, end: int, new: str) -> str:
    return text[:start] + new + text[end:]


def newline_of(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _without(pattern: str, text: str) -> str:
    """Return the text with matches outside strings blanked out."""
    return re.sub(rf"({_STRING})|{pattern}", lambda found: found[1] or re.sub(r"[^\r\n]", " ", found[0]), text)


class _Scanner:
    def __init__(self, text: str, unquoted: Callable[[str], str]) -> None:
        self.text = text
        self.at = 0
        self.entries: list[Entry] = []
        self._unquoted = unquoted

    def document(self) -> dict[Path, Span]:
        """Scan tables and pairs; return the span of each table."""
        tables: dict[Path, Span] = {}
        table: Path = ()
        start = 0
        self.skip(_BLANK)
        while self.at < len(self.text):
            if header := self.skip(_HEADER):
                tables[table] = (start, self.at - len(header))
                # An entry in an array of tables has no path of its own.
                table = (*self._key(), self.at) if header.startswith("[[") else self._key()
                self.skip(_LINE)
                start = self.at
            else:
                begin = self.at
                self.value((*table, *self._key()), begin, table)
            self.skip(_BLANK)
        tables[table] = (start, len(self.text))
        return tables

    def value(self, path: Path, start: int, table: Path | None = None) -> None:
        """Record the value at this position, whose key is at `start`, after the entries within it."""
        begin = self.at
        if self.text[begin] in "[{":
            self._items(path)
        elif not self.skip(_SCALAR):
            raise ValueError(f"There is no value at character {begin}.")
        self.entries.append(Entry(path, start, (begin, self.at), table))

    def _items(self, path: Path) -> None:
        has_keys = self.text[self.at] == "{"
        self.at += 1
        self.skip(_BLANK)
        number = 0
        while self.text[self.at] not in "]}":
            start = self.at
            self.value((*path, *self._key()) if has_keys else (*path, number), start)
            self.skip(_COMMA)
            number += 1
        self.at += 1

    def _key(self) -> tuple[str, ...]:
        """Read a key with its dots, up to its value or to the end of a header."""
        parts = _KEY_PART.findall(self.skip(_KEY))
        self.skip(_SEPARATOR)
        return tuple(self._unquoted(part) if part[0] in "\"'" else part for part in parts)

    def skip(self, pattern: re.Pattern[str]) -> str:
        found = pattern.match(self.text, self.at)
        if found is None:
            return ""
        self.at = found.end()
        return found[0]
