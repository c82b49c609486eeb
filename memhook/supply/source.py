"""A format to import memories from, and the entries it yields. Each format's own module fills in one `Source`."""

from __future__ import annotations

import codecs
import hashlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

NOT_UTF8 = "not UTF-8"
Record = dict[str, Any]

# The mark of UTF-32 starts with that of UTF-16.
_MARKS = {
    codecs.BOM_UTF8: "utf-8",
    codecs.BOM_UTF32_LE: "utf-32-le",
    codecs.BOM_UTF32_BE: "utf-32-be",
    codecs.BOM_UTF16_LE: "utf-16-le",
    codecs.BOM_UTF16_BE: "utf-16-be",
}


@dataclass(frozen=True, slots=True)
class Entry:
    """A memory to import: its place in the source, and its record or the problem with it."""

    place: str
    record: Record | None
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Head:
    """The start of a file: the first lines that are not blank, and the suffix of its name."""

    lines: tuple[str, ...]
    suffix: str

    @property
    def is_json(self) -> bool:
        """Whether these are objects, one a line; some may be broken."""
        objects = [line.startswith("{") for line in self.lines]
        return any(objects[:1]) or 2 * sum(objects) > len(objects)


@dataclass(frozen=True, slots=True)
class Source:
    """`entries` reads a whole file: its bytes, the name to show, and the key that a second import finds it by."""

    name: str
    recognises: Callable[[Head], bool]
    entries: Callable[[bytes, str, str], Iterable[Entry]]
    suffixes: tuple[str, ...] = ()
    """The suffixes of the files to read when a folder is imported."""


def encoding_of(data: bytes) -> tuple[bytes, str]:
    """Return the byte order mark that a text starts with, and its encoding; without a mark, UTF-8."""
    return next(((mark, name) for mark, name in _MARKS.items() if data.startswith(mark)), (b"", "utf-8"))


def in_utf8(data: bytes) -> bytes:
    """Return a text as UTF-8 without a mark. Without one, the bytes are returned as they are."""
    mark, encoding = encoding_of(data)
    rest = data[len(mark) :]
    return rest if encoding == "utf-8" else rest.decode(encoding, "replace").encode("utf-8", "replace")


def alias_of(key: str) -> str:
    """Return the name by which a second import finds what it stored under this key."""
    return hashlib.sha256(key.encode("utf-8", "replace")).hexdigest()[:16]


def name_in_file(own_id: object, key: str) -> str:
    """Return the name of a record. A number is unique only within a file, so it is prefixed by the file's hash."""
    name = str(own_id)
    return f"{alias_of(key)[:8]}-{name}" if name.isdigit() else name


def not_utf8(error: UnicodeDecodeError) -> str:
    return f"{NOT_UTF8} ({error.reason} at byte {error.start + 1})"
