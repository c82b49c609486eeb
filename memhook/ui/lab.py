"""The prompt lab: what a prompt would get, and what other settings would change."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import unified_diff
from hashlib import sha256
from typing import Any

from starlette.responses import Response

from memhook.ui.page import Asked, Page, Views

AT_ONCE = 20  # candidates of the first answer besides those shown: rendering all takes a tenth of a prompt's time
NUMBERS = {
    "max_tokens": ("Budget", "tokens for the whole block", 50, 10_000),
    "hooks.best_chars": ("Best memory", "characters of the best one", 0, 6000),
    "preview_chars": ("Preview", "characters of each other", 40, 2000),
    "hooks.max_memories": ("Memories", "at most", 1, 50),
}
CHOICES = {
    "hooks.relevance": ("Relevance", ("strict", "balanced", "eager")),
    "hooks.detail": ("Detail", ("preview", "cascade", "full")),
}


def lab(page: Page, asked: Asked) -> Response:
    """Show the whole page, or for a script the answer alone: at once, then with all candidates."""
    answer = _answer(page, asked)
    if asked.one("part"):
        return page.shown("lab_answer.html", **answer)
    projects = page.call("projects")
    return page.shown(
        "lab.html",
        **answer,
        projects=projects["projects"],
        assistants={name: one.title for name, one in _assistants().items()},
        prompt=asked.one("prompt"),
        numbers=NUMBERS,
        choices=CHOICES,
    )


def _answer(page: Page, asked: Asked) -> dict[str, Any]:
    assistant = asked.one("assistant", "claude")
    limit = _assistants()[assistant].part_limit if assistant in _assistants() else None
    project = asked.one("project", "here")
    is_first = asked.one("part") == "1"
    report = page.call(
        "try_prompt",
        prompt=asked.one("prompt"),
        project=None if project == "here" else project,
        part_units=limit.size if limit else 0,
        overrides=_overrides(asked),
        withheld=not is_first,
    )
    return {
        "report": report,
        "candidates": [
            one for at, one in enumerate(report["candidates"]) if at < AT_ONCE or one["shown"] or not is_first
        ],
        "assistant": assistant,
        "project": project,
        "changed": _changed(report["settings"], report["saved"]),
        "is_asked": bool(asked.one("prompt").strip()),
    }


def _overrides(asked: Asked) -> dict[str, Any]:
    """Return the settings of the form; the daemon refuses a value that is not a number."""
    given = {key: asked.one(key).strip() for key in (*NUMBERS, *CHOICES)}
    return {key: int(text) if text.isdecimal() else text for key, text in given.items() if text}


def _changed(settings: Mapping[str, Any], saved: Mapping[str, Any]) -> dict[str, tuple[Any, Any]]:
    return {key: (saved[key], value) for key, value in settings.items() if value != saved[key]}


def _assistants() -> Mapping[str, Any]:
    from memhook.assistants.known import KNOWN  # noqa: PLC0415  loaded while the page is served already

    return KNOWN


def keep(page: Page, asked: Asked) -> Response:
    """Write the settings that differ to the user's file, after the user has seen and confirmed the diff."""
    from memhook.settings_file import changed_file, text_of, with_values  # noqa: PLC0415  pydantic: only here

    report = page.call("try_prompt", prompt="", overrides=_overrides(asked), withheld=False)
    values = {key: value for key, (_, value) in _changed(report["settings"], report["saved"]).items()}
    file = page.paths.config_file
    agreed = asked.one("agreed")

    def changed(text: str) -> str:
        return with_values(text, values) if _digest(text) == agreed else text

    if agreed and changed_file(page.paths, changed):
        return page.redirected("/")
    before = text_of(file)
    after = with_values(before, values)
    rows = unified_diff(before.splitlines(), after.splitlines(), "before", "after", lineterm="", n=2)
    now = _digest(before)
    is_stale = agreed not in ("", now)
    return page.shown("keep.html", rows=[*rows][2:], values=values, file=str(file), agreed=now, is_stale=is_stale)


def _digest(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


VIEWS: Views = {("GET", "/"): lab, ("POST", "/"): lab, ("POST", "/settings"): keep}
