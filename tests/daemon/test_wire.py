from __future__ import annotations

import socket
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memhook import errors
from memhook.daemon import hook_client, wire

NAMES = st.text(st.characters(codec="utf-8", exclude_characters="\0="), min_size=1, max_size=20)
TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=50)


@given(
    event=TEXT,
    part=st.integers(0, 9),
    directory=TEXT,
    environment=st.dictionaries(NAMES, TEXT, max_size=4),
    body=st.binary(max_size=500),
)
def test_a_request_comes_out_as_it_went_in(
    event: str, part: int, directory: str, environment: dict[str, str], body: bytes
) -> None:
    request = wire.Request("hook", event, part, directory, environment, body)
    ours, theirs = socket.socketpair()
    with ours, theirs:
        ours.sendall(wire.encoded(request))
        header = wire.read_block(theirs, wire.MAX_HEADER)
        assert wire.decoded(header, wire.read_block(theirs, wire.MAX_BODY)) == request


def test_the_hook_client_speaks_the_same_protocol(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMHOOK_MAX_TOKENS", "7")
    monkeypatch.setenv("COPILOT_CLI", "1")
    monkeypatch.setenv("SOME_API_KEY", "secret")
    monkeypatch.setenv("MEMHOOK_CLIENT", "claude")
    data = hook_client.request("SessionStart", "2", "codex", "/some/where", b'{"a": 1}')
    size = int.from_bytes(data[:4], "big")
    request = wire.decoded(data[4 : 4 + size], data[8 + size :])
    assert (request.kind, request.event, request.part, request.directory) == ("hook", "SessionStart", 2, "/some/where")
    assert request.environment == {"MEMHOOK_MAX_TOKENS": "7", "COPILOT_CLI": "1", "MEMHOOK_CLIENT": "codex"}
    assert request.body == b'{"a": 1}'


@given(st.binary(max_size=200))
def test_any_header_is_a_request_or_a_bad_request(header: bytes) -> None:
    with suppress(wire.BadRequest):
        wire.decoded(header, b"")


HEADER = ["1.2.3", "hook", "SessionStart", "2", "/some/where", "A=b=c"]


def header(*fields: str) -> bytes:
    return "\0".join(fields).encode()


def test_a_header_is_read_field_by_field() -> None:
    request = wire.decoded(header(wire.PROTOCOL, *HEADER), b"body")
    assert request == wire.Request("hook", "SessionStart", 2, "/some/where", {"A": "b=c"}, b"body", "1.2.3")


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        (["0", *HEADER], "protocol"),
        (["", *HEADER], "protocol"),
        ([wire.PROTOCOL], "0 fields"),
        ([wire.PROTOCOL, *HEADER[:4]], "4 fields"),
        ([wire.PROTOCOL, *HEADER[:3], "two", "/"], "two"),
        ([wire.PROTOCOL, *HEADER, "a variable without a value"], "7 fields"),
    ],
)
def test_a_header_that_cannot_be_read_is_a_bad_request_with_the_reason(fields: list[str], reason: str) -> None:
    with pytest.raises(wire.BadRequest, match=reason):
        wire.decoded(header(*fields), b"")


def test_a_block_above_the_limit_is_refused_before_it_is_read() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        ours.sendall((1 << 31).to_bytes(4, "big"))
        with pytest.raises(wire.BadRequest, match="exceeds"):
            wire.read_block(theirs, 1000)


def test_an_error_over_there_is_the_same_error_here() -> None:
    with pytest.raises(errors.NotFound) as raised:
        wire.result_of(wire.error_block(errors.NotFound("No memory is called x.", "See: memhook list")))
    assert (raised.value.message, raised.value.hint) == ("No memory is called x.", "See: memhook list")


@pytest.mark.parametrize(
    ("given", "understood"),
    [
        ([], ("", "1", "")),
        (["SessionStart"], ("SessionStart", "1", "")),
        (["SessionStart", "2", "--client", "qwen"], ("SessionStart", "2", "qwen")),
        (["--client", "codex", "UserPromptSubmit"], ("UserPromptSubmit", "1", "codex")),
        (["UserPromptSubmit", "two", "--client"], ("UserPromptSubmit", "1", "")),
    ],
)
def test_the_hook_client_takes_event_part_and_assistant(given: list[str], understood: tuple[str, str, str]) -> None:
    assert hook_client.arguments(given) == understood
