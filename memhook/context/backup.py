"""Everything memhook keeps in one file, and back again; and what is left of a damaged store.

A backup is a zip archive: the rows of the table as they are (vectors and traces of forgotten memories too), the ledger,
which projects were merged, the user's settings, and a note of what is in it. It is one version of the table, whatever
is written meanwhile.
"""

from __future__ import annotations

import json
import os
import sqlite3
import tempfile
import zipfile
import zlib
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from memhook import __version__, durable
from memhook.context.opened import store_at
from memhook.context.sweep import MARK as MASKED
from memhook.errors import InvalidInput, StoreError
from memhook.paths import Paths, write_private
from memhook.store.arrow_file import arrow_bytes, rows_in, rows_without
from memhook.store.ledger import Ledger
from memhook.store.memories import MemoryStore
from memhook.store.opening import local_directory, salvaged_rows
from memhook.store.project_aliases import ProjectAliases, aliases_text
from memhook.store.replica import ReplicatedStore

FORMAT = 1
NOTE, ROWS, LEDGER, SETTINGS = "memhook-backup.json", "memories.arrow", "ledger.sqlite3", "config.toml"
PROJECTS = "projects.json"
REPLACED, DAMAGED = "replaced", "damaged"  # how the names of the copies begin that restoring makes
DEFLATED = zipfile.ZIP_DEFLATED


@dataclass(frozen=True, slots=True)
class Contents:
    """What a backup holds."""

    created: str
    version: str
    memories: int
    forgotten: int
    events: int
    settings: bool
    merged_projects: int = 0  # a backup of an older memhook does not say


@dataclass(frozen=True, slots=True)
class Rebuilt:
    """How much of a damaged store could be read, and where it is kept."""

    memories: int
    forgotten: int
    unreadable: int
    kept: str


def backed_up(
    file: Path, paths: Paths, uri: str, options: Mapping[str, str] | None = None, *, replace: bool = False
) -> Contents:
    """Write the backup, in one step and for the user's eyes alone."""
    if file.exists() and not replace:
        raise InvalidInput(f"{file} is there already.", "Choose another name, or say --replace.")
    store = store_at(uri, options or {}, paths)
    if isinstance(store, ReplicatedStore):
        store.refresh()
    rows = store.all_rows()
    with _in_one_step(file) as temporary, zipfile.ZipFile(temporary, "w", DEFLATED) as archive:
        if rows is not None:
            archive.writestr(ROWS, arrow_bytes(rows))
        events = _add_ledger(archive, paths.ledger)
        merged = ProjectAliases(paths).all()
        archive.writestr(PROJECTS, aliases_text(merged))  # also where there are none: that comes back too
        has_settings = paths.config_file.is_file()
        if has_settings:
            archive.write(paths.config_file, SETTINGS)
        now = datetime.now(UTC).isoformat(timespec="seconds")
        contents = Contents(now, __version__, *_counts(rows), events, has_settings, len(merged))
        archive.writestr(NOTE, _note(contents))
    return contents


def restored(
    file: Path, paths: Paths, uri: str, options: Mapping[str, str] | None = None, *, replace: bool = False
) -> Contents:
    """Put a backup back. What is there is replaced only if `replace` says so, and kept beside the backups then.

    The settings come back only where there are none.
    """
    with _opened(file) as archive:
        contents = _contents(archive, file)
        rows = _rows(archive)
        store = _store_to_fill(paths, uri, options or {}, replace=replace)
        _refuse_to_lose(store, paths, replace=replace)
        if rows is not None:
            with store.writing():
                store.set_mark(MASKED, "")  # what comes back may be older than a mask
                store.put_back(rows)
        if LEDGER in archive.namelist():
            _restore_ledger(archive, paths.ledger)
        if PROJECTS in archive.namelist():
            ProjectAliases(paths).put_back(archive.read(PROJECTS).decode("utf-8", "replace"))
        if contents.settings and not paths.config_file.exists():
            write_private(paths.config_file, archive.read(SETTINGS).decode())
    return contents


