"""The user's own editor."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

from memhook.errors import InvalidInput


def edited_text(text: str, otherwise: str) -> str:
    """`text` as the user left it; `otherwise` is the command for where no editor can be opened."""
    handle, name = tempfile.mkstemp(prefix="memhook-", suffix=".md")
    path = Path(name)
    try:
        with os.fdopen(handle, "w", encoding="utf-8", errors="replace", newline="") as file:
            file.write(text if text.endswith("\n") else text + "\n")
        open_in_editor(path, otherwise)
        changed = path.read_bytes().decode("utf-8")
    except UnicodeDecodeError as error:
        raise InvalidInput("The edited text is not UTF-8; nothing was changed.") from error
    finally:
        path.unlink(missing_ok=True)
    return changed if text.endswith("\n") else changed.removesuffix("\n")


def open_in_editor(path: Path, otherwise: str) -> None:
    """Returns when the editor has been closed."""
    command = editor_command(otherwise)
    try:
        code = subprocess.run([*command, str(path)], check=False).returncode
    except OSError as error:
        raise InvalidInput(
            f"{command[0]} cannot be run ({error.strerror}).", "Set another: export EDITOR=nano"
        ) from error
    if code:
        raise InvalidInput(f"{command[0]} ended with code {code}; nothing was changed.", f"Or say: {otherwise}")


def editor_command(otherwise: str) -> list[str]:
    """$VISUAL or $EDITOR; raises InvalidInput with `otherwise` as the way out when none can be opened."""
    command = shlex.split(os.environ.get("VISUAL") or os.environ.get("EDITOR") or "")
    if not command:
        raise InvalidInput("No editor is set.", f"Set one (export EDITOR=nano), or say: {otherwise}")
    if not sys.stdin.isatty():  # it would wait for keys that nobody can press
        raise InvalidInput("There is no terminal to open an editor in.", f"Say: {otherwise}")
    return command
