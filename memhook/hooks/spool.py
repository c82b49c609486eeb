"""Captured records that are not stored yet: private files of JSON lines, each synced before the hook returns.

Storing embeds text, which no assistant should wait for; housekeeping does it. A file is deleted after its records were
stored. A crash in between stores them twice, which storing notices.
"""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from threading import get_ident

from memhook.assistants.events import Payload
from memhook.assistants.reading import parsed
from memhook.files import durable
from memhook.supply.source import Record

log = logging.getLogger("memhook")

LARGEST_BYTES = 4 << 20
"""More than a day of work; a store that cannot be written for longer loses the newest."""


class Spool:
    """The files that have the name `path` but for its suffix, one for each end of an exchange."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def add(self, records: Sequence[Record]) -> None:
        lines = "".join(f"{json.dumps(record)}\n" for record in records).encode()
        if sum(file.stat().st_size for file in self.files()) + len(lines) > LARGEST_BYTES:
            log.warning("%s is full: %d captured notes are dropped", self._path, len(records))
        else:
            durable.write(self._path.with_suffix(f".{time.time_ns()}-{get_ident()}"), lines)

    def drain(self, store: Callable[[Sequence[Payload]], object]) -> None:
        """Hand the records to `store` and delete them afterwards; if it raises, they stay for the next time."""
        files = self.files()
        lines = (line for file in files for line in file.read_bytes().splitlines())
        if records := [record for line in lines if (record := parsed(line))]:
            store(records)
        for file in files:
            durable.delete(file)

    def files(self) -> list[Path]:
        return sorted(self._path.parent.glob(f"{self._path.stem}.*"))
