"""The protocol of the daemon: length-prefixed blocks over a Unix socket. hook_client has its own implementation."""

from __future__ import annotations

import json
import os
import socket
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from memhook import __version__, errors

PROTOCOL = "1"
ACKNOWLEDGED = b"\x06"
STILL_STARTING = b"\xff\xff\xff\xff"
"""In place of a length: the answer follows, after the daemon has loaded."""
RETRY = b"\xff\xff\xff\xfe"
"""In place of a length: nothing was done, this daemon stops for a newer version; retry with the next one."""
MAX_HEADER = 1 << 20
MAX_BODY = 64 << 20
_UCRED_BYTES = 12  # Linux: pid, uid, gid
_SOL_LOCAL, _LOCAL_PEERCRED, _XUCRED_BYTES = 0, 1, 76  # macOS: version, uid, groups


class BadRequest(Exception):
    """The peer does not speak this protocol."""


class ConnectionClosed(Exception):
    """The peer closed the connection early."""


class Retry(Exception):
    """The peer stops for a newer version and has done nothing."""


@dataclass(frozen=True, slots=True)
class Client:
    """A client: the first two fields of a header, in every protocol past and future."""

    protocol: str
    version: str

    def is_newer(self) -> bool:
        """Return whether the client is newer than this code; ties are broken by the protocol."""
        theirs = (_numbers(self.version), _numbers(self.protocol))
        return theirs > (_numbers(__version__), _numbers(PROTOCOL))


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version[:100].split(".") if part.isdecimal())


@dataclass(frozen=True, slots=True)
class Request:
    """A request; `kind` is "hook" (the body is the hook's stdin) or "call" (the body is JSON)."""

    kind: str
    event: str = ""
    part: int = 1
    directory: str = ""
    environment: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    version: str = __version__


def encoded(request: Request) -> bytes:
    fields = [
        PROTOCOL,
        request.version,
        request.kind,
        request.event,
        str(request.part),
        request.directory,
        *(f"{name}={value}" for name, value in request.environment.items()),
    ]
    header = "\0".join(fields).encode("utf-8", "surrogateescape")
    return block(header) + block(request.body)


def client_of(header: bytes) -> Client:
    protocol, version, *_ = [*header.decode("utf-8", "surrogateescape").split("\0", 2), ""]
    return Client(protocol, version)


def decoded(header: bytes, body: bytes) -> Request:
    protocol, *fields = header.decode("utf-8", "surrogateescape").split("\0")
    if protocol != PROTOCOL:
        raise BadRequest(f"protocol {protocol[:20]!r} is not {PROTOCOL}")
    try:
        version, kind, event, part, directory, *variables = fields
        environment = dict(variable.split("=", 1) for variable in variables)
        return Request(kind, event, int(part), directory, environment, body, version)
    except ValueError as error:
        raise BadRequest(f"the header has {len(fields)} fields: {error}") from error


def block(data: bytes) -> bytes:
    return len(data).to_bytes(4, "big") + data


def read_block(connection: socket.socket, limit: int) -> bytes:
    prefix = read_exactly(connection, 4)
    if prefix == RETRY:
        raise Retry
    size = int.from_bytes(prefix, "big")
    if size > limit:
        raise BadRequest(f"a block of {size} bytes exceeds {limit}")
    return read_exactly(connection, size)


def read_exactly(connection: socket.socket, size: int) -> bytes:
    data = bytearray()
    while len(data) < size:
        chunk = connection.recv(min(size - len(data), 1 << 20))
        if not chunk:
            raise ConnectionClosed
        data += chunk
    return bytes(data)


def is_same_user(connection: socket.socket) -> bool:
    return peer_uid(connection) == os.getuid()


def peer_uid(connection: socket.socket) -> int:
    """Return the user id of the peer, or -1 if the system does not report it."""
    try:
        if hasattr(socket, "SO_PEERCRED"):
            return uid_in(connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _UCRED_BYTES))
        return uid_in(connection.getsockopt(_SOL_LOCAL, _LOCAL_PEERCRED, _XUCRED_BYTES))
    except OSError:
        return -1


def uid_in(credentials: bytes) -> int:
    """Return the second 32-bit number, which is the user id in the structures of both systems."""
    return int.from_bytes(credentials[4:8], sys.byteorder) if len(credentials) >= 8 else -1


def result_block(result: Any) -> bytes:
    return json.dumps({"result": result}, ensure_ascii=False).encode("utf-8", "surrogatepass")


def error_block(error: errors.MemhookError) -> bytes:
    return json.dumps({"error": [type(error).__name__, error.message, error.hint]}).encode()


def result_of(answer: bytes) -> Any:
    """Return the result of a call; raise the error that the other side reports."""
    parsed = json.loads(answer.decode("utf-8", "surrogatepass"))
    if "error" in parsed:
        name, message, hint = parsed["error"]
        raise getattr(errors, name, errors.MemhookError)(message, hint)
    return parsed["result"]
