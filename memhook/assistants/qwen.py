"""Qwen Code: Claude Code's events and answers, Gemini CLI's settings.

After a tool has run it sends the prompt's event again with an empty prompt, which gets nothing like any other.
"""

from __future__ import annotations

from pathlib import Path

from memhook.assistants.assistant import START_AND_PROMPT, AlsoLoads, Assistant, Where
from memhook.assistants.claude import memories_by_directory
from memhook.assistants.edits import PLUGIN, Edit, hook_groups, joined, json_server
from memhook.assistants.events import Kind, Payload
from memhook.assistants.sessions import qwen as qwen_sessions


def _wrote(payload: Payload) -> bool:
    return "submitted_prompt" in payload or ("timestamp" in payload and "permission_mode" in payload)


def _folder(where: Where) -> Path:
    return where.folder("QWEN_HOME", ".qwen")


def _edits(where: Where) -> tuple[Edit, ...]:
    settings = (where.project / ".qwen" if where.project else _folder(where)) / "settings.json"
    server = json_server(settings, ("mcpServers",), where.server(alwaysLoadTools=True))
    # What is said at PreToolUse reaches nobody: there memhook only learns in which session something is saved.
    of_tools = where.tool_hooks("qwen", ("PostToolUse", "PostToolUseFailure"), "run_shell_command|write_file|edit")
    of_tools |= where.tool_hooks("qwen", ("PreToolUse",), "mcp__.*memhook__remember")
    hooks = hook_groups(settings, where.hooks("qwen", (*START_AND_PROMPT, "Stop")), of_tools)
    return (joined(settings, hooks, server),)


QWEN = Assistant(
    name="qwen",
    title="Qwen Code",
    more_events={
        "SubagentStart": Kind.SUBAGENT_START,
        "PreToolUse": Kind.BEFORE_TOOL,
        "PostToolUse": Kind.AFTER_TOOL,
        "PostToolUseFailure": Kind.TOOL_FAILED,
        "Stop": Kind.STOP,
    },
    wrote=_wrote,
    runs_here=lambda environment: "QWEN_PROJECT_DIR" in environment,
    folder=_folder,
    edits=_edits,
    plugin_has_server=False,
    has_plugin=lambda where: (_folder(where) / "extensions" / PLUGIN).is_dir(),
    user_notes=("QWEN.md",),
    project_notes=("QWEN.md",),
    also_loads=(AlsoLoads("AGENTS.md"),),
    follows_references=True,
    notes_by_directory=memories_by_directory,
    session_format=qwen_sessions.FORMAT,
    sessions=("projects/*/chats/*.jsonl",),
)
