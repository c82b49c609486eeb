"""One daemon per state folder, whatever happens to the folder and to the files in it."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from memhook.daemon import control, wire
from memhook.daemon.place import acquired
from memhook.daemon.wire import Request
from memhook.paths import Paths
from tests.daemon.conftest import FACT, answered, event, log_text
from tests.daemon.test_server import daemons, gone, left_behind


def remove_the_folder(state: Path) -> None:
    shutil.rmtree(state, ignore_errors=True)


def rename_the_folder(state: Path) -> None:
    state.rename(state.with_name("renamed"))


def replace_the_folder(state: Path) -> None:
    """By a copy, as a restored backup does; a socket cannot be copied."""
    state.rename(state.with_name("moved"))
    shutil.copytree(state.with_name("moved"), state, ignore=shutil.ignore_patterns("*.sock"))


def remove_the_socket(state: Path) -> None:
    (state / "daemon.sock").unlink()


def remove_the_lock(state: Path) -> None:
    (state / "daemon.lock").unlink()


def test_a_daemon_that_lost_its_place_ends_and_one_other_serves(daemon: int, paths: Paths) -> None:
    """Each harm meets the daemon that took the place of the one before."""
    for harm in (remove_the_folder, rename_the_folder, replace_the_folder, remove_the_socket, remove_the_lock):
        harm(paths.state)
        control.door(paths, "/")("status")  # at once: the next daemon starts beside the one that lost its place
        assert gone(daemon), harm
        assert FACT in answered(event(session_id=harm.__name__)).stdout.decode(), harm
        (pid,) = daemons(paths)
        assert pid != daemon, harm
        daemon = pid
    assert control.stopped(paths) == daemon
    assert left_behind(paths) <= {"write.lock"}  # of the copied folder


def test_a_daemon_that_lost_its_place_leaves_the_files_of_the_next_alone(daemon: int, paths: Paths) -> None:
    os.kill(daemon, signal.SIGSTOP)
    shutil.rmtree(paths.state)
    control.started(paths)
    successor = int(control.called(paths, "daemon_status")["pid"])
    os.kill(daemon, signal.SIGCONT)
    assert gone(daemon)
    assert int(control.called(paths, "daemon_status")["pid"]) == successor
    assert paths.daemon_lock.read_text(encoding="ascii") == f"{successor}\n"


def test_of_many_that_start_at_once_after_the_folder_was_removed_one_stays(daemon: int, paths: Paths) -> None:
    shutil.rmtree(paths.state)
    starting = [subprocess.Popen([sys.executable, "-m", "memhook.daemon"], stderr=-1) for _ in range(4)]
    assert control._wait_until(lambda: control.is_running(paths), 300)
    ended = control._wait_until(lambda: sum(one.poll() is not None for one in starting) == 3, 300)
    assert ended, [one.poll() for one in starting]
    assert gone(daemon)
    assert len(daemons(paths)) == 1
    control.stopped(paths)
    for one in starting:
        one.communicate(timeout=300)


def test_an_answer_in_hand_is_given_before_a_daemon_without_a_place_ends(daemon: int, paths: Paths) -> None:
    request = Request("call", body=json.dumps({"method": "search", "params": {"query": "the replica lags"}}).encode())
    with control._connected(paths) as connection:
        header_and_body = wire.encoded(request)
        connection.sendall(header_and_body[:-1])  # it waits for the last byte
        rename_the_folder(paths.state)
        log = paths.state.with_name("renamed") / paths.log.name
        assert control._wait_until(lambda: "stopping" in log.read_text(encoding="utf-8"), 300)
        connection.sendall(header_and_body[-1:])
        connection.settimeout(300)
        assert wire.result_of(wire.read_block(connection, 1 << 20))["results"][0]["content"] == FACT
    assert gone(daemon)


def test_the_lock_is_taken_in_the_folder_that_has_the_socket(paths: Paths, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another folder in its place a moment later must not get the socket without the lock."""
    monkeypatch.chdir(paths.state)
    flock = fcntl.flock

    def replaced_meanwhile(handle: int, operation: int) -> None:
        flock(handle, operation)
        paths.state.rename(paths.state.with_name("moved"))
        paths.state.mkdir()

    monkeypatch.setattr("memhook.daemon.place.fcntl.flock", replaced_meanwhile)
    place = acquired(paths)
    assert place is not None
    with place.listener:
        assert list(paths.state.iterdir()) == []
        assert place.is_lost()
        place.release()
    assert list(paths.state.with_name("moved").iterdir()) == []


def test_a_place_whose_folder_cannot_be_read_for_a_while_is_not_lost(
    paths: Paths, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(paths.state)
    place = acquired(paths)
    assert place is not None
    with place.listener:
        stat = os.stat

        def refused(path: Path, **options: object) -> os.stat_result:
            raise PermissionError(path)

        monkeypatch.setattr("memhook.daemon.place.os.stat", refused)
        assert not place.is_lost()
        monkeypatch.setattr("memhook.daemon.place.os.stat", stat)
        place.release()
    assert "Traceback" not in log_text(paths)
