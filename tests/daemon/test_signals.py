"""A hook that is interrupted: the real launcher and client, at every point of their life."""

from __future__ import annotations

import fcntl
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from memhook import __version__
from memhook.assistants.switching import launcher_text
from memhook.daemon import control, hook_client, wire
from memhook.paths import Paths
from tests.daemon.conftest import CLIENT, event
from tests.sockets import bind

ROOT = Path(__file__).parents[2]
SIGNALS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]
LARGE = json.dumps({"systemMessage": "x" * 1_000_000}).encode() + b"\n"  # more than a pipe holds

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc to see when signals are caught")


@pytest.fixture
def listener(paths: Paths) -> Iterator[socket.socket]:
    """A daemon's socket, which answers what a test wants."""
    with socket.socket(socket.AF_UNIX) as one:
        bind(one, paths.socket)
        one.listen(16)
        one.settimeout(300)
        yield one


@pytest.fixture(params=["client", "plugin", "installed"])
def command(request: pytest.FixtureRequest, paths: Paths, home: Path) -> list[str]:
    """The client by its path, through the plugin's launcher and through that of `memhook install`."""
    paths.interpreter.write_text(f"{sys.executable}\n{hook_client.__file__}\n{__version__}\n", encoding="utf-8")
    installed = home / "launch"
    installed.write_text(launcher_text(), encoding="utf-8")
    launchers = {"plugin": ["/bin/sh", str(ROOT / "hooks/launch")], "installed": ["/bin/sh", str(installed)]}
    return [*launchers.get(request.param, CLIENT), "UserPromptSubmit", "1"]


@contextmanager
def running(command: list[str]) -> Iterator[subprocess.Popen[bytes]]:
    pipe = subprocess.PIPE
    process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe)
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def is_safe(pid: int, number: int) -> bool:
    """Whether the kernel says that the process ignores this signal or catches it, in its own code."""
    try:
        status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    except OSError:
        return False
    masks = dict(line.split(":\t", 1) for line in status.splitlines() if line.startswith(("SigIgn", "SigCgt")))
    ignored, caught = (int(masks[name], 16) >> (number - 1) & 1 for name in ("SigIgn", "SigCgt"))
    if (
        number == signal.SIGINT and caught
    ):  # Python catches this one for its KeyboardInterrupt before it runs the client
        return bool(int(masks["SigCgt"], 16) >> (signal.SIGTERM - 1) & 1)
    return bool(ignored or caught)


def wait_until_safe(process: subprocess.Popen[bytes], number: int) -> None:
    assert control._wait_until(lambda: is_safe(process.pid, number) or process.poll() is not None, 300)


def interrupted(process: subprocess.Popen[bytes], number: int) -> bytes:
    """What it wrote until a signal ended it; one that comes while Python starts is ignored."""
    wait_until_safe(process, number)

    def has_ended() -> bool:
        process.send_signal(number)
        return process.poll() is not None

    assert control._wait_until(has_ended, 300)
    return ended(process)


def fed(process: subprocess.Popen[bytes]) -> None:
    assert process.stdin is not None
    process.stdin.write(event())
    process.stdin.close()
    process.stdin = None


def ended(process: subprocess.Popen[bytes]) -> bytes:
    """What it wrote, when it has ended as a hook has to."""
    out, errors = process.communicate(timeout=300)
    assert (process.returncode, errors) == (0, b"")
    return out


@pytest.mark.parametrize("number", SIGNALS)
def test_a_signal_while_it_reads_its_input_ends_it_in_silence(
    command: list[str], listener: socket.socket, number: int
) -> None:
    with running(command) as process:
        assert interrupted(process, number) == b""


@pytest.mark.parametrize("number", SIGNALS)
def test_a_signal_while_it_waits_for_a_daemon_to_start_ends_it_in_silence(
    command: list[str], paths: Paths, number: int
) -> None:
    with (paths.state / "daemon.starting").open("w") as starting, running(command) as process:
        fcntl.lockf(starting, fcntl.LOCK_EX)  # another client is starting one
        fed(process)
        assert interrupted(process, number) == b""
    assert not control.is_running(paths)


@pytest.mark.parametrize("number", SIGNALS)
def test_a_signal_while_it_waits_for_the_answer_ends_it_at_once(
    command: list[str], listener: socket.socket, number: int
) -> None:
    with running(command) as process:
        fed(process)
        with listener.accept()[0] as connection:
            wire.read_block(connection, wire.MAX_HEADER)
            assert interrupted(process, number) == b""


@pytest.mark.parametrize("number", SIGNALS)
def test_signals_while_it_writes_leave_one_whole_object(
    command: list[str], listener: socket.socket, number: int
) -> None:
    with running(command) as process:
        fed(process)
        with listener.accept()[0] as connection:
            wire.read_block(connection, wire.MAX_HEADER)
            wire.read_block(connection, wire.MAX_BODY)
            connection.sendall(wire.block(LARGE))
            assert process.stdout is not None
            first = os.read(process.stdout.fileno(), 1)  # it has begun to write, and nobody reads on
            for _ in range(3):
                process.send_signal(number)
            assert first + ended(process) == LARGE
            connection.settimeout(300)
            assert connection.recv(1) == wire.ACKNOWLEDGED


@pytest.mark.parametrize("number", SIGNALS)
def test_a_signal_at_any_moment_leaves_an_object_or_nothing(
    command: list[str], listener: socket.socket, number: int
) -> None:
    """From the moment on in which it can be caught. Before, Python has not run a line of the client."""
    answer = b'{"systemMessage": "whole"}\n'
    for milliseconds in (0, 1, 2, 4, 6, 8, 10, 13, 16, 20, 30, 60):
        with running(command) as process:
            fed(process)
            wait_until_safe(process, number)
            answered_for(listener, milliseconds / 1000, answer, process)
            process.send_signal(number)
            answered_for(listener, 60, answer, process)
            assert ended(process) in (b"", answer)


def answered_for(listener: socket.socket, seconds: float, answer: bytes, client: subprocess.Popen[bytes]) -> None:
    """Be the daemon for that long, or until the client has ended."""
    until = time.monotonic() + seconds
    listener.settimeout(0.001)
    while time.monotonic() < until and client.poll() is None:
        try:
            connection = listener.accept()[0]
        except TimeoutError:
            continue
        with connection:
            connection.settimeout(0.2)
            try:
                wire.read_block(connection, wire.MAX_HEADER)
                wire.read_block(connection, wire.MAX_BODY)
                connection.sendall(wire.block(answer))
                connection.recv(1)
            except (OSError, wire.ConnectionClosed):
                pass


def test_the_daemon_that_a_hook_starts_ignores_none_of_them(paths: Paths) -> None:
    """It would inherit what its launcher ignores."""
    paths.interpreter.write_text(f"{sys.executable}\n{hook_client.__file__}\n{__version__}\n", encoding="utf-8")
    launch = ["/bin/sh", str(ROOT / "hooks/launch"), "UserPromptSubmit", "1"]
    subprocess.run(launch, input=event(), capture_output=True, check=True, timeout=300)
    assert control._wait_until(lambda: control.is_running(paths), 300)
    pid = int(control.called(paths, "daemon_status")["pid"])
    status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    (ignored,) = (int(line.split()[1], 16) for line in status.splitlines() if line.startswith("SigIgn"))
    assert [number for number in SIGNALS if ignored >> (number - 1) & 1] == []
