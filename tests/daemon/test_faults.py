"""What goes wrong on real machines, with the real processes."""

from __future__ import annotations

import json
import os
import resource
import shutil
import signal
import socket
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from memhook import __version__
from memhook.cli.main import main
from memhook.daemon import control, hook_client, wire
from memhook.errors import DaemonUnavailable, MemhookError, SettingsError
from memhook.files.locking import holder_of
from memhook.paths import Paths
from tests.daemon.conftest import CLIENT, FACT, PATIENT_CLIENT, answered, event, hook, log_text, with_a_memory
from tests.daemon.test_server import daemons, gone, left_behind
from tests.patience import SECONDS, patient
from tests.sockets import bind, connect


def context_of(run: subprocess.CompletedProcess[bytes]) -> str:
    assert (run.returncode, run.stderr) == (0, b"")
    answer = json.loads(run.stdout or b"{}")
    return str(answer.get("hookSpecificOutput", {}).get("additionalContext", ""))


def ready(paths: Paths) -> control.Call:
    """The way to a daemon that has loaded, so that no test depends on how fast that is."""
    call = control.daemon_door(paths, "/")
    call("search", query="is everything loaded?")
    return call


def killed_half_way(paths: Paths) -> None:
    """A client that has sent its event and is gone before the answer."""
    client = subprocess.Popen([*CLIENT, "UserPromptSubmit", "1"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert client.stdin is not None
    assert client.stdout is not None
    client.stdin.write(event(session_id="half-way")[:-10])
    client.stdin.flush()
    client.kill()
    client.communicate()
    with socket.socket(socket.AF_UNIX) as connection:
        connect(connection, paths.socket)
        connection.sendall(wire.encoded(wire.Request("hook", "UserPromptSubmit", body=event(session_id="half-way"))))


@contextmanager
def without_room(pid: int) -> Iterator[None]:
    """No file of that process can grow, as on a full disk."""
    soft, hard = resource.prlimit(pid, resource.RLIMIT_FSIZE)
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (0, hard))
    try:
        yield
    finally:
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (soft, hard))


def test_a_daemon_outlives_a_killed_hook_a_full_disk_and_a_deleted_store(daemon: int, paths: Paths) -> None:
    killed_half_way(paths)
    assert FACT in context_of(answered(event(session_id="half-way")))  # what nobody has read was not shown

    with without_room(daemon):
        with pytest.raises(MemhookError) as refused:
            control.called(paths, "remember", {"content": "there is no room for this"})
        assert "store" in refused.value.message
        assert refused.value.hint
        assert FACT in context_of(answered(event(session_id="no room")))  # nor can the ledger write that it was shown
    call = control.door(paths, "/")
    urn = call("remember", content="there is room again")["memory"]["urn"]
    assert call("get", references=[urn])[0]["content"] == "there is room again"
    assert {one["content"] for one in call("list")["memories"]} == {FACT, "there is room again"}

    shutil.rmtree(paths.store)
    assert context_of(hook(event(session_id="deleted"))) == ""
    with suppress(MemhookError):  # the first may say that it was deleted, the next finds a new one
        call("remember", content="written into a new store")
    call("remember", content="written into a new store")
    assert call("list")["total"] == 1
    assert control.called(paths, "daemon_status")["pid"] == daemon
    assert control.stopped(paths) == daemon
    assert left_behind(paths) == set()


def test_an_index_that_cannot_be_built_on_a_full_disk_is_built_when_there_is_room(tmp_path: Path) -> None:
    code = f"""
    import resource, sys
    from pathlib import Path
    from memhook.errors import StoreError
    from memhook.store.memories import own_store
    from tests.store.test_memories import add, matching, memory
    store = own_store({str(tmp_path / "store")!r}, Path({str(tmp_path / "backups")!r}))
    add(store, *(memory(number, f"note {{number}} about replicas") for number in range(20)))
    hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, hard))
    store._here.table.unoptimized = 1000
    try:
        store.optimize()
    except StoreError as error:
        print("refused")
    print(len(matching(store, "replicas")))
    resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
    print(store.optimize(), len(matching(store, "replicas")), store.count())
    """
    command = [sys.executable, "-W", "ignore", "-c", textwrap.dedent(code)]
    root = Path(__file__).parents[2]
    run = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300, cwd=root)
    assert run.stdout == "refused\n20\nTrue 20 20\n", run.stderr


