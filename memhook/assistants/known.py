"""The supported assistants, one line each, and which of them an event came from.

To add an assistant: a module beside this one with one `Assistant`, and its name in KNOWN.
"""

from __future__ import annotations

from collections.abc import Mapping

from memhook.assistants.assistant import Assistant
from memhook.assistants.claude import CLAUDE
from memhook.assistants.codex import CODEX
from memhook.assistants.copilot import COPILOT
from memhook.assistants.events import Payload
from memhook.assistants.gemini import GEMINI
from memhook.assistants.opencode import OPENCODE
from memhook.assistants.qwen import QWEN

KNOWN: Mapping[str, Assistant] = {one.name: one for one in (CLAUDE, CODEX, GEMINI, QWEN, COPILOT, OPENCODE)}

FORCED = "MEMHOOK_CLIENT"
"""The variable in which the hook client passes the value of `--client`."""


def assistant_for(payload: Payload, environment: Mapping[str, str]) -> Assistant:
    """Return the assistant that the command line names, else the payload's, else the environment's, else Claude Code.

    The payload takes precedence, as an assistant that runs within another one inherits its environment.
    """
    forced = KNOWN.get(environment.get(FORCED, ""))
    if forced is not None:
        return forced
    for assistant in KNOWN.values():
        if assistant.wrote(payload):
            return assistant
    if "transcript_path" in payload:
        return CLAUDE  # all of Claude Code's have it, and none of what the others add
    return next((assistant for assistant in KNOWN.values() if assistant.runs_here(environment)), CLAUDE)
