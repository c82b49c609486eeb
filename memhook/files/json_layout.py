"""The position of each value in a JSON file, comments and trailing commas allowed, as in assistants' settings."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

Span = tuple[int, int]

DEEPEST = 100  # no settings are nested so deep, and Python's recursion is limited

_BLANK = re.compile(r"(?:[ \t\r\n\ufeff]|//[^\n]*|/\*[\s\S]*?\*/)*")
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
_SCALAR = re.compile(r"true|false|null|-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")


@dataclass(frozen=True, slots=True)
class Member:
    """A pair of an object or an item of an array, whose key is empty. `start` is that of the key."""

    key: str
    start: int
    value: Node

    @property
    def end(self) -> int:
        return self.value.span[1]


@dataclass(frozen=True, slots=True)
class Node:
    """A value. `opened` is the bracket it starts with, or nothing; `plain` is its Python value."""

    span: Span
    plain: Any
    opened: str = ""
    members: tuple[Member, ...] = ()

    def member(self, key: str) -> Member | None:
        """Return the last member of that name, as every reader of JSON does."""
        return next((member for member in reversed(self.members) if self.opened == "{" and member.key == key), None)


def layout_of(text: str) -> Node:
    """Return the layout; raises ValueError where the text is not JSON."""
    scanner = _Scanner(text)
    root = scanner.value()
    scanner.blank()
    if scanner.at < len(text):
        raise scanner.unexpected()
    return root


def blank_after(text: str, at: int) -> int:
    """Return the position after the spaces and comments at `at`."""
    found = _BLANK.match(text, at)
    return found.end() if found else at


class _Scanner:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.depth = 0

    def value(self) -> Node:
        self.blank()
        start, opened = self.at, self.text[self.at : self.at + 1]
        if opened not in ("{", "["):
            plain = self._scalar()
            return Node((start, self.at), plain)
        if self.depth == DEEPEST:
            raise self.unexpected()
        self.at += 1
        self.depth += 1
        members = self._members("}" if opened == "{" else "]", is_object=opened == "{")
        self.depth -= 1
        values = [member.value.plain for member in members]
        plain = {member.key: member.value.plain for member in members} if opened == "{" else values
        return Node((start, self.at), plain, opened, tuple(members))

    def blank(self) -> None:
        self.at = blank_after(self.text, self.at)

    def unexpected(self) -> ValueError:
        line = self.text.count("\n", 0, self.at) + 1
        return ValueError(f"line {line}: {self.text[self.at : self.at + 20]!r} is not expected there")

    def _members(self, closing: str, *, is_object: bool) -> list[Member]:
        members: list[Member] = []
        while True:
            self.blank()
            if self._passed(closing):
                return members
            start = self.at
            key = self._key() if is_object else ""
            members.append(Member(key, start, self.value()))
            self.blank()
            if not self._passed(",") and self.text[self.at : self.at + 1] != closing:
                raise self.unexpected()

    def _key(self) -> str:
        found = _STRING.match(self.text, self.at)
        if not found:
            raise self.unexpected()
        self.at = found.end()
        self.blank()
        if not self._passed(":"):
            raise self.unexpected()
        return str(json.loads(found[0], strict=False))

    def _scalar(self) -> Any:
        found = _STRING.match(self.text, self.at) or _SCALAR.match(self.text, self.at)
        if not found:
            raise self.unexpected()
        self.at = found.end()
        return json.loads(found[0], strict=False)

    def _passed(self, character: str) -> bool:
        if self.text[self.at : self.at + 1] != character:
            return False
        self.at += 1
        return True
