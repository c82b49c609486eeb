"""Compaction, indexing and deletion of old versions of a table: when and how; and a report on it for the doctor.

LanceDB joins and deletes files in one call: old versions are deleted once the newest is on disk. For a large table that
takes minutes and most of a gigabyte, so a separate process (`Upkeep`) does it at the lowest priority and frees the
memory when it exits. It takes no write lock: of two commits that touch the same rows, LanceDB retries one. The next run
redoes what a kill interrupted.
"""

from __future__ import annotations

import fcntl
import logging
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext, suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

from memhook.errors import StoreError
from memhook.files.durable import Synced
from memhook.files.locking import holder_of
from memhook.store.table import checksums, recovery
from memhook.store.table.indexes import INDEXES, Sizes, make_missing, missing, unindexed_rows
from memhook.store.table.opening import connected
from memhook.store.table.own import OwnTable
from memhook.store.table.recovery import FOREIGN_ERRORS, TABLE, first_line
from memhook.store.table.release import few_arenas, give_back
from memhook.store.table.schema import NO_MODEL, model_of

log = logging.getLogger("memhook")

OPTIMIZE_AFTER = 64  # writes, or eight times as many rows
ROWS_FOR_A_WRITE = 4_000  # of a large store every index is rewritten, however little was added
STREAM_SECONDS = 10.0
SETTLED_AFTER, SETTLED_SECONDS = 8, 60.0  # fewer writes are enough once there was none for a while
MANY_VERSIONS = 128  # the manifest of each lists all its files
KEPT_VERSIONS = 16  # to go back to when the newest is damaged
KEPT_WHEN_SETTLED = 4  # what was written a minute ago is on disk, and old versions are whole copies
KEPT_SECONDS = 10.0  # a reader in another process may still use an old one

LOCK = ".upkeep.lock"
RESTS = 4.0  # times as long as the last run took, before the next
LOWEST = 19
BUSY = 3
READ_AHEAD = {"LANCE_DEFAULT_IO_BUFFER_SIZE": "64000000"}  # bytes; joining files would fill the usual 2 GB
END_SECONDS = 10.0

_NONE_IS_OLDER = timedelta(days=36_500)
_AT_ONCE = timedelta(milliseconds=1)  # with zero LanceDB warns of readers, which have been waited for
_ATTEMPTS = 3


