"""Only this user: what others have made is refused, and what may not be written is said."""

from __future__ import annotations

import json
import os
import socket
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from memhook.daemon import control, hook_client, wire
from memhook.errors import DaemonUnavailable, StoreError
from memhook.paths import Paths, private_directory, refuse_foreign
from tests.daemon.conftest import Served, event, hook
from tests.unprivileged import NOBODY, open_folder, ran, started

as_root = pytest.mark.skipif(os.getuid() != 0, reason="only root can make files of another user")


@pytest.fixture
def folder() -> Iterator[Path]:
    with open_folder() as folder:
        yield folder


def test_the_daemon_listens_on_no_network_and_its_socket_is_private(served: Served) -> None:
    assert served.paths.socket.stat().st_mode & 0o777 == 0o600
    assert served.paths.state.stat().st_mode & 0o777 == 0o700
    inodes = {str(handle.readlink()) for handle in Path(f"/proc/{served.pid}/fd").iterdir() if handle.is_symlink()}
    lines = [
        line.split()
        for table in ("tcp", "tcp6", "udp", "udp6")
        if (file := Path(f"/proc/{served.pid}/net/{table}")).exists()
        for line in file.read_text(encoding="ascii").splitlines()[1:]
    ]
    assert [line for line in lines if f"socket:[{line[9]}]" in inodes] == []


@as_root
def test_the_kernel_says_that_a_peer_is_another_user(folder: Path) -> None:
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(folder / "s"))
        (folder / "s").chmod(0o777)
        listener.listen()
        ran("socket.socket(socket.AF_UNIX).connect(sys.argv[1])", folder, str(folder / "s"))
        connection, _ = listener.accept()
        with connection:
            assert wire.peer_uid(connection) == NOBODY
            assert not wire.is_same_user(connection)
    left, right = socket.socketpair(socket.AF_UNIX)
    with left, right:
        assert wire.is_same_user(left)


@as_root
def test_a_request_of_another_user_gets_no_answer_and_is_noted(served: Served, folder: Path) -> None:
    """Even if the door of its folder stood open."""
    served.paths.state.chmod(0o711)
    served.paths.socket.chmod(0o777)
    code = """
    connection = socket.socket(socket.AF_UNIX)
    connection.connect("daemon.sock")
    try:
        connection.sendall(wire.encoded(wire.Request("hook", "UserPromptSubmit", body=sys.argv[1].encode())))
        print(connection.recv(100))
    except ConnectionError:
        print("hung up")
    """
    try:
        assert ran(code, folder, event().decode(), start_in=served.paths.state) in ("b''\n", "hung up\n")
    finally:
        served.paths.socket.chmod(0o600)
        served.paths.state.chmod(0o700)
    assert "refused a connection of another user" in served.paths.log.read_text(encoding="utf-8")
    assert served.is_unharmed()


def test_where_macos_and_linux_put_the_user_id() -> None:
    linux = (1234).to_bytes(4, sys.byteorder) + (1000).to_bytes(4, sys.byteorder) + bytes(4)
    macos = bytes(4) + (501).to_bytes(4, sys.byteorder) + bytes(68)
    assert (wire.uid_in(linux), wire.uid_in(macos), wire.uid_in(b"")) == (1000, 501, -1)


@as_root
def test_a_socket_of_another_user_is_neither_asked_nor_trusted(paths: Paths, folder: Path) -> None:
    code = """
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(sys.argv[1])
    listener.listen()
    print(flush=True)
    os.close(1)
    connection, _ = listener.accept()
    connection.settimeout(300)
    Path(sys.argv[2]).write_bytes(connection.recv(1000))
    kept = []
    while True:
        kept.append(listener.accept())
    """
    impostor = started(code, folder, str(folder / "s"), str(folder / "heard"))
    assert impostor.stdout is not None
    try:
        impostor.stdout.read(1)
        private_directory(paths.state)
        (folder / "s").rename(paths.socket)
        run = hook(event())
        assert run.returncode == 0
        assert "another user" in json.loads(run.stdout)["systemMessage"]
        assert hook(event(), "UserPromptSubmit", "1").stdout == b""  # told once
        with pytest.raises(DaemonUnavailable, match="belongs to another user"):
            control.called(paths, "daemon_status")
    finally:
        impostor.kill()
        impostor.communicate()
    assert f"belongs to another user (uid {NOBODY})" in paths.log.read_text(encoding="utf-8")
    heard = folder / "heard"
    assert not heard.exists() or heard.read_bytes() == b""
    with pytest.raises(DaemonUnavailable, match="did not start"):
        control.started(paths)
    assert "the daemon cannot start" in paths.log.read_text(encoding="utf-8")
    paths.socket.unlink()


