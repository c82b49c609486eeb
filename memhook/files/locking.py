"""One writer at a time, across processes and threads."""

from __future__ import annotations

import fcntl
import os
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Condition

from memhook.errors import StoreError

_POLL_SECONDS = 0.005


@contextmanager
def exclusive(path: Path, timeout: float) -> Iterator[None]:
    """Hold the lock file at `path`; raises StoreError when another writer holds it longer than `timeout` seconds."""
    deadline = time.monotonic() + timeout
    with _turn(path, timeout):
        handle = _acquired(path, timeout, deadline)
        try:
            yield
        finally:
            os.close(handle)  # closing releases the lock, also when this process is killed


def remove_lock(path: Path) -> None:
    """Remove the lock file, unless another process holds it; a process that waits for it notices."""
    with suppress(OSError, StoreError):
        handle = os.open(path, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if is_named(path, handle):
                path.unlink()
        finally:
            os.close(handle)


def holder_of(path: Path) -> int:
    """Return the id of the process that holds the lock file, which that process wrote to it; 0 when none does."""
    try:
        handle = os.open(path, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError:
        return 0
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        number = os.read(handle, 20).strip()
        return int(number) if number.isdigit() else 0
    else:
        return 0
    finally:
        os.close(handle)


def is_named(path: Path, handle: int) -> bool:
    """Whether the open file is still the one at `path`: its last holder may have removed it."""
    try:
        return os.path.samestat(path.stat(), os.fstat(handle))
    except FileNotFoundError:
        return False


_QUEUES: dict[Path, deque[object]] = {}
_MOVED_UP = Condition()


@contextmanager
def _turn(path: Path, timeout: float) -> Iterator[None]:
    """Wait for a turn among the threads of this process, first come, first served.

    The lock file alone is not fair: nearly always a thread that writes without a pause gets it. Compaction waited
    in vain while the store grew to thirty times its size.
    """
    place = object()
    with _MOVED_UP:
        queue = _QUEUES.setdefault(path, deque())
        queue.append(place)
        has_come = _MOVED_UP.wait_for(lambda: queue[0] is place, timeout)
    try:
        if not has_come:
            raise _kept_by_another(path, timeout)
        yield
    finally:
        with _MOVED_UP:
            queue.remove(place)
            _MOVED_UP.notify_all()


def _kept_by_another(path: Path, timeout: float) -> StoreError:
    return StoreError(
        f"Another process has been writing to the store for over {timeout:.0f} seconds ({path}).",
        "Try again; if it stays so: memhook daemon restart",
    )


def _acquired(path: Path, timeout: float, deadline: float) -> int:
    while True:
        handle = _opened(path)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(handle)
            if time.monotonic() > deadline:
                raise _kept_by_another(path, timeout) from None
            time.sleep(_POLL_SECONDS)
            continue
        if is_named(path, handle):
            return handle
        os.close(handle)


def _opened(path: Path) -> int:
    try:
        return os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    except OSError as error:
        raise StoreError(
            f"The store cannot be written: {path} cannot be opened ({error.strerror}).",
            "Check the permissions of that folder and the room on the disk.",
        ) from error
