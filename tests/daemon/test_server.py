from __future__ import annotations

import json
import os
import platform
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, cast

import pytest

from memhook import __version__
from memhook.daemon import control, hook_client, server, wire
from memhook.daemon.place import Place, acquired
from memhook.errors import DaemonUnavailable, InvalidInput, NotFound
from memhook.paths import Paths
from tests.daemon.conftest import FACT, Served, event, log_text
from tests.sockets import connect, hook_answer

if TYPE_CHECKING:
    from memhook.hooks.runner import Runner


def daemons(paths: Paths) -> list[int]:
    """Processes of this home's daemon, from what the system lists."""
    listing = subprocess.run(["ps", "-ww", "-eo", "pid=,args="], capture_output=True, text=True, check=True).stdout
    pids = [int(line.split()[0]) for line in listing.splitlines() if "memhook.daemon" in line]
    return [pid for pid in pids if serves(pid, paths)]


def serves(pid: int, paths: Paths) -> bool:
    try:
        environment = Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:
        return False
    return f"HOME={paths.state.parents[2]}\0".encode() in environment


def left_behind(paths: Paths) -> set[str]:
    """Files that only a running daemon has a use for: sockets, locks, temporary ones."""
    state = {path.name for path in paths.state.iterdir()} - {"interpreter", "ledger.sqlite3", "memhook.log", "one-part"}
    store = {path.name for path in paths.store.iterdir()} if paths.store.exists() else set()
    return state | (store - {"memories.lance", ".masked", ".snapshot.arrow"})


def gone(pid: int) -> bool:
    return control._wait_until(lambda: not control._is_alive(pid), 300)


@pytest.fixture
def place(paths: Paths, monkeypatch: pytest.MonkeyPatch) -> Iterator[Place]:
    """Of a daemon that is this process."""
    monkeypatch.chdir(paths.state)  # back again after the test
    mine = acquired(paths)
    assert mine is not None
    yield mine
    mine.listener.close()
    mine.release()


def test_who_comes_while_it_loads_is_told_so_however_many_they_are(place: Place) -> None:
    """More than there are workers: the last must not hear of it when its deadline has passed."""
    loading = server.Server(place)  # whose loading never ends, as far as the clients can tell
    threading.Thread(target=loading._accept, daemon=True).start()
    clients = [socket.socket(socket.AF_UNIX) for _ in range(3 * server.WORKERS)]
    for client in clients:
        connect(client, place.paths.socket)
        client.sendall(wire.encoded(wire.Request("hook", "UserPromptSubmit", body=event())))
    for client in clients:
        client.settimeout(300)
        assert wire.read_exactly(client, 4) == wire.STILL_STARTING
    loading._runner.set_exception(RuntimeError("the end of the test"))
    for client in clients:
        assert wire.read_block(client, 100) == b""
        client.close()
    loading.stop("the test is over")


def test_a_second_daemon_leaves_at_once(served: Served) -> None:
    subprocess.run(
        [sys.executable, "-m", "memhook.daemon"], check=True, timeout=300, env={**os.environ, "HOME": served.home}
    )
    assert served.is_unharmed()


def test_stopping_leaves_no_process_and_no_socket(daemon: int, paths: Paths) -> None:
    assert control.stopped(paths) == daemon
    assert not paths.socket.exists()
    assert daemons(paths) == []
    assert control.stopped(paths) is None


def test_sigterm_is_a_clean_end(daemon: int, paths: Paths) -> None:
    os.kill(daemon, signal.SIGTERM)
    assert gone(daemon)
    assert left_behind(paths) == set()
    assert "stopped" in log_text(paths)


def test_an_idle_daemon_ends_by_itself(paths: Paths) -> None:
    paths.config_file.parent.mkdir(parents=True)
    paths.config_file.write_text("[daemon]\nidle_minutes = 0.005\n", encoding="utf-8")
    control.started(paths)
    pid = int(control.called(paths, "daemon_status")["pid"])
    control.called(paths, "status")
    assert gone(pid)
    assert "idle" in log_text(paths)
    assert left_behind(paths) == set()


