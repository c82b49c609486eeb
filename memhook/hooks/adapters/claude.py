"""Claude Code: its payload on stdin, its JSON on stdout."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from memhook.core.packing import PartLimit, utf16_units
from memhook.hooks.events import Answer, Event, Kind

NAME = "claude"

# Claude Code 2.1 takes 10,000 UTF-16 units of one hook entry whole and replaces 10,001 by a file path.
PART_LIMIT = PartLimit(10_000, utf16_units)

_KINDS = {"SessionStart": Kind.SESSION_START, "UserPromptSubmit": Kind.PROMPT}


def event_of(payload: Mapping[str, Any], directory: str) -> Event | None:
    """None for an event at which memhook has nothing to say. Any field may be missing."""
    name = _text(payload, "hook_event_name")
    kind = _KINDS.get(name)
    if kind is None:
        return None
    return Event(
        kind=kind,
        name=name,
        client=NAME,
        session=_text(payload, "session_id"),
        agent=_text(payload, "agent_id"),
        directory=_text(payload, "cwd") or directory,
        prompt=_text(payload, "prompt"),
        source=_text(payload, "source"),
        moment=_text(payload, "prompt_id"),
        part_limit=PART_LIMIT,
    )


def output_of(event: Event, answer: Answer) -> bytes:
    """One JSON object, or nothing at all when there is nothing to say."""
    output: dict[str, Any] = {}
    if answer.notice:
        output["systemMessage"] = answer.notice
    if answer.context:
        output["hookSpecificOutput"] = {"hookEventName": event.name, "additionalContext": answer.context}
    return (json.dumps(output) + "\n").encode() if output else b""


def _text(payload: Mapping[str, Any], key: str) -> str:
    value = payload.get(key)
    # A lone surrogate is valid JSON, but neither the ledger nor the model can take it.
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else ""