@as_root
@pytest.mark.parametrize("kind", ["directory", "link", "file"])
def test_what_another_user_has_made_in_its_place_is_refused_with_its_name(tmp_path: Path, kind: str) -> None:
    place = tmp_path / "memhook"
    if kind == "directory":
        place.mkdir()
    elif kind == "link":
        (tmp_path / "mine").mkdir()
        place.symlink_to(tmp_path / "mine")
    else:
        place.touch()
    os.chown(place, NOBODY, NOBODY, follow_symlinks=False)
    with pytest.raises(StoreError, match=f"{place} belongs to another user") as refused:
        private_directory(place)
    assert str(place) in refused.value.hint
    with pytest.raises(StoreError, match="belongs to another user"):
        refuse_foreign(place)


@as_root
def test_a_store_of_another_user_is_refused(paths: Paths) -> None:
    paths.store.mkdir(parents=True)
    os.chown(paths.store, NOBODY, NOBODY)
    with pytest.raises(StoreError, match="belongs to another user"):
        control.door(paths, "/", use_daemon=False)("list")


def test_without_any_private_place_the_hook_says_so_at_the_start_of_a_session(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def nowhere() -> str:
        raise OSError("neither here nor there")

    monkeypatch.setattr(hook_client, "state_directory", nowhere)
    monkeypatch.setattr(hook_client, "ENDING_SIGNALS", ())  # those of this process stay as they are
    assert hook_client.main(["SessionStart", "1"]) == 0
    assert "private to you" in json.loads(capfd.readouterr().out)["systemMessage"]
    assert hook_client.main(["UserPromptSubmit", "1"]) == 0
    assert capfd.readouterr().out == ""


STORED = """
runner = Runner(user_paths())
runner.call("remember", {"content": "Ledger reconciliation must read from the primary, as the replica lags."}, "/", {})
store = user_paths().store
"""


def test_a_store_that_may_only_be_read_is_read_and_a_write_says_why_not(folder: Path) -> None:
    code = (
        STORED
        + """
for path in [store, *store.rglob("*")]:
    path.chmod(0o500 if path.is_dir() else 0o400)
reader = Runner(user_paths())
body = json.dumps({"session_id": "s", "prompt": "why does the ledger reconciliation fail when the replica lags?"})
text, delivered = reader.hook("UserPromptSubmit", 1, "/", {}, body.encode())
delivered()
try:
    reader.call("remember", {"content": "another"}, "/", {})
except MemhookError as error:
    print(error.message, error.hint)
print("primary" in text.decode(), reader.call("list", {}, "/", {})["total"])
for path in [store, *store.rglob("*")]:
    path.chmod(0o700 if path.is_dir() else 0o600)
"""
    )
    said = ran(code, folder)
    assert "cannot be written" in said
    assert "Check the permissions" in said
    assert said.endswith("True 1\n")


def test_a_store_that_may_not_be_read_is_named_and_left(folder: Path) -> None:
    code = (
        STORED
        + """
store.chmod(0)
try:
    Runner(user_paths()).call("list", {}, "/", {})
except MemhookError as error:
    print(error.message)
store.chmod(0o700)
"""
    )
    assert "cannot be read" in ran(code, folder)


def test_settings_that_may_no_longer_be_read_stop_writing(folder: Path) -> None:
    code = """
config = user_paths().config_file
config.parent.mkdir(parents=True)
config.write_text("max_tokens = 3000")
runner = Runner(user_paths())
print(runner.call("list", {}, "/", {})["total"])
for path in (config, config.parent):
    path.chmod(0)
    try:
        runner.call("remember", {"content": "a fact"}, "/", {})
    except MemhookError as error:
        print(type(error).__name__, error.message)
    path.chmod(0o700)
print(runner.call("list", {}, "/", {})["total"])
"""
    first, *refused, last = ran(code, folder).splitlines()
    assert (first, last) == ("0", "0")
    assert len(refused) == 2
    assert all(line.startswith("SettingsError") and "Permission denied" in line for line in refused)
