"""Codex: Claude Code's events with a turn instead of a prompt's id, and a limit in bytes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import PurePath

from memhook.assistants import claude
from memhook.assistants.events import Event
from memhook.assistants.payload import Payload, text
from memhook.core.packing import PartLimit, utf8_bytes

NAME = "codex"

# Codex 0.166 takes 10,000 bytes of one hook entry whole and cuts the middle out of more.
PART_LIMIT = PartLimit(10_000, utf8_bytes)

output_of = claude.output_of


def event_of(payload: Payload, directory: str) -> Event | None:
    event = claude.event_of(payload, directory)
    return event and replace(event, client=NAME, moment=text(payload, "turn_id"), part_limit=PART_LIMIT)


def wrote(payload: Payload) -> bool:
    """Only Codex counts turns, names its transcripts so, and tells the permission mode before the first prompt."""
    if "timestamp" in payload:
        return False
    transcript = PurePath(text(payload, "transcript_path")).name
    tells_early = text(payload, "hook_event_name") == "SessionStart" and "permission_mode" in payload
    return "turn_id" in payload or transcript.startswith("rollout-") or tells_early
