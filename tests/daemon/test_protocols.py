"""Clients and daemons of different releases, whose protocols differ too."""

from __future__ import annotations

import json
import socket
import subprocess
import time
from pathlib import Path

import pytest

from memhook import __version__
from memhook.daemon import control, server, wire
from memhook.daemon.place import Place
from memhook.errors import MemhookError
from memhook.paths import Paths
from tests.daemon.conftest import FACT, PATIENT_CLIENT, Served, answered, event, log_text, with_a_memory
from tests.daemon.test_faults import another_version
from tests.daemon.test_server import daemons, gone, left_behind, place
from tests.patience import SECONDS
from tests.sockets import connect

__all__ = ["place"]

NEXT = str(int(wire.PROTOCOL) + 1)
PREVIOUS = str(int(wire.PROTOCOL) - 1)


def asked(paths: Paths, protocol: str, version: str, kind: str = "hook", body: bytes = b"{}") -> bytes:
    """Whatever comes back for a header of that protocol until the daemon closes the connection."""
    header = "\0".join([protocol, version, kind, "UserPromptSubmit", "1", "/"]).encode()
    with socket.socket(socket.AF_UNIX) as connection:
        connect(connection, paths.socket)
        connection.settimeout(300)
        connection.sendall(wire.block(header) + wire.block(body))
        answer = b""
        try:
            while chunk := connection.recv(1 << 16):
                answer += chunk
        except ConnectionResetError:
            pass  # it had not read the body
        return answer


def hooked(client: list[str], session: str) -> dict[str, str]:
    """What the first of several prompts with an answer gets: a daemon may be ending for another."""
    for _ in range(10):
        run = subprocess.run(
            [*client, "UserPromptSubmit", "1"],
            input=event(session_id=session),
            capture_output=True,
            timeout=2 * SECONDS,
            check=True,
        )
        if run.stdout:
            return dict(json.loads(run.stdout))
    return {}


def test_a_daemon_gives_way_to_a_client_of_a_newer_protocol(daemon: int, paths: Paths) -> None:
    assert asked(paths, NEXT, __version__) == wire.RETRY
    assert not paths.socket.exists()  # before the answer: whoever asks again meets the next daemon
    assert gone(daemon)
    assert "takes over" in log_text(paths)
    assert left_behind(paths) == set()


@pytest.mark.parametrize("protocol", [NEXT, PREVIOUS])
def test_a_newer_release_is_given_way_whatever_its_protocol(place: Place, protocol: str) -> None:
    one = server.Server(place)
    ours, theirs = socket.socketpair()
    with ours, theirs:
        one._serve_other_protocol(ours, b"", wire.Client(protocol, "99.0"))
        assert theirs.recv(10) == wire.RETRY
    assert one._stopping.is_set()
    assert not place.paths.socket.exists()


@pytest.mark.parametrize(("protocol", "version"), [(PREVIOUS, __version__), (PREVIOUS, "0.0.1"), (NEXT, "0.0.1")])
def test_an_older_client_of_another_protocol_is_told_once_what_to_do(
    served: Served, protocol: str, version: str
) -> None:
    first, second = (asked(served.paths, protocol, version) for _ in range(2))
    message = json.loads(first[4:])["systemMessage"]
    assert __version__ in message
    assert version in message
    assert "memhook daemon restart" in message
    assert second == wire.block(b"")
    assert served.is_unharmed()


def test_an_older_command_of_another_protocol_hears_why_and_can_restart(daemon: int, paths: Paths) -> None:
    search = asked(paths, PREVIOUS, "0.0.1", "call", b'{"method": "search", "params": {"query": "x"}}')
    with pytest.raises(MemhookError, match="Two versions") as refused:
        wire.result_of(search[4:])
    assert "memhook daemon restart" in refused.value.hint
    status = asked(paths, PREVIOUS, "0.0.1", "call", b'{"method": "daemon_status"}')
    assert wire.result_of(status[4:])["pid"] == daemon
    asked(paths, PREVIOUS, "0.0.1", "call", b'{"method": "stop"}')
    assert gone(daemon)


def test_a_release_with_another_protocol_takes_over_and_keeps_the_place(paths: Paths, tmp_path: Path) -> None:
    newer = another_version(tmp_path, "99.0.0", NEXT)
    first = with_a_memory(paths)
    assert FACT in str(hooked(newer, "new"))
    assert gone(first)
    (second,) = daemons(paths)

    told = hooked(PATIENT_CLIENT, "old")
    assert "99.0.0" in told["systemMessage"]
    assert [hooked(PATIENT_CLIENT, "old"), daemons(paths)] == [{}, [second]]
    assert FACT in str(hooked(newer, "new again"))

    assert control.stopped(paths) == second  # `memhook daemon restart` by the older command
    assert FACT in answered(event(session_id="back")).stdout.decode()
    assert control.called(paths, "daemon_status")["version"] == __version__


def test_a_command_of_a_release_with_another_protocol_is_carried_out(paths: Paths, tmp_path: Path) -> None:
    """Also one that may not be repeated: the older daemon has done nothing of it."""
    newer = another_version(tmp_path, "99.0.0", NEXT)
    first = with_a_memory(paths)
    (memory,) = control.called(paths, "list")["memories"]
    command = [newer[0], "-m", "memhook.cli", "forget", memory["urn"], "--yes"]
    run = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False, cwd=tmp_path)
    assert (run.returncode, run.stdout[:9]) == (0, "Forgotten"), run.stderr
    assert gone(first)
    left = subprocess.run(
        [newer[0], "-m", "memhook.cli", "list", "--json"],
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
        cwd=tmp_path,
    )
    assert json.loads(left.stdout)["memories"] == []


@pytest.mark.parametrize("protocol", [wire.PROTOCOL, NEXT])
def test_after_a_downgrade_in_place_the_older_version_serves(paths: Paths, tmp_path: Path, protocol: str) -> None:
    newer = another_version(tmp_path, "99.0.0", protocol)
    first = with_a_memory(paths)
    assert FACT in str(hooked(newer, "new"))  # of one protocol the older daemon answers this and ends
    assert gone(first)
    assert FACT in str(hooked(newer, "new again"))
    (second,) = daemons(paths)
    installed = tmp_path / "other/memhook/__init__.py"
    installed.write_text(f'__version__ = "{__version__}"\n', encoding="utf-8")
    hooked(PATIENT_CLIENT, "old")
    assert gone(second)
    assert FACT in answered(event(session_id="old again")).stdout.decode()
    assert control.called(paths, "daemon_status")["version"] == __version__


def test_an_older_client_takes_over_when_no_other_has_asked_for_long(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = server.Server(place)
    ours, theirs = socket.socketpair()
    with ours, theirs:
        theirs.sendall(wire.block(b""))
        one._serve_other_protocol(ours, b"", wire.Client(PREVIOUS, "0.0.1"))
        assert not one._stopping.is_set()
        monkeypatch.setattr(server, "UNUSED_SECONDS", time.monotonic() - one._last_understood - 1)
        one._serve_other_protocol(ours, b"", wire.Client(PREVIOUS, "0.0.1"))
        assert one._stopping.is_set()
    assert not place.paths.socket.exists()
