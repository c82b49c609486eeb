"""Store the notes that a prompt contains, in the background: the prompt waits for them only briefly."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
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


Message = tuple[str, Sequence[str]]
"""A message for the user, and the memories it mentions."""


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
        messages: list[Message] = []
        try:
            if not self._engine.accounts.was_captured(event.session, event.moment):  # by the other part of the prompt
                for is_back, some in groupby(commands, key=lambda command: command == TAKE_BACK):
                    if is_back:
                        messages += [self._taken_back(event, scene) for _ in some]
                    else:  # those in a row are stored together
                        messages.append(self._stored(list(some), event, scene))
        except MemhookError as error:
            log.error("a note was not stored: %s %s", error.message, error.hint)
            messages.append((f"memhook could not do that: {error.message} {error.hint}".strip(), ()))
        except Exception as error:
            log.exception("a note was not stored")
            messages.append((f"memhook could not do that ({type(error).__name__}); the log has the details.", ()))
        text = " ".join(text for text, _ in messages if text)
        self.reports.finished(number, text, [memory for _, memories in messages for memory in memories])

    def _stored(self, texts: Sequence[str], event: Event, scene: Scene) -> Message:
        now, settings = datetime.now(UTC), scene.loaded.settings
        library = self._engine.library(settings)
        source = f"prompt in {event.client}, session {event.session[: notes.SESSION_CHARS]}"
        stored = notes.stored_notes(library, texts, scene.project, settings, source, now)
        self._engine.accounts.record_captured(event.session, event.moment, stored, now)
        return notes.confirmation(stored, scene.project), [note.memory.id for note in stored]

    def _taken_back(self, event: Event, scene: Scene) -> Message:
        """Take back the last note. Without notes in the session, "forget that" is for the assistant: no message."""
        last = self._engine.accounts.last_captured(event.session)
        if last is None:
            return "", ()
        memory = notes.take_back(self._engine.library(scene.loaded.settings), last, datetime.now(UTC))
        self._engine.accounts.take_back(last.number)
        if memory is None:
            return "memhook: the last note was already forgotten.", ()
        title = notes.short_title(memory)
        text = f"memhook: forgot “{title}”." if last.is_new else f"memhook: “{title}” was stored before and stays."
        return text, (memory.id,)
