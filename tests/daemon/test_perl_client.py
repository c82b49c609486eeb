"""The client of a warm prompt, in Perl: it asks for the same, and leaves everything else to the one in Python."""

from __future__ import annotations

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from memhook.daemon import control, hook_client, wire
from memhook.paths import Paths
from tests.daemon.conftest import FACT, PATIENT_CLIENT, Served, event, log_text
from tests.patience import SECONDS
from tests.sockets import bind

CLIENT = Path(hook_client.__file__).with_suffix(".pl")
# What stands before its arguments: the command of the client in Python, here a patient one.
PYTHON = [*PATIENT_CLIENT[:-1], f"import sys; del sys.argv[1]\n{PATIENT_CLIENT[-1]}", "folder"]

pytestmark = pytest.mark.skipif(shutil.which("perl") is None, reason="no Perl here")


def source(seconds: float = SECONDS) -> str:
    """The client's own code, but for its deadline."""
    text, count = re.subn(r"(?m)^\$left = 1\.5; |\balarm [1-9];", "", CLIENT.read_text(encoding="utf-8"))
    assert count == 3
    return f"$left = {seconds}; {text}"


def hook(body: bytes | int, *arguments: str, seconds: float = SECONDS, **environment: str) -> tuple[int, bytes, bytes]:
    command = ["perl", "-f", "-e", source(seconds), *PYTHON, *(arguments or ("UserPromptSubmit", "1"))]
    where = {**os.environ, **environment}
    with subprocess.Popen(
        command, stdin=body if isinstance(body, int) else -1, stdout=-1, stderr=-1, env=where
    ) as client:
        out, error = client.communicate(None if isinstance(body, int) else body, timeout=2 * SECONDS)
    return client.returncode, out, error


@pytest.fixture
def listener(paths: Paths) -> Iterator[socket.socket]:
    """A daemon's socket, which answers what a test wants."""
    with socket.socket(socket.AF_UNIX) as one:
        bind(one, paths.socket)
        one.listen()
        one.settimeout(SECONDS)
        yield one


def asked(listener: socket.socket, answer: bytes) -> wire.Request:
    connection = listener.accept()[0]
    with connection:
        request = wire.decoded(wire.read_block(connection, wire.MAX_HEADER), wire.read_block(connection, wire.MAX_BODY))
        connection.sendall(answer)
        connection.shutdown(socket.SHUT_WR)
        connection.recv(1)
    return request


def test_it_knows_what_the_client_in_python_knows() -> None:
    text = CLIENT.read_text(encoding="utf-8")
    assert f"$version = '{hook_client.VERSION}';" in text
    assert f"$left = {hook_client.DEADLINE};" in text
    assert f"$more_for_a_start = {hook_client.DEADLINE_WITH_START - hook_client.DEADLINE};" in text
    assert f'join("\\0", {hook_client.PROTOCOL}, $version' in text
    marks = {name: "".join(f"\\x{one:02x}" for one in getattr(wire, name)) for name in ("STILL_STARTING", "RETRY")}
    assert f'$still_starting = "{marks["STILL_STARTING"]}"' in text
    assert f'$retry = "{marks["RETRY"]}"' in text
    assert f"({'|'.join(hook_client.OF_TOOLS)})" in text
    assert f"/^({b'|'.join(hook_client.PASSED_ON).decode()})$|^MEMHOOK_/" in text


def test_it_has_no_warnings() -> None:
    checked = subprocess.run(["perl", "-f", "-wc", str(CLIENT)], capture_output=True, text=True, check=True)
    unused = "used only once"  # what is assigned in a pattern or passed to a system call
    assert [line for line in checked.stderr.splitlines() if unused not in line] == [f"{CLIENT} syntax OK"]


def test_the_answer_of_the_daemon_is_on_stdout(served: Served) -> None:
    status, out, error = hook(event(session_id="perl"), HOME=served.home)
    assert (status, error) == (0, b"")
    assert FACT in out.decode()


@pytest.mark.parametrize("body", [b"", b"   \n", b"{", b"\xff\x00\xfe", b'{"hook_event_name": "Stop"}'])
def test_bad_input_gets_nothing_and_exit_0(served: Served, body: bytes) -> None:
    assert hook(body, HOME=served.home) == (0, b"", b"")
    assert served.is_unharmed()


