"""A store that many people write to at once, on an object store, a server or a shared folder.

It is never searched: each reader has a replica (`replica`), and asks here only for what has changed.
"""

from __future__ import annotations

import logging
import random
import stat
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from threading import Event
from typing import Any, TypeVar

import pyarrow as pa

from memhook.errors import RemoteError
from memhook.store.embedding.encoder import ModelIdentity
from memhook.store.table.compaction import delete_old_versions
from memhook.store.table.filters import quoted
from memhook.store.table.memories import WRITE_LOCK, MemoryStore
from memhook.store.table.opening import SERVER, TABLE, first_line, refuse_unknown
from memhook.store.table.recovery import FOREIGN_ERRORS
from memhook.store.table.schema import OLDEST_SHARED_VERSION, version_of

log = logging.getLogger("memhook")

LANDING_SECONDS = 60.0
LONGEST_PAUSE = 2.0
BATCH_ROWS = 2_000
MANY_FILES = 64  # each write adds one, and a reader asks for each
OLD_VERSIONS = timedelta(hours=1)  # who reads one is done with it by then
AT_ONCE = timedelta(milliseconds=1)

# Lance then keeps for each row the version in which it was last written: that is how a replica asks for what is new.
ROW_VERSIONS = {"new_table_enable_stable_row_ids": "true"}
CHANGED_IN = "_row_last_updated_at_version"
_HAS_ROW_VERSIONS = b"memhook.row_versions"

R = TypeVar("R")


