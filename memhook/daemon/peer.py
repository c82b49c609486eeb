"""The user at the other end of a Unix socket, from the kernel."""

from __future__ import annotations

import os
import socket
import sys

_UCRED_BYTES = 12  # Linux: pid, uid, gid
_SOL_LOCAL, _LOCAL_PEERCRED, _XUCRED_BYTES = 0, 1, 76  # macOS: version, uid, groups


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
