"""Claude Code: its payload on stdin, its JSON on stdout. What others took over from it, they take from here."""

from __future__ import annotations

import json
from typing import Any

from memhook.assistants.events import Answer, Event, Kind
from memhook.assistants.payload import Payload, text
from memhook.core.packing import PartLimit, utf16_units

NAME = "claude"

# Claude Code 2.1 takes 10,000 UTF-16 units of one hook entry whole and replaces 10,001 by a file path.
PART_LIMIT = PartLimit(10_000, utf16_units)

_KINDS = {kind.value: kind for kind in Kind}  # memhook's names are Claude Code's


def event_of(payload: Payload, directory: str) -> Event | None:
    """None for an event at which memhook has nothing to say. Any field may be missing."""
    name = text(payload, "hook_event_name")
    kind = _KINDS.get(name)
    if kind is None:
        return None
    return Event(
        kind=kind,
        name=name,
        client=NAME,
        session=text(payload, "session_id"),
        agent=text(payload, "agent_id"),
        directory=text(payload, "cwd") or directory,
        prompt=text(payload, "prompt"),
        source=text(payload, "source"),
        agent_type=text(payload, "agent_type"),
        moment=text(payload, "prompt_id"),
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