class Maintenance:
    """Maintains an own table; a large one by another process."""

    def __init__(
        self, table: OwnTable, sizes: Sizes, rearranging: Callable[[], AbstractContextManager[None]] = nullcontext
    ) -> None:
        self._table = table
        self._rearranging = rearranging
        self._sizes = sizes
        directory, self._folder = table.place
        self.upkeep = Upkeep(directory, sizes)
        self._being_optimized = 0
        self._is_counted = False

    def count_unindexed(self) -> None:
        """Count, once, the unindexed rows of earlier writes; opens the table."""
        if not self._is_counted:
            with self._table.translating("opening"):
                self._table.unoptimized += unindexed_rows(self._table.handle) // 8 if self._table.exists else 0
            self._is_counted = True

    def optimize(self) -> bool:
        """Bring the indexes up to date and delete old versions, when enough was written to pay for it."""
        table = self._table
        self.count_unindexed()
        if not table.exists:
            return False
        if self.upkeep.finished():
            table.unoptimized = max(0, table.unoptimized - self._being_optimized)
        is_settled = time.monotonic() - table.last_write > SETTLED_SECONDS
        rows = table.count()
        is_large = rows > self._sizes.apart
        is_quiet = is_settled and not is_large
        is_littered = len(self._versions_on_disk()) > (2 * KEPT_WHEN_SETTLED if is_quiet else MANY_VERSIONS)
        enough = SETTLED_AFTER if is_quiet else max(OPTIMIZE_AFTER, rows // ROWS_FOR_A_WRITE)
        if table.unoptimized < enough and not (is_littered and not is_large) and not self._missing_indexes():
            return False
        if is_large:
            return self._optimize_apart(self._age_to_keep(is_settled), rows)
        with table.locked(), self._rearranging():
            make_current(table.handle, self._sizes)
            delete_old_versions(table.handle, self._age_to_keep(is_settled), table.sync)
        table.unoptimized = 0
        return True

    def health(self) -> dict[str, Any]:
        """Report damage, missing indexes and the number of files and versions, after reading every row."""
        table = self._table
        report: dict[str, Any] = {"damage": "", "missing_indexes": [], "fragments": 0, "versions": 0}
        if not table.exists:
            return report
        try:
            if damaged := recovery.damaged_files(self._folder):
                table.suspect()
                names = ", ".join(sorted(path.name for path in damaged)[:3])
                raise ValueError(f"{len(damaged)} of its files are damaged ({names})")
            table.handle.to_arrow()
            report["missing_indexes"] = [column for column in self._missing_indexes() if column in INDEXES]
            report["fragments"] = int(table.handle.stats()["fragment_stats"]["num_fragments"])
        except FOREIGN_ERRORS as error:
            report["damage"] = f"the store is damaged: {first_line(error)}"
        return report | {"versions": len(self._versions_on_disk())}

    def _optimize_apart(self, keep: timedelta, rows: int) -> bool:
        """Start the upkeep, not between writes unless a twentieth of the store is unindexed, which slows searches."""
        is_streaming = time.monotonic() - self._table.last_write < STREAM_SECONDS
        is_much = 8 * self._table.unoptimized > rows // 20
        if not self.upkeep.may_begin() or (is_streaming and not is_much):
            return False
        self._being_optimized = self._table.unoptimized
        self.upkeep.begin(keep)
        return True

    def _missing_indexes(self) -> list[str]:
        return missing(self._table.handle, self._table.model != NO_MODEL, self._sizes)

    def _versions_on_disk(self) -> list[float]:
        """Return when each version was written, the newest first."""
        with os.scandir(self._folder / "_versions") as versions:
            return sorted((version.stat().st_mtime for version in versions), reverse=True)

    def _age_to_keep(self, is_settled: bool) -> timedelta:
        """Return the age up to which versions are kept: that of the last few."""
        kept = self._versions_on_disk()[: KEPT_WHEN_SETTLED if is_settled else KEPT_VERSIONS]
        return timedelta(seconds=KEPT_SECONDS + time.time() - kept[-1])


def compact(table: Any) -> None:
    """Join small files and extend the indexes until nothing is left to do, and delete nothing."""
    version = None
    while version != table.version:
        version = table.version
        table.optimize(cleanup_older_than=_NONE_IS_OLDER)


def delete_old_versions(table: Any, keep: timedelta, sync: Callable[[], None]) -> None:
    """Compact, then delete versions older than `keep`. `sync` forces earlier writes to disk."""
    compact(table)  # else deleting would begin with that
    sync()
    table.optimize(cleanup_older_than=keep)


def sweep(table: Any, sync: Callable[[], None], *, is_ours_alone: bool) -> None:
    """Delete all files but those of the newest version, and sync that to disk.

    Files of a killed writer are deleted too, unless another process might be writing now.
    """
    compact(table)
    sync()
    for _ in range(_ATTEMPTS):
        table.optimize(cleanup_older_than=_AT_ONCE, delete_unverified=is_ours_alone)
        if len(table.list_versions()) == 1:
            sync()
            return
    raise StoreError(
        "Old versions of the store could not be deleted: their times are later than the clock.",
        "The current version no longer contains the data. Set the clock right, then try again.",
    )


class Upkeep:
    """The upkeep process of one store folder; a lock admits one at a time, whichever process started it."""

    def __init__(self, directory: Path, sizes: Sizes) -> None:
        self._directory = directory
        self._sizes = sizes
        self._process: subprocess.Popen[bytes] | None = None
        self._started = 0.0
        self._next = 0.0

    @property
    def is_running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def may_begin(self) -> bool:
        return not self.is_running and time.monotonic() >= self._next

    def begin(self, keep: timedelta) -> None:
        """Start the process; versions younger than `keep` stay."""
        command = [sys.executable, "-P", "-E", "-m", "memhook.store.table.maintenance", str(self._directory)]
        options = [str(keep.total_seconds()), str(self._sizes.exact)]
        self._started = time.monotonic()
        quiet = subprocess.DEVNULL
        self._process = subprocess.Popen([*command, *options], stdin=quiet, stdout=quiet, stderr=quiet)

    def finished(self) -> bool:
        """Return once, after the started process has ended, whether it succeeded."""
        if self._process is None or self.is_running:
            return False
        code, self._process = self._process.returncode, None
        took = time.monotonic() - self._started
        self._next = time.monotonic() + RESTS * took
        log.info("the upkeep of the indexes took %.0f seconds, exit code %d", took, code)
        return code == 0

    def wait(self) -> None:
        if self._process is not None:
            self._process.wait()

    def stop(self) -> None:
        """Stop the upkeep, whichever process started it; its uncommitted files are deleted by the next one."""
        if self._process is not None and self.is_running:
            self._process.terminate()
            self._process.wait()
        stop_any(self._directory)


def stop_any(directory: Path) -> None:
    """Stop the upkeep of this store, whichever process started it."""
    deadline = time.monotonic() + END_SECONDS
    while (holder := holder_of(directory / LOCK)) and time.monotonic() < deadline:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(holder, signal.SIGTERM)
        time.sleep(0.02)


def make_current(table: Any, sizes: Sizes) -> None:
    """Compact and index the table, each step a commit; no version is deleted."""
    compact(table)
    give_back()
    make_missing(table, model_of(table.schema) != NO_MODEL, sizes)


def main(directory: Path, keep: timedelta, sizes: Sizes) -> int:
    os.nice(LOWEST)
    few_arenas(1)
    os.environ.update(READ_AHEAD)  # LanceDB is imported only now
    handle = _locked(directory / LOCK)
    if handle is None:
        return BUSY
    began = time.monotonic()
    table = connected(str(directory)).open_table(TABLE)
    make_current(table, sizes)
    Synced(directory / f"{TABLE}.lance").sync()
    # The version on disk now replaces all before, of which joining files has made a second copy. It stays in any case:
    # versions committed meanwhile may not be on disk yet.
    table.optimize(cleanup_older_than=min(keep, timedelta(seconds=time.monotonic() - began)))
    checksums.record(directory / f"{TABLE}.lance")
    (directory / LOCK).unlink(missing_ok=True)
    return 0


def _locked(path: Path) -> int | None:
    """Return the lock, with this process's id in its file for `stop_any`; None if another process has it."""
    handle = os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(handle)
        return None
    os.ftruncate(handle, 0)
    os.write(handle, str(os.getpid()).encode())
    return handle


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), timedelta(seconds=float(sys.argv[2])), Sizes(exact=int(sys.argv[3]))))
