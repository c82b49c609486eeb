"""The daemon's lock and socket in the state folder."""

from __future__ import annotations

import fcntl
import os
import socket
import time
from dataclasses import dataclass
from pathlib import Path

from memhook.paths import Paths, refuse_foreign

HAND_OVER_SECONDS = 10.0
POLL_SECONDS = 0.02

_Identity = tuple[int, int]  # device and inode


@dataclass(frozen=True, slots=True)
class Place:
    """The lock and the socket of this process. While they are open, no other file can have their inodes."""

    paths: Paths
    folder: int
    listener: socket.socket
    lock_file: _Identity
    socket_file: _Identity

    def is_lost(self) -> bool:
        """Return whether clients cannot find this daemon any more: its files were deleted, renamed or replaced."""
        return _is_another(self.paths.socket, self.socket_file) or _is_another(self.paths.daemon_lock, self.lock_file)

    def release_socket(self) -> None:
        """Delete the socket: new clients start the next daemon, which waits for this one's lock."""
        self._remove(self.paths.socket.name, self.socket_file)

    def release(self) -> None:
        """Delete the lock file while the lock is held: a process that waits for it sees the deletion."""
        self.release_socket()
        if not _is_another(Path(self.paths.daemon_lock.name), self.lock_file, self.folder):
            self._remove("daemon.starting")
        self._remove(self.paths.daemon_lock.name, self.lock_file)

    def _remove(self, name: str, own: _Identity | None = None) -> None:
        """Delete the file in the original folder, even if that was moved; never a file of another daemon."""
        if own is None or not _is_another(Path(name), own, self.folder):
            try:
                os.unlink(name, dir_fd=self.folder)
            except OSError:
                return  # somebody removed it, or the folder cannot be written


def acquired(paths: Paths) -> Place | None:
    """Take lock and socket for this process; return None if another daemon is there to answer.

    All names are relative to the state folder as it is now. With full paths the lock could be in a folder that was
    deleted meanwhile and the socket in the new one, beside another daemon's. Full paths may also be too long for a
    socket.
    """
    os.chdir(paths.state)
    folder = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    lock = _locked(paths)
    if lock is None:
        os.close(folder)
        return None
    listener = _listening(Path(paths.socket.name))
    return Place(paths, folder, listener, _identity(os.fstat(lock)), _identity(Path(paths.socket.name).lstat()))


def _locked(paths: Paths) -> int | None:
    """Return the descriptor that holds the lock, or None if another daemon holds it and can be reached."""
    name = Path(paths.daemon_lock.name)
    deadline = time.monotonic() + HAND_OVER_SECONDS
    while True:
        handle = os.open(name, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        refuse_foreign(name.absolute())
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(handle)
            # Its holder may be stopping: it deletes its socket first.
            if Path(paths.socket.name).exists() or time.monotonic() > deadline:
                return None
            time.sleep(POLL_SECONDS)
            continue
        if not _is_another(name, _identity(os.fstat(handle))):
            break
        os.close(handle)  # its last holder deleted it
    os.ftruncate(handle, 0)
    os.write(handle, f"{os.getpid()}\n".encode())
    return handle


def _listening(name: Path) -> socket.socket:
    refuse_foreign(name.absolute())
    name.unlink(missing_ok=True)  # of a dead daemon: the lock is ours
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listener.bind(str(name))
    name.chmod(0o600)
    listener.listen(256)
    Path("daemon.failed").unlink(missing_ok=True)
    return listener


def _is_another(path: Path, own: _Identity, folder: int | None = None) -> bool:
    """Return whether `path` is missing or another file; an unreadable folder proves nothing."""
    try:
        return _identity(os.stat(path, dir_fd=folder, follow_symlinks=False)) != own
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:
        return False


def _identity(status: os.stat_result) -> _Identity:
    return status.st_dev, status.st_ino
