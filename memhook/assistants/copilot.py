"""Copilot CLI: Claude Code's events, or its own in camelCase without a name; context at the top level of the answer."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from memhook.assistants.events import Answer, Event, Kind
from memhook.assistants.payload import Payload, text

NAME = "copilot"

_KINDS = {
    "SessionStart": Kind.SESSION_START,
    "sessionStart": Kind.SESSION_START,
    "UserPromptSubmit": Kind.PROMPT,
    "userPromptSubmitted": Kind.PROMPT,
}


def event_of(payload: Payload, directory: str) -> Event | None:
    name = text(payload, "hook_event_name") or _unnamed(payload)
    kind = _KINDS.get(name)
    if kind is None:
        return None
    return Event(
        kind=kind,
        name=name,
        client=NAME,
        session=text(payload, "session_id", "sessionId"),
        agent="",
        directory=text(payload, "cwd") or directory,
        prompt=text(payload, "prompt"),
        source=text(payload, "source"),
        moment=str(payload.get("timestamp", "")),
    )


def output_of(_event: Event, answer: Answer) -> bytes:
    output: dict[str, Any] = {}
    if answer.notice:
        output["systemMessage"] = answer.notice
    if answer.context:
        output["additionalContext"] = answer.context
    return (json.dumps(output) + "\n").encode() if output else b""


def wrote(payload: Payload) -> bool:
    return "sessionId" in payload or ("timestamp" in payload and "transcript_path" not in payload)


def runs_here(environment: Mapping[str, str]) -> bool:
    return "COPILOT_CLI" in environment


def _unnamed(payload: Payload) -> str:
    """What a native event is, by what it carries."""
    if "toolName" in payload:
        return ""
    return "userPromptSubmitted" if "prompt" in payload else "sessionStart" if "source" in payload else ""
