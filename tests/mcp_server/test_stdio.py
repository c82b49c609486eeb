from __future__ import annotations

import json
import os
import subprocess
import sys
from io import BytesIO
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client, StdioServerParameters, types
from mcp.client.stdio import stdio_client

from memhook.mcp_server.stdio import PROTOCOLS, Wire, early_answer
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


# Answers the handshake by the SDK alone, as if there were no early answer.
SDK_ALONE = """
from memhook.cli.serving import served
from memhook.mcp_server import main
main.early_answer = lambda line: b""
served("mcp", [])
"""


@pytest.mark.parametrize("version", PROTOCOLS)
def test_the_early_answer_is_the_one_the_sdk_would_give(version: str) -> None:
    by_sdk = spoken([sys.executable, "-c", SDK_ALONE], hello(version, number="a-1"))
    assert json.loads(early_answer(lines(hello(version, number="a-1")))) == by_sdk[0]


@pytest.mark.parametrize(
    "message",
    [
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
    wire = Wire(BytesIO(b"two\n"), out, first, early_answer(first))
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
