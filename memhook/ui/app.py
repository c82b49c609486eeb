"""The routes of the pages, and the page for errors."""

from __future__ import annotations

from collections.abc import Callable
from http import HTTPStatus
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import Mount, Route, Router

from memhook.daemon.control import Call
from memhook.errors import AccessDenied, Conflict, InvalidInput, MemhookError, NotFound
from memhook.paths import Paths
from memhook.ui import health, inbox, lab, memories
from memhook.ui.page import Asked, Changes, Page, View, fields_in
from memhook.ui.rendering import ASSETS, environment
from memhook.ui.session import Session, is_same

LARGEST_FORM = 4 << 20
NOT_OUR_FORM = "This form is not of this page. Load the page again."
PAGES = (
    ("Lab", "/", "l"),
    ("Memories", "/memories", "m"),
    ("Inbox", "/inbox", "i"),
    ("Events", "/events", "e"),
    ("Health", "/health", "h"),
)
"""The pages of the menu: name, address, and the key that goes there after g."""
TYPES = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}


def application(call: Call, paths: Paths, session: Session) -> Router:
    changes = Changes()
    templates = environment(base=session.base, csrf=session.csrf, pages=PAGES, changes=changes)
    page = Page(call, paths, session, templates, changes)
    views = {**lab.VIEWS, **memories.VIEWS, **inbox.VIEWS, **health.VIEWS}
    routes = [Route(place, _endpoint(view, page), methods=[method]) for (method, place), view in views.items()]
    assets = Route("/assets/{name}", _asset)
    return Router([Mount(session.base, Router([assets, *routes]))])


def _endpoint(view: View, page: Page) -> Callable[[Request], Any]:
    """Return the endpoint of a view: check the form, then run the view in a thread, as it waits for the daemon."""

    async def endpoint(request: Request) -> Response:
        form = fields_in((await _body(request)).decode("utf-8", "replace"))
        if request.method == "POST" and not is_same("".join(form.get("csrf", [])[:1]), page.session.csrf):
            return page.shown("error.html", status=HTTPStatus.FORBIDDEN, message=NOT_OUR_FORM, hint="")
        asked = Asked(fields_in(request.url.query), form, request.path_params)
        return await run_in_threadpool(_answered, view, page, asked)

    return endpoint


async def _body(request: Request) -> bytes:
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > LARGEST_FORM:
            return b""  # without the CSRF token it is refused
    return bytes(body)


def _answered(view: View, page: Page, asked: Asked) -> Response:
    try:
        return view(page, asked)
    except MemhookError as error:
        status = next((code for kind, code in STATUS.items() if isinstance(error, kind)), 500)
        return page.shown("error.html", status=status, message=error.message, hint=error.hint)


STATUS: dict[type[MemhookError], int] = {InvalidInput: 400, AccessDenied: 403, NotFound: 404, Conflict: 409}


async def _asset(request: Request) -> Response:
    file = ASSETS / request.path_params["name"]
    if file.parent != ASSETS or file.suffix not in TYPES or not file.is_file():
        return Response(status_code=HTTPStatus.NOT_FOUND)
    return FileResponse(file, media_type=TYPES[file.suffix])
