"""`memhook mcp --http`: the SDK's streamable HTTP behind a guard, for agents on other machines.

Without sessions: memhook never speaks first, so a session would only be something to guess, to fill memory with and to
lose at a restart. Each request is answered whole, as JSON.
"""

from __future__ import annotations

import socket
import sys
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from typing import Any

import anyio
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

from memhook.errors import InvalidInput
from memhook.mcp_server.address import Address, is_loopback, listening
from memhook.mcp_server.guard import LOOPBACK_NAMES, PATH, guarded, rights_in
from memhook.mcp_server.server import server_for
from memhook.mcp_server.web_server import Connection, WebServer
from memhook.store.access_tokens import Tokens

MAX_BODY_BYTES = 4 << 20
MAX_CONNECTIONS = 500
LAST_ANSWERS_SECONDS = 10

NOT_ENCRYPTED = (
    "memhook: what is sent is not encrypted, tokens included: put a TLS proxy in front of it, or reach it by a tunnel."
)


def serve(call: Callable[..., Any], tokens: Tokens, address: Address, other_names: Iterable[str]) -> None:
    """Serve until SIGINT or SIGTERM; raises a MemhookError when it cannot start."""
    valid = sum(token.holds(datetime.now(UTC)) for token in tokens.all())
    if not valid:
        raise InvalidInput(
            "There is no valid token, so nobody could ask.", "Make one: memhook token create NAME --scopes memory:read"
        )
    with listening(address) as bound:
        place = Address(address.host, bound.getsockname()[1])
        is_local = is_loopback(bound.getsockname()[0])
        others = (address.host, *other_names, *([] if is_local else [socket.gethostname()]))
        names = LOOPBACK_NAMES | {name.lower() for name in others}
        manager = StreamableHTTPSessionManager(
            server_for(call, rights_in), stateless=True, json_response=True, max_request_body_size=MAX_BODY_BYTES
        )
        app = guarded(manager.handle_request, tokens, names)
        server = WebServer(app, Connection, MAX_CONNECTIONS, LAST_ANSWERS_SECONDS)
        notes = [f"memhook: MCP at http://{place}{PATH} ({valid} valid {'token' if valid == 1 else 'tokens'})"]
        anyio.run(_served, server, manager, bound, notes if is_local else [*notes, NOT_ENCRYPTED])


async def _served(
    server: WebServer, manager: StreamableHTTPSessionManager, bound: socket.socket, notes: Iterable[str]
) -> None:
    async with manager.run():
        server.end_at_a_signal()
        for line in notes:
            _report(line)
        await server.serve(sockets=[bound])


def _report(line: str) -> None:
    if sys.stderr is not None:
        sys.stderr.write(line + "\n")
        sys.stderr.flush()
