"""Waiting for a store elsewhere only for as long as something is there to wait for.

What LanceDB does cannot be broken off, and its own retries go on for minutes. So it is done in a thread, and meanwhile
the place is asked, in a way that fails soon, whether it answers at all: a slow one may take its time, a dead one not.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from typing import TypeVar

R = TypeVar("R")

SILENT_SECONDS = 9.0  # after which a place that does not answer is given up; an error has to be there within 15
LOOK_SECONDS = 1.0
PROBE_SECONDS = 4.0


class Unanswered(Exception):
    """The place gives no sign of life."""


def in_thread(work: Callable[[], R], name: str) -> Future[R]:
    """The result to come. Nobody waits for the thread at the end of the process."""
    future: Future[R] = Future()

    def run() -> None:
        try:
            future.set_result(work())
        except BaseException as error:  # noqa: BLE001  whoever waits for the result gets it
            future.set_exception(error)

    threading.Thread(target=run, name=name, daemon=True).start()
    return future


def answer_of(future: Future[R], is_there: Callable[[], bool]) -> R:
    """The result of the future; raises Unanswered once the place has been silent for a while."""
    alive = time.monotonic()
    while not _is_done_within(future, LOOK_SECONDS):
        asked = time.monotonic()
        probe = in_thread(is_there, "memhook-probe")
        if _is_done_within(probe, PROBE_SECONDS) and probe.result():
            alive = asked
        elif time.monotonic() - alive > SILENT_SECONDS and not future.done():
            raise Unanswered
    return future.result()


def _is_done_within(future: Future[R], seconds: float) -> bool:
    with suppress(TimeoutError):
        future.exception(seconds)
    return future.done()
