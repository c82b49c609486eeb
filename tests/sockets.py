"""Sockets in the folders of a test, whose paths may be longer than a socket's can be."""

from __future__ import annotations

import socket
from pathlib import Path

from memhook.daemon import wire
from memhook.daemon.control import short_name


def bind(listener: socket.socket, path: Path) -> None:
    with short_name(path) as name:
        listener.bind(name)


def connect(connection: socket.socket, path: Path) -> None:
    with short_name(path) as name:
        connection.connect(name)


def hook_answer(connection: socket.socket) -> bytes:
    """What a daemon answers a hook, which it first tells that it is still starting, if it is."""
    size = wire.read_exactly(connection, 4)
    if size == wire.STILL_STARTING:
        size = wire.read_exactly(connection, 4)
    return wire.read_exactly(connection, int.from_bytes(size, "big"))
