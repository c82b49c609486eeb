"""A store that many people write to at once, on an object store, a server or a shared folder.

It is never searched: each reader has a replica (`replica`), and fetches only the changes from here.
"""

from __future__ import annotations

import logging
import random
import re
import stat
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from threading import Event
from typing import Any, Concatenate, ParamSpec, TypeVar

import pyarrow as pa

from memhook.errors import RemoteError
from memhook.paths import shell_word
from memhook.patterns import regex
from memhook.store.embedding.encoder import ModelIdentity
from memhook.store.table.changes import Target
from memhook.store.table.filters import quoted
from memhook.store.table.maintenance import delete_old_versions
from memhook.store.table.opening import SERVER, refuse_unknown
from memhook.store.table.recovery import FOREIGN_ERRORS, TABLE, first_line
from memhook.store.table.schema import OLDEST_SHARED_VERSION, Row, version_of
from memhook.store.table.table import WRITE_LOCK, Table

log = logging.getLogger("memhook")

LANDING_SECONDS = 60.0
LONGEST_PAUSE = 2.0
BATCH_ROWS = 2_000
MANY_FILES = 64  # each write adds one, and a reader requests each
OLD_VERSIONS = timedelta(hours=1)  # readers of an old version have finished by then
AT_ONCE = timedelta(milliseconds=1)

# Lance then stores with each row the version that last wrote it, by which a replica queries for new rows.
ROW_VERSIONS = {"new_table_enable_stable_row_ids": "true"}
CHANGED_IN = "_row_last_updated_at_version"
_HAS_ROW_VERSIONS = b"memhook.row_versions"

P = ParamSpec("P")
R = TypeVar("R")


