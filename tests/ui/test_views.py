"""Views by themselves, with a door that answers what a test says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from memhook.paths import user_paths
from memhook.ui.app import PAGES
from memhook.ui.health import LIMIT, events
from memhook.ui.page import Asked, Changes, Page
from memhook.ui.rendering import environment
from memhook.ui.session import Session


def page_with(answer: Any) -> Page:
    session, changes = Session(1), Changes()
    templates = environment(base=session.base, csrf=session.csrf, pages=PAGES, changes=changes)
    return Page(lambda _method, **_params: answer, user_paths(), session, templates, changes)


def event(number: int) -> dict[str, Any]:
    names = ("session", "agent", "client", "event", "project", "outcome")
    figures = {"tokens": 0, "budget": 4000, "milliseconds": {"total": 1.0}, "considered": 0, "shown": []}
    return {"number": number, "at": "2026-03-01T12:00:00+00:00", **dict.fromkeys(names, "x"), **figures}


@pytest.mark.parametrize("found", [LIMIT, LIMIT - 1])
def test_a_full_page_of_events_leads_to_the_ones_before(home: Path, found: int) -> None:
    answer = {"events": [event(number) for number in range(found + 6, 6, -1)]}
    text = bytes(events(page_with(answer), Asked({})).body).decode()
    assert ("before=7" in text) == (found == LIMIT)


@pytest.mark.parametrize("text", ["", "x", "-1", "²", "1" * 10, "1" * 5000])
def test_what_is_no_usable_number_is_the_default(text: str) -> None:
    assert Asked({"offset": [text]}).number("offset", 50) == 50
    assert Asked({"offset": ["12"]}).number("offset", 50) == 12
