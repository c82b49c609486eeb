"""What the last prompts did not get because it may not come up by itself, for `why`.

Finding it takes a second search, for which no prompt waits: it is made when somebody asks why, or in a quiet moment.
Until then the prompt is held in memory; it is never written down.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from datetime import datetime
from threading import Lock

from memhook.answering.why import kept_back_from
from memhook.core.note_requests import asked_in
from memhook.engine.engine import Engine
from memhook.errors import MemhookError
from memhook.settings import Settings

log = logging.getLogger("memhook")

LAST = 16  # `why` tells of the last event of a project or session, so older ones are not worth a search


@dataclass(frozen=True, slots=True)
class Searched:
    """A prompt for which the store was searched, and where and when that was."""

    prompt: str
    project: str
    settings: Settings
    at: datetime


class KeptBack:
    """The prompts that are still to be looked at, by the ledger's number of their event."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._waiting: dict[int, Searched] = {}
        self._lock = Lock()
        self._writing = Lock()

    def remember(self, number: int, searched: Searched) -> None:
        with self._lock:
            self._waiting[number] = searched
            while len(self._waiting) > LAST:
                del self._waiting[next(iter(self._waiting))]

    def write_down(self) -> None:
        """Who asks why while another writes waits until all is there; a prompt does not wait for either."""
        with self._writing:
            with self._lock:
                waiting, self._waiting = self._waiting, {}
            for number, searched in waiting.items():
                self._write_down(number, searched)

    def _write_down(self, number: int, searched: Searched) -> None:
        try:
            library = self._engine.searched(searched.settings)
            prompt = asked_in(searched.prompt).rest
            found = kept_back_from(prompt, library, searched.project, searched.settings, searched.at)
            self._engine.accounts.add_considered(number, found)
        except MemhookError as error:
            log.warning("what was kept back is not recorded: %s", error.message)
