"""What a prompt asks to be remembered, stored beside the prompt: it waits for that a moment, never for long."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from itertools import groupby

from memhook.context import capture
from memhook.context.engine import Engine
from memhook.core.capture import TAKE_BACK
from memhook.errors import MemhookError
from memhook.hooks.events import Event
from memhook.settings import Settings
from memhook.store.ledger import Captured
from memhook.store.project import Project

log = logging.getLogger("memhook")

WAIT_SECONDS = 0.7  # of the 1.5 a hook has: a long import may hold the right to write
STILL_AT_IT = "memhook: still storing your note; if that fails, the next prompt says so."


@dataclass(frozen=True, slots=True)
class _Scene:
    event: Event
    project: Project
    settings: Settings


class Captures:
    """Carries out what prompts ask for, one after the other, so that "forget that" finds what was said before it."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._worker = ThreadPoolExecutor(1, "memhook-capture")
        self._failed_late: dict[str, str] = {}

    def notice(self, commands: Sequence[str], event: Event, project: Project, settings: Settings) -> str:
        """What to tell the user about it, in one line. Never raises."""
        work = self._worker.submit(self._done, commands, _Scene(event, project, settings))
        try:
            return work.result(WAIT_SECONDS)[0]
        except TimeoutError:
            work.add_done_callback(partial(self._remember_failure, event.session))
            return STILL_AT_IT

    def late_failure(self, session: str) -> str:
        """What went wrong after its prompt had been answered, told once."""
        return self._failed_late.pop(session, "") if self._failed_late else ""

    def _remember_failure(self, session: str, work: Future[tuple[str, bool]]) -> None:
        line, went_well = work.result()
        if not went_well:
            self._failed_late[session] = line

    def _done(self, commands: Sequence[str], scene: _Scene) -> tuple[str, bool]:
        """The line for the user, and whether all went well."""
        event = scene.event
        try:
            if self._engine.was_captured(event.session, event.moment):
                return "", True  # the other part of the same prompt, come late
            lines = [
                self._taken_back(scene) if is_back else self._stored(list(texts), scene)
                for is_back, texts in _in_groups(commands)
            ]
            return " ".join(filter(None, lines)), True
        except MemhookError as error:
            log.error("a note was not stored: %s %s", error.message, error.hint)
            return f"memhook could not do that: {error.message} {error.hint}".strip(), False
        except Exception as error:
            log.exception("a note was not stored")
            return f"memhook could not do that ({type(error).__name__}); the log has the details.", False

    def _stored(self, texts: Sequence[str], scene: _Scene) -> str:
        event, now = scene.event, datetime.now(UTC)
        library = self._engine.library(scene.settings)
        source = f"prompt in {event.client}, session {event.session[: capture.SESSION_CHARS]}"
        notes = capture.stored_notes(library, texts, scene.project, scene.settings, source, now)
        self._engine.captured(
            event.session,
            event.moment,
            [Captured(n.memory.id, n.memory.content_hash, n.is_new, n.was_forgotten) for n in notes],
            now,
        )
        return capture.said_of(notes, scene.project)

    def _taken_back(self, scene: _Scene) -> str:
        """Nothing is said in a session that has no notes: there the words are for the assistant."""
        last = self._engine.last_captured(scene.event.session)
        if last is None:
            return ""
        memory = capture.take_back(self._engine.library(scene.settings), last, datetime.now(UTC))
        self._engine.uncapture(last)
        if memory is None:
            return "memhook: the last note was forgotten already."
        title = capture.short_title(memory)
        return f"memhook: forgot “{title}”." if last.is_new else f"memhook: “{title}” was there before and stays."


def _in_groups(commands: Sequence[str]) -> list[tuple[bool, list[str]]]:
    """Notes that follow each other are stored together; each "forget that" stands alone."""
    groups: list[tuple[bool, list[str]]] = []
    for is_back, some in groupby(commands, key=lambda command: command == TAKE_BACK):
        found = list(some)
        groups += [(True, [one]) for one in found] if is_back else [(False, found)]
    return groups
