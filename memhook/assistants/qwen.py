"""Qwen Code: Claude Code's names; no limit was found up to 100,000 characters.

After a tool has run it sends the prompt's event again with an empty prompt, which gets nothing like any other.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from memhook.assistants import claude
from memhook.assistants.events import Event
from memhook.assistants.payload import Payload

NAME = "qwen"

output_of = claude.output_of


def event_of(payload: Payload, directory: str) -> Event | None:
    event = claude.event_of(payload, directory)
    return event and replace(event, client=NAME, part_limit=None)


def wrote(payload: Payload) -> bool:
    return "submitted_prompt" in payload or ("timestamp" in payload and "permission_mode" in payload)


def runs_here(environment: Mapping[str, str]) -> bool:
    return "QWEN_PROJECT_DIR" in environment
