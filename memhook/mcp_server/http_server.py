"""`memhook mcp --http`: the SDK's streamable HTTP behind a guard, for agents on other machines.

It is stateless: memhook never sends first, so a session would only be something to guess, to fill memory with and to
lose at a restart. Each request has its own token and gets one complete answer as JSON.

Before these checks, no other code reads the request, nor its body. No CORS header lets a page of another origin read
an answer.

421  the name in Host is not the server's: a page whose name was made to point here (DNS rebinding)
403  a browser says that the request comes from a page of another origin
401  no valid token; the same answer whether it is missing, unknown, expired or revoked
404, 405  anything but POST to the one path there is
"""

from __future__ import annotations

import logging
import re
import socket
import sys
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from typing import Any

import anyio
from anyio.to_thread import run_sync
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Send
from starlette.types import Scope as AsgiScope

from memhook.engine.scopes import Rights, scopes_of
from memhook.errors import InvalidInput, MemhookError
from memhook.mcp_server.address import Address, is_loopback, listening
from memhook.mcp_server.server import server_for
from memhook.mcp_server.web_server import Connection, WebServer, admit
from memhook.store.access_tokens import Token, Tokens

log = logging.getLogger("memhook")

PATH = "/mcp"
MAX_BODY_BYTES = 4 << 20
MAX_CONNECTIONS = 500
LAST_ANSWERS_SECONDS = 10
LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})

_HOST = re.compile(r"(?:\[([0-9a-f:.]+)\]|([^:\[\]]+))(?::[0-9]{1,5})?", re.ASCII)
_RIGHTS = "memhook.rights"

Admitted = tuple[Token, Rights]


class Refusal(PlainTextResponse):
    """An answer in one line. The connection is closed without reading the rest of the request's body."""

    def __init__(self, status: int, reason: str, **headers: str) -> None:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        super().__init__(f"{reason}\n", status, {"cache-control": "no-store", "connection": "close", **named})


STRANGE_HOST = Refusal(421, "This server does not go by that name.")
FOREIGN_ORIGIN = Refusal(403, "Requests from pages of another origin are refused.")
CHALLENGE = 'Bearer realm="memhook", error="invalid_token"'
NO_TOKEN = Refusal(401, "A valid bearer token is needed.", www_authenticate=CHALLENGE)
NO_SUCH_PATH = Refusal(404, f"There is only {PATH}.")
NOT_POST = Refusal(405, "Only POST is answered here.", allow="POST")
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


def guarded(app: ASGIApp, tokens: Tokens, names: frozenset[str]) -> ASGIApp:
    """Return `app` behind the checks: a request needs one of these `names` of the server and a valid token."""

    async def guard(scope: AsgiScope, receive: Receive, send: Send) -> None:
        now = datetime.now(UTC)
        verdict = _verdict(scope, tokens, names, now)
        if isinstance(verdict, Refusal):
            await verdict(scope, receive, send)
            return
        admit(scope)
        token, scope[_RIGHTS] = verdict
        await run_sync(tokens.note_use, token, now)
        await app(scope, receive, send)

    return guard


def rights_in(context: Any) -> Rights:
    """Return the rights of the request in the SDK's context; raise KeyError if no guard has admitted it."""
    rights: Rights = context.request.scope[_RIGHTS]
    return rights


def _verdict(scope: AsgiScope, tokens: Tokens, names: frozenset[str], now: datetime) -> Admitted | Refusal:
    hosts, origins = _values(scope, "host"), _values(scope, "origin")
    reached_at = str((scope.get("server") or ("",))[0]).lower()
    if len(hosts) != 1 or not _is_own(hosts[0], names | {reached_at}):
        return STRANGE_HOST
    if not set(origins) <= {f"http://{hosts[0]}", f"https://{hosts[0]}"}:
        return FOREIGN_ORIGIN
    if (admitted := _admitted(scope, tokens, now)) is None:
        return NO_TOKEN
    if scope["path"].rstrip("/") != PATH:
        return NO_SUCH_PATH
    return admitted if scope["method"] == "POST" else NOT_POST


def _is_own(host: str, names: frozenset[str]) -> bool:
    """Whether the host is one of the names, with any port: a tunnel has another one."""
    found = _HOST.fullmatch(host)
    return found is not None and (found[1] or found[2]) in names


def _admitted(scope: AsgiScope, tokens: Tokens, now: datetime) -> Admitted | None:
    """Return the token and its rights; None if it is invalid or the tokens cannot be read."""
    try:
        token = tokens.of(_bearer(scope), now)
        return None if token is None else (token, Rights(scopes_of(token.scopes), token.namespaces))
    except MemhookError as error:
        log.error("%s %s", error.message, error.hint)
        return None


def _bearer(scope: AsgiScope) -> str:
    """Return the bearer token; empty, which is never valid, for anything else."""
    given = Headers(scope=scope).getlist("authorization")
    scheme, _, secret = given[0].partition(" ") if len(given) == 1 else ("", "", "")
    return secret.strip() if scheme.lower() == "bearer" else ""


def _values(scope: AsgiScope, header: str) -> list[str]:
    return [value.strip().lower() for value in Headers(scope=scope).getlist(header)]
