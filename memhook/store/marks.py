"""What was once done to a store, noted in its folder: a copy of it says the same, and an older one does not."""

from __future__ import annotations

import os
from pathlib import Path


def mark_of(directory: Path, name: str) -> str:
    """Empty when nothing was noted."""
    try:
        return (directory / f".{name}").read_text(encoding="utf-8").strip()
    except (OSError, ValueError):
        return ""


def set_mark(directory: Path, name: str, value: str) -> None:
    aside = directory / f".{name}.{os.getpid()}"
    handle = os.open(aside, os.O_CREAT | os.O_WRONLY | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(f"{value}\n")
    aside.replace(directory / f".{name}")
