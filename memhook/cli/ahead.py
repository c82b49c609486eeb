"""Calls to the daemon that are made ahead: while one batch is embedded, the next is read and the last stored."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

IN_FLIGHT = 2

Batch = TypeVar("Batch")


def answered(batches: Iterable[Batch], ask: Callable[[Batch], Any]) -> Iterator[tuple[Batch, Any]]:
    """Each batch with its answer, in order."""
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
        calls.shutdown(wait=False, cancel_futures=True)
