"""Store the notes that a prompt contains, in the background: the prompt waits for them only briefly."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import groupby

from memhook.assistants.events import Event
from memhook.core.note_requests import TAKE_BACK
from memhook.engine.engine import Engine, Scene
from memhook.errors import MemhookError
from memhook.hooks.reports import Reports
from memhook.writing import notes

log = logging.getLogger("memhook")

WAIT_SECONDS = 0.7  # of the 1.5 of a hook: a long import may hold the write lock
STILL_STORING = "memhook: still storing your note; the next prompt reports the result."


@dataclass(frozen=True, slots=True)
class _Message:
    """A message for the user, and the memories it mentions."""

    text: str
    memories: tuple[str, ...] = ()


class Captures:
    """Executes the requests of prompts in order, so that "forget that" finds the note before it."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._worker = ThreadPoolExecutor(1, "memhook-capture")
        self.reports = Reports(engine)

    def execute(self, commands: Sequence[str], event: Event, scene: Scene) -> str:
        """Return "" if the commands finished in time, with the result among the reports. Never raises."""
        number = self.reports.begun(event.session)
        work = self._worker.submit(self._execute, commands, event, scene, number)
        try:
            work.result(WAIT_SECONDS)
        except TimeoutError:
            return STILL_STORING
        return ""

    def _execute(self, commands: Sequence[str], event: Event, scene: Scene, number: int) -> None:
        lines: list[_Message] = []
        try:
            if not self._engine.accounts.was_captured(event.session, event.moment):  # by the other part of the prompt
                for is_back, texts in _in_groups(commands):
                    lines.append(self._taken_back(event, scene) if is_back else self._stored(texts, event, scene))
        except MemhookError as error:
            log.error("a note was not stored: %s %s", error.message, error.hint)
            lines.append(_Message(f"memhook could not do that: {error.message} {error.hint}".strip()))
        except Exception as error:
            log.exception("a note was not stored")
            lines.append(_Message(f"memhook could not do that ({type(error).__name__}); the log has the details."))
        text = " ".join(filter(None, (line.text for line in lines)))
        self.reports.finished(number, text, [memory for line in lines for memory in line.memories])

    def _stored(self, texts: Sequence[str], event: Event, scene: Scene) -> _Message:
        now, settings = datetime.now(UTC), scene.loaded.settings
        library = self._engine.library(settings)
        source = f"prompt in {event.client}, session {event.session[: notes.SESSION_CHARS]}"
        stored = notes.stored_notes(library, texts, scene.project, settings, source, now)
        self._engine.accounts.record_captured(event.session, event.moment, stored, now)
        return _Message(notes.confirmation(stored, scene.project), tuple(note.memory.id for note in stored))

    def _taken_back(self, event: Event, scene: Scene) -> _Message:
        """Take back the last note. Without notes in the session, "forget that" is for the assistant: no message."""
        last = self._engine.accounts.last_captured(event.session)
        if last is None:
            return _Message("")
        memory = notes.take_back(self._engine.library(scene.loaded.settings), last, datetime.now(UTC))
        self._engine.accounts.take_back(last)
        if memory is None:
            return _Message("memhook: the last note was already forgotten.")
        title = notes.short_title(memory)
        text = f"memhook: forgot “{title}”." if last.is_new else f"memhook: “{title}” was stored before and stays."
        return _Message(text, (memory.id,))


def _in_groups(commands: Sequence[str]) -> list[tuple[bool, list[str]]]:
    """Group consecutive notes, to store them together; each "forget that" is a group of its own."""
    groups: list[tuple[bool, list[str]]] = []
    for is_back, some in groupby(commands, key=lambda command: command == TAKE_BACK):
        found = list(some)
        groups += [(True, [one]) for one in found] if is_back else [(False, found)]
    return groups
