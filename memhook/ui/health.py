"""The pages with the last hooks as a timeline per session, the doctor's checks, and plots of numbers."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from starlette.responses import Response

from memhook.ui.page import Asked, Page, Views

LIMIT = 60  # events a page
DOCTOR_SECONDS = 300


def events(page: Page, asked: Asked) -> Response:
    session, before = asked.one("session"), asked.number("before", 0)
    found = page.call("events", limit=LIMIT, before=before, session=session)["events"]
    sessions = defaultdict(list)
    for event in found:
        sessions[event["session"]].append(event)
    last = found[-1]["number"] if len(found) == LIMIT else 0
    earlier = asked.query_with(before=str(last)) if last else ""
    return page.shown("events.html", sessions=sessions.items(), session=session, earlier=earlier)


def health(page: Page, asked: Asked) -> Response:
    """Show the numbers. The checks take seconds: a script asks for them, or the link of a page without one."""
    numbers = page.call("numbers")
    origins = sorted({origin for week in numbers["origins"].values() for origin in week})
    findings = _findings() if asked.one("checks") else None
    return page.shown("health.html", numbers=numbers, findings=findings, origins=origins, weeks=_weeks(numbers))


def _weeks(numbers: Mapping[str, Any]) -> dict[str, dict[str, int]]:
    """Return how many memories of each origin there were at the end of each week with a new one."""
    so_far: dict[str, int] = {}
    weeks = {}
    for week, counts in numbers["origins"].items():
        so_far = {origin: so_far.get(origin, 0) + counts.get(origin, 0) for origin in {**so_far, **counts}}
        weeks[week] = so_far
    return weeks


def checks(page: Page, _asked: Asked) -> Response:
    return page.shown("checks.html", findings=_findings())


def _findings() -> list[dict[str, Any]]:
    """Return what `memhook doctor` finds. The command itself is run: its checks are of a whole process."""
    command = [sys.executable, "-m", "memhook.cli", "doctor", "--json"]
    run = subprocess.run(command, capture_output=True, text=True, check=False, timeout=DOCTOR_SECONDS)
    try:
        found: list[dict[str, Any]] = json.loads(run.stdout)["checks"]
    except (ValueError, KeyError):
        found = [
            {"name": "doctor", "ok": False, "message": run.stderr.strip() or "no answer", "repair": "memhook doctor"}
        ]
    return found


VIEWS: Views = {("GET", "/events"): events, ("GET", "/health"): health, ("GET", "/health/checks"): checks}
