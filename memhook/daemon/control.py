"""The daemon seen from a command: reach it, start it, stop it, or do without it."""

from __future__ import annotations

import fcntl
import json
import os
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from memhook.daemon import wire
from memhook.daemon.peer import is_same_user
from memhook.daemon.wire import Request
from memhook.errors import DaemonUnavailable, MemhookError
from memhook.paths import ENVIRONMENT_PREFIX, Paths, private_directory

START_SECONDS = 20.0
STOP_SECONDS = 5.0
POLL_SECONDS = 0.02
HAND_OVER_SECONDS = 2.0

# Answered by a healthy daemon whatever else it does.
AT_ONCE = frozenset({"daemon_status", "stop"})
AT_ONCE_SECONDS = 5.0

# What is stored twice is stored once, so these may be.
REPEATABLE = frozenset(
    {
        *("remember", "import_lines", "get", "search", "list", "inject", "pack"),
        *("mute", "why", "stats", "export_page", "status"),
    }
)

Call = Callable[..., Any]


class NothingDone(DaemonUnavailable):
    """The daemon has not begun with the call, so it may be repeated whatever it is."""


_working_directory_lock = threading.Lock()


def door(paths: Paths, directory: str, *, use_daemon: bool = True) -> Call:
    """A function `call(method, **params)`: to the daemon, started when needed, or to an engine in this process."""
    if use_daemon:
        with suppress(DaemonUnavailable):
            return daemon_door(paths, directory)
    return _local_door(paths, directory, _environment())


def daemon_door(paths: Paths, directory: str) -> Call:
    """The same, to the daemon alone; raises DaemonUnavailable when it cannot be started."""
    environment = _environment()
    started(paths)
    return lambda method, **params: _persistently(paths, method, params, directory, environment)


def _environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name.startswith(ENVIRONMENT_PREFIX)}


def _persistently(
    paths: Paths, method: str, params: Mapping[str, Any], directory: str, environment: Mapping[str, str]
) -> Any:
    """A daemon may be ending, or be killed, just now: what was not done, or may be done twice, is asked again."""
    try:
        return called(paths, method, params, directory, environment)
    except DaemonUnavailable as error:
        if method not in REPEATABLE and not isinstance(error, NothingDone):
            raise
        _wait_until(lambda: not is_running(paths), HAND_OVER_SECONDS)
        started(paths)
        return called(paths, method, params, directory, environment)


def called(
    paths: Paths,
    method: str,
    params: Mapping[str, Any] | None = None,
    directory: str = "",
    environment: Mapping[str, str] | None = None,
) -> Any:
    """What the running daemon returns; raises DaemonUnavailable when none answers."""
    body = json.dumps({"method": method, "params": params or {}}).encode("utf-8", "surrogatepass")
    request = Request("call", directory=directory, environment=environment or {}, body=body)
    with _connected(paths) as connection:
        connection.settimeout(AT_ONCE_SECONDS)
        try:
            with suppress(ConnectionError):  # one that does not read everything may have answered
                connection.sendall(wire.encoded(request))
            if method not in AT_ONCE:
                _wait_while_it_is_well(paths, connection)
            answer = wire.read_block(connection, wire.MAX_BODY * 8)
        except wire.AskAgain as error:
            raise NothingDone("The daemon ends for a newer version.", "Try again.") from error
        except (OSError, wire.ConnectionEnded) as error:
            raise DaemonUnavailable(
                "The daemon went away before it had answered.", "Check whether it was done, then try again."
            ) from error
    return wire.result_of(answer)


def _wait_while_it_is_well(paths: Paths, connection: socket.socket) -> None:
    """A call may take minutes (a large import), as long as the daemon still says that it is there."""
    while not select.select([connection], [], [], AT_ONCE_SECONDS)[0]:
        try:
            called(paths, "daemon_status")
        except DaemonUnavailable as error:
            raise DaemonUnavailable(
                "The daemon does not answer.", "End it and start another: memhook daemon restart"
            ) from error


