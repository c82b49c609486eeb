"""The changes made on the page, newest last, which can be undone as long as the page is served."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from threading import Lock
from typing import Any

from memhook.daemon.control import Call
from memhook.errors import Conflict, NotFound

MOST = 100


@dataclass(frozen=True, slots=True)
class Change:
    """One change: what was done, in words, and the call that takes it back."""

    number: int
    text: str
    method: str
    params: Mapping[str, Any]

    def concerns(self, ids: Sequence[str]) -> bool:
        names = {*self.params.get("references", ()), *(one["id"] for one in self.params.get("memories", ()))}
        return not names.isdisjoint(ids)


class Changes:
    """The changes of one run of the page. Nothing of them is written anywhere."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._made = 0
        self._changes: deque[Change] = deque(maxlen=MOST)

    @property
    def last(self) -> Change | None:
        return next(reversed(self._changes), None)

    def add(self, text: str, undo: Mapping[str, Any] | None) -> None:
        if undo:
            with self._lock:
                self._made += 1
                self._changes.append(Change(self._made, text, undo["method"], undo["params"]))

    def undo(self, number: int, call: Call) -> Change:
        """Take a change back. One that can no longer be is dropped; after another failure it stays."""
        change = next((one for one in self._changes if one.number == number), None)
        if change is None:
            raise NotFound("That is undone already.", "Load the page again.")
        try:
            call(change.method, **change.params)
        except (Conflict, NotFound) as error:
            self._remove(change)
            raise type(error)(error.message, "It was not undone, and nothing is overwritten.") from error
        self._remove(change)
        return change

    def _remove(self, change: Change) -> None:
        with self._lock, suppress(ValueError):  # another tab was first
            self._changes.remove(change)

    def drop(self, ids: Sequence[str]) -> None:
        """Drop what would bring back memories that were redacted or purged."""
        with self._lock:
            kept = [one for one in self._changes if not one.concerns(ids)]
            self._changes.clear()
            self._changes.extend(kept)
