"""The last hooks, as a timeline per session."""

from __future__ import annotations

from collections import defaultdict

from starlette.responses import Response

from memhook.ui.page import Asked, Page, Views

LIMIT = 60


def events(page: Page, asked: Asked) -> Response:
    session, before = asked.one("session"), asked.number("before", 0)
    found = page.call("events", limit=LIMIT, before=before, session=session)["events"]
    sessions = defaultdict(list)
    for event in found:
        sessions[event["session"]].append(event)
    last = found[-1]["number"] if len(found) == LIMIT else 0
    earlier = asked.query_with(before=str(last)) if last else ""
    return page.shown("events.html", sessions=sessions.items(), session=session, earlier=earlier)


VIEWS: Views = {("GET", "/events"): events}
