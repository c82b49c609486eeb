"""Calls sent ahead of the answers: while one batch is embedded, the next is read and the last stored."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

from memhook.cli.output import warn
from memhook.cli.place import Place

IN_FLIGHT = 2

Batch = TypeVar("Batch")


def answered(place: Place, batches: Iterable[Batch], ask: Callable[[Batch], Any]) -> Iterator[tuple[Batch, Any]]:
    """Yield each batch with its answer, in order; after Ctrl-C only those sent already, so that they are counted.

    After a second Ctrl-C the daemon still finishes the calls it has. Without a daemon, a running call has to end before
    the interpreter does: it cannot start threads by then, which ended in a traceback.
    """
    pending: deque[tuple[Batch, Future[Any]]] = deque()
    calls = ThreadPoolExecutor(IN_FLIGHT, "memhook-ahead")
    try:
        for batch in batches:
            pending.append((batch, calls.submit(ask, batch)))
            if len(pending) >= IN_FLIGHT:
                yield _answer(pending)
        while pending:
            yield _answer(pending)
    except KeyboardInterrupt:
        sent = deque(one for one in pending if not one[1].cancel())
        if sent:
            warn("Stopping once the current batches are stored; Ctrl-C again stops at once.")
        while sent:
            yield _answer(sent)
        raise
    finally:
        calls.shutdown(wait=not place.use_daemon, cancel_futures=True)


def _answer(pending: deque[tuple[Batch, Future[Any]]]) -> tuple[Batch, Any]:
    """Wait for the first answer, then remove its batch: an interrupted wait leaves it there."""
    batch, call = pending[0]
    answer = call.result()
    pending.popleft()
    return batch, answer
