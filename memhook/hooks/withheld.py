"""Record which relevant memories a hook may not show, for `why`.

Finding them takes a second search, which no prompt waits for: it runs when `why` is called, or while the daemon is
quiet. Until then the prompt is kept in memory; it is never written to disk.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from datetime import datetime
from threading import Lock

from memhook.answering.why import withheld_from
from memhook.core.note_requests import asked_in
from memhook.engine.engine import Engine
from memhook.errors import MemhookError
from memhook.settings import Settings

log = logging.getLogger("memhook")

LAST = 16  # `why` explains the last event of a project or session: older ones are not worth a search


@dataclass(frozen=True, slots=True)
class Searched:
    """A prompt that was searched for, with its project, settings and time."""

    prompt: str
    project: str
    settings: Settings
    at: datetime


class Withheld:
    """The prompts still to be searched for, by the ledger number of their event."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._waiting: dict[int, Searched] = {}
        self._lock = Lock()
        self._writing = Lock()

    def add(self, number: int, searched: Searched) -> None:
        with self._lock:
            self._waiting[number] = searched
            while len(self._waiting) > LAST:
                del self._waiting[next(iter(self._waiting))]

    def record(self) -> None:
        """Record all waiting prompts. A concurrent call waits until they are recorded; prompts do not wait."""
        with self._writing:
            with self._lock:
                waiting, self._waiting = self._waiting, {}
            for number, searched in waiting.items():
                self._record(number, searched)

    def _record(self, number: int, searched: Searched) -> None:
        try:
            library = self._engine.searched(searched.settings)
            prompt = asked_in(searched.prompt).rest
            found = withheld_from(prompt, library, searched.project, searched.settings, searched.at)
            self._engine.accounts.add_considered(number, found)
        except MemhookError as error:
            log.warning("withheld memories not recorded: %s", error.message)
