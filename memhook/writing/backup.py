"""Back up and restore everything memhook stores, and rebuild a damaged store.

A backup is a zip archive: the rows of the table (with vectors and the traces of forgotten memories), the ledger, the
merged projects, the user's settings, and a summary. It is a snapshot of one version of the table. `archive` reads it.
"""

from __future__ import annotations

import sqlite3
import zipfile
from collections.abc import Collection, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from memhook import __version__
from memhook.errors import InvalidInput, StoreError
from memhook.files import durable
from memhook.files.durable import temporary_folder
from memhook.files.locking import exclusive
from memhook.library.opened import store_at
from memhook.library.sweep import MARK as MASKED
from memhook.paths import Paths, write_private
from memhook.store.ledger import Ledger
from memhook.store.memories import MemoryStore, own_store
from memhook.store.project_aliases import ProjectAliases, aliases_text
from memhook.store.table import changes
from memhook.store.table.arrow_file import arrow_bytes, rows_without
from memhook.store.table.opening import local_directory
from memhook.store.table.own import rebuilt_table
from memhook.store.table.recovery import set_aside_in
from memhook.store.table.table import LOCK_SECONDS, WRITE_LOCK
from memhook.writing.archive import LEDGER, NOTE, PROJECTS, ROWS, SETTINGS, Contents, Unpacked, ledger_damage, unpacked
from memhook.writing.offered_settings import Offered, offered, with_settings

REPLACED = "replaced"  # prefix of the copies that restoring makes of what it replaces


@dataclass(frozen=True, slots=True)
class Rebuilt:
    """The counts of a rebuilt store, and the path of the damaged one."""

    memories: int
    forgotten: int
    unreadable: int
    kept: str


def backed_up(
    file: Path, paths: Paths, uri: str, options: Mapping[str, str] | None = None, *, replace: bool = False
) -> Contents:
    """Write a backup atomically, readable by the user only."""
    if file.exists() and not replace:
        raise InvalidInput(f"{file} already exists.", "Choose another name, or add --replace.")
    store = store_at(uri, options or {}, paths)
    if store.replica is not None:
        store.replica.refresh()
    return _written(file, paths, store.all_rows())


def settings_offered(file: Path, paths: Paths) -> Offered:
    """Return the settings in a backup that differ from those here, after checking the file as for a restore."""
    with temporary_folder(paths.backups) as folder:
        return offered(unpacked(file, folder).settings, paths.config_file)


def restored(
    file: Path,
    paths: Paths,
    uri: str,
    options: Mapping[str, str] | None = None,
    *,
    replace: bool = False,
    settings: Collection[str] = (),
) -> Contents:
    """Restore a backup. Existing data is replaced only with `replace`, and a copy of it is kept with the backups.

    Of the settings, those with the keys `settings` are restored. The whole backup is read and checked first; then the
    existing data is copied and replaced under the write lock.
    """
    with temporary_folder(paths.backups) as folder:
        backup = unpacked(file, folder)
        chosen = with_settings(offered(backup.settings, paths.config_file), settings, paths.config_file)
        store = _store_to_fill(paths, uri, options or {}, replace=replace)
        with store.writing():
            _refuse_to_lose(store, paths, replace=replace)
            _put_back(backup, store, paths)
            if chosen is not None:
                write_private(paths.config_file, chosen)
    return backup.contents


def _put_back(backup: Unpacked, store: MemoryStore, paths: Paths) -> None:
    if backup.ledger is not None:
        _make_room_for_ledger(paths.ledger)  # first: it must not fail after the memories are restored
    if backup.rows is not None:
        store.set_mark(MASKED, "")  # restored memories may be older than a mask
        store.write(changes.put_back, backup.rows)
    if backup.ledger is not None:
        _copied(backup.ledger, paths.ledger)  # in place: a daemon that has it open continues with the restored one
    if backup.projects is not None:
        ProjectAliases(paths).put_back(backup.projects)


def rebuilt(paths: Paths, uri: str) -> Rebuilt:
    """Rebuild a store from the readable rows of a damaged one, which is kept; raise if there are none."""
    directory = local_directory(uri)
    if directory is None or not directory.exists():
        raise InvalidInput(f"There is no store on this machine at {uri}.", "There is nothing to rebuild.")
    found, kept = rebuilt_table(uri, paths.backups)
    return Rebuilt(*_counts(found.rows), found.unreadable, str(kept))


def _written(file: Path, paths: Paths, rows: Any) -> Contents:
    with temporary_folder(paths.backups) as folder:
        ledger, damage = _ledger_copy(paths.ledger, folder / LEDGER)
        merged = ProjectAliases(paths).all()
        settings = paths.config_file if paths.config_file.is_file() else None
        now, events = datetime.now(UTC).isoformat(timespec="seconds"), _events(ledger) if ledger else 0
        counts = _counts(rows)
        contents = Contents(now, __version__, *counts, events, settings is not None, len(merged), damage)
        # The merged projects even if there are none: a restore must restore that too.
        _zip(file, contents, rows, {LEDGER: ledger, PROJECTS: aliases_text(merged), SETTINGS: settings})
    return contents