def is_running(paths: Paths) -> bool:
    try:
        _connected(paths).close()
    except DaemonUnavailable:
        return False
    return True


def started(paths: Paths) -> bool:
    """Make sure that a daemon runs; whether this call started it."""
    if is_running(paths):
        return False
    try:
        private_directory(paths.state)
    except (OSError, MemhookError) as error:
        raise DaemonUnavailable(f"The daemon cannot start: {error}", f"See {paths.state}.") from error
    process = subprocess.Popen(
        [sys.executable, "-P", "-E", "-m", "memhook.daemon"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        cwd="/",
    )
    _wait_until(lambda: is_running(paths) or process.poll() not in (None, 0), START_SECONDS)
    if not is_running(paths):
        raise DaemonUnavailable("The daemon did not start.", f"The reason is in {paths.log}.")
    process.returncode = 0  # it lives on by design: no warning about a child left behind
    return True


def stopped(paths: Paths) -> int | None:
    """Stop the daemon and wait until it is gone; its process id, or None when none was running."""
    try:
        pid = int(called(paths, "stop")["pid"])
    except DaemonUnavailable:
        pid = _recorded_pid(paths) if is_running(paths) else 0
    if not pid:
        return None
    for number in (None, signal.SIGTERM, signal.SIGKILL):  # one that hangs does not hear the first
        if number is not None:
            with suppress(ProcessLookupError):
                os.kill(pid, number)
        if _wait_until(lambda: not _is_alive(pid), STOP_SECONDS):
            return pid
    raise DaemonUnavailable(f"The daemon (process {pid}) does not stop.", f"End it with: kill -9 {pid}")


def _recorded_pid(paths: Paths) -> int:
    """The daemon's, from the lock it holds; a lock that nobody holds names a dead one, or by now somebody else."""
    try:
        with paths.daemon_lock.open("rb+") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return 0
    except BlockingIOError:
        return int(paths.daemon_lock.read_text(encoding="ascii") or 0)
    except (OSError, ValueError):
        return 0


def _local_door(paths: Paths, directory: str, environment: Mapping[str, str]) -> Call:
    # Imports lancedb and fastembed, which take seconds: only for a command that must do without the daemon.
    from memhook.engine.engine import Engine  # noqa: PLC0415  lancedb takes seconds to import

    os.umask(0o077)
    engine = Engine(paths)
    return lambda method, **params: engine.call(method, params, directory, environment)


def _connected(paths: Paths) -> socket.socket:
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        with short_name(paths.socket) as name:
            connection.connect(name)
    except OSError as error:
        connection.close()
        raise NothingDone("No daemon is running.", "Start it: memhook daemon start") from error
    if not is_same_user(connection):
        connection.close()
        raise DaemonUnavailable(
            f"{paths.socket} belongs to another user, who is not asked.",
            f"Look at it and remove it: ls -l {paths.socket}",
        )
    return connection


@contextmanager
def short_name(path: Path) -> Iterator[str]:
    """A socket's path may have about 100 bytes; a longer one is reached through its folder."""
    if len(os.fsencode(path)) < 100:
        yield str(path)
        return
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        if Path(f"/proc/self/fd/{folder}").exists():
            yield f"/proc/self/fd/{folder}/{path.name}"
        else:
            with _working_directory_lock, _within(folder):
                yield path.name
    finally:
        os.close(folder)


@contextmanager
def _within(folder: int) -> Iterator[None]:
    """The working directory belongs to all threads: two that connect at once would end in each other's."""
    previous = os.open(".", os.O_RDONLY)
    os.fchdir(folder)
    try:
        yield
    finally:
        os.fchdir(previous)
        os.close(previous)


def _wait_until(condition: Callable[[], bool], seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(POLL_SECONDS)
    return True


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    stat = Path(f"/proc/{pid}/stat")
    return not stat.exists() or stat.read_text(encoding="ascii", errors="replace").rsplit(")", 1)[-1].split()[0] != "Z"
