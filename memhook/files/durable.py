"""Files that survive a power cut: new data is on disk before old data is deleted, and before it is acknowledged.

A file's content is on disk once the file is synced, its name once its folder is. Every file that must survive is
written here, or synced here after a library wrote it.

Longer writes use a temporary folder, locked by the process that created it: the next run removes the folder of a killed
process, and never one in use.
"""

from __future__ import annotations

import errno
import fcntl
import os
import shutil
import stat
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from memhook.files.locking import is_named

_COARSE_CLOCK = 50_000_000  # nanoseconds: file systems record times later, and less exactly, than the clock
_PREFIX = ".memhook-unfinished-"


def made_folder(path: Path, mode: int = 0o700) -> Path:
    """Return `path` after creating it and the folders above it where they are missing."""
    if path.is_dir():
        return path
    missing = [one for one in (path, *path.parents) if not one.exists()]
    for folder in reversed(missing):
        folder.mkdir(mode=mode, exist_ok=True)
        sync(folder.parent)
    path.mkdir(exist_ok=True)  # raises if it is a file
    return path


@contextmanager
def replacing(path: Path, mode: int = 0o600) -> Iterator[Path]:
    """Yield a new file beside `path` that replaces it once it is complete and on disk, and is deleted otherwise."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        temporary.chmod(mode)
        sync(temporary)
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    sync(path.parent)


def write(path: Path, content: bytes, mode: int = 0o600) -> None:
    with replacing(path, mode) as temporary:
        temporary.write_bytes(content)


def moved(source: Path, target: Path) -> Path:
    """Rename `source` to `target`, which must be free; to another file system it is copied, then deleted."""
    try:
        source.rename(target)
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        _copied(source, target)
        shutil.rmtree(source) if source.is_dir() else source.unlink()
    for folder in {target.parent, source.parent}:
        sync(folder)
    return target


def delete(path: Path) -> None:
    """Delete a file, or a folder with everything in it; do nothing where there is none."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
    with suppress(FileNotFoundError):
        sync(path.parent)


def sync(path: Path | str) -> None:
    """Force one file, or the names in one folder, to disk."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except PermissionError:  # writable but not readable
        os.sync()
        return
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):  # some network file systems cannot
            raise
    finally:
        os.close(handle)


def sync_tree(folder: Path, since_ns: int = 0) -> None:
    """Force everything below `folder` that changed since then to disk, and its own name."""
    for path, status in below(str(folder)):
        if status.st_ctime_ns >= since_ns and not stat.S_ISLNK(status.st_mode):
            with suppress(FileNotFoundError):  # compaction deleted it meanwhile: a newer file has its rows
                sync(path)
    for above in (folder, folder.parent):
        with suppress(FileNotFoundError):
            if above.stat().st_ctime_ns >= since_ns:
                sync(above)


def below(folder: str) -> Iterator[tuple[str, os.stat_result]]:
    """Yield everything below a folder with its status, a folder after its content; links are not followed.

    Names instead of `Path`, for speed: it runs at each write, over every file of a table.
    """
    try:
        entries = list(os.scandir(folder))
    except OSError:  # deleted meanwhile, or not ours
        return
    for entry in entries:
        if entry.is_dir(follow_symlinks=False):
            yield from below(entry.path)
        with suppress(FileNotFoundError):  # compaction deleted it meanwhile
            yield entry.path, entry.stat(follow_symlinks=False)


class Synced:
    """A folder that a library writes to without syncing.

    The first time all of it is synced: a killed process may have left files that later ones rely on.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._clock, self._monotonic, self._since = 0, 0, 0

    def sync(self) -> None:
        """Force the changes since the last call to disk."""
        clock, monotonic = time.time_ns(), time.monotonic_ns()
        # If the clock was set back meanwhile, new files have times before the last sync.
        set_back = max(0, (monotonic - self._monotonic) - (clock - self._clock)) if self._clock else 0
        sync_tree(self._folder, self._since - set_back)
        self._clock, self._monotonic, self._since = clock, monotonic, clock - _COARSE_CLOCK


def _copied(source: Path, target: Path) -> None:
    aside = target.with_name(f".{target.name}.copy")
    if source.is_dir():
        shutil.copytree(source, aside, symlinks=True)
        sync_tree(aside)
    else:
        shutil.copy2(source, aside)
        sync(aside)
    aside.rename(target)
    sync(target.parent)


@contextmanager
def temporary_folder(parent: Path) -> Iterator[Path]:
    """Yield a temporary folder in `parent`, which is created private when it is missing."""
    made_folder(parent)
    remove_leftovers(parent)
    folder, handle = _locked_folder(parent)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(handle)


def remove_leftovers(folder: Path) -> None:
    """Remove the temporary folders of processes that have ended; any that cannot be examined stay."""
    for path in folder.glob(f"{_PREFIX}*"):
        with suppress(OSError):
            handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                delete(path)
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
    """Lock the folder and return whether it still exists: another process may have removed it as a leftover."""
    with suppress(BlockingIOError):
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if is_named(path, handle):
            return True
    os.close(handle)
    return False
