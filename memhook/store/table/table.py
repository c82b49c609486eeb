"""One LanceDB table, which may not exist yet: connected, created, read, written under a lock and synced.

The user's own table is an `OwnTable`, a shared one an `Origin`.
"""

from __future__ import annotations

import logging
import tempfile
import time
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Condition
from typing import Any

import pyarrow as pa

from memhook.core.memory import Memory
from memhook.errors import StoreError
from memhook.files import durable
from memhook.files.locking import exclusive, remove_lock
from memhook.store.embedding.encoder import ModelIdentity
from memhook.store.table import recovery
from memhook.store.table.filters import quoted
from memhook.store.table.lance import lancedb, query_of, read
from memhook.store.table.opening import connected, local_directory, refuse_unusable
from memhook.store.table.recovery import FOREIGN_ERRORS, TABLE
from memhook.store.table.schema import MEMORY_COLUMNS, NO_MODEL, memory_of, migrated_rows, model_of, table_schema

log = logging.getLogger("memhook")

WRITE_LOCK = ".write.lock"
NEW_TABLE = ".new-table-"
ROW_ID = "_rowid"  # the address of a row in one version of the table, by which it is found at once
LOCK_SECONDS = 30.0

_SUSPECTED: set[Path] = set()
"""Tables that failed in use: the next open checks all their files."""


