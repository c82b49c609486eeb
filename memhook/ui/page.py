"""The context of every page: the way to the daemon, the templates, the session."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from jinja2 import Environment
from starlette.responses import HTMLResponse, RedirectResponse, Response

from memhook.daemon.control import Call
from memhook.paths import Paths
from memhook.ui.asked import Asked
from memhook.ui.changes import Changes
from memhook.ui.session import Session


@dataclass(frozen=True, slots=True)
class Page:
    call: Call
    paths: Paths
    session: Session
    templates: Environment
    changes: Changes

    def shown(self, template: str, /, *, status: int = 200, **values: Any) -> Response:
        return HTMLResponse(self.templates.get_template(template).render(**values), status)

    def redirected(self, place: str) -> Response:
        return RedirectResponse(self.session.base + place, HTTPStatus.SEE_OTHER)


View = Callable[[Page, Asked], Response]
Views = dict[tuple[str, str], View]
"""By method and path."""
