"""The user's own table: checked and repaired when it is opened, migrated after a backup, indexed, with checksums."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

from memhook.errors import DamagedStore, StoreError
from memhook.store.table import checksums, recovery
from memhook.store.table.indexes import indexed
from memhook.store.table.opening import back_up, refuse_unknown
from memhook.store.table.recovery import FOREIGN_ERRORS, TABLE, first_line
from memhook.store.table.schema import SCHEMA_VERSION, migrated, vectors_model, version_of
from memhook.store.table.table import Table

log = logging.getLogger("memhook")


class OwnTable(Table):
    """A table that is not shared, in a folder of this machine."""

    @property
    def place(self) -> tuple[Path, Path]:
        """The folder of the store, and that of the table in it."""
        if self.directory is None or self.folder is None:
            raise StoreError(f"{self.uri} is not a folder.", "Choose another place with store.uri.")
        return self.directory, self.folder

    def _opened(self) -> Any:
        """Open the table, repaired and migrated to the current schema."""
        self.repair()
        try:
            handle = self._found()
        except DamagedStore:
            if self.is_suspected:
                raise
            self.suspect()
            self.repair()
            handle = self._found()
        if handle is not None and self.repaired:
            indexed(handle)
        return handle if handle is None or _is_current(handle) else self._migrated()

    def _found(self) -> Any:
        """Return the table, of this schema version or an older one; None when nothing was ever stored."""
        _, folder = self.place
        if self.database is None or not folder.exists():
            return None
        try:
            with recovery.panics_as_errors():
                handle = self.database.open_table(TABLE)
                handle.count_rows()
        except FOREIGN_ERRORS as error:
            raise recovery.damaged(self.uri, self.backups, error) from error
        refuse_unknown(handle, self.uri)
        return handle

    def _indexed(self, handle: Any) -> Any:
        return indexed(handle)

    def _record_written(self) -> None:
        """Record checksums. What was written is on disk, whether this succeeds or not."""
        _, folder = self.place
        try:
            if folder.exists():
                checksums.record(folder)
        except OSError as error:
            log.warning("the checksums of the store were not written: %s", error)

    def failure(self, error: BaseException) -> StoreError:
        _, folder = self.place
        is_damaged = folder.exists() and bool(recovery.damaged_files(folder))
        self.suspect()
        what = "is damaged" if is_damaged else "could not be used"
        hint = recovery.damage_hint(self.backups) if is_damaged else "Run: memhook doctor"
        return StoreError(f"The store at {self.uri} {what}: {first_line(error)}", hint)

    def _migrated(self) -> Any:
        with self.locked():
            handle = self._found()  # another process may have migrated it
            if _is_current(handle):
                return handle
            back_up(self.place[0], self.backups, version_of(handle.schema))
            return self.overwrite(migrated(handle, self.schema(vectors_model(handle.schema))))


def rebuilt_table(uri: str, backups: Path) -> tuple[recovery.Salvage, Path]:
    """Make the readable rows the newest version of the table; return them and the folder with the old files.

    Raises StoreError when nothing can be read; then nothing has changed.
    """
    table = OwnTable(uri, backups)
    _, folder = table.place
    if not folder.exists():
        raise StoreError(f"There is nothing to read at {uri}.", "Put a backup back: memhook restore FILE")
    try:
        with table.locked():
            found = recovery.salvaged(folder)
            is_whole = not found.unreadable and not recovery.damaged_files(folder) and recovery.newest_reads(folder)
            aside = recovery.set_aside_in(backups, recovery.REBUILT if is_whole else recovery.DAMAGED)
            recovery.rebuild(folder, found.rows, aside, table.put_back)
            table.sync()
            recovery.set_unneeded_aside(folder, aside)
    except (LookupError, *FOREIGN_ERRORS) as error:
        raise StoreError(
            f"Nothing can be read of the store at {uri}: {first_line(error)}",
            "It was left as it is. Put a backup back: memhook restore FILE --replace",
        ) from error
    return found, aside


def _is_current(handle: Any) -> bool:
    return version_of(handle.schema) == SCHEMA_VERSION