class Table(ABC):
    """Owns the connection and the lock. Reads see every finished write, also those of other processes."""

    def __init__(self, uri: str, backups: Path, options: Mapping[str, str] | None = None) -> None:
        self.uri = uri
        self.backups = backups
        self.directory = local_directory(uri)
        self.folder = None if self.directory is None else self.directory / f"{TABLE}.lance"
        self.readers = Gate()
        self.repaired = ""
        """The repair made when it was opened."""
        self.last_write = time.monotonic()
        self.unoptimized = 0
        """Writes since the last compaction; one of many rows counts as several."""
        self._options = options or {}
        refuse_unusable(uri)
        # A remote store that cannot be reached fails here; for a local one, LanceDB is imported only when needed.
        self._database: Any = None if self.directory else connected(uri, self._options)
        self._handle: Any = None
        self._columns: frozenset[str] = frozenset()
        self._synced = durable.Synced(self.folder) if self.folder else None

    @property
    def handle(self) -> Any:
        """LanceDB's table; looked up again while there is none, as another process may create it."""
        if self._handle is None:
            with self.translating("opening"):
                self._handle, self._columns = self._opened(), frozenset()
        return self._handle

    @property
    def database(self) -> Any:
        """The connection to LanceDB; tried again while the store's folder does not exist."""
        if self._database is None:  # as a boolean it says whether it has tables, for which LanceDB lists them
            self._database = connected(self.uri, self._options)
        return self._database

    @property
    def exists(self) -> bool:
        """Whether anything was ever stored."""
        return self.handle is not None

    @property
    def is_deleted(self) -> bool:
        """Whether its folder was deleted since it was opened."""
        return self.directory is not None and self._handle is not None and not self.directory.exists()

    @property
    def model(self) -> ModelIdentity:
        """The model that made the vectors."""
        return NO_MODEL if self.handle is None else model_of(self._handle.schema)

    # How an own table differs from a shared one

    @abstractmethod
    def _opened(self) -> Any:
        """Return LanceDB's table in a schema that can be written; None when nothing was ever stored."""

    @abstractmethod
    def failure(self, error: BaseException) -> StoreError:
        """Return the error to report, with a hint where there is one."""

    def schema(self, model: ModelIdentity) -> pa.Schema:
        return table_schema(model)

    def _indexed(self, handle: Any) -> Any:
        """Return a new table with the indexes that every table of this kind has."""
        return handle

    def _record_written(self) -> None:  # noqa: B027  a shared one has nothing to record
        """Record a write: it is on disk, and the lock is still held."""

    # Reading: a table that does not exist is empty

    def rows(self, where: str = "", columns: Sequence[str] | None = None, limit: int | None = None) -> pa.Table:
        """Return the rows that match `where`, with these columns or all; a shared store may lack the newest columns."""
        if self.handle is None:
            return table_schema(NO_MODEL).empty_table().select(columns or table_schema(NO_MODEL).names)
        query = query_of(self._handle)
        query = query.where(where) if where else query
        query = query.select(self._present(columns)) if columns else query
        return read(query if limit is None else query.limit(limit))

    def _present(self, columns: Sequence[str]) -> list[str]:
        """Return those that the table has. Columns are only ever added, and reading them takes as long as a count."""
        if not self._columns.issuperset(columns):
            self._columns = frozenset((*self._handle.schema.names, ROW_ID))
        return [name for name in columns if name in self._columns]

    def count(self, where: str | None = None) -> int:
        return 0 if self.handle is None else int(self._handle.count_rows(where))

    def ids(self, where: str = "") -> list[str]:
        found: list[str] = self.rows(where, ["id"])["id"].to_pylist()
        return found

    def memories(self, where: str, forgotten: bool | None = None) -> Iterator[Memory]:
        """Yield the memories that match. `forgotten` is checked here: an index takes 20 ms for a million rows."""
        rows = self.rows(where, [*MEMORY_COLUMNS, "forgotten"]).to_pylist()
        return (memory_of(row) for row in rows if forgotten is None or (row["forgotten"] is not None) == forgotten)

    def newest_by(self, column: str, where: str, limit: int, offset: int = 0) -> list[Memory]:
        """Return a page of those that match `where`, the newest first by a column of times; ties by id."""
        if self.handle is None or limit < 1:  # DataFusion panics on a limit of 0
            return []
        by = lancedb().query.ColumnOrdering
        order = [by(column_name=column, ascending=False), by(column_name="id")]
        query = query_of(self._handle).where(where).select(self._present(MEMORY_COLUMNS)).order_by(order)
        return [memory_of(row) for row in read(query.limit(limit).offset(offset)).to_pylist()]

    # Writing: each inside `locked`

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the write lock of a local folder; on exit, sync the writes to disk and record them."""
        if self.directory is None:
            yield
            return
        _private_store_directory(self.directory)
        with exclusive(self.directory / WRITE_LOCK, LOCK_SECONDS):
            try:
                yield
            finally:  # also if a later step failed: the next write is based on what an earlier one has committed
                self.sync()
            self.last_write = time.monotonic()
            self._record_written()

    def sync(self) -> None:
        """Force writes to disk: LanceDB renames its files into place without fsync."""
        if self._synced is not None:
            self._synced.sync()

    def ensure(self, model: ModelIdentity) -> None:
        """Create the table if it does not exist."""
        if self.handle is None:
            self._handle = self._created(self.schema(model))

    def data(self, rows: Iterable[Mapping[str, Any]]) -> pa.Table:
        return pa.Table.from_pylist([dict(row) for row in rows], schema=self.handle.schema)

    def append(self, data: pa.Table) -> None:
        self.handle.add(data, on_bad_vectors="null")
        self.unoptimized += 1 + len(data) // 8

    def merge(self, data: pa.Table, *, insert: bool = False) -> None:
        """Replace the rows with the same ids, in one step; with `insert`, add rows with new ids too."""
        merge = self.handle.merge_insert("id").when_matched_update_all()
        (merge.when_not_matched_insert_all() if insert else merge).execute(data, on_bad_vectors="null")
        self.unoptimized += 1 + (len(data) // 8 if insert else 0)

    def update(self, where: str, values: Mapping[str, Any]) -> None:
        if self.handle is not None:
            self._handle.update(where=where, values=dict(values))
            self.unoptimized += 1

    def delete(self, where: str) -> None:
        if self.handle is not None:
            self._handle.delete(where)

    def remove(self, ids: Sequence[str]) -> None:
        if ids:
            self.delete(f"id IN ({quoted(ids)})")

    def remove_forgotten(self, ids: Sequence[str]) -> None:
        self.delete(f"forgotten IS NOT NULL AND id IN ({quoted(ids)})")

    def overwrite(self, data: pa.Table | pa.RecordBatchReader) -> Any:
        """Replace all rows by these, in one step."""
        self._handle = self._indexed(
            self.database.create_table(TABLE, data=data, schema=data.schema, mode="overwrite", on_bad_vectors="null")
        )
        return self._handle

    def put_back(self, rows: pa.Table) -> None:
        """Replace all rows by these, which may be of any older schema."""
        current, model = migrated_rows(rows)
        if self.folder is None or not self.folder.exists():
            self.ensure(model)  # aside: a power cut must not leave half a table
        self.overwrite(pa.Table.from_pylist(current, schema=self.schema(model)))

    # Failing and repairing

    @contextmanager
    def translating(self, what: str) -> Iterator[None]:
        """Translate LanceDB's own exceptions to StoreError."""
        try:
            yield
        except BaseException as error:
            if not isinstance(error, FOREIGN_ERRORS) and not recovery.is_panic(error):
                raise
            log.exception("%s the store failed", what)
            raise self.failure(error) from error

    @contextmanager
    def reading(self, what: str) -> Iterator[None]:
        """Prevent the deletion of files meanwhile, and translate LanceDB's exceptions."""
        with self.readers.passing(), self.translating(what):
            yield

    def suspect(self) -> None:
        """Make the next open check all files."""
        if self.folder is not None:
            _SUSPECTED.add(self.folder)

    @property
    def is_suspected(self) -> bool:
        return self.folder in _SUSPECTED

    def repair(self) -> None:
        """Repair a table that looks damaged or failed in use. Raises when memories remain unreadable."""
        folder = self.folder
        if folder is None or not folder.exists() or (recovery.looks_whole(folder) and folder not in _SUSPECTED):
            return
        try:
            with self.locked():  # by now, another process has finished its write
                self.repaired = recovery.repaired(self.database, self.uri, folder, self.backups, self.put_back)
        except StoreError:
            if not recovery.newest_reads(folder):
                raise
        finally:
            self._handle = None
        _SUSPECTED.discard(folder)
        if self.repaired:
            log.warning("%s", self.repaired)

    def close(self) -> None:
        """Remove the lock file."""
        if self.directory is not None:
            remove_lock(self.directory / WRITE_LOCK)

    def _created(self, schema: pa.Schema) -> Any:
        """Create an empty table with its indexes, aside: after a power cut, all of it is there or nothing."""
        if self._database is None:
            self._database = connected(self.uri, self._options, create=True)
        if self.directory is None or self.folder is None or self.folder.exists():
            return self._indexed(self._database.create_table(TABLE, schema=schema))
        for left_behind in self.directory.glob(f"{NEW_TABLE}*"):
            durable.delete(left_behind)
        with tempfile.TemporaryDirectory(prefix=NEW_TABLE, dir=self.directory) as aside:
            self._indexed(connected(aside, self._options).create_table(TABLE, schema=schema))
            made = Path(aside, f"{TABLE}.lance")
            durable.sync_tree(made)
            durable.moved(made, self.folder)
        return self._database.open_table(TABLE)


