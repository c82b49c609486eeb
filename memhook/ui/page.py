"""A page: the fields of its request, its context (daemon, templates, session), and the changes made on it."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from http import HTTPStatus
from threading import Lock
from typing import Any
from urllib.parse import parse_qs, urlencode

from jinja2 import Environment
from starlette.responses import HTMLResponse, RedirectResponse, Response

from memhook.daemon.control import Call
from memhook.errors import Conflict, NotFound
from memhook.paths import Paths
from memhook.ui.session import Session

MOST_CHANGES = 100

Fields = Mapping[str, list[str]]


@dataclass(frozen=True, slots=True)
class Change:
    """One change: its description, and the call that undoes it."""

    number: int
    text: str
    method: str
    params: Mapping[str, Any]

    def concerns(self, ids: Sequence[str]) -> bool:
        names = {*self.params.get("references", ()), *(one["id"] for one in self.params.get("memories", ()))}
        return not names.isdisjoint(ids)


class Changes:
    """The changes made while the page is served, newest last, which can be undone. They are only in memory."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._made = 0
        self._changes: deque[Change] = deque(maxlen=MOST_CHANGES)

    @property
    def last(self) -> Change | None:
        return next(reversed(self._changes), None)

    def add(self, text: str, undo: Mapping[str, Any] | None) -> None:
        if undo:
            with self._lock:
                self._made += 1
                self._changes.append(Change(self._made, text, undo["method"], undo["params"]))

    def undo(self, number: int, call: Call) -> Change:
        """Undo a change. One that can no longer be undone is dropped; after any other failure it stays."""
        change = next((one for one in self._changes if one.number == number), None)
        if change is None:
            raise NotFound("That is undone already.", "Load the page again.")
        try:
            call(change.method, **change.params)
        except (Conflict, NotFound) as error:
            self._remove(change)
            raise type(error)(error.message, "It was not undone, and nothing is overwritten.") from error
        self._remove(change)
        return change

    def _remove(self, change: Change) -> None:
        with self._lock, suppress(ValueError):  # another tab was first
            self._changes.remove(change)

    def drop(self, ids: Sequence[str]) -> None:
        """Drop the changes whose undo would restore memories that were redacted or purged."""
        with self._lock:
            kept = [one for one in self._changes if not one.concerns(ids)]
            self._changes.clear()
            self._changes.extend(kept)


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
