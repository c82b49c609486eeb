"""Read a backup without trusting it: check everything, in bounded memory, before anything is changed.

A backup may come from somebody else, or from a failing disk. It is refused by the sizes it declares or by the bytes
counted while unpacking, whichever comes first.
"""

from __future__ import annotations

import json
import sqlite3
import stat
import struct
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Any

from memhook.errors import InvalidInput, StoreError
from memhook.settings import LARGEST_FILE
from memhook.store.ledger import Ledger
from memhook.store.table.arrow_file import refuse_bomb, rows_in

FORMAT = 1
NOTE, ROWS, LEDGER, SETTINGS = "memhook-backup.json", "memories.arrow", "ledger.sqlite3", "config.toml"
PROJECTS = "projects.json"

_SMALL = {NOTE: 64 << 10, SETTINGS: LARGEST_FILE, PROJECTS: 4 << 20}
_ALWAYS_ALLOWED = 64 << 20  # unpacked, of the memories and of the ledger
_GROWTH = 64  # times the file: neither real texts nor a real ledger compress as well
_LARGEST_DIRECTORY = 64 << 10  # bytes, of a few entries; Python needs a hundred times as much memory
_BLOCK = 1 << 20
_END, _END64, _LOCATOR64 = struct.Struct("<4s4H2LH"), struct.Struct("<4sQ2H2L4Q"), struct.Struct("<4sLQL")
_LONGEST_COMMENT = 1 << 16
_GIVE_A_BACKUP = "Give a file written by memhook backup."
_LONGEST_REASON = 120  # SQLite may quote the statement that created a table


@dataclass(frozen=True, slots=True)
class Contents:
    created: str
    version: str
    memories: int
    forgotten: int
    events: int
    settings: bool
    merged_projects: int = 0  # missing in backups of older versions
    ledger_damage: str = ""  # why the ledger is missing

    @property
    def note(self) -> str:
        """The summary, as JSON for the backup."""
        return json.dumps({"format": FORMAT, **asdict(self)}, indent=2)


@dataclass(frozen=True, slots=True)
class Unpacked:
    """The checked contents of a backup; None for a missing part."""

    contents: Contents
    rows: Any
    ledger: Path | None
    projects: str | None
    settings: str | None


def unpacked(file: Path, folder: Path, *, ledger_may_be_damaged: bool = False) -> Unpacked:
    """Unpack into `folder`; raise InvalidInput if anything in the file is invalid."""
    with _opened(file) as archive:
        names = _checked_names(archive, file)
        limit = _ALWAYS_ALLOWED + _GROWTH * file.stat().st_size
        for name in names:
            _unpack(archive, name, folder / name, _SMALL.get(name, limit), file)
    contents = _contents(folder / NOTE, file)
    return Unpacked(
        contents,
        _rows(folder / ROWS, limit) if ROWS in names else None,
        _ledger(folder / LEDGER, file, contents, ledger_may_be_damaged) if LEDGER in names else None,
        _text(folder / PROJECTS) if PROJECTS in names else None,
        _text(folder / SETTINGS) if SETTINGS in names and contents.settings else None,
    )


@contextmanager
def _opened(file: Path) -> Iterator[zipfile.ZipFile]:
    try:
        with file.open("rb") as raw:
            _refuse_large_directory(raw, file)
            archive = zipfile.ZipFile(raw)
            yield archive
    except (OSError, zipfile.BadZipFile, NotImplementedError, struct.error) as error:
        raise InvalidInput(
            f"{file} cannot be read as a backup ({error}).", f"Nothing was changed. {_GIVE_A_BACKUP}"
        ) from error


