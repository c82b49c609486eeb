"""Which assistants are on this machine, and in which of them memhook is on, and how."""

from __future__ import annotations

import shutil
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from memhook.assistants.known import KNOWN, Assistant, Where
from memhook.assistants.switching import is_on
from memhook.errors import InvalidInput
from memhook.files import json_edit

PLUGIN = "memhook"


@dataclass(frozen=True, slots=True)
class Presence:
    """`ways` are those in which memhook is on there: settings, project, plugin. More than one is one too many."""

    assistant: Assistant
    found: bool
    ways: tuple[str, ...]


def presences(where: Where) -> list[Presence]:
    """Of every assistant; `where.project` is the one to look at too, if any."""
    return [
        Presence(assistant, is_found(assistant, where), tuple(_ways(assistant, where))) for assistant in KNOWN.values()
    ]


def is_found(assistant: Assistant, where: Where) -> bool:
    path = where.environment.get("PATH", "")
    return assistant.folder(where).is_dir() or shutil.which(assistant.name, path=path) is not None


def has_plugin(assistant: Assistant, where: Where) -> bool:
    """Whether memhook is there as a plugin, from a marketplace or a folder of the assistant's own."""
    look = {"claude": _by_settings, "codex": _in_codex, "qwen": _in_qwen, "copilot": _by_settings}.get(assistant.name)
    return look is not None and look(assistant.folder(where), where.project)


def _ways(assistant: Assistant, where: Where) -> Iterator[str]:
    if is_on(assistant, replace(where, project=None)):
        yield "extension" if assistant.name == "gemini" else "settings"
    if where.project and is_on(assistant, where):
        yield "project"
    if has_plugin(assistant, where):
        yield "plugin"


def _by_settings(folder: Path, project: Path | None) -> bool:
    """Copilot keeps its plugins as Claude Code does."""
    files = [folder / "settings.json"]
    if project:
        files += [project / ".claude/settings.json", project / ".claude/settings.local.json"]
    enabled: dict[str, Any] = {}
    for file in files:
        plugins = _json(file).get("enabledPlugins")
        enabled |= plugins if isinstance(plugins, dict) else {}
    return any(name.startswith(f"{PLUGIN}@") and bool(is_enabled) for name, is_enabled in enabled.items())


def _in_codex(folder: Path, _project: Path | None) -> bool:
    try:
        plugins = tomllib.loads((folder / "config.toml").read_text(encoding="utf-8")).get("plugins", {})
    except (OSError, ValueError, RecursionError):
        return False
    entries = plugins.items() if isinstance(plugins, dict) else ()
    return any(
        name.startswith(f"{PLUGIN}@") and isinstance(entry, dict) and entry.get("enabled", True)
        for name, entry in entries
    )


def _in_qwen(folder: Path, _project: Path | None) -> bool:
    return (folder / "extensions" / PLUGIN).is_dir()


def _json(file: Path) -> Mapping[str, Any]:
    try:
        value = json_edit.plain(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, InvalidInput):
        return {}
    return value if isinstance(value, dict) else {}