def test_newest_files_cut_short_are_gone_back_behind_and_the_user_is_told_once(daemon: int, paths: Paths) -> None:
    control.called(paths, "remember", {"content": "the newest memory, whose file is cut"})
    os.kill(daemon, signal.SIGKILL)
    assert gone(daemon)
    newest = max(paths.store.glob("memories.lance/data/*.lance"), key=lambda path: path.stat().st_mtime_ns)
    os.truncate(newest, newest.stat().st_size // 2)
    ready(paths)
    run = answered(event(session_id="after"))
    assert FACT in context_of(run)
    assert "damaged" in json.loads(run.stdout)["systemMessage"]
    assert "damaged" not in json.loads(answered(event(session_id="later")).stdout).get("systemMessage", "")
    assert control.door(paths, "/")("list")["total"] == 1
    assert "damaged" in log_text(paths)


def test_a_stale_socket_and_lock_start_a_daemon_and_harm_no_other_process(paths: Paths) -> None:
    with_a_memory(paths)
    control.stopped(paths)
    with socket.socket(socket.AF_UNIX) as dead:
        bind(dead, paths.socket)
    bystander = subprocess.Popen(["sleep", "600"])
    try:
        paths.daemon_lock.write_text(f"{bystander.pid}\n", encoding="ascii")
        (paths.state / "daemon.starting").touch()
        assert control.stopped(paths) is None
        with impostor(paths):  # one that answers nothing, where the lock names somebody else
            assert holder_of(paths.daemon_lock) == 0
        assert bystander.poll() is None
    finally:
        bystander.kill()
        bystander.wait()
    ready(paths)
    assert FACT in context_of(answered(event()))
    (pid,) = daemons(paths)
    os.kill(pid, signal.SIGTERM)
    assert gone(pid)
    assert left_behind(paths) == set()


@contextmanager
def impostor(paths: Paths) -> Iterator[socket.socket]:
    """Accepts and never answers."""
    paths.socket.unlink(missing_ok=True)
    with socket.socket(socket.AF_UNIX) as listener:
        bind(listener, paths.socket)
        listener.listen(16)
        yield listener
    paths.socket.unlink()


def test_a_daemon_that_accepts_and_never_answers_costs_a_hook_its_deadline_and_a_command_a_message(
    paths: Paths, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(control, "IMMEDIATE_SECONDS", 0.2)
    with impostor(paths):
        run = hook(event())
        assert (run.returncode, run.stdout, run.stderr) == (0, b"", b"")
        assert "no answer in time" in log_text(paths)
        with pytest.raises(DaemonUnavailable, match="does not answer") as unanswered:
            control.called(paths, "search", {"query": "anything"})
        assert "memhook daemon restart" in unanswered.value.hint
        assert main(["daemon", "status", "--json"]) == 1
        assert json.loads(capsys.readouterr().out)["running"] is False


def test_with_two_versions_at_once_every_prompt_is_answered_by_one_daemon_at_a_time(
    paths: Paths, tmp_path: Path
) -> None:
    newer = another_version(tmp_path, "99.0.0")
    with_a_memory(paths)
    ready(paths)
    pids = []
    for number, client in enumerate([PATIENT_CLIENT, newer, newer, PATIENT_CLIENT]):
        run = subprocess.run(
            [*client, "UserPromptSubmit", "1"],
            input=event(session_id=f"v{number}"),
            capture_output=True,
            timeout=2 * SECONDS,
            check=False,
        )
        assert run.returncode == 0
        pids += daemons(paths)
        # The older one ends after its answer to the newer: then nobody is there, and the next hook starts another.
        if number == 1:
            assert gone(pids[0])
            assert left_behind(paths) == set()
        assert len(daemons(paths)) <= 1
    assert "99.0.0 takes over" in log_text(paths)
    assert control.called(paths, "daemon_status")["version"] == "99.0.0"
    assert FACT in context_of(answered(event(session_id="last")))


def another_version(tmp_path: Path, version: str, protocol: str = wire.PROTOCOL) -> list[str]:
    """The client of this code under another number, in an environment of its own, and patient."""
    package = tmp_path / "other/memhook"
    shutil.copytree(Path(hook_client.__file__).parents[1], package)
    for name in ("__init__.py", "daemon/hook_client.py", "daemon/wire.py"):
        text = (package / name).read_text(encoding="utf-8").replace(__version__, version)
        spoken = text.replace(f'PROTOCOL = "{wire.PROTOCOL}"', f'PROTOCOL = "{protocol}"')
        (package / name).write_text(spoken, encoding="utf-8")
    client = package / "daemon/hook_client.py"
    client.write_text(patient(client.read_text(encoding="utf-8")), encoding="utf-8")
    environment = tmp_path / "environment"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(environment)], check=True)
    (site,) = environment.glob("lib/python*/site-packages")
    (site / "here.pth").write_text("\n".join([str(package.parent), *filter(None, sys.path)]), encoding="utf-8")
    return [str(environment / "bin/python"), "-I", "-S", str(client)]


