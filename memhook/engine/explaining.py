"""Operations that explain: why memories came up or did not, what a prompt would get, and what memhook costs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from memhook.answering import silence, usage
from memhook.answering.account import Account
from memhook.answering.answer import Surroundings
from memhook.answering.explore import anchors_shown
from memhook.answering.stages import Stages
from memhook.answering.why import explained_prompt, explained_record
from memhook.core.grading import gate_of
from memhook.core.memory import Memory, Origin, place_of
from memhook.core.packing import PartLimit, utf16_units
from memhook.core.staleness import clause
from memhook.engine.accounts import account_of
from memhook.engine.caller import Caller
from memhook.errors import InvalidInput, NotFound
from memhook.library.access import OWNER, is_open, reason_withheld
from memhook.screening.policy import judged, shown_as
from memhook.settings import Settings, overridden, value_of
from memhook.store.ledger import Usage
from memhook.store.project import NO_PROJECT, Project
from memhook.store.project_aliases import name_of
from memhook.writing import remember

EXPLAINED_EVENTS = 5
ADJUSTABLE = (
    "max_tokens",
    "preview_chars",
    "hooks.best_chars",
    "hooks.max_memories",
    "hooks.relevance",
    "hooks.detail",
)
"""The settings that change what a prompt gets."""


def why(
    caller: Caller, prompt: str | None = None, session: str = "", shown: bool = False, part_units: int = 0
) -> dict[str, Any]:
    """Return the last event of the session or the project; with `prompt`, the answer that it would get now.

    With `shown`, the last event that got any text. `part_units` is the size of one part of a client's answer, in
    UTF-16 units.
    """
    if prompt is not None:
        last = caller.record.last_injection(session) if session else None
        account = account_of(caller.record, session, "", last.client if last else "") if session else Account()
        report = _explained(caller, prompt, session, account, part_units)
        return {**report, "session_budget": {"spent": account.spent, "of": caller.settings.session_max_tokens}}
    last = caller.record.last_injection(session, caller.project.id, shown)
    if last is None:
        where = f"of the session {session}" if session else "in this project"
        raise NotFound(
            f"Nothing is recorded {where} yet.", 'See what a prompt would get: memhook why "how do we deploy?"'
        )
    earlier = None if last.text else caller.record.last_injection(session, caller.project.id, with_text=True)
    spent = caller.record.spent(last.session, last.agent)
    return {
        **explained_record(last, caller.all, caller.settings),
        "session_budget": {"spent": spent, "of": caller.settings.session_max_tokens},
        "last_shown": earlier.at.isoformat() if earlier else None,
    }


def try_prompt(
    caller: Caller,
    prompt: str,
    project: str | None = None,
    part_units: int = 0,
    overrides: Mapping[str, Any] | None = None,
    withheld: bool = True,
) -> dict[str, Any]:
    """Explain the answer that `prompt` would get in a new session, with `overrides` of the settings.

    `project` is an id, "global" for none, or None for the caller's own. In the answer, `settings` has the values used,
    `saved` those without the overrides. Without `withheld` it takes no longer than a prompt.
    """
    settings = _with_overrides(caller.settings, overrides or {})
    there = replace(caller, settings=settings, project=_project(caller, project))
    report = _explained(there, prompt, "", Account(), part_units, withheld=withheld)
    return {**report, "settings": _values(settings), "saved": _values(caller.settings)}


def _with_overrides(settings: Settings, overrides: Mapping[str, Any]) -> Settings:
    for key in overrides:
        if key not in ADJUSTABLE:
            raise InvalidInput(f"{key} cannot be tried out.", f"Only these can: {', '.join(ADJUSTABLE)}.")
    return overridden(settings, overrides)


def _values(settings: Settings) -> dict[str, Any]:
    return {key: value_of(settings, key) for key in ADJUSTABLE}


def _project(caller: Caller, asked: str | None) -> Project:
    if asked is None:
        return caller.project
    return NO_PROJECT if asked == "global" else Project(asked, name=name_of(asked))


def _explained(
    caller: Caller, prompt: str, session: str, account: Account, part_units: int, *, withheld: bool = True
) -> dict[str, Any]:
    doubts = caller.doubts_in(caller.project)
    around = Surroundings(caller.all, caller.settings, caller.project, account, caller.now, Stages(), doubts)
    part_limit = PartLimit(part_units, utf16_units) if part_units else None
    return explained_prompt(prompt, session, around, caller.pause, part_limit, with_withheld=withheld)


def explain(caller: Caller, reference: str, events: int = EXPLAINED_EVENTS) -> dict[str, Any]:
    """Why one memory comes up here or does not: what keeps it back, and the last `events` that considered it."""
    memory = judged(remember.found(caller.all, [reference])[0])
    use = caller.accounts.usage([memory.id]).get(memory.id, Usage())
    is_elsewhere = memory.project not in ("", caller.project.id)
    obstacles = {
        silence.at_rest(caller.settings, caller.pause) or "": "",
        "another project" if is_elsewhere else "": memory.project,
        reason_withheld(memory, caller.settings, caller.now): "",
    }
    return {
        "urn": memory.urn,
        "title": shown_as(memory).title if is_open(memory) else "",
        **{name: found if is_open(memory) else [] for name, found in anchors_shown(memory).items()},
        "checked": clause(caller.doubts_in(caller.project).findings(memory)) if is_open(memory) else "",
        "withheld_because": [f"{reason} ({more})" if more else reason for reason, more in obstacles.items() if reason],
        "superseded_by": _successor(caller, memory),
        "loaded_by": list(memory.loaded_by),
        "captured": _captured(memory, use),
        "times_shown": use.shown,
        "times_used": use.used,
        "history": [
            event if is_open(memory) else event | {"score_parts": {}}  # the anchors, which are words of the text
            for event in caller.accounts.history(memory.id, events)
        ],
    }


def _successor(caller: Caller, memory: Memory) -> dict[str, str] | None:
    """Return the memory that replaced it, if that exists and may be named."""
    names = [memory.superseded_by] if memory.superseded_by else []
    found = map(judged, caller.all.store.by_reference(names, OWNER))
    return next(({"urn": one.urn, "title": shown_as(one).title} for one in found if is_open(one)), None)


def _captured(memory: Memory, use: Usage) -> dict[str, Any] | None:
    """Return where and when a captured memory was captured, and its use; None for any other."""
    if memory.origin is not Origin.CAPTURED:
        return None
    place, date = place_of(memory.session).words, memory.created.date().isoformat()
    return {"from": place, "date": date, "shown": use.shown, "used": use.used, "gate": gate_of(memory)}


def stats(caller: Caller, days: int | None = None, here: bool = False) -> dict[str, Any]:
    """Return prompts, tokens and memories shown, in the last `days` or since recording began."""
    return usage.usage(caller.all.store, caller.record, caller.now, days, caller.project.id if here else None)
