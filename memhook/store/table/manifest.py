"""A version of a table as its manifest lists it: its data files, which rows of them are deleted, and its indexes.

LanceDB tells this only of a version that it can open.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
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
_FIXED64 = 1
_SUFFIXES = {0: "arrow", 1: "bin"}


@dataclass(frozen=True, slots=True)
class Fragment:
    """Rows that were written at once. The files are named relative to the table's folder."""

    id: int
    files: tuple[str, ...]
    rows: int
    deleted: int
    deletions: str

    @property
    def all_files(self) -> tuple[str, ...]:
        return (*self.files, self.deletions) if self.deletions else self.files


def manifests(table: Path) -> list[Path]:
    """The newest first."""
    return sorted((table / "_versions").glob("*.manifest"), key=version, reverse=True)


def version(manifest: Path) -> int:
    """Written as its distance from the largest number there is, so that the newest is listed first."""
    number = int(manifest.stem)
    return number if number < 1 << 63 else (1 << 64) - 1 - number


def fragments_of(manifest: Path) -> list[Fragment]:
    """Raises ValueError when it is not a manifest, and OSError when it cannot be read."""
    content = manifest.read_bytes()
    with _checked():
        return [_fragment(_bytes(value)) for number, value in _fields(_message(content)) if number == _FRAGMENTS]


def index_files_of(manifest: Path) -> list[str]:
    """The files of its indexes, relative to the table's folder; of an index that lists none, its folder."""
    content = manifest.read_bytes()
    with _checked():
        sections = [value for number, value in _fields(_message(content)) if number == _INDEX_SECTION]
        messages = (_fields(_at(content, _number(position))) for position in sections)
        return [file for fields in messages for number, index in fields if number == _INDEX for file in _files(index)]


@contextmanager
def _checked() -> Iterator[None]:
    try:
        yield
    except (struct.error, IndexError, KeyError, OverflowError, UnicodeDecodeError) as error:
        raise ValueError(str(error)) from error


def _message(content: bytes) -> bytes:
    position, _, _, end = _FOOTER.unpack(content[-_FOOTER.size :])
    if end != END:
        raise ValueError("it was cut")
    return _at(content, position)


def _at(content: bytes, position: int) -> bytes:
    (length,) = _LENGTH.unpack_from(content, position)
    message = content[position + _LENGTH.size : position + _LENGTH.size + length]
    if len(message) != length:
        raise ValueError("it was cut")
    return message


def _files(index: int | bytes) -> Iterator[str]:
    fields = list(_fields(_bytes(index)))
    identity = next(_bytes(value) for number, value in fields if number == _INDEX_UUID)
    folder = f"_indices/{UUID(bytes=_bytes(dict(_fields(identity))[_INDEX_UUID]))}"
    names = [_bytes(dict(_fields(_bytes(value)))[_PATH]).decode() for number, value in fields if number == _INDEX_FILE]
    yield from (f"{folder}/{name}" for name in names)
    if not names:
        yield folder


def _fragment(message: bytes) -> Fragment:
    fields = list(_fields(message))
    numbers = {number: value for number, value in fields if isinstance(value, int)}
    files = [dict(_fields(_bytes(value))) for number, value in fields if number == _FILES]
    deletion = next((dict(_fields(_bytes(value))) for number, value in fields if number == _DELETION), None)
    key = numbers.get(_ID, 0)
    return Fragment(
        key,
        tuple(f"data/{_bytes(file[_PATH]).decode()}" for file in files),
        numbers.get(_ROWS, 0),
        0 if deletion is None else _number(deletion.get(_DELETED_ROWS, 0)),
        "" if deletion is None else _deletion_file(key, deletion),
    )


def _deletion_file(fragment: int, deletion: dict[int, int | bytes]) -> str:
    suffix = _SUFFIXES[_number(deletion.get(_KIND, 0))]
    return f"_deletions/{fragment}-{deletion.get(_READ_VERSION, 0)!r}-{deletion.get(_DELETION_ID, 0)!r}.{suffix}"


def _fields(message: bytes) -> Iterator[tuple[int, int | bytes]]:
    at = 0
    while at < len(message):
        key, at = _varint(message, at)
        value: int | bytes
        match key & 7:
            case 0:
                value, at = _varint(message, at)
            case 2:
                length, at = _varint(message, at)
                value, at = message[at : at + length], at + length
            case 1 | 5 as kind:
                length = 8 if kind == _FIXED64 else 4
                value, at = message[at : at + length], at + length
            case kind:
                raise ValueError(f"a field of kind {kind}")
        if at > len(message):
            raise ValueError("it was cut")
        yield key >> 3, value


def _varint(message: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = message[at]
        value, shift, at = value | (byte & 0x7F) << shift, shift + 7, at + 1
        if byte < 0x80 or shift > 63:
            return value, at


def _bytes(value: int | bytes) -> bytes:
    if isinstance(value, int):
        raise ValueError("a number in place of a message")
    return value


def _number(value: int | bytes) -> int:
    if isinstance(value, bytes):
        raise ValueError("a message in place of a number")
    return value