def test_it_asks_for_the_same_as_the_client_in_python(
    listener: socket.socket, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "Größe 大"
    folder.mkdir()
    monkeypatch.chdir(folder)
    given = {"MEMHOOK_MAX_TOKENS": "7", "COPILOT_CLI": "1", "CLAUDE_PROJECT_DIR": "/a b", "SOME_API_KEY": "secret"}
    arguments = ("SessionStart", "2", "--client", "codex")
    requests = []
    for command in (["perl", "-f", "-e", source(), *PYTHON], PATIENT_CLIENT):
        with subprocess.Popen([*command, *arguments], stdin=-1, stdout=-1, env={**os.environ, **given}) as client:
            assert client.stdin is not None
            client.stdin.write(b'{"a": 1}')
            client.stdin.close()
            requests.append(asked(listener, wire.block(b"{}\n")))
            assert client.stdout is not None
            assert client.stdout.read() == b"{}\n"
        assert client.returncode == 0
    assert requests[0] == requests[1]
    assert (requests[0].directory, requests[0].environment["MEMHOOK_CLIENT"]) == (str(folder), "codex")


def test_it_waits_for_a_daemon_that_starts(listener: socket.socket) -> None:
    with subprocess.Popen(["perl", "-f", "-e", source(), *PYTHON, "SessionStart", "1"], stdin=-1, stdout=-1) as client:
        assert client.stdin is not None
        client.stdin.write(b"{}")
        client.stdin.close()
        asked(listener, wire.STILL_STARTING + wire.block(b'{"a": 1}\n'))
        assert client.stdout is not None
        assert client.stdout.read() == b'{"a": 1}\n'


@pytest.mark.parametrize("answer", [b"", b"\x00", wire.RETRY, b"\x00\x00\x00\x09{"])
def test_without_a_whole_answer_the_client_in_python_gets_what_came_on_stdin(
    listener: socket.socket, answer: bytes
) -> None:
    body = event("why does the ledger fail? " + "log line\n" * 100_000)  # more than a pipe holds
    with subprocess.Popen(
        ["perl", "-f", "-e", source(), *PYTHON, "UserPromptSubmit", "1"], stdin=-1, stdout=-1
    ) as client:
        assert client.stdin is not None
        client.stdin.write(body)
        client.stdin.close()
        first = asked(listener, answer)
        second = asked(listener, wire.block(b"whole\n"))
        assert client.stdout is not None
        assert client.stdout.read() == b"whole\n"
    assert first.body == second.body == body
    assert client.returncode == 0


def test_a_tool_call_is_not_asked_about_twice(listener: socket.socket) -> None:
    with subprocess.Popen(["perl", "-f", "-e", source(), *PYTHON, "PreToolUse", "1"], stdin=-1, stdout=-1) as client:
        assert client.stdin is not None
        client.stdin.write(b"{}")
        client.stdin.close()
        asked(listener, wire.STILL_STARTING)
        assert client.wait(SECONDS) == 0
        assert client.stdout is not None
        assert client.stdout.read() == b""


def test_without_a_daemon_one_is_started_and_answers(paths: Paths) -> None:
    control.door(paths, "/", use_daemon=False)("remember", content=FACT)
    status, out, error = hook(event())
    assert (status, error) == (0, b"")
    assert FACT in out.decode()
    assert control.is_running(paths)


def test_a_hung_daemon_costs_the_deadline_and_nothing_else(daemon: int, paths: Paths) -> None:
    os.kill(daemon, signal.SIGSTOP)
    try:
        assert hook(event(), seconds=0.5) == (0, b"", b"")
    finally:
        os.kill(daemon, signal.SIGCONT)
    assert "no answer in time" in log_text(paths)


def test_silent_stdin_ends_at_the_deadline_and_is_logged(daemon: int, paths: Paths) -> None:
    read, write = os.pipe()
    try:
        assert hook(read, seconds=0.5) == (0, b"", b"")
    finally:
        os.close(read)
        os.close(write)
    assert "gave up" in log_text(paths)


def test_switched_off_or_without_stdin_it_does_not_even_look(listener: socket.socket) -> None:
    assert hook(event(), MEMHOOK_DISABLE="1") == (0, b"", b"")
    closed = subprocess.run(
        ["sh", "-c", f'exec perl -f {CLIENT} "$@" <&-', "sh", *PYTHON], capture_output=True, check=False
    )
    assert (closed.returncode, closed.stdout, closed.stderr) == (0, b"", b"")
    listener.settimeout(0)
    with pytest.raises(BlockingIOError):
        listener.accept()


@pytest.mark.skipif(os.getuid() != 0, reason="only root may give a socket away")
def test_the_socket_of_another_user_is_left_to_the_client_in_python(paths: Paths) -> None:
    code = "import os, socket; os.setuid(65534); one = socket.socket(fileno=0); one.listen(); print('', flush=True)"
    with socket.socket(socket.AF_UNIX) as one:
        bind(one, paths.socket)
        with subprocess.Popen(
            [sys.executable, "-c", f"{code}; one.accept()[0].recv(1)"], stdin=one.fileno(), stdout=subprocess.PIPE
        ) as other:
            assert other.stdout is not None
            other.stdout.readline()
            status, out, _ = hook(event())
            other.kill()
    assert status == 0
    assert b"belongs to another user" in out


def test_what_it_becomes_is_where_it_was_started(paths: Paths, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (paths.state / "elsewhere").mkdir(parents=True)
    done = subprocess.run(
        ["perl", "-f", str(CLIENT), "/bin/sh", "-c", "pwd", "sh", "", ""], input=b"", capture_output=True, check=True
    )
    assert done.stdout == f"{tmp_path}\n".encode()


def test_a_locale_that_is_not_installed_is_not_complained_about(paths: Paths) -> None:
    paths.interpreter.parent.mkdir(parents=True, exist_ok=True)
    paths.interpreter.write_text(f"{sys.executable}\n{hook_client.__file__}\n{hook_client.VERSION}\n", encoding="utf-8")
    launch = Path(__file__).parents[2] / "hooks/launch"
    environment = {**os.environ, "LC_ALL": "xx_YY.UTF-8"}
    done = subprocess.run(
        ["/bin/sh", str(launch), "PreToolUse", "1"], input=b"{}", capture_output=True, check=True, env=environment
    )
    assert (done.stdout, done.stderr) == (b"", b"")