class Origin(Table):
    """A shared table: never searched, so without indexes, with the version of each row.

    It has no checksums: writers have different permissions, and every replica is a copy. It is opened on first use, by
    a caller that may wait: each of its methods goes over the network. Changes (`table.changes`) are made to it as to
    an own table, and retried until they are committed.
    """

    def __init__(self, uri: str, backups: Path, options: Mapping[str, str] | None = None) -> None:
        super().__init__(uri, backups, {**(options or {}), **ROW_VERSIONS})
        self._given_up = Event()
        if self.directory is not None and not self.directory.is_dir():
            raise RemoteError(
                f"The folder {self.directory} of a shared store does not exist.",
                "Mount it, or make it with the rights of those who share it: "
                f"mkdir -m 2770 {shell_word(self.directory)}",
            )

    def _opened(self) -> Any:
        self.repair()
        try:
            handle = self.database.open_table(TABLE)
        except FOREIGN_ERRORS as error:
            if "not found" in str(error).lower():  # nothing was ever stored
                return None
            raise self.failure(error) from error
        refuse_unknown(handle, self.uri)
        version = version_of(handle.schema)
        if version < OLDEST_SHARED_VERSION:
            raise RemoteError(
                f"The shared store at {self.uri} was written by an older memhook (schema {version}).",
                "Export it with that version, and import it into a new location with this one.",
            )
        return handle

    def schema(self, model: ModelIdentity) -> pa.Schema:
        schema = super().schema(model)
        kept = {} if self.uri.startswith(SERVER) else {_HAS_ROW_VERSIONS: b"1"}
        return schema.with_metadata({**schema.metadata, **kept})

    def failure(self, error: BaseException) -> RemoteError:
        if _is_refused(error):
            return RemoteError(
                f"The shared store at {self.uri} refuses this: {first_line(error)}",
                "Your credentials may read it and not write. Keep it in your own store, or ask for write access.",
            )
        return RemoteError(
            f"The shared store at {self.uri} could not be used: {first_line(error)}",
            "Try again when it can be reached; duplicates are stored once.",
        )

    def give_up(self) -> None:
        """Stop retrying the current write: its failure was reported to the caller."""
        self._given_up.set()

    # Changes to fetch

    @property
    def version(self) -> int:
        """The version number, which rises with each write; 0 before the first."""
        return int(self.handle.version) if self.exists else 0

    def changes_since(self, version: int) -> Iterator[pa.Table]:
        """Yield the rows written after that version, in batches; from 0 on, all rows.

        A table without row versions, created before it was shared or by a server, yields all rows too.
        """
        if not self.exists:
            return
        handle = self.handle
        query = handle.search().select(handle.schema.names)
        if version and _HAS_ROW_VERSIONS in handle.schema.metadata:
            query = query.where(f"{CHANGED_IN} > {version}")
        for batch in query.to_batches(batch_size=BATCH_ROWS):
            yield pa.Table.from_batches([batch]).replace_schema_metadata(handle.schema.metadata)

    # Writing

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Lock a shared folder; elsewhere there is no lock, and a commit that conflicts with another is retried."""
        with self.locked():
            yield
            if self.directory is not None:
                _share(self.directory)

    def write(self, change: Callable[Concatenate[Target, P], None], /, *args: P.args, **kwargs: P.kwargs) -> None:
        with self.translating("writing to"):
            self._until_it_lands(lambda: change(self, *args, **kwargs))

    def optimize(self) -> bool:
        """Compact the small files of all writers once there are many; only a process that has written checks."""
        if not self.unoptimized or not self.exists:
            return False
        self.unoptimized = 0  # whether or not it succeeds: the next writer checks again
        if self.handle.stats()["fragment_stats"]["num_fragments"] < MANY_FILES:
            return False
        with self.writing():
            self._until_it_lands(lambda: delete_old_versions(self.handle, OLD_VERSIONS, self.sync))
        return True

    # Changes

    @property
    def table(self) -> Table:
        return self

    def append(self, data: pa.Table) -> None:
        """Insert by id, so that retrying a write that may have been committed adds no duplicates."""
        merge = self.handle.merge_insert("id").when_not_matched_insert_all()
        merge.execute(data, on_bad_vectors="null")
        self.unoptimized += 1

    def delete(self, where: str) -> None:
        super().delete(where)
        self.unoptimized += 1

    def expunge(self, ids: Sequence[str], left: Callable[[Row], Row] | None) -> None:
        """Commit each step separately, so that concurrent writes of others are not lost.

        Deleting only marks a row. So all other rows are rewritten, and then the old files are deleted.
        """
        rows = self.rows(f"id IN ({quoted(ids)})").to_pylist()
        if left is None:
            self._until_it_lands(lambda: self.remove(ids))
        elif rows:
            self._until_it_lands(lambda: self.merge(self.data(left(row) for row in rows)))
        self._until_it_lands(lambda: self.handle.update(values_sql={"title": "title"}))
        self._until_it_lands(lambda: delete_old_versions(self.handle, AT_ONCE, self.sync))

    def _until_it_lands(self, write: Callable[[], R]) -> R:
        """Retry a commit that conflicted with another or got no answer, for at most LANDING_SECONDS."""
        deadline, pause = time.monotonic() + LANDING_SECONDS, 0.02
        while True:
            try:
                return write()
            except FOREIGN_ERRORS as error:
                if not _may_land_later(error) or time.monotonic() > deadline or self._given_up.is_set():
                    raise
                log.info("retrying a write to %s: %s", self.uri, first_line(error))
            time.sleep(pause * random.uniform(0.5, 1.5))  # noqa: S311  so that two writers do not collide again
            pause = min(2 * pause, LONGEST_PAUSE)


# LanceDB has no exception types for these, only messages. A number counts only as a status: addresses, ports and
# durations have digits too. The last of the conflicts is of two writers that both create the table.
_CONFLICT = regex(r"conflict|concurrent|preempted|already exists", re.IGNORECASE)
_NO_ANSWER = regex(
    r"error sending request|connection|timed out|timeout|slowdown"
    r"|\bstatus[^\w\n]{0,3}(?:code[^\w\n]{0,3})?50[0234]\b|\b50[0234] (?:internal|bad gateway|service|gateway)",
    re.IGNORECASE,
)
_REFUSED = regex(
    r"\bstatus[^\w\n]{0,3}(?:code[^\w\n]{0,3})?40[13]\b|\b40[13] (?:forbidden|unauthorized)"
    r"|access ?denied|permission ?denied|\bunauthorized\b",
    re.IGNORECASE,
)


def _may_land_later(error: Exception) -> bool:
    said = str(error)
    return not _is_refused(error) and bool(_CONFLICT.search(said) or _NO_ANSWER.search(said))


def _is_refused(error: BaseException) -> bool:
    return _REFUSED.search(str(error)) is not None


def _share(directory: Path) -> None:
    """Give written files the permissions of the shared folder: by default memhook's are private to one user."""
    mode = stat.S_IMODE(directory.stat().st_mode)
    for path in ((directory / WRITE_LOCK), *(directory / f"{TABLE}.lance").rglob("*"), directory / f"{TABLE}.lance"):
        wanted = mode if path.is_dir() else mode & 0o666
        try:
            if stat.S_IMODE(path.stat().st_mode) != wanted:
                path.chmod(wanted)
        except OSError:  # a file of another user, who has set its mode; or a deleted one
            continue
