"""Questions to the user, asked only where there is a terminal to answer at."""

from __future__ import annotations

import sys
from collections.abc import Iterable

from memhook.cli.output import warn
from memhook.errors import InvalidInput


def agreed(question: str, nothing_done: str, about: Iterable[str] = ()) -> bool:
    """Whether the user says yes; the lines `about` it come first, and `nothing_done` is reported after a no."""
    if answer_to(f"{question} [y/N]", nothing_done, about).lower() in ("y", "yes"):
        return True
    warn(nothing_done)
    return False


def answer_to(question: str, nothing_done: str, about: Iterable[str] = ()) -> str:
    if not sys.stdin.isatty():
        raise InvalidInput(f"There is no terminal to ask at. {nothing_done}", "If you are sure, add --yes.")
    warn(*about, question)
    return sys.stdin.readline().strip()
