from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Collection
from io import BytesIO
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client, StdioServerParameters, types
from mcp.client.stdio import stdio_client

from memhook.engine.scopes import DEFAULT_SCOPES, Rights
from memhook.mcp_server.server import run
from memhook.mcp_server.stdio import PROTOCOLS, WITHOUT_HANDSHAKE, Wire, answered_early, early_answer
from tests.mcp_server.test_tools import DEPLOY

SERVER = [sys.executable, "-m", "memhook.cli", "mcp"]


def hello(version: str = "2025-06-18", number: Any = 0, **params: Any) -> dict[str, Any]:
    client = {"name": "test", "version": "1"}
    given = {"protocolVersion": version, "capabilities": {}, "clientInfo": client, **params}
    return {"jsonrpc": "2.0", "id": number, "method": "initialize", "params": given}


INITIALIZED = {"jsonrpc": "2.0", "method": "notifications/initialized"}


def lines(*messages: dict[str, Any]) -> bytes:
    return b"".join(json.dumps(message).encode() + b"\n" for message in messages)


def spoken(command: list[str], *messages: dict[str, Any]) -> list[Any]:
    """What the server says; each line is parsed, so that anything but protocol fails."""
    ran = subprocess.run(command, input=lines(*messages), capture_output=True, timeout=300, check=True)
    return [json.loads(line) for line in ran.stdout.splitlines()]


def by_sdk(*messages: dict[str, Any]) -> list[Any]:
    """What the SDK alone answers, as if there were no early answer."""
    out = BytesIO()
    run(lambda *_, **__: None, Rights(frozenset(DEFAULT_SCOPES), ()), Wire(BytesIO(lines(*messages)), out))
    return [json.loads(line) for line in out.getvalue().splitlines()]


@pytest.mark.parametrize("version", PROTOCOLS)
def test_the_early_answer_is_the_one_the_sdk_would_give(version: str) -> None:
    assert [json.loads(early_answer(lines(hello(version, number="a-1"))))] == by_sdk(hello(version, number="a-1"))


