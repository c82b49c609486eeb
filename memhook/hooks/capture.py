"""What a prompt asks to be remembered, stored beside the prompt: it waits for that a moment, never for long."""

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

WAIT_SECONDS = 0.7  # of the 1.5 a hook has: a long import may hold the right to write
STILL_AT_IT = "memhook: still storing your note; the next prompt says how that went."


@dataclass(frozen=True, slots=True)
class _Line:
    """For the user, and the memories it speaks of."""

    text: str
    memories: tuple[str, ...] = ()


class Captures:
    """Carries out what prompts ask for, one after the other, so that "forget that" finds what was said before it."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._worker = ThreadPoolExecutor(1, "memhook-capture")
        self.reports = Reports(engine)

    def carry_out(self, commands: Sequence[str], event: Event, scene: Scene) -> str:
        """Nothing when that was done in time: what to tell of it is among the reports then. Never raises."""
        number = self.reports.begun(event.session)
        work = self._worker.submit(self._done, commands, event, scene, number)
        try:
            work.result(WAIT_SECONDS)
        except TimeoutError:
            return STILL_AT_IT
        return ""

    def _done(self, commands: Sequence[str], event: Event, scene: Scene, number: int) -> None:
        lines: list[_Line] = []
        try:
            if not self._engine.accounts.was_captured(event.session, event.moment):  # by the prompt's other part
                for is_back, texts in _in_groups(commands):
                    lines.append(self._taken_back(event, scene) if is_back else self._stored(texts, event, scene))
        except MemhookError as error:
            log.error("a note was not stored: %s %s", error.message, error.hint)
            lines.append(_Line(f"memhook could not do that: {error.message} {error.hint}".strip()))
        except Exception as error:
            log.exception("a note was not stored")
            lines.append(_Line(f"memhook could not do that ({type(error).__name__}); the log has the details."))
        text = " ".join(filter(None, (line.text for line in lines)))
        self.reports.finished(number, text, [memory for line in lines for memory in line.memories])

    def _stored(self, texts: Sequence[str], event: Event, scene: Scene) -> _Line:
        now, settings = datetime.now(UTC), scene.loaded.settings
        library = self._engine.library(settings)
        source = f"prompt in {event.client}, session {event.session[: notes.SESSION_CHARS]}"
        stored = notes.stored_notes(library, texts, scene.project, settings, source, now)
        self._engine.accounts.record_captured(event.session, event.moment, stored, now)
        return _Line(notes.said_of(stored, scene.project), tuple(note.memory.id for note in stored))

    def _taken_back(self, event: Event, scene: Scene) -> _Line:
        """Nothing is said in a session that has no notes: there the words are for the assistant."""
        last = self._engine.accounts.last_captured(event.session)
        if last is None:
            return _Line("")
        memory = notes.take_back(self._engine.library(scene.loaded.settings), last, datetime.now(UTC))
        self._engine.accounts.take_back(last)
        if memory is None:
            return _Line("memhook: the last note was forgotten already.")
        title = notes.short_title(memory)
        text = f"memhook: forgot “{title}”." if last.is_new else f"memhook: “{title}” was there before and stays."
        return _Line(text, (memory.id,))


def _in_groups(commands: Sequence[str]) -> list[tuple[bool, list[str]]]:
    """Notes that follow each other are stored together; each "forget that" stands alone."""
    groups: list[tuple[bool, list[str]]] = []
    for is_back, some in groupby(commands, key=lambda command: command == TAKE_BACK):
        found = list(some)
        groups += [(True, [one]) for one in found] if is_back else [(False, found)]
    return groups