def test_who_is_still_being_answered_keeps_it_from_being_idle(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    now = iter(range(0, 10_000_000, 100_000))
    monkeypatch.setattr("memhook.daemon.server.time.monotonic", lambda: float(next(now)))
    one = server.Server(place)
    with one._busy():
        assert not one._rested(server.USELESS_SECONDS)
    assert one._rested(server.USELESS_SECONDS)


def test_a_newer_version_takes_over_after_its_answer(daemon: int, paths: Paths) -> None:
    with socket.socket(socket.AF_UNIX) as connection:
        connect(connection, paths.socket)
        connection.sendall(wire.encoded(wire.Request("hook", "UserPromptSubmit", body=event(), version="99.0.0")))
        assert FACT in hook_answer(connection).decode()
        connection.sendall(wire.ACKNOWLEDGED)
    assert gone(daemon)
    assert "99.0.0 takes over" in log_text(paths)
    assert left_behind(paths) == set()


def test_an_older_version_is_served_and_changes_nothing(served: Served) -> None:
    with socket.socket(socket.AF_UNIX) as connection:
        connect(connection, served.paths.socket)
        connection.sendall(wire.encoded(wire.Request("hook", "UserPromptSubmit", body=event(), version="0.0.1")))
        assert FACT in hook_answer(connection).decode()
    assert served.is_unharmed()


@pytest.mark.parametrize(
    "noise",
    [
        b"",
        b"GET / HTTP/1.1\r\n\r\n",
        b"\x00\x00\x00\x05hello",
        b"\xff\xff\xff\xff",
        wire.block(b"9\0x\0hook\0\01\0") + wire.block(b""),
        wire.block(b"1\0x\0call\0\01\0/") + wire.block(b"not json"),
        wire.block(b"1\0x\0call\0\01\0/") + wire.block(b'{"method": 5}'),
        wire.block(b"1\0x\0nonsense\0\0many\0/") + wire.block(b""),
    ],
)
def test_it_survives_whatever_a_peer_sends(served: Served, noise: bytes) -> None:
    with socket.socket(socket.AF_UNIX) as connection:
        connect(connection, served.paths.socket)
        connection.sendall(noise)
        connection.shutdown(socket.SHUT_WR)
        with suppress(ConnectionResetError):  # it may hang up before it has read everything
            while connection.recv(4096):
                pass
    assert served.is_unharmed()


def test_errors_come_back_as_what_they_are(served: Served) -> None:
    with pytest.raises(NotFound, match="zzzzzzzzzzzz"):
        control.called(served.paths, "get", {"references": ["zzzzzzzzzzzz"]})
    with pytest.raises(InvalidInput, match="no call"):
        control.called(served.paths, "nonsense")


def test_writers_at_the_same_time_lose_nothing_with_and_without_the_daemon(daemon: int, paths: Paths) -> None:
    """Those without are a command and an engine in this process."""

    def through_daemon(number: int) -> None:
        control.called(paths, "remember", {"content": f"through the daemon, number {number}"})

    def lines(which: str) -> list[str]:
        return [json.dumps({"text": f"without it, {which} {number}"}) for number in range(10)]

    command = [sys.executable, "-m", "memhook.cli", "--no-daemon", "import", "-"]
    writer = subprocess.Popen(command, stdin=-1, stdout=-1, text=True)
    here = control.door(paths, "/", use_daemon=False)
    with ThreadPoolExecutor(5) as pool:
        waiting = [pool.submit(through_daemon, number) for number in range(12)]
        imported = pool.submit(here, "import_lines", lines=list(enumerate(lines("here"), 1)))
        writer.communicate("\n".join(lines("command")) + "\n", timeout=300)
        for write in waiting:
            write.result()
        assert imported.result()["outcomes"] == {"stored": 10}
    assert writer.returncode == 0
    assert control.called(paths, "status")["memories"] == 1 + 12 + 20


def test_what_was_acknowledged_survives_a_kill_and_a_command_does_not_notice(daemon: int, paths: Paths) -> None:
    call = control.door(paths, "/")
    urn = call("remember", content="acknowledged, then killed")["memory"]["urn"]
    os.kill(daemon, signal.SIGKILL)
    assert call("get", references=[urn])[0]["content"] == "acknowledged, then killed"


def test_status_tells_who_it_is(served: Served) -> None:
    status = control.called(served.paths, "daemon_status")
    assert status["version"] == __version__
    assert status["requests"] > 0
    assert 50 < status["memory_mb"] < 2000
    assert status["last_error"] == ""


def test_it_records_the_interpreter_for_the_launcher(served: Served) -> None:
    assert served.paths.interpreter.read_text(encoding="utf-8").splitlines() == [
        sys.executable,
        hook_client.__file__,
        __version__,
    ]


def test_its_files_are_private(served: Served) -> None:
    files = [path for folder in (served.paths.state, served.paths.data) for path in folder.rglob("*")]
    assert files
    assert [path for path in (*files, served.paths.state, served.paths.data) if path.stat().st_mode & 0o077] == []


def test_without_a_daemon_a_call_says_so(paths: Paths) -> None:
    with pytest.raises(DaemonUnavailable, match="No daemon is running"):
        control.called(paths, "status")


class _Loaded:
    """A runner whose engine, itself, counts how often it gives memory back."""

    times = 0

    @property
    def engine(self) -> _Loaded:
        return self

    def give_memory_back(self, is_quiet: bool) -> None:
        self.times += 1


@pytest.mark.parametrize("is_quiet", [True, False])
def test_memory_is_given_back_when_it_has_grown(place: Place, monkeypatch: pytest.MonkeyPatch, is_quiet: bool) -> None:
    sizes = iter([300.0, 280.0, 285.0, 330.0, 290.0])
    monkeypatch.setattr(server, "_resident_megabytes", lambda: next(sizes))
    one, loaded = server.Server(place), _Loaded()
    monkeypatch.setattr(one, "_rested", lambda _: is_quiet)
    one._runner.set_result(cast("Runner", loaded))
    for _ in range(3):
        one._give_memory_back()
    assert loaded.times == 2  # at first and after 50 MB more, not after 5


def test_what_could_not_be_given_back_during_an_import_is_given_back_after_it(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes = iter([300.0, 280.0, 720.0, 700.0, 705.0, 320.0])
    monkeypatch.setattr(server, "_resident_megabytes", lambda: next(sizes))
    one, loaded = server.Server(place), _Loaded()
    one._runner.set_result(cast("Runner", loaded))
    for is_quiet in (True, False, True):
        monkeypatch.setattr(one, "_rested", lambda _, quiet=is_quiet: quiet)
        one._give_memory_back()
    assert loaded.times == 3


UNMAPPED = """
import numpy, re
from memhook.store.table.release import unmap_unused

def of_files():
    return int(re.search(r"RssFile:[ \\t]+([0-9]+)", open("/proc/self/status").read())[1])

before, product = of_files(), numpy.arange(100.0) @ numpy.arange(100.0)
unmap_unused()
print(before - of_files(), (numpy.arange(100.0) @ numpy.arange(100.0)) == product)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_code_of_libraries_is_unmapped_and_used_again() -> None:
    run = subprocess.run([sys.executable, "-c", UNMAPPED], capture_output=True, text=True, check=True)
    kilobytes, is_same = run.stdout.split()
    assert int(kilobytes) > 8_000
    assert is_same == "True"


def test_a_daemon_is_quiet_some_seconds_after_its_last_request(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    now = iter([0.0, 0.0, 1.0, 1.0 + server.QUIET_SECONDS, 2.0 + server.QUIET_SECONDS])
    monkeypatch.setattr("memhook.daemon.server.time.monotonic", lambda: next(now))
    one = server.Server(place)
    with one._busy():
        assert not one._rested(server.QUIET_SECONDS)
    assert [one._rested(server.QUIET_SECONDS) for _ in range(2)] == [False, True]


ARENAS_OF_MANY_THREADS = """
from concurrent.futures import ThreadPoolExecutor
from memhook.daemon.server import WORKERS, set_up_libraries
import ctypes, threading

set_up_libraries()
import pyarrow

libc, together = ctypes.CDLL(None), threading.Barrier(WORKERS)
libc.malloc.restype = ctypes.c_void_p
with ThreadPoolExecutor(WORKERS) as pool:
    list(pool.map(lambda _: (together.wait(), libc.malloc(1000)), range(WORKERS)))
libc.fopen.restype = ctypes.c_void_p
libc.malloc_info(0, ctypes.c_void_p(libc.fopen(b"/dev/stdout", b"w")))
libc.fflush(None)
print(pyarrow.default_memory_pool().backend_name)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="others have no arenas")
def test_sixteen_threads_share_the_memory_that_each_of_them_frees() -> None:
    run = subprocess.run([sys.executable, "-c", ARENAS_OF_MANY_THREADS], capture_output=True, text=True, check=True)
    assert run.stdout.count("<heap nr=") <= server.ARENAS
    assert run.stdout.endswith("system\n")


ARROW_WITHOUT_MORE = """
from memhook.daemon.server import set_up_libraries
import sys

set_up_libraries()
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from memhook.store.cache.snapshot import _indices

print(pa.table({"id": ["a", "b", "c"]}).take(_indices(np.array([2, 0])))["id"].to_pylist(), pc.add(1, 2))
print("numpy.ma" in sys.modules, hasattr(sys.modules["pyarrow.vendored.docscrape"], "__file__"))
"""


def test_arrow_is_imported_without_masked_arrays_and_the_parser_of_its_documentation() -> None:
    run = subprocess.run([sys.executable, "-c", ARROW_WITHOUT_MORE], capture_output=True, text=True, check=True)
    assert run.stdout == "['c', 'a'] 3\nFalse False\n"
