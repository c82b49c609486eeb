"""Prompts with a line that starts with "remember": in text that was pasted, and in the user's own words."""

from __future__ import annotations

from pathlib import Path

BETWEEN = "\n%%\n"


def _prompts(name: str) -> list[str]:
    return (
        (Path(__file__).parent / "prompts" / f"{name}.txt")
        .read_text(encoding="utf-8")
        .removesuffix("\n")
        .split(BETWEEN)
    )


PASTED = _prompts("pasted")
OWN = _prompts("own")
