"""Captured records that are not stored yet: lines of JSON in a private file, each synced before the hook returns.

Storing embeds text, which no assistant should wait for; housekeeping does it. A line leaves the disk after it was
stored. A crash in between stores it twice, which storing notices.
"""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from threading import Lock
from typing import Any

from memhook.files import durable

log = logging.getLogger("memhook")

LARGEST_BYTES = 4 << 20
"""More than a day of work; a store that cannot be written for longer loses the newest."""

Record = dict[str, Any]


class Spool:
    """The file that grows, and beside it the one that is being stored."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._draining = path.with_suffix(".draining")
        self._lock = Lock()

    def add(self, records: Sequence[Record]) -> None:
        lines = "".join(f"{json.dumps(record)}\n" for record in records).encode()
        with self._lock:
            if self._size() + len(lines) > LARGEST_BYTES:
                log.warning("%s is full: %d captured notes are dropped", self._path, len(records))
                return
            is_new = not self._path.exists()
            with open(os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW, 0o600), "ab") as file:  # noqa: PTH123  a descriptor
                file.write(lines)
                file.flush()
                os.fsync(file.fileno())
            if is_new:
                durable.sync(self._path.parent)

    def drain(self, store: Callable[[Sequence[Record]], object]) -> None:
        """Hand the records to `store` and delete them afterwards; if it raises, they stay for the next time."""
        with self._lock:
            if not self._draining.exists():
                if not self._path.exists():
                    return
                self._path.rename(self._draining)
                durable.sync(self._path.parent)
        if records := _records(self._draining.read_bytes()):
            store(records)
        durable.delete(self._draining)

    def _size(self) -> int:
        return self._path.stat().st_size if self._path.exists() else 0


def _records(data: bytes) -> list[Record]:
    """A power cut may have left half a line."""
    found: list[Record] = []
    for line in data.splitlines():
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(record, dict):
            found.append(record)
    return found
