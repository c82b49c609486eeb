"""Store the notes that a prompt contains, in the background, and report what became of them.

The prompt waits only briefly. If an answer comes too late, or its client or the daemon is killed, the next hook
delivers the message.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import count, groupby
from threading import Lock

from memhook.assistants.events import Event
from memhook.core.note_requests import TAKE_BACK
from memhook.engine.engine import Engine, Scene
from memhook.errors import MemhookError
from memhook.turns import part_of_an_answer
from memhook.writing import notes

log = logging.getLogger("memhook")

WAIT_SECONDS = 0.7  # of the 1.5 of a hook: a long import may hold the write lock
STILL_STORING = "memhook: still storing your note; the next prompt reports the result."
INTERRUPTED = "memhook was interrupted while storing a note of yours; check whether it is there: memhook list"
OWN_HOOK_SECONDS = 10.0  # for which only the hook that asked, or that carries the line, delivers it
MOST_LINES = 5

Message = tuple[str, Sequence[str]]
"""A message for the user, and the memories it mentions."""


@dataclass(slots=True)
class _Report:
    session: str
    line: str
    not_before: float = 0.0  # for hooks of other sessions
    sent: float = float("-inf")
    is_finished: bool = True

    def is_due(self, session: str, now: float) -> bool:
        is_this_one_s = session == self.session or now >= self.not_before
        return self.is_finished and is_this_one_s and now - self.sent > OWN_HOOK_SECONDS


class Reports:
    """Messages for the user, kept until a client has read them: in the ledger, or only in memory if it fails."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._lock = Lock()
        self._reports = {
            number: _Report("", line) for number, line in (engine.accounts.pending_reports() or {}).items()
        }
        self._unwritten = count(-1, -1)
        self._take_over_from_setup()

    def begun(self, session: str) -> int:
        """Open a report; unless it is finished, the user gets INTERRUPTED."""
        number = self._engine.accounts.begin_report(INTERRUPTED, datetime.now(UTC)) or next(self._unwritten)
        with self._lock:
            self._reports[number] = _Report(session, INTERRUPTED, is_finished=False)
        return number

    def finished(self, number: int, line: str, memories: Sequence[str]) -> None:
        """Complete a report. It is deleted when one of `memories`, which it mentions, is redacted or purged."""
        if not line:
            self.acknowledged([number])
            return
        self._engine.accounts.finish_report(number, line, memories)
        with self._lock:
            report = self._reports.get(number, _Report("", ""))
            report.line, report.is_finished = line, True
            report.not_before = time.monotonic() + OWN_HOOK_SECONDS

    def noted(self, session: str, line: str) -> None:
        """Add a line that quotes the prompt: in memory only, because prompts are not stored."""
        with self._lock:
            report = _Report(session, line, not_before=time.monotonic() + OWN_HOOK_SECONDS)
            self._reports[next(self._unwritten)] = report

    def due(self, session: str) -> dict[int, str]:
        """Return the lines to deliver with the answer to a hook of this session, by number."""
        now = time.monotonic()
        with self._lock:
            self._drop_expunged()
            due = [number for number, report in self._reports.items() if report.is_due(session, now)][:MOST_LINES]
            for number in due:
                self._reports[number].sent = now
            return {number: self._reports[number].line for number in due}

    def acknowledged(self, numbers: Iterable[int]) -> None:
        """Delete the reports that a client has read."""
        with self._lock:
            known = [number for number in numbers if self._reports.pop(number, None) is not None]
        if known:
            self._engine.accounts.end_reports(known)

    def _drop_expunged(self) -> None:
        """Drop lines that were deleted from the ledger because their memory was redacted or purged."""
        written = self._engine.accounts.pending_reports() if self._reports else None
        if written is not None:
            for number in [number for number in self._reports if number > 0 and number not in written]:
                del self._reports[number]

    def _take_over_from_setup(self) -> None:
        """Adopt the message that the plugin's set-up left for the user."""
        notice = self._engine.paths.state / "setup.notice"
        try:
            line = notice.read_text(encoding="utf-8").strip()
            notice.unlink()
        except (OSError, ValueError):
            return
        number = self.begun("")
        self.finished(number, f"memhook: {line}", [])
        self._reports[number].not_before = 0.0  # no hook asked for it


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
        with part_of_an_answer():
            self._executed(commands, event, scene, number)

    def _executed(self, commands: Sequence[str], event: Event, scene: Scene, number: int) -> None:
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
