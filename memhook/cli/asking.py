"""Asking the user, who must be there to answer."""

from __future__ import annotations

import sys

from memhook.cli.output import warn
from memhook.errors import InvalidInput


def agreed(question: str, refused: str) -> bool:
    """Whether the user says yes; without a terminal nobody could, and `refused` says what was not done."""
    return answer_to(f"{question} [y/N]", refused).lower() in ("y", "yes")


def answer_to(question: str, refused: str) -> str:
    if not sys.stdin.isatty():
        raise InvalidInput(f"There is no terminal to ask at, so {refused}.", "If you are sure, say --yes.")
    warn(question)
    return sys.stdin.readline().strip()
