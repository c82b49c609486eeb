"""Checksums of a table's files, and copies of its manifests and deletion lists. LanceDB has neither.

The files of a table never change once they are written, so a file that differs from its checksum is damaged. The
checksums are in the table's own folder, so that copying or replacing the table includes them.
"""

from __future__ import annotations

import os
import stat
import zlib
from collections.abc import Iterable, Iterator
from contextlib import suppress
from operator import itemgetter
from pathlib import Path

from memhook.files import durable
from memhook.store.table.manifest import manifests

FOLDER = "_memhook"  # LanceDB leaves alone what it does not know
VERSIONS, DELETIONS, TRANSACTIONS, DATA, INDEXES = "_versions", "_deletions", "_transactions", "data", "_indices"
_LIST = "checksums"
_RECORDED = (VERSIONS, DELETIONS, TRANSACTIONS, DATA, INDEXES)  # the small ones first
_CHANGING = "/latest_version_hint.json"
_COPIED_MANIFESTS = 2
_BLOCK = 1 << 20


_Noted = tuple[int, int]
"""The size of a file and its checksum."""


def record(table: Path) -> None:
    """Record new files, reading each once; drop deleted ones with their copies. Only for a process that may write."""
    known = _noted(table)
    files = dict(_files(table))
    current: dict[str, _Noted] = {}
    for name, path in files.items():
        with suppress(FileNotFoundError):  # compaction deleted it meanwhile
            current[name] = known.get(name) or _read(path)
    if current != known:
        folder = table / FOLDER
        folder.mkdir(mode=0o700, exist_ok=True)
        _write_list(folder, current)
    _keep_copies(table, current)


def damaged(table: Path, most: int | None = None) -> set[Path]:
    """Return the files that differ from their checksum; read at most `most` bytes in total, the newest files first."""
    noted = _noted(table)
    left = float("inf") if most is None else most
    found = set()
    for name, path in _files(table):
        note = noted.get(name)
        if note is None:
            continue
        with suppress(FileNotFoundError):
            size = Path(path).stat().st_size
            if size == note[0] and (left := left - size) < 0:
                continue
            if size != note[0] or _read(path) != note:
                found.add(Path(path))
    return found


def recorded(table: Path) -> set[Path]:
    """The files that were complete on disk when they were recorded."""
    return {table / name for name in _noted(table)}


def forget(table: Path, files: Iterable[Path]) -> None:
    """Drop the checksums of these files, which were set aside: their names may be used again."""
    gone = {_name(table, path) for path in files}
    noted = _noted(table)
    if gone & noted.keys():
        _write_list(table / FOLDER, {name: note for name, note in noted.items() if name not in gone})


def whole_copy(table: Path, path: Path) -> bytes | None:
    """Return the content of this file's copy; None without an undamaged one."""
    name = _name(table, path)
    note, copy = _noted(table).get(name), table / FOLDER / name
    return copy.read_bytes() if note is not None and copy.is_file() and _read(copy) == note else None


def _files(table: Path) -> Iterator[tuple[str, str]]:
    """Yield each file's name and path, the newest of each folder first."""
    start = len(str(table)) + 1
    for folder in _RECORDED:
        found = durable.below(str(table / folder))
        files = [(path, status.st_mtime_ns) for path, status in found if not stat.S_ISDIR(status.st_mode)]
        for path, _ in sorted(files, key=itemgetter(1), reverse=True):
            if not path.endswith(_CHANGING):
                yield path[start:], path


def _name(table: Path, path: Path) -> str:
    return path.relative_to(table).as_posix()


def _read(path: Path | str) -> _Noted:
    size = crc = 0
    with Path(path).open("rb") as file:
        while block := file.read(_BLOCK):
            crc, size = zlib.crc32(block, crc), size + len(block)
    return size, crc


def _keep_copies(table: Path, current: dict[str, _Noted]) -> None:
    """Copy the newest manifests and the lists of deleted rows, without which undamaged rows would be unreadable."""
    newest = {_name(table, path) for path in manifests(table)[:_COPIED_MANIFESTS]}
    wanted = {name for name in current if name in newest or name.startswith(DELETIONS)}
    folder = table / FOLDER
    for part in (VERSIONS, DELETIONS):
        (folder / part).mkdir(mode=0o700, exist_ok=True)
        there = {f"{part}/{path.name}" for path in (folder / part).iterdir()}
        for name in there - wanted:
            (folder / name).unlink(missing_ok=True)
        for name in sorted(wanted - there):
            if name.startswith(part):
                with suppress(FileNotFoundError):
                    _write(folder / name, (table / name).read_bytes())


def _noted(table: Path) -> dict[str, _Noted]:
    """Return the recorded sizes and checksums, skipping lines that are damaged themselves."""
    try:
        lines = (table / FOLDER / _LIST).read_bytes().splitlines()
    except OSError:
        return {}
    noted = {}
    for line in lines:
        entry, _, check = line.rpartition(b" ")
        if entry and check == b"%08x" % zlib.crc32(entry):
            crc, size, name = entry.split(b" ", 2)
            noted[name.decode()] = int(size), int(crc, 16)
    return noted


def _write_list(folder: Path, noted: dict[str, _Noted]) -> None:
    entries = (f"{crc:08x} {size} {name}".encode() for name, (size, crc) in noted.items())
    _write(folder / _LIST, b"".join(b"%s %08x\n" % (entry, zlib.crc32(entry)) for entry in entries))


def _write(path: Path, content: bytes) -> None:
    """Write the file atomically. Not synced: what a power cut destroys is recorded again with the next write."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    temporary.write_bytes(content)
    temporary.replace(path)
