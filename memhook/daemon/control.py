"""Control the daemon from a command: call it, start it, stop it, or do without it."""

from __future__ import annotations

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
from contextlib import chdir, contextmanager, suppress
from functools import cache, partial
from pathlib import Path
from typing import Any

from memhook.daemon import wire
from memhook.daemon.wire import Request
from memhook.engine.catalogue import OPERATIONS
from memhook.errors import DaemonUnavailable, MemhookError
from memhook.files.locking import holder_of
from memhook.paths import ENVIRONMENT_PREFIX, Paths, private_directory, shell_word

START_SECONDS = 20.0
STOP_SECONDS = 5.0
POLL_SECONDS = 0.02
HAND_OVER_SECONDS = 2.0

# A healthy daemon answers these at once, even when busy.
IMMEDIATE = frozenset({"daemon_status", "stop"})
IMMEDIATE_SECONDS = 5.0
MISSED_CHECKS = 3  # in a row: the daemon hangs

Call = Callable[..., Any]


class NothingDone(DaemonUnavailable):
    """The daemon did not start the call, so any call may be repeated."""


_working_directory_lock = threading.Lock()


def door(paths: Paths, directory: str, *, use_daemon: bool = True) -> Call:
    """Return `call(method, **params)`: to the daemon, started if needed, or to an engine in this process.

    The first call opens it, once for all threads.
    """
    opening, opened = threading.Lock(), cache(partial(_opened, paths, directory, use_daemon))

    def call(method: str, **params: Any) -> Any:
        with opening:
            found = opened()
        return found(method, **params)

    return call


def _opened(paths: Paths, directory: str, use_daemon: bool) -> Call:
    if use_daemon:
        with suppress(DaemonUnavailable):
            return daemon_door(paths, directory)
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as in the daemon, before numpy is imported
    # Imports lancedb and fastembed, which takes seconds: only for a command without the daemon.
    from memhook.engine.engine import Engine  # noqa: PLC0415  as said above

    os.umask(0o077)
    engine, environment = Engine(paths), _environment()
    return lambda method, **params: engine.call(method, params, directory, environment)


def daemon_door(paths: Paths, directory: str) -> Call:
    """Return `call(method, **params)` to the daemon; raise DaemonUnavailable if it cannot be started."""
    environment = _environment()
    started(paths)
    return lambda method, **params: _with_retry(paths, method, params, directory, environment)


def _environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name.startswith(ENVIRONMENT_PREFIX)}


def _with_retry(
    paths: Paths, method: str, params: Mapping[str, Any], directory: str, environment: Mapping[str, str]
) -> Any:
    """Call, and repeat the call if it is safe: the daemon may be stopping, or be killed, just now."""
    try:
        return called(paths, method, params, directory, environment)
    except DaemonUnavailable as error:
        is_repeatable = method in OPERATIONS and OPERATIONS[method].repeatable
        if not is_repeatable and not isinstance(error, NothingDone):
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
    """Call the running daemon; raise DaemonUnavailable if none answers."""
    body = json.dumps({"method": method, "params": params or {}}).encode("utf-8", "surrogatepass")
    request = Request("call", directory=directory, environment=environment or {}, body=body)
    with _connected(paths) as connection:
        connection.settimeout(IMMEDIATE_SECONDS)
        try:
            with suppress(ConnectionError):  # it may have answered without reading everything
                connection.sendall(wire.encoded(request))
            if method not in IMMEDIATE:
                _wait_while_healthy(paths, connection)
            answer = wire.read_block(connection, wire.MAX_BODY * 8)
        except wire.Retry as error:
            raise NothingDone("The daemon is stopping for a newer version.", "Try again.") from error
        except (OSError, wire.ConnectionClosed) as error:
            raise DaemonUnavailable(
                "The daemon closed the connection without an answer.", "Check whether it was done, then try again."
            ) from error
    return wire.result_of(answer)


def _wait_while_healthy(paths: Paths, connection: socket.socket) -> None:
    """Wait for the answer as long as the daemon is alive: a call may take minutes (a large import).

    On a busy machine a daemon that works may miss a check, and the call would be repeated beside itself.
    """
    missed = 0
    while not select.select([connection], [], [], IMMEDIATE_SECONDS)[0]:
        try:
            called(paths, "daemon_status")
            missed = 0
        except DaemonUnavailable as error:
            missed += 1
            if missed == MISSED_CHECKS:
                raise DaemonUnavailable("The daemon does not answer.", "Restart it: memhook daemon restart") from error


def is_running(paths: Paths) -> bool:
    try:
        _connected(paths).close()
    except DaemonUnavailable:
        return False
    return True


def started(paths: Paths) -> bool:
    """Make sure that a daemon is running; return whether this call started it."""
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
    process.returncode = 0  # it outlives this process by design: no ResourceWarning
    return True


def stopped(paths: Paths) -> int | None:
    """Stop the daemon and wait for its end; return its process id, or None if none was running."""
    try:
        pid = int(called(paths, "stop")["pid"])
    except DaemonUnavailable:
        pid = holder_of(paths.daemon_lock) if is_running(paths) else 0
    if not pid:
        return None
    for number in (None, signal.SIGTERM, signal.SIGKILL):  # a hung daemon does not react to the call
        if number is not None:
            with suppress(ProcessLookupError):
                os.kill(pid, number)
        if _wait_until(lambda: not _is_alive(pid), STOP_SECONDS):
            return pid
    raise DaemonUnavailable(f"The daemon (process {pid}) does not stop.", f"Kill it: kill -9 {pid}")


def _connected(paths: Paths) -> socket.socket:
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        with short_name(paths.socket) as name:
            connection.connect(name)
    except OSError as error:
        connection.close()
        raise NothingDone("No daemon is running.", "Start it: memhook daemon start") from error
    if not wire.is_same_user(connection):
        connection.close()
        raise DaemonUnavailable(
            f"{paths.socket} belongs to another user; memhook does not connect to it.",
            f"Check it and remove it: ls -l {shell_word(paths.socket)}",
        )
    return connection


@contextmanager
def short_name(path: Path) -> Iterator[str]:
    """Yield a name for the socket of at most 100 bytes: a longer path is reached through its folder."""
    if len(os.fsencode(path)) < 100:
        yield str(path)
        return
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        if Path(f"/proc/self/fd/{folder}").exists():
            yield f"/proc/self/fd/{folder}/{path.name}"
        else:
            with _working_directory_lock, chdir(folder):  # which all threads share
                yield path.name
    finally:
        os.close(folder)


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
