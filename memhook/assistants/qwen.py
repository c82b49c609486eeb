"""Qwen Code: Claude Code's events and answers, Gemini CLI's settings.

After a tool has run it sends the prompt's event again with an empty prompt, which gets nothing like any other.
"""

from __future__ import annotations

from pathlib import Path

from memhook.assistants.assistant import START_AND_PROMPT, Assistant, Where
from memhook.assistants.edits import PLUGIN, Edit, hook_groups, joined, json_server
from memhook.assistants.events import Kind, Payload


def _wrote(payload: Payload) -> bool:
    return "submitted_prompt" in payload or ("timestamp" in payload and "permission_mode" in payload)


def _folder(where: Where) -> Path:
    return where.folder("QWEN_HOME", ".qwen")


def _edits(where: Where) -> tuple[Edit, ...]:
    settings = (where.project / ".qwen" if where.project else _folder(where)) / "settings.json"
    server = json_server(settings, ("mcpServers",), where.server())
    return (joined(settings, hook_groups(settings, where.hooks("qwen", START_AND_PROMPT)), server),)


QWEN = Assistant(
    name="qwen",
    title="Qwen Code",
    more_events={"SubagentStart": Kind.SUBAGENT_START},
    wrote=_wrote,
    runs_here=lambda environment: "QWEN_PROJECT_DIR" in environment,
    folder=_folder,
    edits=_edits,
    has_plugin=lambda where: (_folder(where) / "extensions" / PLUGIN).is_dir(),
    user_notes=("QWEN.md",),
    project_notes=("QWEN.md",),
    sessions=("projects/*/chats/*.jsonl",),
)