def expunged_backups(files: Iterable[Path], ids: Collection[str]) -> tuple[list[Path], list[Path]]:
    """Each written anew without these memories; those that held one, and those that were deleted as unreadable."""
    cleaned, deleted = [], []
    for file in files:
        if not _is_readable(file):
            durable.delete(file)
            deleted.append(file)
        elif _expunged(file, ids):
            cleaned.append(file)
    return cleaned, deleted


def rebuilt(paths: Paths, uri: str) -> Rebuilt:
    """A new store of what is readable in the damaged one, which is kept. Raises when nothing is."""
    directory = local_directory(uri)
    if directory is None or not directory.exists():
        raise InvalidInput(f"There is no store on this machine at {uri}.", "Nothing has to be rebuilt.")
    found = salvaged_rows(uri)
    with tempfile.TemporaryDirectory(prefix=f"{directory.name}.rebuilt-", dir=directory.parent) as folder:
        fresh = MemoryStore(str(Path(folder) / "store"), paths.backups)
        with fresh.writing():
            fresh.put_back(found.rows)
        fresh.close()
        kept = _kept(directory, paths.backups, DAMAGED)
        durable.moved(Path(folder) / "store", directory)
    return Rebuilt(*_counts(found.rows), found.unreadable, str(kept))


def _is_readable(file: Path) -> bool:
    try:
        with _opened(file) as archive:
            _contents(archive, file)
            _rows(archive)
    except InvalidInput:
        return False
    return True


def _expunged(file: Path, ids: Collection[str]) -> bool:
    """Written anew also where no row is one of them: the record in it may name it."""
    with _opened(file) as archive, _in_one_step(file) as temporary, zipfile.ZipFile(temporary, "w", DEFLATED) as fresh:
        rows, contents = _rows(archive), _contents(archive, file)
        rest = None if rows is None else rows_without(rows, ids)
        if rest is not None:
            fresh.writestr(ROWS, arrow_bytes(rest))
        shown_in = _add_expunged_ledger(fresh, archive, ids) if LEDGER in archive.namelist() else 0
        for name in {SETTINGS, PROJECTS} & set(archive.namelist()):
            fresh.writestr(name, archive.read(name))
        memories, forgotten = _counts(rest)
        fresh.writestr(NOTE, _note(replace(contents, memories=memories, forgotten=forgotten)))
    return shown_in > 0 or memories + forgotten < sum(_counts(rows))


def _add_expunged_ledger(fresh: zipfile.ZipFile, archive: zipfile.ZipFile, ids: Collection[str]) -> int:
    """In how many texts they were. A record that cannot be read is left out."""
    with tempfile.TemporaryDirectory() as folder:
        archive.extract(LEDGER, folder)
        try:
            with closing(Ledger(Path(folder) / LEDGER)) as ledger:
                shown_in = ledger.expunge(sorted(ids))
        except StoreError:
            return 0
        fresh.write(Path(folder) / LEDGER, LEDGER)
    return shown_in


def _counts(rows: Any) -> tuple[int, int]:
    """The memories and the forgotten ones."""
    forgotten = 0 if rows is None else len(rows) - rows["forgotten"].null_count
    return (0 if rows is None else len(rows) - forgotten), forgotten


def _note(contents: Contents) -> str:
    return json.dumps({"format": FORMAT, **asdict(contents)}, indent=2)


def _store_to_fill(paths: Paths, uri: str, options: Mapping[str, str], *, replace: bool) -> MemoryStore:
    try:
        return store_at(uri, options, paths)
    except StoreError:
        directory = local_directory(uri)
        if not replace or directory is None:
            raise
        _kept(directory, paths.backups, DAMAGED)
        return MemoryStore(uri, paths.backups)


