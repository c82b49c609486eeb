"""A format memories can be imported from, and the entries it yields. Each format's own module fills in one `Source`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

Record = dict[str, Any]


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
    """Of the files to read when a folder is imported."""


def not_utf8(error: UnicodeDecodeError) -> str:
    return f"not UTF-8 ({error.reason} at byte {error.start + 1})"
