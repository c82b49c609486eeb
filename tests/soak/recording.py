"""Every change that a command and its children make to files below a folder, in the order they were made.

By ptrace and a seccomp filter, from Python alone: nothing has to be installed, and a library that makes its system
calls without libc is seen as well. Run as a program of its own, for it waits for any child there is:

    python -m tests.soak.recording OUT FOLDER MARKS COMMAND...

OUT gets the changes, pickled. What the command writes to the file MARKS is among them, as what it said at that moment.
"""

from __future__ import annotations

import ctypes
import os
import pickle
import platform
import signal
import struct
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Any

# By name, in the order of their arguments here: see _HANDLERS.
_CALLS = {
    "x86_64": {
        "write": 1, "open": 2, "pwrite64": 18, "writev": 20, "sendfile": 40, "fsync": 74, "fdatasync": 75,
        "truncate": 76, "ftruncate": 77, "rename": 82, "mkdir": 83, "rmdir": 84, "creat": 85, "link": 86, "unlink": 87,
        "sync": 162, "openat": 257, "mkdirat": 258, "unlinkat": 263, "renameat": 264, "linkat": 265, "fallocate": 285,
        "pwritev": 296, "syncfs": 306, "renameat2": 316, "copy_file_range": 326, "pwritev2": 328, "openat2": 437,
    },
    "aarch64": {
        "mkdirat": 34, "unlinkat": 35, "linkat": 37, "renameat": 38, "truncate": 45, "ftruncate": 46, "fallocate": 47,
        "openat": 56, "write": 64, "writev": 66, "pwrite64": 68, "pwritev": 70, "sendfile": 71, "sync": 81, "fsync": 82,
        "fdatasync": 83, "syncfs": 267, "renameat2": 276, "copy_file_range": 285, "pwritev2": 287, "openat2": 437,
    },
}  # fmt: skip
_TRACEME, _CONT, _SYSCALL, _SETOPTIONS, _SYSCALL_INFO = 0, 7, 24, 0x4200, 0x420E
_TRACE_EVENTS = (
    0x1 | 0x2 | 0x4 | 0x8 | 0x10 | 0x80 | 0x100000
)  # syscalls, forks of each kind, exec, seccomp; end with us
_SECCOMP_EVENT, _WALL, _HERE = 7, 0x40000000, -100
_NO_NEW_PRIVILEGES, _SET_SECCOMP, _FILTER_MODE = 38, 22, 2
_TRACE, _ALLOW = 0x7FF00000, 0x7FFF0000
_LOAD, _EQUAL, _BITS, _RETURN = 0x20, 0x15, 0x45, 0x06
_CHANGING_FLAGS = os.O_CREAT | os.O_TRUNC
_REMOVE_DIRECTORY = 0x200

_libc = ctypes.CDLL(None, use_errno=True)


@dataclass(frozen=True, slots=True)
class Change:
    """One step. `path` is relative to the folder; `other` is where it was moved or linked to; of `sync`, all if empty.

    kind: create, mkdir, write, truncate, rename, link, unlink, rmdir, sync (one file or folder), mark
    """

    kind: str
    path: str
    other: str = ""
    offset: int = 0
    data: bytes = b""


class CannotRecord(Exception):
    """This machine does not let one process watch another."""


def recorded(command: Sequence[str], folder: Path, marks: Path, environment: Mapping[str, str]) -> list[Change]:
    """What `command` did below `folder`; raises CannotRecord, or AssertionError when it failed."""
    if sys.platform != "linux" or platform.machine() not in _CALLS:
        raise CannotRecord("File operations can be recorded on Linux on x86_64 and aarch64.")
    out = marks.with_suffix(".changes")
    run = subprocess.run(
        [sys.executable, "-m", __name__, str(out), str(folder), str(marks), *command],
        env=dict(environment), cwd=Path(__file__).parents[2], capture_output=True, text=True, check=False,
    )  # fmt: skip
    if run.returncode == _REFUSED:
        raise CannotRecord(run.stderr.strip())
    assert run.returncode == 0, run.stderr[-4000:]
    with out.open("rb") as file:
        return [Change(*fields) for fields in pickle.load(file)]


_REFUSED = 77


