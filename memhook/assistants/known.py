"""The assistants memhook can be switched on in, and what each wants to be told, in which file."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from memhook import __version__
from memhook.assistants.choice import ADAPTERS
from memhook.assistants.edits import SERVER, Edit, hook_groups, joined, json_server, toml_server, whole_file

DESCRIPTION = "Memories for this project at the start of a session and on every prompt."
SECONDS = 10
USUAL_EVENTS = ("SessionStart", "UserPromptSubmit")
PARTS = {adapter.name: 2 if adapter.part_limit else 1 for adapter in ADAPTERS}
"""Each hook entry has a limit of its own: two carry the whole budget where one does not."""

_OUR_LAUNCHER = re.compile(r"memhook/launch\b")


@dataclass(frozen=True, slots=True)
class Where:
    """For whom: the user's home and environment, the project if only that is meant, and the launcher to run."""

    home: Path
    environment: Mapping[str, str]
    launcher: Path
    project: Path | None = None

    def folder(self, variable: str, default: str) -> Path:
        """The folder an assistant keeps its settings in, which its user may have moved."""
        configured = self.environment.get(variable, "")
        return Path(configured) if configured.startswith("/") else self.home / default


@dataclass(frozen=True, slots=True)
class Assistant:
    """`note` is what its user has to know once memhook is switched on there."""

    name: str
    title: str
    folder: Callable[[Where], Path]
    edits: Callable[[Where], tuple[Edit, ...]]
    note: str = ""


def is_ours(command: str) -> bool:
    return bool(_OUR_LAUNCHER.search(command))


def _commands(where: Where, client: str, event: str) -> list[str]:
    launcher = shlex.quote(str(where.launcher))
    return [f"{launcher} {event} {part} --client {client}" for part in range(1, PARTS[client] + 1)]


def _groups(
    where: Where, client: str, path: Path, events: Sequence[str] = USUAL_EVENTS, timeout: int = SECONDS
) -> Edit:
    wanted = {
        event: [
            {"type": "command", "command": command, "timeout": timeout} for command in _commands(where, client, event)
        ]
        for event in events
    }
    return hook_groups(path, wanted, is_ours)


def _server(where: Where, **more: Any) -> dict[str, Any]:
    return {"command": str(where.launcher), "args": ["mcp"], **more}


def _claude_folder(where: Where) -> Path:
    return where.folder("CLAUDE_CONFIG_DIR", ".claude")


def _claude(where: Where) -> tuple[Edit, ...]:
    is_moved = where.environment.get("CLAUDE_CONFIG_DIR", "").startswith("/")
    servers = (_claude_folder(where) if is_moved else where.home) / ".claude.json"
    # Of the project, but not shared with those who clone it: the launcher is on this machine.
    local = where.project and where.project / ".claude/settings.local.json"
    settings = local or _claude_folder(where) / "settings.json"
    at = ("projects", str(where.project), "mcpServers") if where.project else ("mcpServers",)
    server = {"type": "stdio", **_server(where, alwaysLoad=True)}
    hooks = _groups(where, "claude", settings, (*USUAL_EVENTS, "SubagentStart"))
    return hooks, json_server(servers, at, server, is_ours)


def _codex_folder(where: Where) -> Path:
    return where.folder("CODEX_HOME", ".codex")


def _codex(where: Where) -> tuple[Edit, ...]:
    folder = where.project / ".codex" if where.project else _codex_folder(where)
    server = _server(where, startup_timeout_sec=20)
    return (
        _groups(where, "codex", folder / "hooks.json"),
        toml_server(folder / "config.toml", ("mcp_servers",), server, is_ours),
    )


def _gemini_folder(where: Where) -> Path:
    return where.home / ".gemini"


def _gemini(where: Where) -> tuple[Edit, ...]:
    milliseconds = SECONDS * 1000
    if where.project:
        settings = where.project / ".gemini/settings.json"
        hooks = _groups(where, "gemini", settings, ("SessionStart", "BeforeAgent"), milliseconds)
        return (joined(settings, hooks, json_server(settings, ("mcpServers",), _server(where), is_ours)),)
    extension = _gemini_folder(where) / "extensions/memhook"
    manifest = {
        "name": "memhook",
        "version": __version__,
        "description": DESCRIPTION,
        "mcpServers": {SERVER: _server(where)},
    }
    hooks = _groups(where, "gemini", extension / "hooks/hooks.json", ("SessionStart", "BeforeAgent"), milliseconds)
    return (
        whole_file(extension / "gemini-extension.json", _json(manifest), is_ours),
        whole_file(hooks.path, hooks.add(""), is_ours),
    )


def _qwen_folder(where: Where) -> Path:
    return where.folder("QWEN_HOME", ".qwen")


def _qwen(where: Where) -> tuple[Edit, ...]:
    settings = (where.project / ".qwen" if where.project else _qwen_folder(where)) / "settings.json"
    server = json_server(settings, ("mcpServers",), _server(where), is_ours)
    return (joined(settings, _groups(where, "qwen", settings), server),)


def _copilot_folder(where: Where) -> Path:
    return where.folder("COPILOT_HOME", ".copilot")


def _copilot(where: Where) -> tuple[Edit, ...]:
    folder = where.project / ".github" if where.project else _copilot_folder(where)
    hooks = {
        event: [
            {"type": "command", "bash": command, "timeoutSec": SECONDS}
            for command in _commands(where, "copilot", event)
        ]
        for event in USUAL_EVENTS
    }
    server = {"type": "local", **_server(where, tools=["*"])}
    servers = folder / ("mcp.json" if where.project else "mcp-config.json")
    return (
        whole_file(folder / "hooks/memhook.json", _json({"version": 1, "hooks": hooks}), is_ours),
        json_server(servers, ("mcpServers",), server, is_ours),
    )


def _opencode_folder(where: Where) -> Path:
    usual = where.folder("XDG_CONFIG_HOME", ".config") / "opencode"
    return where.folder("OPENCODE_CONFIG_DIR", str(usual))


def _opencode(where: Where) -> tuple[Edit, ...]:
    folder = where.project / ".opencode" if where.project else _opencode_folder(where)
    shim = files("memhook").joinpath("resources/opencode.js").read_text(encoding="utf-8")
    shim = shim.replace('"@LAUNCH@"', json.dumps(str(where.launcher)))
    settings = where.project or folder
    named = next((settings / name for name in ("opencode.jsonc", "opencode.json") if (settings / name).exists()), None)
    server = {"type": "local", "command": [str(where.launcher), "mcp"], "enabled": True}
    return (
        whole_file(folder / "plugin/memhook.js", shim, is_ours),
        json_server(named or settings / "opencode.json", ("mcp",), server, is_ours),
    )


def _json(value: Any) -> str:
    return json.dumps(value, indent=2) + "\n"


CODEX_NOTE = "Codex runs no hook before you have trusted it: start codex, look at the hooks it shows and trust them."

KNOWN: Mapping[str, Assistant] = {
    assistant.name: assistant
    for assistant in (
        Assistant("claude", "Claude Code", _claude_folder, _claude),
        Assistant("codex", "Codex", _codex_folder, _codex, CODEX_NOTE),
        Assistant("gemini", "Gemini CLI", _gemini_folder, _gemini),
        Assistant("qwen", "Qwen Code", _qwen_folder, _qwen),
        Assistant("copilot", "Copilot CLI", _copilot_folder, _copilot),
        Assistant("opencode", "OpenCode", _opencode_folder, _opencode),
    )
}
