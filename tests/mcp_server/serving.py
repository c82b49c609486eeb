"""A real `memhook mcp --http`, in a home of its own, and two ways to ask it: bytes on a socket and the SDK's client."""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from memhook.engine.scopes import Scope
from memhook.paths import user_paths
from memhook.store.access_tokens import Tokens
from tests.daemons import kill_daemon

COMMAND = [sys.executable, "-m", "memhook.cli", "mcp"]
LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
STOP_SECONDS = 300


@dataclass(frozen=True)
class Answer:
    status: int
    headers: Mapping[str, str]
    text: str

    @property
    def tools(self) -> set[str]:
        return {tool["name"] for tool in json.loads(self.text)["result"]["tools"]}


@dataclass(frozen=True)
class Served:
    """One server; `tokens` are those of its home."""

    home: Path
    process: subprocess.Popen[str]
    url: str

    @property
    def environment(self) -> dict[str, str]:
        return environment_of(self.home)

    @property
    def tokens(self) -> Tokens:
        return tokens_of(self.home)

    @property
    def port(self) -> int:
        return int(re.findall(r":(\d+)/", self.url)[0])

    def token(self, *scopes: Scope, namespaces: tuple[str, ...] = (), expires: datetime | None = None) -> str:
        return new_token(self.home, *scopes, namespaces=namespaces, expires=expires)

    def asked(
        self, token: str | None, message: Any = LIST, *, method: str = "POST", path: str = "/mcp", **headers: str | None
    ) -> Answer:
        """One request; a header that is None is left out."""
        given: dict[str, str | None] = {
            "Host": f"127.0.0.1:{self.port}",
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
            "Authorization": f"Bearer {token}" if token else None,
            **{name.replace("_", "-"): value for name, value in headers.items()},
        }
        body = message if isinstance(message, bytes) else json.dumps(message).encode()
        lines = [(name, value) for name, value in given.items() if value is not None]
        return self.sent(method, path, [*lines, ("Content-Length", str(len(body)))], body)

    def sent(self, method: str, path: str, headers: list[tuple[str, str]], body: bytes) -> Answer:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=300)
        try:
            connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
            for name, value in headers:
                connection.putheader(name, value)
            connection.endheaders(body)
            answer = connection.getresponse()
            return Answer(answer.status, {k.lower(): v for k, v in answer.getheaders()}, answer.read().decode())
        finally:
            connection.close()

    @asynccontextmanager
    async def client(self, token: str, mode: Any = "legacy") -> AsyncIterator[Client]:
        """The SDK's own."""
        headers = {"Authorization": f"Bearer {token}"}
        async with (
            httpx2.AsyncClient(headers=headers, timeout=300, verify=False) as web,  # certificates take long to load
            Client(streamable_http_client(self.url, http_client=web), mode=mode) as client,
        ):
            yield client

    def stopped(self, how: int = signal.SIGTERM) -> tuple[int, str]:
        """Its exit code, and what it has said since it was up."""
        self.process.send_signal(how)
        code = self.process.wait(STOP_SECONDS)
        assert self.process.stdout is not None
        assert self.process.stderr is not None
        assert self.process.stdout.read() == ""
        return code, self.process.stderr.read()


def environment_of(home: Path) -> dict[str, str]:
    return {**os.environ, "HOME": str(home)}


def tokens_of(home: Path) -> Tokens:
    return Tokens(user_paths({"HOME": str(home)}))


def new_token(
    home: Path, *scopes: Scope, namespaces: tuple[str, ...] = (), expires: datetime | None = None, name: str = ""
) -> str:
    now = datetime.now(UTC)
    return tokens_of(home).create(name, sorted(scopes or (Scope.READ,)), namespaces, expires, now)[1]


@contextmanager
def serving(home: Path, *options: str, cwd: Path | None = None) -> Iterator[Served]:
    """At the end neither it nor a daemon is left."""
    try:
        with running(home, *options, cwd=cwd) as served:
            yield served
    finally:
        kill_daemon(home)


@contextmanager
def running(home: Path, *options: str, cwd: Path | None = None) -> Iterator[Served]:
    """Up when the line with its address was read; the daemon that it may have started is left to others."""
    command = [*COMMAND, "--http", *(options or ("0",))]
    environment = environment_of(home)
    process = subprocess.Popen(
        command, env=environment, cwd=cwd or home, text=True, stderr=subprocess.PIPE, stdout=subprocess.PIPE
    )
    try:
        assert process.stderr is not None
        line = process.stderr.readline()
        found = re.search(r"http://\S+", line)
        assert found, line + process.stderr.read()
        yield Served(home, process, found[0])
    finally:
        process.terminate()
        process.communicate(timeout=STOP_SECONDS)
