"""OpenCode: its plugin, which memhook brings, speaks Claude Code's language and takes the context as plain text."""

from __future__ import annotations

from dataclasses import replace

from memhook.assistants import claude
from memhook.assistants.events import Event
from memhook.assistants.payload import Payload

NAME = "opencode"

output_of = claude.output_of


def event_of(payload: Payload, directory: str) -> Event | None:
    event = claude.event_of(payload, directory)
    return event and replace(event, client=NAME, part_limit=None, prompt=_unquoted(event.prompt))


def _unquoted(prompt: str) -> str:
    """`opencode run` puts a prompt of several words in quotes, so that no line would start as it was typed."""
    inner = prompt[1:-1]
    is_quoted = len(prompt) > 1 and prompt[0] == prompt[-1] == '"' and '"' not in inner
    return inner if is_quoted else prompt