class _Recorder:
    def __init__(self, folder: Path, marks: Path) -> None:
        self._folder = f"{folder.resolve()}/"
        self._marks = str(marks.resolve())
        self._names = {number: name for name, number in _CALLS[platform.machine()].items()}
        self.changes: list[Change] = []

    def entered(self, pid: int, number: int, arguments: tuple[int, ...]) -> Callable[[int], None]:
        """To be called with the result when the call is done. Names are read now: afterwards they may be changed."""
        name = self._names[number]
        paths = self._paths(pid, name, arguments)
        return lambda result: self._done(pid, name, arguments, paths, result)

    def _paths(self, pid: int, name: str, a: tuple[int, ...]) -> list[str]:
        at: dict[str, Sequence[tuple[int, int]]] = {
            "open": [(_HERE, a[0])], "creat": [(_HERE, a[0])], "truncate": [(_HERE, a[0])],
            "mkdir": [(_HERE, a[0])], "rmdir": [(_HERE, a[0])], "unlink": [(_HERE, a[0])],
            "rename": [(_HERE, a[0]), (_HERE, a[1])], "link": [(_HERE, a[0]), (_HERE, a[1])],
            "openat": [(a[0], a[1])], "openat2": [(a[0], a[1])], "mkdirat": [(a[0], a[1])], "unlinkat": [(a[0], a[1])],
            "renameat": [(a[0], a[1]), (a[2], a[3])], "renameat2": [(a[0], a[1]), (a[2], a[3])],
            "linkat": [(a[0], a[1]), (a[2], a[3])],
        }  # fmt: skip
        return [_path(pid, directory, address) for directory, address in at.get(name, ())]

    def _done(self, pid: int, name: str, a: tuple[int, ...], paths: list[str], result: int) -> None:
        if result < 0:
            return
        if name in ("open", "openat", "openat2", "creat"):
            self._opened(pid, result, paths[0])
        elif name in ("mkdir", "mkdirat", "rmdir", "unlink", "unlinkat"):
            kind = name.removesuffix("at")
            self._add("rmdir" if name == "unlinkat" and a[2] & _REMOVE_DIRECTORY else kind, paths[0])
        elif name.startswith("rename"):
            assert name != "renameat2" or a[4] in (0, 1), "exchanging files is not recorded"
            self._add("rename", *paths)
        elif name in ("link", "linkat"):
            self._add("link", *paths)
        elif name in ("sync", "syncfs"):
            self.changes.append(Change("sync", ""))
        elif name in ("fsync", "fdatasync"):
            self._add("sync", _file_of(pid, a[0]))
        elif name == "truncate":
            self._add("truncate", paths[0], offset=a[1])
        elif name == "ftruncate":
            self._add("truncate", _file_of(pid, a[0]), offset=a[1])
        else:
            self._written(pid, name, a, result)

    def _opened(self, pid: int, handle: int, path: str) -> None:
        """Whether it was made, or emptied, is seen from what there is: see `crashes`."""
        if path.startswith(self._folder):
            path = _file_of(pid, handle)  # through a link
            self._add("create", path, offset=_size(pid, handle))

    def _written(self, pid: int, name: str, a: tuple[int, ...], count: int) -> None:
        """Read back from the file, where it is by now, however it was written."""
        handle = {"copy_file_range": a[2]}.get(name, a[0])
        path = _file_of(pid, handle)
        if not path.startswith((self._folder, self._marks)):
            return
        if name == "fallocate":
            self._add("truncate", path, offset=_size(pid, handle))
            return
        assert name != "pwritev2", "nobody uses it"
        assert name != "copy_file_range" or not a[3], "nobody gives it an offset"
        offset = a[3] if name in ("pwrite64", "pwritev") else _position(pid, handle) - count
        with Path(f"/proc/{pid}/fd/{handle}").open("rb") as file:  # the file itself, whatever its name is now
            file.seek(offset)
            data = file.read(count)
        if path == self._marks:
            self.changes.append(Change("mark", "", data=data))
        else:
            self._add("write", path, offset=offset, data=data)

    def _add(self, kind: str, path: str, other: str = "", **more: Any) -> None:
        """With the names it has in the folder; what was deleted while it was open nobody can find again."""
        inside, other_inside = path.startswith(self._folder), other.startswith(self._folder)
        if path.endswith(" (deleted)") or not (inside or other_inside or f"{path}/" == self._folder):
            return
        assert not other or inside == other_inside, f"moved across the edge of what is recorded: {path} {other}"
        start = len(self._folder)
        self.changes.append(Change(kind, path[start:], other[start:], **more))


def _path(pid: int, directory: int, address: int) -> str:
    with Path(f"/proc/{pid}/mem").open("rb", 0) as memory:
        memory.seek(address)
        name = b""
        while b"\0" not in name:
            name += memory.read(4096 - (address + len(name)) % 4096)  # never beyond the page that it ends in
    given = os.fsdecode(name.partition(b"\0")[0])
    number = ctypes.c_int(directory & 0xFFFFFFFF).value
    base = Path(f"/proc/{pid}/cwd" if number == _HERE else f"/proc/{pid}/fd/{number}").readlink()
    joined = base / given
    return str(joined.parent.resolve() / joined.name)


