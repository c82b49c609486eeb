"""Prompts come first: what works in the background stands aside while somebody waits for an answer.

with answering(): ...          somebody waits for what is done here
with part_of_an_answer(): ...  the same in another thread, for which the first one waits
stand_aside()                  between two short steps of work that nobody waits for, without a lock
with interrupted_by(stop): ... `stop` is called when an answer begins meanwhile
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

MOST_SECONDS = 0.2  # that one step waits: prompts without end, or one that waits for this work, do not stop it

_answers = 0
_changed = threading.Condition()
_running: set[Callable[[], None]] = set()
_this_thread = threading.local()


@contextmanager
def part_of_an_answer() -> Iterator[None]:
    """In another thread than the one that is answering, and waits for this one."""
    was_answering, _this_thread.is_answering = _is_answering(), True
    try:
        yield
    finally:
        _this_thread.is_answering = was_answering


@contextmanager
def answering() -> Iterator[None]:
    global _answers  # noqa: PLW0603  a process has one interpreter and so many cores
    with _changed:
        _answers += 1
        stops = tuple(_running)
    try:
        for stop in stops:
            stop()
        with part_of_an_answer():
            yield
    finally:
        with _changed:
            _answers -= 1
            _changed.notify_all()


def stand_aside() -> None:
    """Wait until nobody waits for an answer, but not for long; at once where this thread makes one."""
    if _answers and not _is_answering():
        with _changed:
            _changed.wait_for(lambda: not _answers, MOST_SECONDS)


@contextmanager
def interrupted_by(stop: Callable[[], None]) -> Iterator[None]:
    if _is_answering():
        yield
        return
    with _changed:
        _running.add(stop)
        is_late = _answers > 0
    if is_late:
        stop()
    try:
        yield
    finally:
        with _changed:
            _running.discard(stop)


def _is_answering() -> bool:
    return getattr(_this_thread, "is_answering", False)
