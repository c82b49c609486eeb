"""Connections that never show a token, as sockets see them."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
import uvicorn

from memhook.mcp_server.web_server import Connection, admit
from tests.mcp_server.serving import new_token, serving

PATIENCE = 300  # seconds until a test gives up; nothing is measured
HALF_A_HEAD = b"POST /mcp HTTP/1.1\r\nHost: localhost\r\n"
WITH_A_BODY_TO_COME = b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\nhalf"


async def reading(scope: Any, receive: Any, send: Any) -> None:
    """Answers when it has the whole body; a path that says so counts as a request with a token."""
    if scope["path"] == "/known":
        admit(scope)
    while (await receive()).get("more_body"):
        pass
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
    await send({"type": "http.response.body", "body": b"ok"})


@contextmanager
def listening(protocol: type[Connection]) -> Iterator[Callable[[], socket.socket]]:
    """A server on loopback whose connections are of this kind; gives a way to connect to it."""
    with socket.create_server(("127.0.0.1", 0)) as bound:
        server = uvicorn.Server(uvicorn.Config(reading, http=protocol, lifespan="off", log_config=None))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [bound]})
        thread.start()
        try:
            yield lambda: socket.create_connection(bound.getsockname(), timeout=PATIENCE)
        finally:
            server.should_exit = True
            thread.join(PATIENCE)


def is_answered(connection: socket.socket, path: str = "/") -> bool:
    received = b""
    try:
        connection.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        while not received.endswith(b"\r\n\r\nok"):
            received += (more := connection.recv(1000))
            if not more:
                return False
    except (ConnectionResetError, BrokenPipeError):
        return False
    return True


def is_closed(connection: socket.socket) -> bool:
    try:
        return connection.recv(1000) == b""
    except ConnectionResetError:
        return True


class Hasty(Connection):
    head_seconds = 0.2
    idle_seconds = 0.2


class Unhurried(Connection):
    """Waits long enough for a request of this process, however busy the machine is."""

    head_seconds = 4.0
    idle_seconds = 4.0


class Few(Connection):
    max_strangers = 3
    max_strangers_per_peer = 3


@pytest.mark.parametrize("sent", [b"", HALF_A_HEAD, WITH_A_BODY_TO_COME], ids=["silent", "half a head", "half a body"])
def test_who_does_not_go_on_is_disconnected(sent: bytes) -> None:
    with listening(Hasty) as connect, connect() as connection:
        connection.sendall(sent)
        assert is_closed(connection)


def test_a_second_request_on_a_connection_has_the_same_limit() -> None:
    with listening(Unhurried) as connect, connect() as connection:
        assert is_answered(connection)
        connection.sendall(HALF_A_HEAD)
        assert is_closed(connection)


def test_a_new_stranger_replaces_the_oldest_and_never_who_is_known() -> None:
    with listening(Few) as connect, ExitStack() as open_until_the_end:
        known, *strangers = [open_until_the_end.enter_context(connect()) for _ in range(2)]
        assert is_answered(known, "/known")
        assert is_answered(strangers[0])
        for _ in range(3):
            strangers.append(open_until_the_end.enter_context(connect()))
            assert is_answered(strangers[-1])
        assert is_closed(strangers[0])
        assert all(map(is_answered, strangers[1:]))
        assert is_answered(known, "/known")


@pytest.mark.parametrize("sent", [b"", HALF_A_HEAD], ids=["silent", "half a head"])
def test_a_client_with_a_token_is_served_beside_a_flood_of_half_open_connections(tmp_path: Path, sent: bytes) -> None:
    token = new_token(tmp_path)
    with serving(tmp_path) as served, ExitStack() as open_until_the_end:
        for _ in range(520):
            connection = socket.create_connection(("127.0.0.1", served.port), timeout=PATIENCE)
            open_until_the_end.enter_context(connection)
            with suppress(ConnectionResetError, BrokenPipeError):  # the first may be disconnected already
                connection.sendall(sent)
        assert [served.asked(token).status for _ in range(5)] == [200] * 5
