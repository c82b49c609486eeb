"""What was once done to a store, noted in its folder: a copy of it says the same, and an older one does not."""

from __future__ import annotations

from pathlib import Path

from memhook.files import durable


def mark_of(directory: Path, name: str) -> str:
    """Empty when nothing was noted."""
    try:
        return (directory / f".{name}").read_text(encoding="utf-8").strip()
    except (OSError, ValueError):
        return ""


def set_mark(directory: Path, name: str, value: str) -> None:
    durable.write(directory / f".{name}", f"{value}\n".encode())
