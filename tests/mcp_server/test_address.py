from __future__ import annotations

import socket
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memhook.errors import InvalidInput
from memhook.mcp_server.address import Address, address_of, is_loopback, listening


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("8765", Address("127.0.0.1", 8765)),
        (":8765", Address("127.0.0.1", 8765)),
        ("0", Address("127.0.0.1", 0)),
        ("localhost:1", Address("localhost", 1)),
        ("0.0.0.0:65535", Address("0.0.0.0", 65535)),
        ("[::1]:80", Address("::1", 80)),
    ],
)
def test_a_port_alone_is_on_loopback_and_a_host_is_what_was_typed(typed: str, meant: Address) -> None:
    assert address_of(typed) == meant
    assert address_of(str(meant)) == meant


@pytest.mark.parametrize("typed", ["", ":", "host", "host:", "host:x", "::1:80", "65536", "-1", "1.5", "٣", "h:80:80"])
def test_what_is_no_address_is_refused(typed: str) -> None:
    with pytest.raises(InvalidInput, match="HOST:PORT"):
        address_of(typed)


@given(st.text(max_size=12))
def test_any_text_is_an_address_or_refused(text: str) -> None:
    with suppress(InvalidInput):
        assert 0 <= address_of(text).port <= 65535


def test_a_socket_waits_at_the_address_and_a_second_one_is_told() -> None:
    with listening(Address("127.0.0.1", 0)) as bound:
        port = bound.getsockname()[1]
        socket.create_connection(("127.0.0.1", port), timeout=5).close()
        with pytest.raises(InvalidInput, match="in use"):
            listening(Address("127.0.0.1", port))


@pytest.mark.parametrize("host", ["198.51.100.7", "no such host", "x" * 300, "a..b"])
def test_a_host_that_is_not_of_this_machine_is_told(host: str) -> None:
    with pytest.raises(InvalidInput):
        listening(Address(host, 0))


def test_loopback_is_told_from_everything_else() -> None:
    assert [is_loopback(host) for host in ("127.0.0.1", "127.8.8.8", "::1")] == [True] * 3
    assert [is_loopback(host) for host in ("0.0.0.0", "::", "192.168.1.1", "name")] == [False] * 4
