"""Going through items in a terminal, one key for each decision: the inbox, and `tidy`."""

from __future__ import annotations

import os
import sys
import termios
import tty
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from memhook.cli.editor import edited_text
from memhook.cli.output import say, say_wrapped, warn
from memhook.cli.place import Place
from memhook.errors import InvalidInput, MemhookError

KEYS = "[k]eep  [d]rop  [e]dit  [m]erge  [l]ater  [u]ndo  [q]uit"

Item = Mapping[str, Any]
Answer = dict[str, Any]


class Walk:
    """The items of one walk, the place in it, and what undoes each decision."""

    def __init__(self, place: Place, items: Sequence[Item]) -> None:
        self.place = place
        self.items = items
        self.at = 0
        self._done: list[tuple[int, Answer]] = []

    @property
    def decided(self) -> int:
        return len(self._done)

    def action(self, item: Item, key: str) -> Callable[[], Answer | None] | None:
        """Return the action of a key for an item; None for a key without one."""
        raise NotImplementedError

    def press(self, key: str) -> bool:
        """Do what a key means for the current item; return False when the walk is over."""
        if action := self.action(self.items[self.at], key):
            try:
                answer = action()
            except MemhookError as error:
                warn(f"{error.message} {error.hint}".strip())
                return True
            if answer is not None:
                self._done.append((self.at, answer))
                self.at += 1
        elif key in "lL ":
            self.at += 1
        elif key == "u":
            self._undo()
        return key not in "q\x03\x04" and self.at < len(self.items)

    def _undo(self) -> None:
        if not self._done:
            warn("There is nothing to undo.")
            return
        self.at, answer = self._done.pop()
        if answer["undo"]:
            self.place.call(answer["undo"]["method"], **answer["undo"]["params"])


class _Review(Walk):
    def __init__(self, place: Place, here: bool) -> None:
        total = place.call("inbox_list", limit=1, here=here)["total"]
        super().__init__(place, place.call("inbox_list", limit=total, here=here)["items"] if total else [])

    def action(self, item: Item, key: str) -> Callable[[], Answer | None] | None:
        reference = item["memory"]["id"]
        actions: dict[str, Callable[[], Answer | None]] = {
            "k": lambda: self.place.call("inbox_keep", references=[reference]),
            "d": lambda: self.place.call("inbox_drop", references=[reference]),
            "e": lambda: self._edited(item),
            "m": lambda: self._merged(reference),
        }
        return actions.get(key)

    def _edited(self, item: Item) -> Answer | None:
        content = item["memory"]["content"]
        changed = edited_text(content, f"memhook inbox edit {item['memory']['id']} --content TEXT")
        if not changed.strip():
            return None
        answer: Answer = self.place.call("inbox_keep", references=[item["memory"]["id"]], content=changed)
        return answer

    def _merged(self, reference: str) -> Answer | None:
        near = self.place.call("inbox_near", reference=reference)
        for number, other in enumerate(near, 1):
            say_wrapped(f"  {number}  {other['title']}  {other['urn']}")
        say("  into which one? a number, or another key for none" if near else "  there is no other memory near it")
        choice = pressed_key() if near else ""
        if not (choice.isdigit() and 0 < int(choice) <= len(near)):
            return None
        answer: Answer = self.place.call("inbox_merge", reference=reference, into=near[int(choice) - 1]["id"])
        return answer


def review(place: Place, here: bool, show: Callable[[Item], None]) -> int:
    """Show one item after the other and do what the keys say; return how many were decided."""
    return walked(_Review(place, here), show, KEYS, "Run: memhook inbox keep URN, or drop URN")


def walked(walk: Walk, show: Callable[[Item], None], keys: str, otherwise: str) -> int:
    """`otherwise` is what to do where there is no terminal."""
    if not sys.stdin.isatty():
        raise InvalidInput("There is no terminal to review at.", otherwise)
    goes_on = bool(walk.items)
    while goes_on:
        say("", f"{walk.at + 1} of {len(walk.items)}")
        show(walk.items[walk.at])
        say(keys)
        goes_on = walk.press(pressed_key())
    return walk.decided


def pressed_key() -> str:
    """The next key, without waiting for a line; nothing more comes from a closed terminal."""
    terminal = sys.stdin.fileno()
    before = termios.tcgetattr(terminal)
    try:
        tty.setcbreak(terminal, termios.TCSANOW)  # what was typed ahead stays
        return os.read(terminal, 1).decode("ascii", "replace").lower() or "q"
    finally:
        termios.tcsetattr(terminal, termios.TCSANOW, before)
