"""Calls that are made ahead: while one batch is embedded, the next is read and the last stored."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

from memhook.cli.place import Place

IN_FLIGHT = 2

Batch = TypeVar("Batch")


def answered(place: Place, batches: Iterable[Batch], ask: Callable[[Batch], Any]) -> Iterator[tuple[Batch, Any]]:
    """Each batch with its answer, in order.

    After an interruption the daemon goes on with what it was asked. Without one, a call that is under way has to end
    before the interpreter does: no thread can be started by then, which ended in a traceback.
    """
    pending: deque[tuple[Batch, Future[Any]]] = deque()
    calls = ThreadPoolExecutor(IN_FLIGHT, "memhook-ahead")
    try:
        for batch in batches:
            pending.append((batch, calls.submit(ask, batch)))
            if len(pending) >= IN_FLIGHT:
                first, call = pending.popleft()
                yield first, call.result()
        for last, call in pending:
            yield last, call.result()
    finally:
        calls.shutdown(wait=not place.use_daemon, cancel_futures=True)
