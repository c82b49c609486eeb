"""A version of a table as its manifest lists it: its data files, which rows of them are deleted, and its indexes.

LanceDB reports this only for a version that it can open.
"""

from __future__ import annotations

import struct
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from operator import index
from pathlib import Path
from typing import Any
from uuid import UUID

END = b"LANC"
_FOOTER = struct.Struct("<QHH4s")
_LENGTH = struct.Struct("<I")
# The numbers that these fields have in Lance's protocol buffers.
_FRAGMENTS, _INDEX_SECTION = 2, 6
_INDEX, _INDEX_UUID, _INDEX_FILE = 1, 1, 10
_ID, _FILES, _DELETION, _ROWS = 1, 2, 3, 4
_PATH = 1
_KIND, _READ_VERSION, _DELETION_ID, _DELETED_ROWS = 1, 2, 3, 4
_SUFFIXES = {0: "arrow", 1: "bin"}
_NUMBER, _BYTES, _SIZES = 0, 2, {1: 8, 5: 4}  # kinds of fields, and the sizes of the others

_Message = defaultdict[int, list[Any]]
"""The values of each field, by its number: integers or bytes."""


@dataclass(frozen=True, slots=True)
class Fragment:
    """Rows that were written together. The files are named relative to the table's folder."""

    id: int
    all_files: tuple[str, ...]
    """The data files, and the list of the deleted rows."""
    rows: int
    deleted: int


@dataclass(frozen=True, slots=True)
class Version:
    """The fragments and index files of one version; an index that lists no files is named by its folder."""

    fragments: tuple[Fragment, ...]
    index_files: tuple[str, ...]

    @property
    def data_files(self) -> tuple[str, ...]:
        return tuple(file for one in self.fragments for file in one.all_files)

    @property
    def rows(self) -> int:
        """The number of rows, without deleted ones."""
        return sum(one.rows - one.deleted for one in self.fragments)


def manifests(table: Path) -> list[Path]:
    """Return the manifests, the newest first."""
    return sorted((table / "_versions").glob("*.manifest"), key=_number_of, reverse=True)


def _number_of(manifest: Path) -> int:
    """Return the version; names count down from the largest 64-bit number, so that the newest is listed first."""
    number = int(manifest.stem)
    return number if number < 1 << 63 else (1 << 64) - 1 - number


def version_in(manifest: Path) -> Version:
    """Parse a manifest; raise ValueError when it is none, and OSError when it cannot be read."""
    content = manifest.read_bytes()
    try:
        position, _, _, end = _FOOTER.unpack(content[-_FOOTER.size :])
        if end != END:
            raise ValueError("it is truncated")
        message = _message_at(content, position)
        sections = [_message_at(content, place) for place in message[_INDEX_SECTION]]
        return Version(
            tuple(_fragment(_message(one)) for one in message[_FRAGMENTS]),
            tuple(file for one in sections for each in one[_INDEX] for file in _index_files(_message(each))),
        )
    except (struct.error, LookupError, TypeError, AttributeError, OverflowError) as error:
        raise ValueError(str(error)) from error


def _message_at(content: bytes, position: int) -> _Message:
    (length,) = _LENGTH.unpack_from(content, position)
    message = content[position + _LENGTH.size : position + _LENGTH.size + length]
    if len(message) != length:
        raise ValueError("it is truncated")
    return _message(message)


def _index_files(message: _Message) -> Iterator[str]:
    folder = f"_indices/{UUID(bytes=_message(message[_INDEX_UUID][0])[_INDEX_UUID][-1])}"
    files = message[_INDEX_FILE]
    yield from (f"{folder}/{_path(file)}" for file in files) if files else [folder]


def _fragment(message: _Message) -> Fragment:
    key = _number(message, _ID)
    files = [f"data/{_path(file)}" for file in message[_FILES]]
    deletion = _message(b"".join(message[_DELETION][:1]))
    if message[_DELETION]:
        written = f"{_number(deletion, _READ_VERSION)}-{_number(deletion, _DELETION_ID)}"
        files.append(f"_deletions/{key}-{written}.{_SUFFIXES[_number(deletion, _KIND)]}")
    return Fragment(key, tuple(files), _number(message, _ROWS), _number(deletion, _DELETED_ROWS))


def _path(file: bytes) -> str:
    path: str = _message(file)[_PATH][-1].decode()
    return path


def _number(message: _Message, field: int) -> int:
    return index(message[field][-1]) if message[field] else 0


def _message(content: bytes) -> _Message:
    fields: _Message = defaultdict(list)
    at = 0
    while at < len(content):
        key, at = _varint(content, at)
        if key & 7 == _NUMBER:
            value: int | bytes
            value, at = _varint(content, at)
        else:
            length, at = _varint(content, at) if key & 7 == _BYTES else (_SIZES[key & 7], at)
            value, at = content[at : at + length], at + length
        if at > len(content):
            raise ValueError("it is truncated")
        fields[key >> 3].append(value)
    return fields


def _varint(message: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = message[at]
        value, shift, at = value | (byte & 0x7F) << shift, shift + 7, at + 1
        if byte < 0x80 or shift > 63:
            return value, at
