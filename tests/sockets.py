"""Sockets in the folders of a test, whose paths may be longer than a socket's can be."""

from __future__ import annotations

import socket
from pathlib import Path

from memhook.daemon.control import short_name


def bind(listener: socket.socket, path: Path) -> None:
    with short_name(path) as name:
        listener.bind(name)


def connect(connection: socket.socket, path: Path) -> None:
    with short_name(path) as name:
        connection.connect(name)
