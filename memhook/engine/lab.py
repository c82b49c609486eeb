"""Try a prompt: the answer it would get, with other settings and in any project. Nothing is recorded or saved."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from memhook.answering.account import Account
from memhook.answering.answer import Surroundings
from memhook.answering.stages import Stages
from memhook.answering.why import explained_prompt
from memhook.core.packing import PartLimit, utf16_units
from memhook.engine.caller import Caller
from memhook.errors import InvalidInput
from memhook.settings import Settings, overridden, value_of
from memhook.store.project import NO_PROJECT, Project
from memhook.store.project_aliases import name_of

ADJUSTABLE = (
    "max_tokens",
    "preview_chars",
    "hooks.best_chars",
    "hooks.max_memories",
    "hooks.relevance",
    "hooks.detail",
)
"""The settings that change what a prompt gets."""


def try_prompt(
    caller: Caller,
    prompt: str,
    project: str | None = None,
    part_units: int = 0,
    overrides: Mapping[str, Any] | None = None,
    withheld: bool = True,
) -> dict[str, Any]:
    """Explain what `prompt` would get in a new session, with `overrides` for this one question.

    `project` is an id, "global" for none, or nothing for the caller's own. `settings` in the answer has the values in
    force, `saved` those without the overrides. Without `withheld` it answers in the time of a prompt.
    """
    settings = _with_overrides(caller.settings, overrides or {})
    chosen = _project(caller, project)
    doubts = caller.doubts_in(chosen)
    around = Surroundings(caller.all, settings, chosen, Account(), caller.now, Stages(), doubts)
    part_limit = PartLimit(part_units, utf16_units) if part_units else None
    report = explained_prompt(prompt, "", around, caller.pause, part_limit, with_withheld=withheld)
    return {**report, "settings": _values(settings), "saved": _values(caller.settings)}


def _with_overrides(settings: Settings, overrides: Mapping[str, Any]) -> Settings:
    for key in overrides:
        if key not in ADJUSTABLE:
            raise InvalidInput(f"{key} cannot be tried out.", f"These can: {', '.join(ADJUSTABLE)}.")
    return overridden(settings, overrides)


def _values(settings: Settings) -> dict[str, Any]:
    return {key: value_of(settings, key) for key in ADJUSTABLE}


def _project(caller: Caller, asked: str | None) -> Project:
    if asked is None:
        return caller.project
    return NO_PROJECT if asked == "global" else Project(asked, name=name_of(asked))
