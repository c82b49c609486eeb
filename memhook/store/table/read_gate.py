"""Many may pass at a time, or one alone: what clears old files away waits for those who still read them."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Condition


class Gate:
    """Within one process. Who is inside may enter again: the one who wants to be alone waits for the last to leave."""

    def __init__(self) -> None:
        self._changed = Condition()
        self._inside = 0
        self._is_closed = False

    @contextmanager
    def passing(self) -> Iterator[None]:
        with self._changed:
            self._changed.wait_for(lambda: not self._is_closed)
            self._inside += 1
        try:
            yield
        finally:
            with self._changed:
                self._inside -= 1
                self._changed.notify_all()

    @contextmanager
    def alone(self, seconds: float) -> Iterator[None]:
        """Once nobody is inside, or after `seconds`: one that hangs must not keep the others out for ever."""
        deadline = time.monotonic() + seconds
        with self._changed:
            self._changed.wait_for(lambda: not self._is_closed)
            self._changed.wait_for(lambda: not self._inside, max(0.0, deadline - time.monotonic()))
            self._is_closed = True
        try:
            yield
        finally:
            with self._changed:
                self._is_closed = False
                self._changed.notify_all()