class OriginStore(MemoryStore):
    """Opened on first use by somebody who may wait: each of its methods goes over the network."""

    def __init__(self, uri: str, backups: Path, options: Mapping[str, str] | None = None) -> None:
        super().__init__(uri, backups, options={**(options or {}), **ROW_VERSIONS})
        self._given_up = Event()
        self._upkeep = None  # it is in nobody's memory, and has no index to be kept
        if self._directory is not None and not self._directory.is_dir():
            raise RemoteError(
                f"The folder {self._directory} of a shared store does not exist.",
                f"Mount it, or make it with the rights of those who share it: mkdir -m 2770 {self._directory}",
            )

    def give_up(self) -> None:
        """Make no further attempt at what is being written: its caller was told that it failed."""
        self._given_up.set()

    # What has changed

    @property
    def version(self) -> int:
        """Rises with each write; 0 before the first."""
        return 0 if self._current_table() is None else int(self._table.version)

    def count_rows(self) -> int:
        """With what is left of forgotten ones."""
        return 0 if self._current_table() is None else int(self._table.count_rows())

    def all_ids(self) -> set[str]:
        """With those of forgotten ones."""
        if self._current_table() is None:
            return set()
        return set(self._table.search().select(["id"]).to_arrow()["id"].to_pylist())

    def changes_since(self, version: int) -> Iterator[pa.Table]:
        """The rows written after that version, a batch at a time; from 0 on, all there are.

        All, too, of a table that does not keep versions of rows: one made before it was shared, or by a server.
        """
        if self._current_table() is None:
            return
        query = self._table.search().select(self._table.schema.names)
        if version and _HAS_ROW_VERSIONS in self._table.schema.metadata:
            query = query.where(f"{CHANGED_IN} > {version}")
        for batch in query.to_batches(batch_size=BATCH_ROWS):
            yield pa.Table.from_batches([batch]).replace_schema_metadata(self._table.schema.metadata)

    # Writing

    @contextmanager
    def writing(self) -> Iterator[None]:
        """No right of one's own: others write too, and who comes second writes on what the first has left."""
        with self._locked():
            yield
            if self._directory is not None:
                _share(self._directory)

    def optimize(self) -> bool:
        """Put the small files of all writers together once they are many. Who has written looks whether they are."""
        if not self._unoptimized or self._current_table() is None:
            return False
        self._unoptimized = 0  # whether or not it comes to an end: the next one who writes will look again
        if self._table.stats()["fragment_stats"]["num_fragments"] < MANY_FILES:
            return False
        with self.writing():
            self._until_it_lands(lambda: delete_old_versions(self._table, OLD_VERSIONS, self._sync))
        return True

    def _append(self, table: Any, data: pa.Table) -> None:
        """By their ids, so that trying again what may have landed adds nothing twice."""
        table.merge_insert("id").when_not_matched_insert_all().execute(data, on_bad_vectors="null")

    def _take_out(self, ids: Sequence[str], left: Callable[[dict[str, Any]], dict[str, Any]] | None) -> None:
        """Each step lands by itself, so that nothing is lost that others write meanwhile.

        Deleting only marks a row. So all the others are written anew, and then the old files go.
        """
        rows = self._table.search().where(f"id IN ({quoted(ids)})").to_arrow().to_pylist()
        if left is None:
            self.remove(ids)
        elif rows:
            self._until_it_lands(lambda: self._merge([left(row) for row in rows]))
        self._until_it_lands(lambda: self._table.update(values_sql={"title": "title"}))
        self._until_it_lands(lambda: delete_old_versions(self._table, AT_ONCE, self._sync))

    # How it works inside

    def _opened(self) -> Any:
        self._mend()
        try:
            table = self._database.open_table(TABLE)
        except FOREIGN_ERRORS as error:
            if "not found" in str(error).lower():  # nothing was ever stored
                return None
            raise self.failure(error) from error
        refuse_unknown(table, self.uri)
        if version_of(table.schema) < OLDEST_SHARED_VERSION:
            raise RemoteError(
                f"The shared store at {self.uri} was written by an older memhook (schema {version_of(table.schema)}).",
                "Export it with that version, and import it into a new location with this one.",
            )
        return table

    def _record_checksums(self) -> None:
        """Many write there, each with rights of their own; every replica is a copy."""

    def _schema(self, model: ModelIdentity) -> pa.Schema:
        schema = super()._schema(model)
        is_kept = not self.uri.startswith(SERVER)
        return schema.with_metadata({**schema.metadata, _HAS_ROW_VERSIONS: b"1"}) if is_kept else schema

    def _indexed(self, table: Any) -> Any:
        return table

    def _missing_indexes(self) -> list[str]:
        return []

    def _unindexed_rows(self) -> int:
        return 0

    def _until_it_lands(self, write: Callable[[], R]) -> R:
        """A commit that another was faster than is made again on top of that one, and so is one that got no answer."""
        deadline, pause = time.monotonic() + LANDING_SECONDS, 0.02
        while True:
            try:
                return write()
            except FOREIGN_ERRORS as error:
                if not _may_land_later(error) or time.monotonic() > deadline or self._given_up.is_set():
                    raise
                log.info("a write to %s is tried again: %s", self.uri, first_line(error))
            time.sleep(pause * random.uniform(0.5, 1.5))  # noqa: S311  so that two do not meet again
            pause = min(2 * pause, LONGEST_PAUSE)

    def failure(self, error: BaseException) -> RemoteError:
        if _is_refused(error):
            return RemoteError(
                f"The shared store at {self.uri} refuses this: {first_line(error)}",
                "Your credentials may read it and not write. Keep it in your own store, or ask for the right to write.",
            )
        return RemoteError(
            f"The shared store at {self.uri} could not be used: {first_line(error)}",
            "Try again when it can be reached: what is said twice is stored once.",
        )


# LanceDB has no types for these, only words. The last is of two who both store the first memory.
_CONFLICT = ("conflict", "concurrent", "preempted", "already exists")
_NO_ANSWER = ("error sending request", "connection", "timed out", "timeout", "503", "500 Internal", "502", "SlowDown")
_REFUSED = ("403", "401", "access denied", "accessdenied", "permission denied", "permissiondenied", "unauthorized")


def _may_land_later(error: Exception) -> bool:
    said = str(error).lower()
    return not _is_refused(error) and any(sign.lower() in said for sign in (*_CONFLICT, *_NO_ANSWER))


def _is_refused(error: BaseException) -> bool:
    said = str(error).lower()
    return any(sign in said for sign in _REFUSED)


def _share(directory: Path) -> None:
    """Give what was written the rights of the folder it is in: memhook's own are for one user alone."""
    mode = stat.S_IMODE(directory.stat().st_mode)
    for path in ((directory / WRITE_LOCK), *(directory / f"{TABLE}.lance").rglob("*"), directory / f"{TABLE}.lance"):
        wanted = mode if path.is_dir() else mode & 0o666
        try:
            if stat.S_IMODE(path.stat().st_mode) != wanted:
                path.chmod(wanted)
        except OSError:  # another's file, whose rights that one has set; or one that is gone
            continue