def _refuse_to_lose(store: MemoryStore, paths: Paths, *, replace: bool) -> None:
    """Keep a copy of what will be replaced, or do not replace it."""
    rows = store.all_rows()
    events = _events(paths.ledger)
    merged = len(ProjectAliases(paths).all())
    if not replace and ((rows is not None and len(rows)) or events or merged):
        there = f"{0 if rows is None else len(rows)} memories and a record of {events} events"
        there += f", and {merged} merged projects" if merged else ""
        raise InvalidInput(
            f"There is something already: {there}.", "To replace it (a copy is kept): memhook restore FILE --replace"
        )
    if (rows is not None and len(rows)) or merged:
        stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S%f")
        durable.made_folder(paths.backups)
        backed_up(paths.backups / f"{REPLACED}-{stamp}.zip", paths, store.uri)


def _kept(directory: Path, backups: Path, why: str) -> Path:
    stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S%f")
    durable.made_folder(backups)
    target = backups / f"{why}-{stamp}"
    return durable.moved(directory, target)


def _rows(archive: zipfile.ZipFile) -> Any:
    return rows_in(archive.read(ROWS)) if ROWS in archive.namelist() else None


def _add_ledger(archive: zipfile.ZipFile, ledger: Path) -> int:
    """By SQLite's own way, which is consistent while somebody writes; how many events there are."""
    if not ledger.exists():
        return 0
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / LEDGER
        _copied(ledger, copy)
        archive.write(copy, LEDGER)
        return _events(copy)


def _restore_ledger(archive: zipfile.ZipFile, ledger: Path) -> None:
    """Into the file that is there: a daemon that has it open goes on with what was put in."""
    with tempfile.TemporaryDirectory() as folder:
        archive.extract(LEDGER, folder)
        Ledger(ledger).close()
        _copied(Path(folder) / LEDGER, ledger)


def _copied(source: Path, target: Path) -> None:
    try:
        with closing(sqlite3.connect(source)) as origin, closing(sqlite3.connect(target)) as copy:
            origin.backup(copy)
    except sqlite3.Error as error:
        raise StoreError(f"The ledger at {source} cannot be copied ({error}).", "Run: memhook doctor") from error


def _events(ledger: Path) -> int:
    if not ledger.exists():
        return 0
    try:
        with closing(sqlite3.connect(ledger)) as connection:
            return int(connection.execute("SELECT count(*) FROM injection").fetchone()[0])
    except sqlite3.Error:
        return 0


@contextmanager
def _opened(file: Path) -> Iterator[zipfile.ZipFile]:
    try:
        archive = zipfile.ZipFile(file)
    except (OSError, zipfile.BadZipFile) as error:
        raise InvalidInput(
            f"{file} cannot be read as a backup ({error}).", "Give what memhook backup wrote."
        ) from error
    with archive:
        _check(archive, file)
        yield archive


def _check(archive: zipfile.ZipFile, file: Path) -> None:
    try:
        bad = archive.testzip()
    except (zlib.error, zipfile.BadZipFile, OSError, EOFError) as error:
        bad = str(error)
    if bad is not None:
        raise InvalidInput(f"{file} is damaged ({bad}).", "Nothing was changed.")


def _contents(archive: zipfile.ZipFile, file: Path) -> Contents:
    try:
        note: dict[str, Any] = json.loads(archive.read(NOTE))
        known = note.pop("format")
        contents = Contents(**note)
    except (KeyError, ValueError, TypeError, AttributeError, RecursionError) as error:
        raise InvalidInput(f"{file} is not a backup of memhook's.", "Give what memhook backup wrote.") from error
    if known != FORMAT:
        raise InvalidInput(f"{file} was written by another memhook ({contents.version}).", "Upgrade memhook.")
    return contents


@contextmanager
def _in_one_step(file: Path) -> Iterator[str]:
    """The name of a file that takes the place of `file` when it is complete."""
    try:
        handle, name = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}.")
        os.close(handle)
    except OSError as error:
        raise InvalidInput(
            f"{file} cannot be written ({error.strerror}).", "Give a file in a folder of yours."
        ) from error
    temporary = Path(name)
    try:
        yield name
        with temporary.open("rb+") as written:
            os.fsync(written.fileno())
        temporary.replace(file)
        durable.sync(file.parent)
    finally:
        temporary.unlink(missing_ok=True)
