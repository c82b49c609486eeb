"""Gemini CLI: a prompt is BeforeAgent there; no limit was found up to 100,000 characters."""

from __future__ import annotations

import re
from collections.abc import Mapping

from memhook.assistants import claude
from memhook.assistants.events import Event, Kind
from memhook.assistants.payload import Payload, text

NAME = "gemini"

# Its own name for a prompt, and the others' for whoever forces this adapter on a payload of theirs.
_KINDS = {"SessionStart": Kind.SESSION_START, "BeforeAgent": Kind.PROMPT, "UserPromptSubmit": Kind.PROMPT}

# The first prompt of a session arrives with what the hooks said at its start, which nobody typed.
_HOOK_CONTEXT = re.compile(r"\A(?:<hook_context>.*?</hook_context>\s*)+", re.DOTALL)

output_of = claude.output_of


def event_of(payload: Payload, directory: str) -> Event | None:
    name = text(payload, "hook_event_name")
    kind = _KINDS.get(name)
    if kind is None:
        return None
    return Event(
        kind=kind,
        name=name,
        client=NAME,
        session=text(payload, "session_id"),
        agent="",
        directory=text(payload, "cwd") or directory,
        prompt=_HOOK_CONTEXT.sub("", text(payload, "prompt")),
        source=text(payload, "source"),
        moment=text(payload, "timestamp"),
    )


def wrote(payload: Payload) -> bool:
    stamped = "timestamp" in payload and "transcript_path" in payload and "permission_mode" not in payload
    return stamped or text(payload, "hook_event_name") == "BeforeAgent"


def runs_here(environment: Mapping[str, str]) -> bool:
    """Qwen Code is made from Gemini CLI and sets the variables of both."""
    return "GEMINI_PROJECT_DIR" in environment and "QWEN_PROJECT_DIR" not in environment