def test_a_clock_that_was_set_back_costs_nothing(paths: Paths) -> None:
    """The first daemon lives a day ahead: what it writes is of tomorrow for the second."""
    code = """
    import datetime, sys, time
    real, now = datetime.datetime, time.time
    class Ahead(real):
        @classmethod
        def now(cls, tz=None):
            return real.now(tz) + datetime.timedelta(days=1)
    datetime.datetime = Ahead
    time.time = lambda: now() + 86_400
    time.time_ns = lambda: int(time.time() * 1e9)
    from memhook.daemon.server import main
    sys.exit(main())
    """
    ahead = subprocess.Popen([sys.executable, "-P", "-c", textwrap.dedent(code)], start_new_session=True)
    assert control._wait_until(lambda: control.is_running(paths), 300)
    ready(paths)
    control.called(paths, "remember", {"content": FACT})
    assert FACT in context_of(answered(event(session_id="tomorrow")))
    control.stopped(paths)
    ahead.wait(300)

    call = ready(paths)
    assert FACT in context_of(answered(event(session_id="today")))
    assert context_of(hook(event(session_id="tomorrow"))) == ""  # it still counts as shown
    call("remember", content="written after the clock was set back")
    assert call("list")["total"] == 2
    assert call("search", query="ledger replica")["results"][0]["content"] == FACT
    assert call("stats", days=1)
    assert control.called(paths, "daemon_status")["last_error"] == ""


def test_settings_that_cannot_be_read_stop_the_running_daemon_and_the_next(paths: Paths, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    paths.config.mkdir(parents=True)
    paths.config_file.write_text(f'store.uri = "{elsewhere}"\n', encoding="utf-8")
    with_a_memory(paths)
    paths.config_file.write_text(f'store.uri = "{elsewhere}"\n= oops\n', encoding="utf-8")
    for is_first in (True, False):
        for method, params in (("remember", {"content": "lost"}), ("list", {})):
            with pytest.raises(SettingsError, match=r"config\.toml cannot be read.*line 2"):
                control.called(paths, method, params)
        if is_first:
            control.stopped(paths)
            control.started(paths)
    assert context_of(hook(event())) == ""
    assert not paths.store.exists()
    paths.config_file.write_text(f'store.uri = "{elsewhere}"\n', encoding="utf-8")
    assert control.called(paths, "list", {})["total"] == 1
    assert b"primary" in answered(event()).stdout


def test_a_call_goes_on_while_a_busy_daemon_misses_a_check_or_two(
    paths: Paths, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, there = socket.socketpair()
    missed = iter([True, True])

    def checked(*_: object) -> None:
        if next(missed, False):
            raise DaemonUnavailable("no answer in time")
        there.sendall(b"the answer to the call")

    monkeypatch.setattr(control, "IMMEDIATE_SECONDS", 0.01)
    monkeypatch.setattr(control, "called", checked)
    with here, there:
        control._wait_while_healthy(paths, here)
        assert here.recv(3) == b"the"
