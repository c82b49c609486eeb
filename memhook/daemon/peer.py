"""Who is at the other end of a Unix socket, as the kernel says."""

from __future__ import annotations

import os
import socket
import sys

_UCRED_BYTES = 12  # Linux: pid, uid, gid
_SOL_LOCAL, _LOCAL_PEERCRED, _XUCRED_BYTES = 0, 1, 76  # macOS: version, uid, groups


def is_same_user(connection: socket.socket) -> bool:
    return peer_uid(connection) == os.getuid()


def peer_uid(connection: socket.socket) -> int:
    """-1 when the system does not say: then it is nobody's."""
    try:
        if hasattr(socket, "SO_PEERCRED"):
            return uid_in(connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _UCRED_BYTES))
        return uid_in(connection.getsockopt(_SOL_LOCAL, _LOCAL_PEERCRED, _XUCRED_BYTES))
    except OSError:
        return -1


def uid_in(credentials: bytes) -> int:
    """In both systems' structures the second of the 32-bit numbers."""
    return int.from_bytes(credentials[4:8], sys.byteorder) if len(credentials) >= 8 else -1
