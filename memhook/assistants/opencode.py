"""OpenCode: a plugin in JavaScript, which memhook installs, sends Claude Code's events and adds the context itself."""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path

from memhook.assistants.assistant import AlsoLoads, Assistant, Where
from memhook.assistants.edits import Edit, json_server, whole_file
from memhook.assistants.events import Kind
from memhook.assistants.sessions import opencode as opencode_sessions


def _folder(where: Where) -> Path:
    usual = where.folder("XDG_CONFIG_HOME", ".config") / "opencode"
    return where.folder("OPENCODE_CONFIG_DIR", str(usual))


def _edits(where: Where) -> tuple[Edit, ...]:
    folder = where.project / ".opencode" if where.project else _folder(where)
    shim = files("memhook").joinpath("resources/opencode.js").read_text(encoding="utf-8")
    shim = shim.replace('"@LAUNCH@"', json.dumps(str(where.launcher)))
    settings = where.project or folder
    named = next((settings / name for name in ("opencode.jsonc", "opencode.json") if (settings / name).exists()), None)
    server = {"type": "local", "command": [str(where.launcher), "mcp"], "enabled": True}
    return (
        whole_file(folder / "plugin/memhook.js", shim),
        json_server(named or settings / "opencode.json", ("mcp",), server),
    )


OPENCODE = Assistant(
    name="opencode",
    title="OpenCode",
    keeps_start=True,
    shows_notices=True,
    more_events={
        "PreToolUse": Kind.BEFORE_TOOL,
        "PostToolUse": Kind.AFTER_TOOL,
        "PostToolUseFailure": Kind.TOOL_FAILED,
        "Stop": Kind.STOP,
    },
    typed=opencode_sessions.unquoted,
    folder=_folder,
    edits=_edits,
    user_notes=("AGENTS.md",),
    also_loads=(
        AlsoLoads("AGENTS.md"),
        AlsoLoads("CLAUDE.md", ("AGENTS.md",)),
        AlsoLoads("~/.claude/CLAUDE.md", ("~/.config/opencode/AGENTS.md",)),
    ),
    # One SQLite database since 1.2, whose name may carry a release channel; before that one file per session.
    session_format=opencode_sessions.FORMAT,
    sessions=("opencode*.db", "storage/session/*/*.json"),
    data_folder=lambda where: where.folder("XDG_DATA_HOME", ".local/share") / "opencode",
)
