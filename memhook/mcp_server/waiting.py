"""The MCP server while the plugin's environment is being created: `launch mcp` runs this with the system's Python.

Clients give a server seconds to answer, and Claude Code does not start one that failed again for 15 minutes; the set-up
takes minutes. So `initialize` and `ping` are answered here, and other requests are queued until the set-up is done.
Then the real server is started, and gets the same handshake, the queued messages and all later ones. When the set-up
fails, queued requests get an error with the reason, and the next request tries again. Needs only the standard library.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from threading import Event, Lock, Thread
from typing import Any, BinaryIO

from memhook.mcp_server.stdio import PROTOCOLS, early_answer, message_of

ANOTHER_IS_AT_IT = 75
"""The exit code of a set-up that found another one running."""
LOOK_AGAIN_SECONDS = 1.0
BEGIN_SECONDS = 10.0

METHOD_NOT_FOUND, NOT_SET_UP = -32601, -32000
LISTS = ("tools", "resources")

Message = dict[str, Any]


class WaitingServer:
    """`setup` creates the environment, `launch` starts the real server once `state` records an interpreter."""

    def __init__(self, launch: Sequence[str], setup: Sequence[str], state: Path, outgoing: BinaryIO) -> None:
        self._launch, self._setup, self._state = launch, setup, state
        self._outgoing = outgoing
        self._lock = Lock()
        self._asked = Event()
        self._has_begun = Event()
        self._hello: Message = {}
        self._held: list[Message] = []
        self._missed: set[str] = set()
        self._server: subprocess.Popen[bytes] | None = None

    def serve(self, incoming: BinaryIO) -> None:
        """Serve the client; return if it disconnects before the set-up is done, which continues."""
        worker = Thread(target=self._wait_and_relay, daemon=True)
        worker.start()
        for line in incoming:
            with self._lock:
                if self._server is None:
                    self._take(message_of(line))
                else:
                    self._pass_on(line)
        self._has_begun.wait(BEGIN_SECONDS)  # a client may leave before its set-up was even started
        with self._lock:
            server = self._server
        if server is not None and server.stdin is not None:
            server.stdin.close()
            worker.join()  # the relay ends the process when the server has written its last answer

    def _take(self, message: Message) -> None:
        match message.get("method"):
            case "initialize" if not self._hello and (answer := _hello_answer(hello := _with_known_version(message))):
                self._hello = hello
                self._say(answer)
            case "ping":
                self._say({"jsonrpc": "2.0", "id": message.get("id"), "result": {}})
            case "notifications/cancelled":
                self._cancel((message.get("params") or {}).get("requestId"))
            case str() as method if not self._hello and "id" in message:
                self._say_error(message, METHOD_NOT_FOUND, f"{method} before initialize")
            case str():
                self._held.append(message)
                self._asked.set()

    def _cancel(self, number: object) -> None:
        for message in [one for one in self._held if "id" in one and one["id"] == number]:
            self._held.remove(message)
            self._miss(message)

    def _miss(self, message: Message) -> None:
        """Record a list that the client did not get: it is notified when the list is available."""
        kind = message["method"].partition("/")[0]
        if kind in LISTS:
            self._missed.add(kind)

    def _wait_and_relay(self) -> None:
        while not self._is_ready():
            self._set_up()
            if not self._is_ready():
                self._refuse()
                self._asked.wait()
        self._has_begun.set()
        server = subprocess.Popen(self._launch, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        relay = Thread(target=self._relay, args=[server])
        with self._lock:
            self._server = server
            relay.start()
            for message in [self._hello, *self._held] if self._hello else self._held:
                self._pass_on(json.dumps(message).encode() + b"\n")
            for kind in sorted(self._missed):
                self._say({"jsonrpc": "2.0", "method": f"notifications/{kind}/list_changed"})
        relay.join()

    def _set_up(self) -> None:
        """Run the set-up; while another process runs it, wait for that."""
        nothing = subprocess.DEVNULL
        while not self._is_ready():
            # In a session of its own: it goes on when the client stops this server.
            with subprocess.Popen(
                self._setup, stdin=nothing, stdout=nothing, stderr=nothing, start_new_session=True
            ) as setup:
                self._has_begun.set()
                if setup.wait() != ANOTHER_IS_AT_IT:
                    return
            time.sleep(LOOK_AGAIN_SECONDS)

    def _is_ready(self) -> bool:
        """Whether the launcher would find an interpreter."""
        python, client = [*self._lines("interpreter"), "", ""][:2]
        return os.access(python, os.X_OK) and Path(client).is_file()

    def _refuse(self) -> None:
        reason = next(iter(self._lines("setup.failed")), "it stopped before it was done.")
        text = f"memhook could not be set up: {reason} setup.log in {self._state} has the details."
        with self._lock:
            requests = [message for message in self._held if "id" in message]
            self._held = [message for message in self._held if "id" not in message]
            self._asked.clear()
            for message in requests:
                self._miss(message)
                self._say_error(message, NOT_SET_UP, text)

    def _relay(self, server: subprocess.Popen[bytes]) -> None:
        """Relay the server's output, except its answer to the handshake, which the client has; exit with the server."""
        is_answered = not self._hello
        for line in server.stdout or ():
            message = {} if is_answered else message_of(line)
            if not is_answered and "method" not in message and message.get("id") == self._hello["id"]:
                is_answered = True
                continue
            with self._lock:
                self._write(line)
        os._exit(server.wait())

    def _pass_on(self, line: bytes) -> None:
        if self._server is not None and self._server.stdin is not None:
            try:
                self._server.stdin.write(line)
                self._server.stdin.flush()
            except BrokenPipeError:
                pass  # the server has ended, and the relay ends this process

    def _lines(self, name: str) -> list[str]:
        try:
            return (self._state / name).read_text(encoding="utf-8").splitlines()
        except (OSError, UnicodeDecodeError):
            return []

    def _say_error(self, message: Message, code: int, text: str) -> None:
        self._say({"jsonrpc": "2.0", "id": message["id"], "error": {"code": code, "message": text}})

    def _say(self, message: Message) -> None:
        self._write(json.dumps(message).encode() + b"\n")

    def _write(self, line: bytes) -> None:
        self._outgoing.write(line)
        self._outgoing.flush()


def _with_known_version(message: Message) -> Message:
    """Replace a version that is unknown, or without a handshake, by the newest with one."""
    params = message.get("params")
    if not isinstance(params, dict) or params.get("protocolVersion", PROTOCOLS[0]) in PROTOCOLS:
        return message
    return {**message, "params": {**params, "protocolVersion": PROTOCOLS[-1]}}


def _hello_answer(hello: Message) -> Message:
    """Return the real server's answer, with changing lists; empty when the real server must refuse the request."""
    answer = message_of(early_answer(json.dumps(hello).encode()))
    for kind in LISTS if answer else ():
        answer["result"]["capabilities"][kind]["listChanged"] = True
    return answer


def main(argv: Sequence[str]) -> None:
    """LAUNCHER SETUP VERSION STATE [OPTION...]: the options are those of `memhook mcp`."""
    launcher, setup, version, state, *options = argv
    server = WaitingServer([launcher, "mcp", *options], [setup, version, state], Path(state), sys.stdout.buffer)
    server.serve(sys.stdin.buffer)
