"""A page: what was asked of it, and its context, which is the way to the daemon, the templates and the session."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any
from urllib.parse import parse_qs, urlencode

from jinja2 import Environment
from starlette.responses import HTMLResponse, RedirectResponse, Response

from memhook.daemon.control import Call
from memhook.paths import Paths
from memhook.ui.changes import Changes
from memhook.ui.session import Session

Fields = Mapping[str, list[str]]


def fields_in(text: str) -> Fields:
    return parse_qs(text, keep_blank_values=True, errors="replace")


@dataclass(frozen=True, slots=True)
class Asked:
    """The fields of a request's address and form; `place` has the parts of the path that vary, such as an id."""

    query: Fields
    form: Fields = field(default_factory=dict)
    place: Mapping[str, str] = field(default_factory=dict)

    def all(self, name: str) -> list[str]:
        return list(self.form.get(name) or self.query.get(name) or ())

    def one(self, name: str, default: str = "") -> str:
        values = self.all(name)
        return values[0].replace("\r\n", "\n") if values else default

    def number(self, name: str, default: int) -> int:
        text = self.one(name)
        return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else default

    def query_with(self, **changes: str) -> str:
        """Return the query for a link to the same page with these fields changed; an empty one is left out."""
        values = {name: values for name, values in self.query.items() if name != "part"}
        values |= {name: [value] for name, value in changes.items()}
        return urlencode([(name, one) for name, some in values.items() for one in some if one])


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


def counted(ids: Collection[str]) -> str:
    return "1 memory" if len(ids) == 1 else f"{len(ids)} memories"
