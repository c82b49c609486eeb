"""The client as the assistants run it, against real daemons, dead ones and impostors."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from memhook import __version__
from memhook.daemon import control, hook_client, wire
from memhook.paths import Paths, user_paths
from tests.daemon.conftest import FACT, Served, answered, event, hook, log_text
from tests.sockets import bind


def test_it_loads_only_the_modules_it_names() -> None:
    named = loaded_modules("import posix, sys, _socket, _signal")
    assert loaded_modules(f"exec(open({hook_client.__file__!r}).read())") == named


def loaded_modules(code: str) -> set[str]:
    script = f"__name__ = 'client'; {code}; print(*sys.modules)"
    command = [sys.executable, "-I", "-S", "-c", script]
    return set(subprocess.run(command, capture_output=True, text=True, check=True).stdout.split())


def test_it_is_of_the_package_s_version_and_protocol() -> None:
    assert (__version__, wire.PROTOCOL) == (hook_client.VERSION, hook_client.PROTOCOL)
    assert (hook_client.STILL_STARTING, hook_client.RETRY) == (wire.STILL_STARTING, wire.RETRY)


def test_it_looks_for_the_state_where_memhook_keeps_it(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert Path(hook_client.state_directory()) == user_paths().state
    monkeypatch.setenv("XDG_STATE_HOME", str(home / "elsewhere"))
    assert Path(hook_client.state_directory()) == user_paths().state == home / "elsewhere/memhook"
    monkeypatch.setenv("XDG_STATE_HOME", "relative/is/ignored")
    assert Path(hook_client.state_directory()) == user_paths().state
    monkeypatch.setenv("XDG_STATE_HOME", "/proc/cannot/be/written")
    assert Path(hook_client.state_directory()) == user_paths().state == Path(f"/tmp/memhook-{os.getuid()}")


def test_without_a_home_in_the_environment_both_ask_the_system_for_it(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    entry = SimpleNamespace(pw_dir=str(home / "entered"))
    monkeypatch.setattr("pwd.getpwuid", lambda _: entry)
    for value in ("", None):
        monkeypatch.delenv("HOME") if value is None else monkeypatch.setenv("HOME", value)
        assert Path(hook_client.state_directory()) == user_paths().state == home / "entered/.local/state/memhook"
        assert user_paths().store == home / "entered/.local/share/memhook/store"


def test_the_answer_of_the_daemon_is_one_json_object_on_stdout(served: Served) -> None:
    run = served.hook(event(session_id="new"))
    assert run.returncode == 0
    assert FACT in json.loads(run.stdout)["hookSpecificOutput"]["additionalContext"]
    assert run.stderr == b""


def test_the_assistant_that_the_command_line_names_is_answered_in_its_language(served: Served) -> None:
    run = served.hook(event(session_id="named"), "UserPromptSubmit", "1", "--client", "copilot")
    assert FACT in json.loads(run.stdout)["additionalContext"]


def test_a_daemon_that_runs_takes_back_what_was_told_of_a_gone_interpreter(paths: Paths) -> None:
    mark = paths.state / "interpreter.gone"
    mark.mkdir()
    control.started(paths)
    assert control.called(paths, "status")["memories"] == 0
    assert not mark.exists()


def test_without_a_daemon_it_starts_one_that_outlives_it(paths: Paths) -> None:
    control.door(paths, "/", use_daemon=False)("remember", content=FACT)
    assert not control.is_running(paths)
    run = answered(event())
    assert run.returncode == 0
    assert FACT in json.loads(run.stdout)["hookSpecificOutput"]["additionalContext"]
    assert control.is_running(paths)


@pytest.mark.parametrize(
    "body",
    [b"", b"   \n", b"{", b"not json", b"\xff\x00\xfe", b"[]", b'{"hook_event_name": "Stop"}', b"{}" * 1000],
)
def test_bad_input_gets_nothing_and_exit_0(served: Served, body: bytes) -> None:
    run = served.hook(body)
    assert (run.returncode, run.stdout) == (0, b"")
    assert served.is_unharmed()


def test_a_prompt_of_10_mb_is_survived(served: Served) -> None:
    run = served.hook(
        event("why does the ledger reconciliation fail when the replica lags? " + "log line\n" * 1_200_000)
    )
    assert run.returncode == 0
    assert run.stdout == b"" or json.loads(run.stdout)
    assert served.is_unharmed()


def test_closed_stdin_is_nothing_to_answer() -> None:
    command = f"exec {sys.executable} -I -S {hook_client.__file__} UserPromptSubmit 1 <&-"
    run = subprocess.run(["sh", "-c", command], capture_output=True, check=False, timeout=300)
    assert (run.returncode, run.stdout) == (0, b"")


def test_no_timer_is_left_to_kill_an_interpreter_that_is_slow_to_end(home: Path) -> None:
    source = "import signal; from memhook.daemon import hook_client as h; h.main(['UserPromptSubmit'])"
    left = f"{source}; print(signal.getitimer(signal.ITIMER_REAL)[0])"
    done = subprocess.run([sys.executable, "-c", left], input=b"", capture_output=True, check=True)
    assert done.stdout == b"0.0\n"


def test_silent_stdin_ends_at_the_deadline_and_is_logged(paths: Paths) -> None:
    read, write = os.pipe()
    try:
        run = hook(read)
    finally:
        os.close(read)
        os.close(write)
    assert (run.returncode, run.stdout) == (0, b"")
    assert "gave up" in log_text(paths)


def test_a_hung_daemon_costs_the_deadline_and_nothing_else(daemon: int, paths: Paths) -> None:
    os.kill(daemon, signal.SIGSTOP)
    try:
        run = hook(event())
    finally:
        os.kill(daemon, signal.SIGCONT)
    assert (run.returncode, run.stdout) == (0, b"")
    assert "no answer in time" in log_text(paths)


def test_after_a_killed_daemon_the_next_hook_starts_another(daemon: int, paths: Paths) -> None:
    os.kill(daemon, signal.SIGKILL)
    run = answered(event())
    assert run.returncode == 0
    assert FACT in run.stdout.decode()
    assert control.called(paths, "daemon_status")["pid"] != daemon


def test_a_daemon_that_closes_without_an_answer_is_asked_again_then_left(paths: Paths) -> None:
    with impostor(paths) as listener:
        client = subprocess.Popen([sys.executable, "-I", "-S", hook_client.__file__], stdin=-1, stdout=-1, stderr=-1)
        assert client.stdin is not None
        client.stdin.write(event())
        client.stdin.close()
        for _ in range(2):
            listener.accept()[0].close()
        assert client.wait(300) == 0
        assert client.stdout is not None
        assert client.stdout.read() == b""
        client.stdout.close()
        assert client.stderr is not None
        client.stderr.close()
    assert "without an answer" in log_text(paths)


def impostor(paths: Paths) -> socket.socket:
    listener = socket.socket(socket.AF_UNIX)
    bind(listener, paths.socket)
    listener.listen()
    return listener


def test_switched_off_it_does_not_even_look(paths: Paths) -> None:
    run = hook(event(), MEMHOOK_DISABLE="1")
    assert (run.returncode, run.stdout) == (0, b"")
    assert not paths.socket.exists()


def test_a_state_folder_with_a_long_path_works(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(home / ("long" * 25)))
    paths = user_paths()
    control.started(paths)
    try:
        control.called(paths, "remember", {"content": FACT})
        assert FACT in answered(event()).stdout.decode()
    finally:
        control.stopped(paths)


def test_a_home_that_cannot_be_written_is_survived(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/proc/cannot/be/written")
    try:
        run = hook(event())
        assert run.returncode == 0
        assert run.stdout == b"" or json.loads(run.stdout)
    finally:
        control.stopped(user_paths())


def test_a_directory_of_another_kind_in_its_place_is_survived(home: Path) -> None:
    (home / ".local/state").mkdir(parents=True)
    (home / ".local/state/memhook").write_text("a file", encoding="utf-8")
    try:
        run = hook(event())
        assert run.returncode == 0
        assert run.stdout == b"" or json.loads(run.stdout)
    finally:
        control.stopped(user_paths())
