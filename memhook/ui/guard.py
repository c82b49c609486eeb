"""The guard of the page: no other code sees a request before it was admitted here.

421  the name in Host is not the page's: a name that was made to point here (DNS rebinding)
403  no valid cookie, or the one-time token is missing, wrong or used
403  a change that another page has sent

The form's CSRF token is checked where the form is read (`app`).
"""

from __future__ import annotations

from starlette.datastructures import Headers, MutableHeaders, QueryParams
from starlette.requests import HTTPConnection
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from memhook.ui.session import Session, is_same

COOKIE = "memhook"

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

STRANGE_HOST = PlainTextResponse("This server does not go by that name.\n", 421)
NOT_ADMITTED = PlainTextResponse("This address does not open the page, or not any more. Run: memhook ui\n", 403)
FOREIGN_ORIGIN = PlainTextResponse("Changes from other pages are refused.\n", 403)
# A cookie with SameSite=Strict is not sent after a redirect that began at another site: the page itself goes on.
WELCOME = (
    '<!doctype html><html lang="en"><title>memhook</title><link rel="icon" href="{base}/assets/icon.svg">'
    '<meta http-equiv="refresh" content="0; url={base}/">'
)


def guarded(app: ASGIApp, session: Session) -> ASGIApp:
    """Return `app` behind the checks, with the security headers on every answer."""

    async def guard(scope: Scope, receive: Receive, send: Send) -> None:
        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(HEADERS)
            await send(message)

        await (_answer(scope, session) or app)(scope, receive, sending)

    return guard


def _answer(scope: Scope, session: Session) -> Response | None:
    """Return the guard's own answer; None for a request that is admitted."""
    if _header(scope, "host") not in session.hosts:
        return STRANGE_HOST
    if scope["path"] == "/" and _opens(scope, session):
        cookie = f"{COOKIE}={session.cookie}; Path={session.base}/; HttpOnly; SameSite=Strict"
        return HTMLResponse(WELCOME.format(base=session.base) + "\n", headers={"set-cookie": cookie})
    cookie = HTTPConnection(scope).cookies.get(COOKIE, "")
    if not is_same(cookie, session.cookie) or not scope["path"].startswith(f"{session.base}/"):
        return NOT_ADMITTED
    return None if _is_from_here(scope) else FOREIGN_ORIGIN


def _opens(scope: Scope, session: Session) -> bool:
    """Return whether the one-time token is given. A browser that only looks ahead does not use it up."""
    given = QueryParams(scope["query_string"]).getlist("token")
    is_ahead = _header(scope, "sec-purpose") or _header(scope, "purpose")
    return scope["method"] == "GET" and not is_ahead and len(given) == 1 and session.exchanged(given[0])


def _is_from_here(scope: Scope) -> bool:
    """Return whether this page sent it: others send another origin; a change without an origin is refused too."""
    origin = _header(scope, "origin")
    is_own = origin == f"http://{_header(scope, 'host')}"
    return is_own or (scope["method"] in ("GET", "HEAD") and not origin)


def _header(scope: Scope, name: str) -> str:
    """Return its value, or nothing where it is missing or given twice."""
    found = Headers(scope=scope).getlist(name)
    return found[0] if len(found) == 1 else ""