def _refuse_large_directory(raw: IO[bytes], file: Path) -> None:
    """Refuse a large directory before Python reads it: a small file may list a hundred thousand entries."""
    size = raw.seek(0, 2)
    raw.seek(max(0, size - _LONGEST_COMMENT - _END.size - _LOCATOR64.size))
    tail = raw.read()
    at = tail.rfind(b"PK\5\6")
    if at >= 0:
        declared = _END.unpack_from(tail, at)[5]
        if at >= _LOCATOR64.size and tail[at - _LOCATOR64.size :].startswith(b"PK\6\7"):
            raw.seek(_LOCATOR64.unpack_from(tail, at - _LOCATOR64.size)[2])
            declared = _END64.unpack(raw.read(_END64.size))[8]
        if declared > _LARGEST_DIRECTORY:
            raise _refused(file, f"its list of entries has {declared} bytes")
    raw.seek(0)


def _checked_names(archive: zipfile.ZipFile, file: Path) -> list[str]:
    """Return the names of the entries: only those of a backup, each once, all regular files."""
    known = {NOTE, ROWS, LEDGER, SETTINGS, PROJECTS}
    counts = Counter(entry.filename for entry in archive.infolist())
    for entry in archive.infolist():
        kind = stat.S_IFMT(entry.external_attr >> 16)
        if entry.filename not in known or counts[entry.filename] > 1 or kind not in (0, stat.S_IFREG):
            raise _refused(file, f"unexpected entry {entry.filename[:80]!r}")
    if NOTE not in counts:
        raise InvalidInput(f"{file} is not a memhook backup.", _GIVE_A_BACKUP)
    return list(counts)


def _unpack(archive: zipfile.ZipFile, name: str, target: Path, limit: int, file: Path) -> None:
    if archive.getinfo(name).file_size > limit:
        raise _refused(file, f"{name} would become {archive.getinfo(name).file_size} bytes")
    written = 0
    try:
        with archive.open(name) as packed, target.open("xb") as plain:
            while block := packed.read(_BLOCK):
                written += len(block)
                if written > limit:
                    raise _refused(file, f"{name} becomes more than {limit} bytes")
                plain.write(block)
    except (zlib.error, zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError) as error:
        raise InvalidInput(f"{file} is damaged ({error}).", "Nothing was changed.") from error


def _refused(file: Path, why: str) -> InvalidInput:
    return InvalidInput(f"{file} is refused: {why}.", f"Nothing was changed. {_GIVE_A_BACKUP}")


def _contents(note_file: Path, file: Path) -> Contents:
    try:
        note: dict[str, Any] = json.loads(note_file.read_bytes())
        known = note.pop("format")
        contents = Contents(**note)
    except (KeyError, ValueError, TypeError, AttributeError, RecursionError) as error:
        raise InvalidInput(f"{file} is not a memhook backup.", _GIVE_A_BACKUP) from error
    if known != FORMAT:
        raise InvalidInput(f"{file} was written by another version ({contents.version}).", "Upgrade memhook.")
    return contents


def _rows(path: Path, limit: int) -> Any:
    refuse_bomb(path, limit)
    return rows_in(path.read_bytes())


def _ledger(path: Path, file: Path, contents: Contents, may_be_damaged: bool) -> Path:
    if not may_be_damaged and (damage := ledger_damage(path, contents.events)):
        raise InvalidInput(f"The ledger in {file} is damaged ({damage}).", "Nothing was changed.")
    return path


def ledger_damage(path: Path, events: int = 0) -> str:
    """Return what is wrong with a ledger that should have at least `events` events, or "" if it is intact."""
    try:
        with closing(sqlite3.connect(path)) as connection:
            verdict = str(connection.execute("PRAGMA integrity_check(1)").fetchone()[0])
        if verdict == "ok":
            Ledger(path).close()
            with closing(sqlite3.connect(path)) as connection:
                (count,) = connection.execute("SELECT count(*) FROM injection").fetchone()
            verdict = "ok" if count >= events else f"{count} of {events} events"
    except (sqlite3.Error, StoreError) as error:
        verdict = str(error)
    return "" if verdict == "ok" else " ".join(verdict.split())[:_LONGEST_REASON]


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace")
