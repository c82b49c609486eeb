"""The end of an exchange or of a context: what is learned from it goes to the spool. Nothing is ever printed then.

A prompt is kept in memory until its exchange has ended; while capturing is off, not even that.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock

from memhook.answering import silence
from memhook.assistants.events import TRIAL_SESSION, Event, Kind
from memhook.assistants.known import KNOWN
from memhook.assistants.sessions.recording import Prompt, Ran, Reply, Step, Used
from memhook.engine.engine import Engine, Scene
from memhook.hooks.spool import Record, Spool
from memhook.supply.digests import PRIVATE, READ_CHARS, Exchange, digest, noted
from memhook.supply.summaries import sections
from memhook.writing.captured import capture
from memhook.writing.transfer import draft_from

log = logging.getLogger("memhook")

KEPT_SESSIONS = 64
SEVERAL = 3


@dataclass(frozen=True, slots=True)
class _Asked:
    """The prompt of an exchange that goes on; `has_private` is set if any of the session was marked so."""

    prompt: str
    moment: str
    at: datetime
    has_private: bool


class Exchanges:
    """The exchanges that go on, by client and session."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._spool = Spool(engine.paths.spool)
        self._asked: dict[tuple[str, str], _Asked] = {}
        self._hard_won: dict[tuple[str, str], bool] = {}
        self._lock = Lock()

    def began(self, event: Event, scene: Scene, now: datetime) -> None:
        if not _is_captured(event, scene) or not event.prompt:
            return
        key = (event.client, event.session)
        with self._lock:
            earlier = self._asked.pop(key, None)
            has_private = PRIVATE in event.prompt.lower() or (earlier is not None and earlier.has_private)
            self._asked[key] = _Asked(event.prompt[:READ_CHARS], event.moment, now, has_private)
            while len(self._asked) > KEPT_SESSIONS:
                del self._asked[next(iter(self._asked))]

    def ended(self, event: Event, environment: Mapping[str, str]) -> None:
        now = datetime.now(UTC)
        scene = self._engine.scene(event.directory, environment, now)
        key = (event.client, event.session)
        if event.kind is Kind.STOP and scene.loaded.settings.capture.cues:
            self._note_attempts(key, event)
        if not _is_captured(event, scene):
            return
        with self._lock:
            asked = self._asked.get(key)
            if asked and event.kind is Kind.STOP:
                self._asked[key] = replace(asked, prompt="")  # a plan to go on ends the same exchange once more
        records = list((self._summary if event.kind is Kind.COMPACTED else self._digest)(event, scene, asked, now))
        if records:
            self._spool.add(records)

    def took_attempts(self, event: Event) -> bool:
        """Return, once, whether the exchange before this prompt ended in a fix after several failures."""
        with self._lock:
            return self._hard_won.pop((event.client, event.session), False)

    def _note_attempts(self, key: tuple[str, str], event: Event) -> None:
        is_hard_won = was_hard_won(last_steps(event))
        with self._lock:
            self._hard_won[key] = is_hard_won
            while len(self._hard_won) > KEPT_SESSIONS:
                del self._hard_won[next(iter(self._hard_won))]

    def store(self) -> None:
        """Store what the spool holds, in the background."""
        self._spool.drain(self._stored)

    def _stored(self, records: Sequence[Record]) -> None:
        library = self._engine.library(self._engine.settings())
        drafts = [draft_from(record, "") for record in records]
        counts = capture(library, drafts, datetime.now(UTC), self._engine.accounts.usage)
        log.info("captured: %s", counts)

    def _digest(self, event: Event, scene: Scene, asked: _Asked | None, now: datetime) -> Iterator[Record]:
        prompt = event.prompt or (asked.prompt if asked else "")
        reply = event.reply or _last_reply(last_steps(event))
        entry = digest(self._exchange(event, scene, prompt, reply, asked.at if asked else now))
        if entry.record is None:
            log.info("no digest of %s: %s", entry.place, entry.problem)
            return
        # By the prompt, not by its number: that is right only if memhook has seen the whole session.
        name = f"{event.client}/{event.session}@{event.moment or (asked.moment if asked else '')}"
        yield {**entry.record, "aliases": [name]}

    def _summary(self, event: Event, scene: Scene, asked: _Asked | None, now: datetime) -> Iterator[Record]:
        """The sections of a summary; none if it may repeat what the user marked as private."""
        if asked is None or not asked.has_private:
            exchange = self._exchange(event, scene, "", "", now)
            for title, text in sections(event.reply):
                if entry := noted(exchange, title, text).record:
                    yield entry

    def _exchange(self, event: Event, scene: Scene, asked: str, ended: str, at: datetime) -> Exchange:
        turn = self._engine.accounts.prompts_of(event.session)
        return Exchange(asked, ended, event.client, event.session, turn, at, scene.project.id, bool(event.agent))


def last_steps(event: Event) -> list[Step]:
    """The steps of the exchange, as far as the end of the session's file has them."""
    path = Path(event.transcript)
    steps = list(KNOWN[event.client].session_format.last_steps(path)) if path.is_file() else []
    prompts = [at for at, step in enumerate(steps) if isinstance(step, Prompt)]
    return steps[prompts[-1] :] if prompts else steps


def _last_reply(steps: Sequence[Step]) -> str:
    """Return the assistant's last message, which Copilot's event lacks."""
    return next((step.text for step in reversed(steps) if isinstance(step, Reply)), "")


def was_hard_won(steps: Sequence[Step]) -> bool:
    """Whether several commands failed, something was edited, and the last command worked."""
    commands = [step for step in steps if isinstance(step, Ran)]
    is_edited = any(isinstance(step, Used) and step.is_edit for step in steps)
    failures = sum(command.failed for command in commands)
    return is_edited and failures >= SEVERAL and not commands[-1].failed


def _is_captured(event: Event, scene: Scene) -> bool:
    settings = scene.loaded.settings
    is_here = settings.capture.enabled and not scene.is_excluded and not settings.store.foreign
    is_known = bool(event.session) and event.session != TRIAL_SESSION and not event.agent
    return is_here and is_known and not scene.loaded.unreadable and not silence.at_rest(settings, scene.pause)