def asked(method: str, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": method, "method": method, **({"params": params} if params else {})}


def modern(method: str, version: str = WITHOUT_HANDSHAKE, **more: Any) -> dict[str, Any]:
    about = {"protocolVersion": version, "clientInfo": {"name": "test", "version": "1"}, "clientCapabilities": {}}
    return asked(method, _meta={f"io.modelcontextprotocol/{name}": value for name, value in about.items()}, **more)


STARTS = ("server/discover", "tools/list", "resources/list")


def test_a_start_is_answered_early_as_the_sdk_would() -> None:
    without_handshake = [modern(method) for method in STARTS]
    assert [early(one) for one in without_handshake] == by_sdk(*without_handshake)
    greeted = [asked(method) for method in STARTS[1:]]
    assert [early(one, is_greeted=True) for one in greeted] == by_sdk(hello(), INITIALIZED, *greeted)[1:]


def early(message: dict[str, Any], is_greeted: bool = False, scopes: Collection[str] = DEFAULT_SCOPES) -> Any:
    return json.loads(early_answer(lines(message), scopes, is_greeted))


def test_tools_are_listed_early_for_the_scopes_that_were_given() -> None:
    names = [
        one["name"] for one in json.loads(early_answer(lines(modern("tools/list")), {"memory:read"}))["result"]["tools"]
    ]
    assert "search_memories" in names
    assert "remember" not in names


def test_who_leaves_after_the_start_ends_the_server_without_the_sdk() -> None:
    out = BytesIO()
    assert answered_early(BytesIO(lines(*map(modern, STARTS))), out, DEFAULT_SCOPES) is None
    assert [json.loads(line)["id"] for line in out.getvalue().splitlines()] == list(STARTS)


def test_the_sdk_gets_the_greeting_and_what_was_not_answered() -> None:
    calling = asked("tools/call", name="forget", arguments={})
    given, out = lines(hello(), INITIALIZED, asked("tools/list"), calling), BytesIO()
    wire = answered_early(BytesIO(given), out, DEFAULT_SCOPES)
    assert wire is not None
    assert [json.loads(wire.readline())["method"] for _ in range(3)] == [
        *("initialize", "notifications/initialized", "tools/call")
    ]
    assert len(out.getvalue().splitlines()) == 2


@pytest.mark.parametrize(
    "message",
    [
        modern("tools/list", cursor="2"),
        modern("tools/list", version="2027-01-01"),
        modern("tools/call"),
        asked("tools/list"),
        hello("1999-01-01"),
        hello(number=None),
        hello(number=True),
        hello(capabilities=None),
        hello(clientInfo={"name": "x"}),
        {"jsonrpc": "2.0", "id": 1, "method": "server/discover"},
        [hello()],
        "text",
    ],
)
def test_whatever_else_comes_first_is_left_to_the_sdk(message: Any) -> None:
    assert early_answer(json.dumps(message).encode()) == b""
    assert early_answer(b"\xff{") == b""


def test_the_sdk_sees_the_first_line_and_what_it_answers_to_that_is_dropped() -> None:
    first, out = lines(hello()), BytesIO()
    wire = Wire(BytesIO(b"two\n"), out, [first], early_answer(first))
    assert [wire.readline() for _ in range(2)] == [first.decode(), "two\n"]
    for message in ({"method": "notice"}, {"id": 0, "result": "again"}, {"id": 0, "result": "other"}):
        wire.write(json.dumps(message) + "\n")
    assert wire.readline() == ""
    assert [json.loads(line) for line in out.getvalue().splitlines()] == [
        {"method": "notice"},
        {"id": 0, "result": "other"},
    ]


def test_the_handshake_is_answered_once_and_the_session_goes_on() -> None:
    listing = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    answers = spoken(SERVER, hello(), INITIALIZED, listing)
    assert [answer["id"] for answer in answers] == [0, 1]
    assert len(answers[1]["result"]["tools"]) == 8


def test_nothing_heavy_is_loaded_before_the_handshake_is_answered() -> None:
    code = "import sys, memhook.cli.serving, memhook.mcp_server.main; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    heavy = {"lancedb", "pyarrow", "fastembed", "numpy", "pydantic", "mcp", "anyio", "uvicorn", "asyncio", "hmac"}
    assert not heavy & set(loaded)


NOISY = """
import os, subprocess, sys
from memhook.daemon import control
from memhook.cli.serving import served

def noisy(paths, directory):
    def call(method, **params):
        print("a library prints")
        sys.stdout.write("and writes")
        sys.__stdout__.write("in more than one way")
        sys.__stdout__.flush()
        os.write(1, b"even so")
        subprocess.run(["echo", "or by a child"], check=True)
        return {"text": "found", "note": ""}
    return call

control.daemon_door = noisy
served("mcp", [])
"""


def test_nothing_but_protocol_reaches_stdout_whatever_a_library_prints() -> None:
    asked = {"name": "pack_context", "arguments": {"topic": "x"}}
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": asked}
    answers = spoken([sys.executable, "-c", NOISY], hello(), INITIALIZED, call)
    assert answers[1]["result"]["content"] == [{"type": "text", "text": "found"}]


def test_a_client_over_real_stdio_remembers_and_gets_it_back(home: Path, tmp_path: Path) -> None:
    command = StdioServerParameters(
        command=SERVER[0], args=[*SERVER[1:], "--namespaces", "notes"], env=dict(os.environ), cwd=tmp_path
    )

    async def session() -> list[types.CallToolResult]:
        async with Client(stdio_client(command), mode="legacy") as client:
            stored = await client.call_tool("remember", {"content": DEPLOY, "title": "VPN"})
            urn = (stored.structured_content or {})["urn"]
            got = await client.call_tool("get_memory", {"urn": urn})
            shown = await client.call_tool("inject_context", {"hits": [{"id": urn, "score": 0.5}], "query": "vpn"})
            return [got, shown]

    got, shown = anyio.run(session)
    assert (got.structured_content or {})["content"] == DEPLOY
    assert (got.structured_content or {})["namespace"] == "notes"
    assert isinstance(shown.content[0], types.TextContent)
    assert shown.content[0].text.startswith("## Relevant Context: vpn\n")
    assert "\n\n**VPN** (notes, score: 0.50, " in shown.content[0].text


@pytest.mark.parametrize(
    ("options", "told"), [(["--scopes", "memory:admin"], "memory:confidential"), (["-C", "/nowhere"], "/nowhere")]
)
def test_what_it_cannot_be_started_with_is_told_on_stderr(options: list[str], told: str) -> None:
    ran = subprocess.run([*SERVER, *options], input="", capture_output=True, text=True, timeout=300, check=False)
    assert ran.returncode in (1, 2)
    assert told in ran.stderr
    assert ran.stdout == ""


def test_a_client_that_goes_without_a_word_ends_the_server() -> None:
    assert spoken(SERVER) == []
