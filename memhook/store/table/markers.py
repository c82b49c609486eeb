"""One-time steps that a store has had, recorded in its folder: a copy of it has the same record."""

from __future__ import annotations

from pathlib import Path

from memhook.files import durable


def mark_of(directory: Path, name: str) -> str:
    """Empty when nothing was recorded."""
    try:
        return (directory / f".{name}").read_text(encoding="utf-8").strip()
    except (OSError, ValueError):
        return ""


def set_mark(directory: Path, name: str, value: str) -> None:
    durable.write(directory / f".{name}", f"{value}\n".encode())
