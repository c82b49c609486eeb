"""Keeping a large table in shape: small files joined, indexes extended and made, old versions dropped.

It takes minutes and most of a gigabyte, so it is done by a process of its own, at the lowest priority, which gives it
all back at its end. It takes no write lock: LanceDB lets one of two commits that touch the same rows try again. What a
kill interrupts is found undone by the next one.
"""

from __future__ import annotations

import fcntl
import logging
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

from memhook.files.durable import Synced
from memhook.files.locking import holder_of
from memhook.store.table import checksums
from memhook.store.table.compaction import compact
from memhook.store.table.indexes import make_missing
from memhook.store.table.opening import TABLE, connected
from memhook.store.table.release import give_back
from memhook.store.table.schema import NO_MODEL, model_of
from memhook.store.table.sizes import Sizes

log = logging.getLogger("memhook")

LOCK = ".upkeep.lock"
RESTS = 4.0  # times as long as the last one took
LOWEST = 19
BUSY = 3
READ_AHEAD = {"LANCE_DEFAULT_IO_BUFFER_SIZE": "64000000"}  # bytes; joining files would fill the usual 2 GB
END_SECONDS = 10.0


class Upkeep:
    """Of one store in a folder; at most one process does it at a time, whoever has started it."""

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
        """Versions younger than `keep` stay."""
        command = [sys.executable, "-P", "-E", "-m", "memhook.store.table.upkeep", str(self._directory)]
        options = [str(keep.total_seconds()), str(self._sizes.exact)]
        self._started = time.monotonic()
        quiet = subprocess.DEVNULL
        self._process = subprocess.Popen([*command, *options], stdin=quiet, stdout=quiet, stderr=quiet)

    def finished(self) -> bool:
        """Whether the one that was begun has done all of it; reported once."""
        if self._process is None or self.is_running:
            return False
        code, self._process = self._process.returncode, None
        took = time.monotonic() - self._started
        self._next = time.monotonic() + RESTS * took
        log.info("the indexes were kept in %.0f seconds, with exit code %d", took, code)
        return code == 0

    def wait(self) -> None:
        if self._process is not None:
            self._process.wait()

    def stop(self) -> None:
        """End whichever process does it: what it has not committed is deleted at its next start."""
        if self._process is not None and self.is_running:
            self._process.terminate()
            self._process.wait()
        stop_any(self._directory)


def stop_any(directory: Path) -> None:
    """End the upkeep of this store, whoever began it."""
    deadline = time.monotonic() + END_SECONDS
    while (holder := holder_of(directory / LOCK)) and time.monotonic() < deadline:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(holder, signal.SIGTERM)
        time.sleep(0.02)


def make_current(table: Any, sizes: Sizes) -> None:
    """Joined and indexed, in steps that are each complete; no version is deleted."""
    compact(table)
    give_back()
    make_missing(table, model_of(table.schema) != NO_MODEL, sizes)


def main(directory: Path, keep: timedelta, sizes: Sizes) -> int:
    os.nice(LOWEST)
    os.environ.update(READ_AHEAD)  # LanceDB is imported only now
    handle = _locked(directory / LOCK)
    if handle is None:
        return BUSY
    began = time.monotonic()
    table = connected(str(directory)).open_table(TABLE)
    make_current(table, sizes)
    Synced(directory / f"{TABLE}.lance").sync()
    # What is on disk now stands for all before, of which joining files has made a second copy. It stays in any case:
    # what somebody commits meanwhile may not be on disk yet.
    table.optimize(cleanup_older_than=min(keep, timedelta(seconds=time.monotonic() - began)))
    checksums.record(directory / f"{TABLE}.lance")
    (directory / LOCK).unlink(missing_ok=True)
    return 0


def _locked(path: Path) -> int | None:
    """The right to do it, with the own number written down for who wants it to end."""
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