def expunged_backup(file: Path, ids: Collection[str]) -> bool:
    """Rewrite a backup and its ledger without these memories; return whether it contained one.

    Raises InvalidInput if it cannot be read.
    """
    with temporary_folder(file.parent) as folder:
        backup = unpacked(file, folder, ledger_may_be_damaged=True)
        rest = None if backup.rows is None else rows_without(backup.rows, ids)
        ledger, shown_in = _expunged_ledger(backup.ledger, ids)
        memories, forgotten = _counts(rest)
        contents = replace(backup.contents, memories=memories, forgotten=forgotten)
        _zip(file, contents, rest, {LEDGER: ledger, PROJECTS: backup.projects, SETTINGS: backup.settings})
    return shown_in > 0 or memories + forgotten < sum(_counts(backup.rows))


def _zip(file: Path, contents: Contents, rows: Any, parts: Mapping[str, Path | str | None]) -> None:
    """Write these into an archive: a file, a text, or nothing for None."""
    with in_one_step(file) as temporary, zipfile.ZipFile(temporary, "w", zipfile.ZIP_DEFLATED) as archive:
        if rows is not None:
            archive.writestr(ROWS, arrow_bytes(rows))
        for name, part in parts.items():
            if isinstance(part, Path):
                archive.write(part, name)
            elif part is not None:
                archive.writestr(name, part)
        archive.writestr(NOTE, contents.note)


def _expunged_ledger(path: Path | None, ids: Collection[str]) -> tuple[Path | None, int]:
    """Delete these memories from the ledger; return it and the number of texts they were in. Omit an unreadable one."""
    if path is None:
        return None, 0
    try:
        with closing(Ledger(path)) as ledger:
            return path, ledger.expunge(sorted(ids))
    except StoreError:
        return None, 0


def _counts(rows: Any) -> tuple[int, int]:
    """Return the number of memories, and of forgotten ones."""
    forgotten = 0 if rows is None else len(rows) - rows["forgotten"].null_count
    return (0 if rows is None else len(rows) - forgotten), forgotten


def _store_to_fill(paths: Paths, uri: str, options: Mapping[str, str], *, replace: bool) -> MemoryStore:
    try:
        return store_at(uri, options, paths)
    except StoreError:
        directory = local_directory(uri)
        if not replace or directory is None:
            raise
        with exclusive(directory / WRITE_LOCK, LOCK_SECONDS):
            backups = durable.made_folder(paths.backups)
            durable.moved(directory, set_aside_in(backups))
        return own_store(uri, paths.backups)


def _refuse_to_lose(store: MemoryStore, paths: Paths, *, replace: bool) -> None:
    """Copy the existing data, or refuse to replace it. The caller holds the write lock."""
    rows = store.all_rows()
    events = _events(paths.ledger)
    merged = len(ProjectAliases(paths).all())
    if not replace and ((rows is not None and len(rows)) or events or merged):
        memories, forgotten = _counts(rows)
        there = f"{memories} {'memory' if memories == 1 else 'memories'}"
        there += f", the traces of {forgotten} forgotten ones" if forgotten else ""
        there += f" and a ledger of {events} events"
        there += f", and {merged} merged projects" if merged else ""
        raise InvalidInput(
            f"There is data already: {there}.", "To replace it (a copy is kept): memhook restore FILE --replace"
        )
    if (rows is not None and len(rows)) or merged:
        _written(paths.backups / f"{REPLACED}-{datetime.now(UTC):%Y%m%dT%H%M%S%f}.zip", paths, rows)


def _ledger_copy(ledger: Path, copy: Path) -> tuple[Path | None, str]:
    """Copy it by SQLite's backup API, which is consistent during writes; return the copy, or the damage.

    A damaged ledger is omitted: a backup with it could not be restored.
    """
    if not ledger.exists():
        return None, ""
    try:
        _copied(ledger, copy)
        damage = ledger_damage(copy)
    except StoreError as error:
        damage = error.message
    return (None if damage else copy), damage


def _make_room_for_ledger(ledger: Path) -> None:
    """Make sure the ledger can be written: delete a damaged one with its log."""
    try:
        damage = ledger_damage(ledger) if ledger.exists() else ""
        for path in ledger.parent.glob(f"{ledger.name}*") if damage else ():
            durable.delete(path)
    except OSError as error:
        raise StoreError(f"The damaged ledger at {ledger} cannot be deleted ({error.strerror}).") from error
    Ledger(ledger).close()


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
def in_one_step(file: Path) -> Iterator[Path]:
    """Yield a temporary file that replaces `file` once it is complete and synced; a later run removes leftovers."""
    try:
        file.parent.stat()  # raises if it does not exist: memhook creates only its own folders
        with temporary_folder(file.parent) as folder:
            temporary = folder / file.name
            temporary.touch(mode=0o600)
            yield temporary
            durable.sync(temporary)
            durable.moved(temporary, file)
    except OSError as error:
        raise InvalidInput(
            f"{file} cannot be written ({error.strerror}).", "Give a file in a folder of yours."
        ) from error
