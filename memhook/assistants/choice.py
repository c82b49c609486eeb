"""Which assistant an event came from: as the command line says, as the payload shows, as the environment shows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from memhook.assistants import claude, codex, copilot, gemini, opencode, qwen
from memhook.assistants.events import Answer, Event
from memhook.assistants.payload import Payload
from memhook.core.packing import PartLimit

FORCED = "MEMHOOK_CLIENT"
"""Where the hook client puts what `--client` names."""


def _never(_: Mapping[str, object]) -> bool:
    return False


@dataclass(frozen=True, slots=True)
class Adapter:
    """One assistant's language. `wrote` knows its payloads, `runs_here` the variables it sets for its hooks."""

    name: str
    event_of: Callable[[Payload, str], Event | None]
    output_of: Callable[[Event, Answer], bytes]
    part_limit: PartLimit | None = None
    wrote: Callable[[Payload], bool] = _never
    runs_here: Callable[[Mapping[str, str]], bool] = _never


CLAUDE = Adapter(claude.NAME, claude.event_of, claude.output_of, claude.PART_LIMIT)
ADAPTERS = (
    CLAUDE,
    Adapter(codex.NAME, codex.event_of, codex.output_of, codex.PART_LIMIT, codex.wrote),
    Adapter(gemini.NAME, gemini.event_of, gemini.output_of, None, gemini.wrote, gemini.runs_here),
    Adapter(qwen.NAME, qwen.event_of, qwen.output_of, None, qwen.wrote, qwen.runs_here),
    Adapter(copilot.NAME, copilot.event_of, copilot.output_of, None, copilot.wrote, copilot.runs_here),
    Adapter(opencode.NAME, opencode.event_of, opencode.output_of),
)
NAMES = tuple(adapter.name for adapter in ADAPTERS)


def adapter_for(payload: Payload, environment: Mapping[str, str]) -> Adapter:
    """Claude Code's where nothing speaks for another: the others took its language over.

    The payload comes before the environment, which one assistant hands on to another that runs within it.
    """
    forced = environment.get(FORCED, "")
    for adapter in ADAPTERS:
        if adapter.name == forced:
            return adapter
    for adapter in ADAPTERS:
        if adapter.wrote(payload):
            return adapter
    if "transcript_path" in payload:
        return CLAUDE  # all of Claude Code's have it, and none of what the others add
    return next((adapter for adapter in ADAPTERS if adapter.runs_here(environment)), CLAUDE)
