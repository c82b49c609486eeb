"""The user's own editor."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from memhook.errors import InvalidInput

EDITORS = ("sensible-editor", "editor", "nano", "vim", "vi")
"""Tried in this order where neither $VISUAL nor $EDITOR is set."""


def edited_text(text: str, otherwise: str) -> str:
    """Return `text` as the user edited it; `otherwise` is the command to name if no editor can be opened."""
    handle, name = tempfile.mkstemp(prefix="memhook-", suffix=".md")
    path = Path(name)
    try:
        with os.fdopen(handle, "w", encoding="utf-8", errors="replace", newline="") as file:
            file.write(text if text.endswith("\n") else text + "\n")
        open_in_editor(path, otherwise)
        changed = path.read_bytes().decode("utf-8")
    except UnicodeDecodeError as error:
        raise InvalidInput("The edited text is not UTF-8; nothing was changed.", "Save it as UTF-8.") from error
    finally:
        path.unlink(missing_ok=True)
    return changed if text.endswith("\n") else changed.removesuffix("\n")


def open_in_editor(path: Path, otherwise: str) -> None:
    """Open a file in the editor and wait until it is closed."""
    command = editor_command(otherwise)
    try:
        code = subprocess.run([*command, str(path)], check=False).returncode
    except OSError as error:
        raise InvalidInput(
            f"{command[0]} cannot be run ({error.strerror}).", "Set another: export EDITOR=nano"
        ) from error
    if code:
        raise InvalidInput(f"{command[0]} ended with code {code}; nothing was changed.", f"Or run: {otherwise}")


def editor_command(otherwise: str) -> list[str]:
    """Return $VISUAL, $EDITOR or an installed editor; raise InvalidInput, naming `otherwise`, if none can be opened."""
    found = next((name for name in EDITORS if shutil.which(name)), "")
    command = shlex.split(os.environ.get("VISUAL") or os.environ.get("EDITOR") or found)
    if not command:
        raise InvalidInput("No editor was found.", f"Set one (export EDITOR=nano), or run: {otherwise}")
    if not sys.stdin.isatty():  # it would wait for keys that nobody can press
        raise InvalidInput("There is no terminal to open an editor in.", f"Run: {otherwise}")
    return command
