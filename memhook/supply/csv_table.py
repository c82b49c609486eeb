"""A table with a header row: CSV, or TSV, as spreadsheets and databases export it."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Sequence

from memhook.core.memory import Trait, names_with
from memhook.patterns import regex
from memhook.supply.source import NOT_UTF8, Entry, Head, Record, Source, name_in_file

SUFFIXES = (".csv", ".tsv")
DELIMITERS = ",;\t"
HEADER_CHARS = 10_000
TEXT = ("content", "text", "note", "body")
_NAMES = {**dict.fromkeys(TEXT, "content"), "date": "created", "created_at": "created", "updated_at": "updated"}
_FIELDS = frozenset(names_with(Trait.IMPORTED))
_LISTS = frozenset(names_with(Trait.IMPORTED, tuple))
_NOT_TEXT = regex("[\udc80-\udcff]")  # bytes that are not UTF-8

Row = tuple[int, Sequence[str], str]
"""The number of its first line, its cells, and the problem with it."""


def _entries(data: bytes, name: str, key: str) -> Iterator[Entry]:
    text = data.decode("utf-8", "surrogateescape").removeprefix("\ufeff")
    lines = list(io.StringIO(text, newline=""))
    rows = _rows(lines, _delimiter(lines))
    _, header, _ = next(rows, (1, (), ""))
    fields = [_field(column) for column in header]
    if "content" not in fields:
        found = ", ".join(column.strip() or "(empty)" for column in header) or "none"
        yield Entry(name, None, f"no column has the text: one of {', '.join(TEXT)} is needed, found are {found}")
        return
    for number, cells, problem in rows:
        place, reason = f"{name}: line {number}", problem or _problem(cells, len(header))
        yield Entry(place, None, reason) if reason else Entry(place, _record(fields, cells, key))


def _delimiter(lines: Sequence[str]) -> str:
    """Return the delimiter that divides the header into the most columns."""
    first = next(filter(str.strip, lines), "")
    return max(DELIMITERS, key=lambda one: len(_cells(first, one)))


def _cells(line: str, delimiter: str) -> list[str]:
    return next(csv.reader([line[:HEADER_CHARS]], delimiter=delimiter), [])


def _rows(lines: Sequence[str], delimiter: str) -> Iterator[Row]:
    """Yield the rows that are not empty. An unclosed quotation mark invalidates one line, not the rest of the file."""
    at, width = 0, 0
    while at < len(lines):
        reader = csv.reader(map(lines.__getitem__, range(at, len(lines))), delimiter=delimiter, strict=True)
        try:
            cells, problem = next(reader, []), ""
        except csv.Error as error:
            cells, problem = [], f"not CSV ({error})"
        size = reader.line_num if not problem else 1
        if size > 1 and width and len(cells) != width:
            cells, problem, size = [], "a quotation mark that nothing closes", 1
        if problem or any(cell.strip() for cell in cells):
            yield at + 1, cells, problem
            width = width or len(cells)
        at += size


def _problem(cells: Sequence[str], width: int) -> str:
    if len(cells) > width:
        return f"{len(cells)} cells, the header has {width}: a text that contains the separator needs quotation marks"
    return NOT_UTF8 if any(map(_NOT_TEXT.search, cells)) else ""


def _field(column: str) -> str:
    name = re.sub(r"[\s-]+", "_", column.strip().lower())
    return _NAMES.get(name, name)


def _record(fields: Sequence[str], cells: Sequence[str], key: str) -> Record:
    """Return the fields of a row without empty cells. Of several columns for a field, the first filled one counts."""
    found: dict[str, str] = {}
    for field, cell in zip(fields, cells, strict=False):
        if field in _FIELDS and cell.strip():
            found.setdefault(field, cell.strip())
    return {"content": "", **{name: _value(name, value, key) for name, value in found.items()}}


def _value(field: str, cell: str, key: str) -> str | list[str]:
    if field in _LISTS:
        return [part.strip() for part in re.split("[,;]", cell) if part.strip()]
    return name_in_file(cell, key) if field == "id" else cell


def _is_table(head: Head) -> bool:
    """Whether it is a table: by its suffix, else by a header with the text and another known column."""
    if head.suffix not in ("", ".txt") or head.is_json or not head.lines:
        return head.suffix in SUFFIXES
    columns = {_field(one) for one in _cells(head.lines[0], _delimiter(head.lines))}
    return "content" in columns and len(columns & _FIELDS) > 1


CSV = Source("CSV", _is_table, _entries)
