"""Going through items in a terminal, one key for each decision: the inbox, and `tidy`."""

from __future__ import annotations

import os
import sys
import termios
import tty
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from memhook.cli.output import say, warn
from memhook.cli.place import Place
from memhook.errors import InvalidInput, MemhookError

Item = Mapping[str, Any]
Answer = dict[str, Any]
Action = Callable[[], Answer | None]
"""Returns the daemon's answer, which says how to undo it; None when nothing was decided."""


def walked(
    place: Place,
    items: Sequence[Item],
    show: Callable[[Item], None],
    actions_of: Callable[[Place, Item], Mapping[str, Action]],
    keys: str,
    otherwise: str,
) -> int:
    """Show one item after the other and do what the keys say; return how many were decided.

    `otherwise` is what to do where there is no terminal.
    """
    if not sys.stdin.isatty():
        raise InvalidInput("There is no terminal to review at.", otherwise)
    done: list[tuple[int, Answer]] = []
    at, key = 0, ""
    while at < len(items) and key not in ("q", "\x03", "\x04"):
        say("", f"{at + 1} of {len(items)}")
        show(items[at])
        say(keys)
        key = pressed_key()
        if key == "u" and done:
            at, answer = done.pop()
            _undo(place, answer)
        elif key == "u":
            warn("There is nothing to undo.")
        elif action := actions_of(place, items[at]).get(key):
            if (answered := _answered(action)) is not None:
                done.append((at, answered))
                at += 1
        elif key in ("l", " "):
            at += 1
    return len(done)


def _answered(action: Action) -> Answer | None:
    try:
        return action()
    except MemhookError as error:
        warn(f"{error.message} {error.hint}".strip())
        return None


def _undo(place: Place, answer: Answer) -> None:
    if undo := answer["undo"]:
        place.call(undo["method"], **undo["params"])


def pressed_key() -> str:
    """The next key, without waiting for a line; nothing more comes from a closed terminal."""
    terminal = sys.stdin.fileno()
    before = termios.tcgetattr(terminal)
    try:
        tty.setcbreak(terminal, termios.TCSANOW)  # what was typed ahead stays
        return os.read(terminal, 1).decode("ascii", "replace").lower() or "q"
    finally:
        termios.tcsetattr(terminal, termios.TCSANOW, before)
