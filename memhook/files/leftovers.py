"""Temporary files and folders: those that a killed process leaves are removed by the next run.

Each is locked by the process that made it, so that nobody removes one in use.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from memhook.files import durable
from memhook.files.locking import is_named

_PREFIX = ".memhook-unfinished-"


@contextmanager
def temporary_folder(parent: Path) -> Iterator[Path]:
    """Yield a temporary folder in `parent`, which is created private when it is missing."""
    durable.made_folder(parent)
    remove_leftovers(parent)
    folder, handle = _locked_folder(parent)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(handle)


@contextmanager
def in_one_step(file: Path) -> Iterator[Path]:
    """Yield a file that replaces `file`, synced, when it is complete. Raises OSError when it cannot be written."""
    file.parent.stat()  # raises where there is none: only the folders of memhook itself are made
    with temporary_folder(file.parent) as folder:
        temporary = folder / file.name
        temporary.touch(mode=0o600)
        yield temporary
        durable.sync(temporary)
        temporary.replace(file)
        durable.sync(file.parent)


def remove_leftovers(folder: Path) -> None:
    """Remove those of processes that have ended; any that cannot be examined stay."""
    for path in folder.glob(f"{_PREFIX}*"):
        with suppress(OSError):
            handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                durable.delete(path)
            finally:
                os.close(handle)


def _locked_folder(parent: Path) -> tuple[Path, int]:
    while True:
        folder = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=parent))
        with suppress(FileNotFoundError):
            handle = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
            if _is_ours(folder, handle):
                return folder, handle


def _is_ours(path: Path, handle: int) -> bool:
    """Lock it; before that, another process may have removed it as a leftover."""
    with suppress(BlockingIOError):
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if is_named(path, handle):
            return True
    os.close(handle)
    return False
