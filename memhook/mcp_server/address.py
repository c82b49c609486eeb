"""The address to listen on: HOST:PORT as it is typed, and the bound socket."""

from __future__ import annotations

import errno
import ipaddress
import socket
from dataclasses import dataclass

from memhook.errors import InvalidInput

LOOPBACK = "127.0.0.1"
BACKLOG = 128
LARGEST_PORT = 65535


@dataclass(frozen=True, slots=True)
class Address:
    host: str
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def address_of(text: str) -> Address:
    """Parse HOST:PORT; without a host, as in PORT or :PORT, it is loopback."""
    host, colon, port = text.strip().rpartition(":")
    host = host.strip()
    if host.startswith("[") and host.endswith("]"):
        host = host[1:-1]
    elif ":" in host:
        raise InvalidInput(f"{text!r} is not HOST:PORT.", "An address of IPv6 goes into brackets: [::1]:8765")
    if not (port.isascii() and port.isdigit() and int(port) <= LARGEST_PORT) or (host and not colon):
        raise InvalidInput(f"{text!r} is not HOST:PORT.", "Give a port from 0 to 65535: --http 8765 or 127.0.0.1:8765")
    return Address(host or LOOPBACK, int(port))


def listening(address: Address) -> socket.socket:
    """Return a listening socket; raise InvalidInput with the reason when that fails."""
    try:
        found = socket.getaddrinfo(address.host, address.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (OSError, UnicodeError):
        raise InvalidInput(f"The host {address.host!r} is not known.", _WHERE) from None
    family, kind, protocol, _, place = found[0]
    bound = socket.socket(family, kind, protocol)
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind(place)
        bound.listen(BACKLOG)
    except OSError as error:
        bound.close()
        raise _in_the_way(address, error) from error
    return bound


def is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


_WHERE = "Give an address of this machine, or only the port to listen on loopback: --http 8765"


def _in_the_way(address: Address, error: OSError) -> InvalidInput:
    match error.errno:
        case errno.EADDRINUSE:
            return InvalidInput(f"{address} is in use already.", "Use another port, or 0 for a free one.")
        case errno.EADDRNOTAVAIL:
            return InvalidInput(f"{address.host} is not an address of this machine.", _WHERE)
        case errno.EACCES | errno.EPERM:
            return InvalidInput(f"Port {address.port} is not open to you.", "Use one above 1023.")
        case _:
            return InvalidInput(f"{address} cannot be listened on ({error.strerror}).", _WHERE)
