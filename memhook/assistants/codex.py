"""Codex: Claude Code's events with a turn instead of a prompt's id, a limit in bytes, servers in TOML."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path, PurePath

from memhook.assistants.assistant import START_AND_PROMPT, Assistant, Where
from memhook.assistants.edits import PLUGIN, Edit, hook_groups, toml_server
from memhook.assistants.events import Kind, Payload, text
from memhook.assistants.sessions import codex as codex_sessions
from memhook.core.packing import PartLimit, utf8_bytes

# Codex 0.166 takes 10,000 bytes of one hook entry whole and cuts the middle out of more.
PART_LIMIT = PartLimit(10_000, utf8_bytes)

# It sends what a command printed, not its exit code.
_FAILURE = re.compile(
    r"(?i)\b(?:cannot|could not|couldn't|denied|error|exception|fail(?:ed|ure)?|fatal|not found|panick?ed|traceback)\b"
    r"|error\[|Error:|Exception\b|Error\b"
)


def _wrote(payload: Payload) -> bool:
    """Only Codex counts turns, names its transcripts so, and gives the permission mode before the first prompt."""
    if "timestamp" in payload:
        return False
    transcript = PurePath(text(payload, "transcript_path")).name
    is_early = text(payload, "hook_event_name") == "SessionStart" and "permission_mode" in payload
    return "turn_id" in payload or transcript.startswith("rollout-") or is_early


def _folder(where: Where) -> Path:
    return where.folder("CODEX_HOME", ".codex")


def _edits(where: Where) -> tuple[Edit, ...]:
    folder = where.project / ".codex" if where.project else _folder(where)
    hooks = where.hooks("codex", START_AND_PROMPT, parts=2) | where.hooks("codex", ("Stop",))
    return (
        hook_groups(
            folder / "hooks.json",
            hooks,
            where.tool_hooks("codex", ("PreToolUse", "PostToolUse"), "Bash|apply_patch|mcp__.*memhook__remember"),
        ),
        toml_server(folder / "config.toml", ("mcp_servers",), where.server(startup_timeout_sec=20)),
    )


def _has_plugin(where: Where) -> bool:
    try:
        plugins = tomllib.loads((_folder(where) / "config.toml").read_text(encoding="utf-8")).get("plugins", {})
    except (OSError, ValueError, RecursionError):
        return False
    entries = plugins.items() if isinstance(plugins, dict) else ()
    return any(
        name.startswith(f"{PLUGIN}@") and isinstance(entry, dict) and entry.get("enabled", True)
        for name, entry in entries
    )


CODEX = Assistant(
    name="codex",
    title="Codex",
    more_events={
        "SubagentStart": Kind.SUBAGENT_START,
        "PreToolUse": Kind.BEFORE_TOOL,
        "PostToolUse": Kind.AFTER_TOOL,
        "Stop": Kind.STOP,
    },
    says_failure=lambda result: _FAILURE.search(result) is not None,
    moment="turn_id",
    keeps_start=True,
    part_limit=PART_LIMIT,
    wrote=_wrote,
    folder=_folder,
    edits=_edits,
    has_plugin=_has_plugin,
    note="Codex runs no hook before you have trusted it: start codex, look at the hooks it shows and trust them.",
    user_notes=("AGENTS.md", "AGENTS.override.md", "memories/*.md"),
    project_notes=("AGENTS.md",),
    session_format=codex_sessions.FORMAT,
    sessions=("sessions/*/*/*/rollout-*.jsonl",),
)
