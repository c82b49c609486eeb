"""The guard of the server over HTTP: it checks host, origin, token and path.

421  the name in Host is not the server's: a page whose name was made to point here (DNS rebinding)
403  a browser says that the request comes from a page of another origin
401  no valid token; the same answer whether it is missing, unknown, expired or revoked
404, 405  anything but POST to the one path there is

No other part of a request is read before these checks, nor its body. No header lets a page of another origin
read an answer. There are no sessions: each request stands for itself, with its own token.
"""

from __future__ import annotations

import logging
import re
from datetime import UTC, datetime
from typing import Any

from anyio.to_thread import run_sync
from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Send
from starlette.types import Scope as AsgiScope

from memhook.engine.scopes import Rights, scopes_of
from memhook.errors import MemhookError
from memhook.mcp_server.web_server import admit
from memhook.store.access_tokens import Token, Tokens

log = logging.getLogger("memhook")

PATH = "/mcp"
LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})

_HOST = re.compile(r"(?:\[([0-9a-f:.]+)\]|([^:\[\]]+))(?::[0-9]{1,5})?", re.ASCII)
_RIGHTS = "memhook.rights"

Admitted = tuple[Token, Rights]


class Refusal(PlainTextResponse):
    """An answer in one line. The connection is closed: the rest of the request's body is not waited for."""

    def __init__(self, status: int, reason: str, **headers: str) -> None:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        super().__init__(f"{reason}\n", status, {"cache-control": "no-store", "connection": "close", **named})


STRANGE_HOST = Refusal(421, "This server does not go by that name.")
FOREIGN_ORIGIN = Refusal(403, "Requests from pages of another origin are refused.")
CHALLENGE = 'Bearer realm="memhook", error="invalid_token"'
NO_TOKEN = Refusal(401, "A valid bearer token is needed.", www_authenticate=CHALLENGE)
NO_SUCH_PATH = Refusal(404, f"There is only {PATH}.")
NOT_POST = Refusal(405, "Only POST is answered here.", allow="POST")


def guarded(app: ASGIApp, tokens: Tokens, names: frozenset[str]) -> ASGIApp:
    """`app`, for requests to one of these `names` of the server with a valid token."""

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
    """The rights of the request in the context of the SDK; fails where no guard has let it through."""
    rights: Rights = context.request.scope[_RIGHTS]
    return rights


def _verdict(scope: AsgiScope, tokens: Tokens, names: frozenset[str], now: datetime) -> Admitted | Refusal:
    refusal = _from_elsewhere(scope, names)
    if refusal is not None:
        return refusal
    admitted = _admitted(scope, tokens, now)
    return NO_TOKEN if admitted is None else _beside_the_point(scope) or admitted


def _from_elsewhere(scope: AsgiScope, names: frozenset[str]) -> Refusal | None:
    hosts, origins = _values(scope, "host"), _values(scope, "origin")
    if len(hosts) != 1 or not _is_own(hosts[0], names | {_local_address(scope)}):
        return STRANGE_HOST
    own = {f"http://{hosts[0]}", f"https://{hosts[0]}"}
    return FOREIGN_ORIGIN if any(origin not in own for origin in origins) else None


def _is_own(host: str, names: frozenset[str]) -> bool:
    """Whatever the port: a tunnel has another one."""
    found = _HOST.fullmatch(host)
    return found is not None and (found[1] or found[2]) in names


def _local_address(scope: AsgiScope) -> str:
    """The one at which this very client reached the server."""
    server = scope.get("server") or ("",)
    return str(server[0]).lower()


def _admitted(scope: AsgiScope, tokens: Tokens, now: datetime) -> Admitted | None:
    """The token and its rights; None also where the file of tokens cannot be read."""
    try:
        token = tokens.of(_bearer(scope), now)
        return None if token is None else (token, Rights(scopes_of(token.scopes), token.namespaces))
    except MemhookError as error:
        log.error("%s %s", error.message, error.hint)
        return None


def _bearer(scope: AsgiScope) -> str:
    """Empty, which no token is, for anything else."""
    given = Headers(scope=scope).getlist("authorization")
    scheme, _, secret = given[0].partition(" ") if len(given) == 1 else ("", "", "")
    return secret.strip() if scheme.lower() == "bearer" else ""


def _beside_the_point(scope: AsgiScope) -> Refusal | None:
    if scope["path"].rstrip("/") != PATH:
        return NO_SUCH_PATH
    return None if scope["method"] == "POST" else NOT_POST


def _values(scope: AsgiScope, header: str) -> list[str]:
    return [value.strip().lower() for value in Headers(scope=scope).getlist(header)]
