"""The pages that list, show and change memories."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import unified_diff
from typing import Any

from starlette.responses import Response

from memhook.errors import Conflict, InvalidInput
from memhook.ui.page import Asked, Page, Views, counted

LIMIT = 50
SORTS = {"updated": "last changed", "created": "newest", "title": "title", "shown": "shown most", "used": "used most"}
STATES = {
    "never_shown": "never shown",
    "pinned": "pinned",
    "muted": "muted",
    "quarantined": "quarantined",
    "stale": "stale: gone or changed in this repository",
}
LINES = ("title", "namespace", "source", "project", "sensitivity", "expires")
DONE = {
    "pin": ("Pinned", {"pinned": True}),
    "unpin": ("Unpinned", {"pinned": False}),
    "mute": ("Muted", {"muted": True}),
    "unmute": ("Unmuted", {"muted": False}),
    "release": ("Released", {"released": True}),
}
QUESTIONS = {
    "forget": ("Forget", "Importing them again does not bring them back. This can be undone while the page is open."),
    "redact": ("Redact", "Their text is deleted from every file of memhook; the URNs stay. This cannot be undone."),
    "purge": ("Purge", "Nothing of them stays in any file of memhook. This cannot be undone."),
}


def list_(page: Page, asked: Asked) -> Response:
    offset = asked.number("offset", 0)
    chosen = {name: asked.one(name) for name in ("q", "project", "namespace", "tag", "origin", "sensitivity", "state")}
    sort = asked.one("sort", "updated")
    conditions: dict[str, Any] = {name: chosen[name] for name in ("project", "sensitivity")}
    conditions |= {f"{name}s": [chosen[name]] for name in ("namespace", "tag", "origin") if chosen[name]}
    conditions |= {chosen["state"]: True} if chosen["state"] in STATES else {}
    found = page.call("browse", query=chosen["q"], sort=sort, limit=LIMIT, offset=offset, **conditions)
    values = {
        **found,
        "found": found,
        "offset": offset,
        "limit": LIMIT,
        "chosen": chosen,
        "back": f"/memories?{asked.query_with()}",
        "earlier": asked.query_with(offset=str(max(0, offset - LIMIT) or "")),
        "later": asked.query_with(offset=str(offset + LIMIT)),
    }
    if asked.one("part"):
        return page.shown("memories_list.html", **values)
    return page.shown("memories.html", **values, sort=sort, sorts=SORTS, states=STATES, facets=page.call("facets"))


def memory(page: Page, asked: Asked) -> Response:
    found = page.call("look", reference=asked.place["id"])
    return page.shown("memory.html", **found, one=found["memory"], is_open=bool(asked.one("show")))


def edit(page: Page, asked: Asked) -> Response:
    """Show the form; with what was typed, save it, as a change or as a new memory that supersedes this one."""
    one = page.call("look", reference=asked.place["id"])["memory"]
    if one["sensitivity"] == "confidential" and not asked.form and not asked.one("show"):
        return page.redirected(f"/memory/{one['id']}")
    facets = page.call("facets")
    if not asked.form:
        return page.shown(
            "edit.html", one=one, typed=_as_typed(one), facets=facets, conflict=None, version=one["version"]
        )
    typed: dict[str, Any] = {name: asked.one(name) for name in (*LINES, "content", "tags")}
    typed["pinned"] = bool(asked.one("pinned"))
    try:
        saved = _saved(page, asked, one, typed)
    except Conflict as error:
        rows = [*unified_diff(typed["content"].split("\n"), one["content"].split("\n"), lineterm="", n=1)][2:]
        conflict = {"message": error.message, "rows": rows}
        values = {"one": one, "typed": typed, "facets": facets, "conflict": conflict, "version": one["version"]}
        return page.shown("edit.html", status=409, **values)
    return page.redirected(f"/memory/{saved}")


def _as_typed(one: Mapping[str, Any]) -> dict[str, Any]:
    return {**one, "tags": ", ".join(one["tags"]), "expires": (one["expires"] or "")[:10]}


def _saved(page: Page, asked: Asked, one: Mapping[str, Any], typed: Mapping[str, Any]) -> str:
    """Return the id. Only fields that differ are sent: a derived title follows its content."""
    shown = _as_typed(one)
    fields = {name: value for name, value in typed.items() if value != shown[name]}
    if "tags" in fields:
        fields["tags"] = _names(fields["tags"])
    if asked.one("as") == "new":
        content = fields.pop("content", "")
        if not content:
            raise InvalidInput("A new memory needs another content.", "Change the text, then save it as a new one.")
        kept = {name: one[name] for name in ("namespace", "tags", "source", "project", "sensitivity")}
        stored = page.call("remember", content=content, **{**kept, **fields}, supersedes=[one["id"]])
        new = str(stored["memory"]["id"])
        if stored["outcome"] == "stored":
            page.changes.add("Stored a new memory", {"method": "retract", "params": {"references": [new]}})
        return new
    if fields:
        versions = {one["id"]: asked.one("version")}
        done = page.call("revise", references=[one["id"]], versions=versions, **fields)
        name = "a confidential memory" if one["sensitivity"] == "confidential" else f"“{one['title']}”"
        page.changes.add(f"Changed {name}", done["undo"])
    return str(one["id"])


def _names(text: str) -> list[str]:
    return [name for part in text.split(",") if (name := part.strip())]


def act(page: Page, asked: Asked) -> Response:
    """Apply an action to the chosen memories; forgetting and irreversible actions need a confirmation."""
    action = asked.one("do")
    chosen = dict(one.partition("@")[::2] for one in asked.all("chosen"))
    back = asked.one("back", "/memories")
    if not chosen:
        raise InvalidInput("No memory is chosen.", "Choose one with the box before it, or with the key x.")
    if action in QUESTIONS and not asked.one("agreed"):
        records = page.call("get", references=list(chosen), touch=False)
        return page.shown("ask.html", do=action, records=records, chosen=asked.all("chosen"), back=back, asks=QUESTIONS)
    _done(page, asked, action, chosen)
    place = f"#m-{next(iter(chosen))}" if back.startswith("/memories") else ""
    return page.redirected(_inside(back) + place)


def _inside(back: str) -> str:
    return back if back.startswith("/") else "/memories"


def _done(page: Page, asked: Asked, action: str, chosen: Mapping[str, str]) -> None:
    ids = list(chosen)
    given: dict[str, Any] = {"references": ids, "versions": chosen}
    if action in ("redact", "purge"):
        page.call(action, references=ids)
        page.changes.drop(ids)
    elif action == "forget":
        page.changes.add(f"Forgot {counted(ids)}", page.call("retract", **given)["undo"])
    else:
        text, fields = _fields(action, asked, ids)
        if action == "supersede":
            given["references"] = ids[:1]
        page.changes.add(text, page.call("revise", **given, **fields)["undo"])


def _fields(action: str, asked: Asked, ids: Sequence[str]) -> tuple[str, dict[str, Any]]:
    """Return a description of the change, and the fields to set."""
    if action in DONE:
        done, fields = DONE[action]
        return f"{done} {counted(ids)}", dict(fields)
    tags = _names(asked.one("tag"))
    match action:
        case "tag" | "untag" if tags:
            key = "add_tags" if action == "tag" else "remove_tags"
            return f"Tags of {counted(ids)}", {key: tags}
        case "move":
            target = asked.one("target")
            return f"Moved {counted(ids)}", {"project": "" if target == "global" else target}
        case "supersede" if len(ids) > 1:
            return f"The first of {counted(ids)} replaces the others", {"supersedes": ids[1:]}
    raise InvalidInput("That needs something more.", "For a tag type its name, for superseding choose two memories.")


def undo(page: Page, asked: Asked) -> Response:
    undone = page.changes.undo(asked.number("number", 0), page.call)
    return page.redirected("/memories" if undone.method == "retract" else _inside(asked.one("back")))


VIEWS: Views = {
    ("GET", "/memories"): list_,
    ("POST", "/memories"): act,
    ("GET", "/memory/{id}"): memory,
    ("GET", "/memory/{id}/edit"): edit,
    ("POST", "/memory/{id}/edit"): edit,
    ("POST", "/undo"): undo,
}