def _private_store_directory(directory: Path) -> None:
    try:
        durable.made_folder(directory)
    except OSError as error:
        raise StoreError(
            f"The store's folder {directory} cannot be made ({error.strerror}).",
            "Check the permissions and the room on the disk, or set store.uri.",
        ) from error


class Gate:
    """A shared and exclusive lock within one process: deleting old files waits for the readers.

    A reader may enter again while another waits to be alone, which waits until the last one has left.
    """

    def __init__(self) -> None:
        self._changed = Condition()
        self._inside = 0
        self._is_closed = False

    @contextmanager
    def passing(self) -> Iterator[None]:
        with self._changed:
            self._changed.wait_for(lambda: not self._is_closed)
            self._inside += 1
        try:
            yield
        finally:
            with self._changed:
                self._inside -= 1
                self._changed.notify_all()

    @contextmanager
    def alone(self, seconds: float) -> Iterator[None]:
        """Enter once no reader is inside, or after `seconds`: one that hangs must not lock the others out for ever."""
        deadline = time.monotonic() + seconds
        with self._changed:
            self._changed.wait_for(lambda: not self._is_closed)
            self._changed.wait_for(lambda: not self._inside, max(0.0, deadline - time.monotonic()))
            self._is_closed = True
        try:
            yield
        finally:
            with self._changed:
                self._is_closed = False
                self._changed.notify_all()
