"""Gemini CLI: a prompt is BeforeAgent there, timeouts are milliseconds, and memhook is an extension."""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path

from memhook import __version__
from memhook.assistants.assistant import SECONDS, Assistant, Where
from memhook.assistants.edits import PLUGIN, SERVER, Edit, hook_groups, joined, json_server, json_text, whole_file
from memhook.assistants.events import Kind, Payload, text
from memhook.assistants.sessions import gemini as gemini_sessions

DESCRIPTION = "Memories for this project at the start of a session and on every prompt."

# The first prompt of a session arrives with what the hooks said at its start, which nobody typed.
_HOOK_CONTEXT = re.compile(r"\A(?:<hook_context>.*?</hook_context>\s*)+", re.DOTALL)


def _wrote(payload: Payload) -> bool:
    stamped = "timestamp" in payload and "transcript_path" in payload
    others = "permission_mode" in payload or "stop_reason" in payload  # Qwen Code's and Copilot's
    return (stamped and not others) or text(payload, "hook_event_name") in ("BeforeAgent", "AfterAgent")


def _folder(where: Where) -> Path:
    return where.home / ".gemini"


def _edits(where: Where) -> tuple[Edit, ...]:
    hooks = where.hooks("gemini", ("SessionStart", "BeforeAgent", "AfterAgent"), timeout=SECONDS * 1000)
    # What is said at BeforeTool reaches nobody: there memhook only learns in which session something is saved.
    of_tools = where.tool_hooks("gemini", ("AfterTool",), "run_shell_command|write_file|replace", SECONDS * 1000)
    of_tools |= where.tool_hooks("gemini", ("BeforeTool",), "mcp_.*memhook_remember", SECONDS * 1000)
    if where.project:
        settings = where.project / ".gemini/settings.json"
        server = json_server(settings, ("mcpServers",), where.server())
        return (joined(settings, hook_groups(settings, hooks, of_tools), server),)
    extension = _folder(where) / "extensions" / PLUGIN
    manifest = {
        "name": PLUGIN,
        "version": __version__,
        "description": DESCRIPTION,
        "mcpServers": {SERVER: where.server()},
    }
    groups = hook_groups(extension / "hooks/hooks.json", hooks, of_tools)
    return (
        whole_file(extension / "gemini-extension.json", json_text(manifest)),
        whole_file(groups.path, groups.add("")),
    )


GEMINI = Assistant(
    name="gemini",
    title="Gemini CLI",
    # A resumed session lacks its first prompt: a message that starts with the context of a hook is dropped.
    resumed_as="clear",
    more_events={
        "BeforeAgent": Kind.PROMPT,
        "BeforeTool": Kind.BEFORE_TOOL,
        "AfterTool": Kind.AFTER_TOOL,
        "AfterAgent": Kind.STOP,
    },
    moment="timestamp",
    typed=partial(_HOOK_CONTEXT.sub, ""),
    wrote=_wrote,
    # Qwen Code is made from Gemini CLI and sets the variables of both.
    runs_here=lambda environment: "GEMINI_PROJECT_DIR" in environment and "QWEN_PROJECT_DIR" not in environment,
    folder=_folder,
    edits=_edits,
    way="extension",
    user_notes=("GEMINI.md",),
    project_notes=("GEMINI.md",),
    follows_references=True,
    session_format=gemini_sessions.FORMAT,
    sessions=("tmp/*/chats/session-*.json", "tmp/*/chats/session-*.jsonl"),
)
