"""The guard of the page: no other code sees a request before it was admitted here.

421  the name in Host is not the page's: a name that was made to point here (DNS rebinding)
403  no valid cookie, or the one-time token is missing, wrong or used
403  a change that another page has sent

The form's CSRF token is checked where the form is read (`app`).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qs

from memhook.ui.session import Session

COOKIE = "memhook"

AsgiScope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[AsgiScope, Receive, Send], Awaitable[None]]

HEADERS = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self';"
        " form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "cache-control": "no-store",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
    "referrer-policy": "same-origin",  # with no-referrer, browsers send "null" as the origin of a form
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
}
_HEADERS = [(name.encode(), value.encode()) for name, value in HEADERS.items()]

STRANGE_HOST = "This server does not go by that name."
NOT_ADMITTED = "This address does not open the page, or not any more. Run: memhook ui"
FOREIGN_ORIGIN = "Changes from other pages are refused."
# A cookie with SameSite=Strict is not sent after a redirect that began at another site: the page itself goes on.
WELCOME = (
    '<!doctype html><html lang="en"><title>memhook</title><link rel="icon" href="{base}/assets/icon.svg">'
    '<meta http-equiv="refresh" content="0; url={base}/">'
)


def guarded(app: App, session: Session) -> App:
    """Return `app` behind the checks, with the security headers on every answer."""

    async def guard(scope: AsgiScope, receive: Receive, send: Send) -> None:
        async def sending(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", ()), *_HEADERS]
            await send(message)

        if _header(scope, b"host") not in session.hosts:
            await _answer(sending, 421, STRANGE_HOST)
        elif scope["path"] == "/" and _opens(scope, session):
            await _welcome(sending, session)
        elif not _is_admitted(scope, session):
            await _answer(sending, 403, NOT_ADMITTED)
        elif not _is_from_here(scope):
            await _answer(sending, 403, FOREIGN_ORIGIN)
        else:
            await app(scope, receive, sending)

    return guard


def _opens(scope: AsgiScope, session: Session) -> bool:
    """Return whether the one-time token is given. A browser that only looks ahead does not use it up."""
    given = parse_qs(scope["query_string"].decode("latin-1")).get("token", [])
    is_ahead = _header(scope, b"sec-purpose") or _header(scope, b"purpose")
    return scope["method"] == "GET" and not is_ahead and len(given) == 1 and session.exchanged(given[0])


def _is_admitted(scope: AsgiScope, session: Session) -> bool:
    try:
        cookies = SimpleCookie(_header(scope, b"cookie"))
    except CookieError:
        return False
    given = cookies.get(COOKIE)
    is_inside = scope["path"].startswith(f"{session.base}/")
    return given is not None and session.is_own_cookie(given.value) and is_inside


def _is_from_here(scope: AsgiScope) -> bool:
    """A form or a script of another page names another origin; a change without any origin is refused too."""
    origin = _header(scope, b"origin")
    is_own = origin == f"http://{_header(scope, b'host')}"
    return is_own or (scope["method"] in ("GET", "HEAD") and not origin)


def _header(scope: AsgiScope, wanted: bytes) -> str:
    """Return its value, or nothing where it is missing or given twice."""
    found = [value.decode("latin-1") for name, value in scope["headers"] if name == wanted]
    return found[0] if len(found) == 1 else ""


async def _welcome(send: Send, session: Session) -> None:
    cookie = f"{COOKIE}={session.cookie}; Path={session.base}/; HttpOnly; SameSite=Strict"
    await _answer(send, 200, WELCOME.format(base=session.base), "html", (b"set-cookie", cookie.encode()))


async def _answer(send: Send, status: int, text: str, kind: str = "plain", *more: tuple[bytes, bytes]) -> None:
    body = f"{text}\n".encode()
    headers = [(b"content-type", f"text/{kind}; charset=utf-8".encode()), (b"content-length", b"%d" % len(body)), *more]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