def _file_of(pid: int, handle: int) -> str:
    try:
        return str(Path(f"/proc/{pid}/fd/{handle}").readlink())
    except OSError:
        return ""


def _size(pid: int, handle: int) -> int:
    return Path(f"/proc/{pid}/fd/{handle}").stat().st_size


def _position(pid: int, handle: int) -> int:
    return int(Path(f"/proc/{pid}/fdinfo/{handle}").read_text(encoding="ascii").split()[1])


def _ptrace(request: int, pid: int, address: int = 0, data: Any = 0) -> int:
    _libc.ptrace.restype = ctypes.c_long
    _libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
    result = int(_libc.ptrace(request, pid, address, data))
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


def _filter() -> bytes:
    """Stop at the calls that change files; of opening, only where that makes or empties one."""
    calls = _CALLS[platform.machine()]
    flags = {calls["openat"]: 2} | ({calls["open"]: 1} if "open" in calls else {})
    steps = [(_LOAD, 0, 0, 0)]
    for number in calls.values():
        if number in flags:
            look = [(_LOAD, 0, 0, 16 + 8 * flags[number]), (_BITS, 0, 1, _CHANGING_FLAGS)]
            steps += [(_EQUAL, 0, 4, number), *look, (_RETURN, 0, 0, _TRACE), (_RETURN, 0, 0, _ALLOW)]
        else:
            steps += [(_EQUAL, 0, 1, number), (_RETURN, 0, 0, _TRACE)]
    return b"".join(struct.pack("HBBI", *step) for step in [*steps, (_RETURN, 0, 0, _ALLOW)])


def _started(command: Sequence[str]) -> int:
    """Stopped before its first step, so that no call is made before somebody watches."""
    program = ctypes.create_string_buffer(_filter())
    rules = struct.pack("HxxxxxxP", (len(program) - 1) // 8, ctypes.addressof(program))
    pid = os.fork()
    if pid:
        return pid
    try:
        _ptrace(_TRACEME, 0)
        os.kill(os.getpid(), signal.SIGSTOP)
        if _libc.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0) or _libc.prctl(_SET_SECCOMP, _FILTER_MODE, rules, 0, 0):
            os._exit(_REFUSED)
        os.execv(command[0], list(command))
    finally:
        os._exit(_REFUSED)


def _watch(recorder: _Recorder, command: Sequence[str]) -> int:
    """The exit code of the command, once all its children have ended as well."""
    main = _started(command)
    pid, status = os.waitpid(main, _WALL)
    if not os.WIFSTOPPED(status):
        return os.waitstatus_to_exitcode(status)
    _ptrace(_SETOPTIONS, main, 0, _TRACE_EVENTS)
    _ptrace(_CONT, main)
    code, known = 0, {main}
    pending: dict[int, Callable[[int], None]] = {}
    while True:
        try:
            pid, status = os.waitpid(-1, _WALL)
        except ChildProcessError:
            return code
        if not os.WIFSTOPPED(status):
            code = os.waitstatus_to_exitcode(status) if pid == main else code
            continue
        passed_on = 0
        how = _CONT
        stop, event = os.WSTOPSIG(status), status >> 16
        if event == _SECCOMP_EVENT:
            number, *arguments = _info(pid)
            pending[pid] = recorder.entered(pid, number, tuple(arguments))
            how = _SYSCALL
        elif stop == signal.SIGTRAP | 0x80:
            pending.pop(pid)(_info(pid)[0])
        elif not event and not (stop == signal.SIGSTOP and pid not in known):
            passed_on = stop
        known.add(pid)
        try:
            _ptrace(how, pid, 0, passed_on)
        except ProcessLookupError:  # killed meanwhile
            pending.pop(pid, None)


def _info(pid: int) -> tuple[int, ...]:
    """The number and the arguments of a call that begins, the result of one that ends."""
    buffer = ctypes.create_string_buffer(96)
    _ptrace(_SYSCALL_INFO, pid, len(buffer), ctypes.addressof(buffer))
    begins = buffer.raw[0] == 3
    return struct.unpack_from("7Q" if begins else "q", buffer.raw, 24)


def main(out: str, folder: str, marks: str, *command: str) -> int:
    recorder = _Recorder(Path(folder), Path(marks))
    try:
        code = _watch(recorder, command)
    except PermissionError as error:
        sys.stderr.write(f"Processes cannot be watched here: {error}\n")
        return _REFUSED
    with Path(out).open("wb") as file:
        pickle.dump([astuple(change) for change in recorder.changes], file)
    return code


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
