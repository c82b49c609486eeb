"""Where an assistant was told to run memhook's hooks, as far as its own settings say."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from memhook.assistants.assistant import Where
from memhook.assistants.known import KNOWN

EVENTS = ("SessionStart", "UserPromptSubmit")
_LARGEST_FILE = 4 << 20


def registered(event: str) -> str:
    """What runs memhook at this event in Claude Code; empty when nothing is known to."""
    for file in _settings_files():
        settings = _json(file)
        for plugin, is_on in _mapping(settings.get("enabledPlugins")).items():
            if is_on is True and plugin.partition("@")[0] == "memhook":
                return f"the plugin {plugin}"
        if any("memhook" in command or "hook_client" in command for command in _commands(settings, event)):
            return str(file)
    return ""


def _settings_files() -> list[Path]:
    folder = KNOWN["claude"].folder(Where(Path.home(), os.environ, launcher=Path()))
    return [folder / "settings.json", folder / "settings.local.json"]


def _commands(settings: dict[str, Any], event: str) -> Iterator[str]:
    for entry in _list(_mapping(settings.get("hooks")).get(event)):
        for hook in _list(_mapping(entry).get("hooks")):
            yield str(_mapping(hook).get("command", ""))


def _json(file: Path) -> dict[str, Any]:
    try:
        if not file.is_file() or file.stat().st_size > _LARGEST_FILE:
            return {}
        return _mapping(json.loads(file.read_text(encoding="utf-8")))
    except (OSError, ValueError, RecursionError):
        return {}


def _mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
