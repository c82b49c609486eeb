"""One writer at a time, across processes and threads, and files that are on disk before a write is acknowledged."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from memhook.errors import StoreError

_POLL_SECONDS = 0.005


@contextmanager
def exclusive(path: Path, timeout: float) -> Iterator[None]:
    """Hold the lock file at `path`; raises StoreError when another writer keeps it longer than `timeout` seconds."""
    try:
        handle = os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    except OSError as error:
        raise StoreError(
            f"The store cannot be written: {path} cannot be opened ({error.strerror}).",
            "Check the permissions of that folder and the room on the disk.",
        ) from error
    try:
        _acquire(handle, path, timeout)
        yield
    finally:
        os.close(handle)  # closing releases the lock, also when this process is killed


def _acquire(handle: int, path: Path, timeout: float) -> None:
    deadline = time.monotonic() + timeout
    while True:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > deadline:
                raise StoreError(
                    f"Another process has been writing to the store for over {timeout:.0f} seconds ({path}).",
                    "Try again; if it stays so: memhook daemon restart",
                ) from None
            time.sleep(_POLL_SECONDS)
        else:
            return


def sync_files(directory: Path, since_ns: int) -> None:
    """Force to disk what changed below `directory` since then: LanceDB renames its files into place without fsync."""
    for folder, _, names in os.walk(directory):
        for name in names:
            _sync_if_newer(Path(folder) / name, since_ns)
        _sync_if_newer(Path(folder), since_ns)
    _sync_if_newer(directory.parent, since_ns)


def _sync_if_newer(path: Path, since_ns: int) -> None:
    try:
        if path.stat().st_ctime_ns >= since_ns:
            _sync(path)
    except FileNotFoundError:  # compaction took it away meanwhile: something newer holds its rows
        return


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
