"""The inbox: captured memories and proposals, reviewed one card at a time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from starlette.responses import Response

from memhook.errors import InvalidInput
from memhook.ui.page import Asked, Page, Views, counted

MOST = 500
DONE = {"keep": "Kept", "drop": "Dropped", "merge": "Merged"}


def inbox(page: Page, asked: Asked) -> Response:
    found = page.call("inbox_list", limit=MOST)
    items = found["items"]
    at = max(0, min(asked.number("at", 0), len(items) - 1))
    item = items[at] if items else None
    together = [one for one in items if item and _session(one) and _session(one) == _session(item)]
    near = page.call("inbox_near", reference=item["memory"]["id"]) if item and item["kind"] == "captured" else []
    values = {"item": item, "at": at, "total": found["total"], "kinds": found["kinds"], "listed": len(items)}
    return page.shown("inbox.html", **values, together=together, near=near)


def _session(item: Mapping[str, Any]) -> str:
    return str(item["memory"]["session"]).rpartition("#")[0] if item["kind"] == "captured" else ""


def decide(page: Page, asked: Asked) -> Response:
    action = asked.one("do")
    chosen = dict(one.partition("@")[::2] for one in asked.all("chosen"))
    if action.startswith("merge:") and len(chosen) == 1:
        into = action.removeprefix("merge:")
        done = page.call("inbox_merge", reference=next(iter(chosen)), into=into, versions=chosen)
    elif action in ("keep", "drop") and chosen:
        edited = {"content": asked.one("content")} if action == "keep" and asked.one("content") else {}
        done = page.call(f"inbox_{action}", references=list(chosen), versions=chosen, **edited)
    else:
        raise InvalidInput("That is no decision.", "Keep it, drop it or merge it.")
    is_superseded = action == "drop" and all(one["superseded_by"] for one in done["memories"])
    what = "Superseded" if is_superseded else DONE[action.partition(":")[0]]
    page.changes.add(f"{what} {counted(chosen)}", done["undo"])
    return page.redirected(f"/inbox?at={asked.number('at', 0)}")


VIEWS: Views = {("GET", "/inbox"): inbox, ("POST", "/inbox"): decide}
