"""`launch mcp` in the plugin's first session: it answers while the set-up runs, and serves when that is done."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from queue import Queue
from threading import Thread
from typing import Any

import pytest

from memhook import __version__
from memhook.daemon import hook_client
from memhook.mcp_server.stdio import PROTOCOLS
from tests.mcp_server.test_stdio import INITIALIZED, hello, lines
from tests.plugin.test_launcher import ROOT, launch, script, state, tools

__all__ = ["tools"]

LISTING = {"jsonrpc": "2.0", "method": "tools/list"}


class Client:
    """Speaks to the server as an assistant does. `finish` ends the set-up, with the reason of a failure if any."""

    def __init__(self, process: subprocess.Popen[bytes], setups: Path) -> None:
        self.process = process
        self.setups = setups
        self._heard: Queue[dict[str, Any]] = Queue()
        Thread(target=self._listen, daemon=True).start()

    def says(self, *messages: dict[str, Any]) -> None:
        assert self.process.stdin
        self.process.stdin.write(lines(*messages))
        self.process.stdin.flush()

    def hears(self) -> dict[str, Any]:
        return self._heard.get(timeout=300)

    def finish(self, outcome: str = "done") -> None:
        with self.setups.open("w", encoding="utf-8") as pipe:  # blocks until a set-up runs
            pipe.write(f"{outcome}\n")

    def leaves(self) -> int:
        assert self.process.stdin
        self.process.stdin.close()
        return self.process.wait(timeout=300)

    def _listen(self) -> None:
        assert self.process.stdout
        for line in self.process.stdout:
            self._heard.put(json.loads(line))


Start = Callable[..., Client]


@pytest.fixture
def start(home: Path, tools: Path, tmp_path: Path) -> Iterator[Start]:
    """The plugin with a set-up that does nothing until it is told how to end, and a Python without packages."""
    script(tools / "python3", f'exec {sys.executable} -S "$@"')
    python = script(home / "python", f'PYTHONPATH={ROOT}; export PYTHONPATH; shift 2; exec {sys.executable} "$@"')
    plugin, setups = tmp_path / "plugin", tmp_path / "setups"
    (plugin / "hooks").mkdir(parents=True)
    (plugin / "memhook").symlink_to(ROOT / "memhook")
    for name in ("launch", "find-python"):
        (plugin / "hooks" / name).symlink_to(ROOT / "hooks" / name)
    os.mkfifo(setups)
    recorded = f"{python}\\n{hook_client.__file__}\\n{__version__}\\n"
    script(
        plugin / "hooks" / "setup",
        f"""
rm "$2/another" 2>/dev/null && exit 75
read -r outcome <"{setups}"
case $outcome in
  done) printf '{recorded}' >"$2/interpreter" ;;
  *) printf '%s\\n' "$outcome" >"$2/setup.failed"; exit 1 ;;
esac""",
    )
    started: list[Client] = []

    def started_client(*options: str) -> Client:
        state(home)
        process = subprocess.Popen(
            [str(plugin / "hooks" / "launch"), "mcp", *options],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={"HOME": str(home), "PATH": str(tools)},
            cwd=home,
        )
        started.append(Client(process, setups))
        return started[-1]

    yield started_client
    for client in started:
        client.process.kill()
        client.process.wait()
        for stream in (client.process.stdin, client.process.stdout):
            assert stream
            stream.close()
    pipe = os.open(setups, os.O_RDWR)  # a set-up that still waits ends, and a later one finds no pipe
    os.write(pipe, b"ended by the test\n" * 10)
    setups.unlink()
    os.close(pipe)


def asked(number: int, **message: Any) -> dict[str, Any]:
    return {**LISTING, **message, "id": number}


def tool_names(answer: dict[str, Any]) -> set[str]:
    return {tool["name"] for tool in answer["result"]["tools"]}


def test_it_answers_at_once_and_serves_what_was_asked_when_the_set_up_is_done(start: Start) -> None:
    client = start()
    client.says(hello("2025-06-18"), INITIALIZED, asked(1), asked(2, method="ping"))
    greeting, ping = client.hears(), client.hears()
    assert (greeting["id"], ping) == (0, {"jsonrpc": "2.0", "id": 2, "result": {}})
    assert greeting["result"]["protocolVersion"] == "2025-06-18"
    assert greeting["result"]["serverInfo"] == {"name": "memhook", "version": __version__}
    client.finish()
    listed = client.hears()
    assert (listed["id"], "get_memory" in tool_names(listed)) == (1, True)
    client.says(asked(3))
    assert client.hears() == {**listed, "id": 3}
    assert client.leaves() == 0


def test_a_client_that_gave_up_on_the_list_is_told_to_ask_again(start: Start) -> None:
    client = start()
    client.says(hello(), INITIALIZED, asked(1))
    assert client.hears()["result"]["capabilities"]["tools"] == {"listChanged": True}
    client.says({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}})
    client.says(asked(2, method="ping"))
    assert client.hears()["id"] == 2  # so it has read that
    client.finish()
    assert client.hears() == {"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}
    client.says(asked(3))
    assert client.hears()["id"] == 3


def test_a_set_up_that_fails_gives_the_reason_and_the_next_request_tries_again(start: Start, home: Path) -> None:
    client = start()
    client.says(hello(), INITIALIZED, asked(1))
    client.hears()
    client.finish("no Python 3.11 was found.")
    refused = client.hears()
    assert (refused["id"], refused["error"]["code"]) == (1, -32000)
    told = f"memhook could not be set up: no Python 3.11 was found. setup.log in {state(home)} has the details."
    assert refused["error"]["message"] == told
    client.says(asked(2))
    client.finish()
    assert client.hears()["method"] == "notifications/tools/list_changed"
    assert client.hears()["id"] == 2


def test_while_another_set_up_runs_it_waits_for_that(start: Start, home: Path) -> None:
    (state(home) / "another").touch()
    client = start()
    client.says(hello(), INITIALIZED, asked(1))
    client.hears()
    client.finish()
    assert client.hears()["id"] == 1
    assert not (state(home) / "another").exists()


def test_asked_for_a_version_of_the_future_it_offers_the_newest_it_knows(start: Start) -> None:
    client = start()
    client.says(hello("2999-01-01"), INITIALIZED, asked(1))
    assert client.hears()["result"]["protocolVersion"] == PROTOCOLS[-1]
    client.finish()
    assert client.hears()["id"] == 1


def test_another_request_before_the_handshake_is_refused_at_once(start: Start) -> None:
    client = start()
    client.says(asked(1, method="server/discover"))
    assert client.hears()["error"]["code"] == -32601
    client.says(hello(number=2))
    assert client.hears()["id"] == 2


def test_a_client_that_leaves_ends_it_and_not_the_set_up(start: Start, home: Path) -> None:
    client = start()
    client.says(hello())
    client.hears()
    assert client.leaves() == 0
    client.finish()  # returns only if the set-up reads it


def test_options_reach_the_real_server(start: Start) -> None:
    client = start("--scopes", "memory:admin")
    client.says(hello(), INITIALIZED)
    client.hears()
    client.finish()
    assert client.process.wait(timeout=300) == 2  # which refuses them


def test_without_a_python_it_says_what_to_install(home: Path, tools: Path) -> None:
    run = launch(home, tools, "mcp")
    assert (run.returncode, run.stdout) == (1, "")
    assert "no Python 3.11 or newer" in run.stderr
