"""A table of one's own: checked and repaired when it is opened, migrated after a backup, indexed, with checksums."""

from __future__ import annotations

import logging
from typing import Any

import pyarrow as pa

from memhook.errors import DamagedStore, StoreError
from memhook.store.embedding.encoder import ModelIdentity
from memhook.store.table import checksums, recovery
from memhook.store.table.indexes import indexed
from memhook.store.table.migrations import migrated, vectors_model
from memhook.store.table.opening import back_up, damage_hint, first_line, opened_table
from memhook.store.table.schema import SCHEMA_VERSION, table_schema, version_of
from memhook.store.table.table import Table

log = logging.getLogger("memhook")


class Own:
    """The kind of every table but a shared one."""

    def opened(self, table: Table) -> Any:
        """The table in today's shape."""
        table.repair()
        try:
            handle = opened_table(table.database, table.uri, table.backups)
        except DamagedStore:
            if table.folder is None or table.is_suspected:
                raise
            table.suspect()
            table.repair()
            handle = opened_table(table.database, table.uri, table.backups)
        if handle is not None and table.repaired:
            indexed(handle)
        return handle if handle is None or _is_current(handle) else self._migrated(table)

    def schema(self, model: ModelIdentity) -> pa.Schema:
        return table_schema(model)

    def indexed(self, handle: Any) -> Any:
        return indexed(handle)

    def written(self, table: Table) -> None:
        """Record checksums. What was written is on disk, whether this succeeds or not."""
        if table.folder is not None and table.folder.exists():
            try:
                checksums.record(table.folder)
            except OSError as error:
                log.warning("the checksums of the store were not written: %s", error)

    def failure(self, table: Table, error: BaseException) -> StoreError:
        is_damaged = table.folder is not None and table.folder.exists() and bool(recovery.damaged_files(table.folder))
        table.suspect()
        what = "is damaged" if is_damaged else "could not be used"
        hint = damage_hint(table.backups) if is_damaged else "Run: memhook doctor"
        return StoreError(f"The store at {table.uri} {what}: {first_line(error)}", hint)

    def _migrated(self, table: Table) -> Any:
        with table.locked():
            handle = opened_table(table.database, table.uri, table.backups)  # another process may have migrated it
            if _is_current(handle):
                return handle
            back_up(table.uri, table.backups, version_of(handle.schema))
            return table.overwrite(migrated(handle, self.schema(vectors_model(handle.schema))))


def _is_current(handle: Any) -> bool:
    return version_of(handle.schema) == SCHEMA_VERSION
