"""Handle the end of an exchange or of a context: mark the memories it used, and spool its digest.

These events never get output.
"""

from __future__ import annotations

import json
import logging
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from threading import get_ident

from memhook.answering import silence
from memhook.answering.usage import used_in
from memhook.assistants.events import Event, Kind, Payload
from memhook.assistants.known import KNOWN
from memhook.assistants.reading import Prompt, Ran, Reply, Step, Used, parsed
from memhook.core.receipts import words_in
from memhook.engine.engine import Engine, Scene
from memhook.files import durable
from memhook.hooks.sessions import KEPT, Ongoing, Sessions, is_followed
from memhook.supply.digests import Exchange, digest, noted, sections
from memhook.supply.source import Record
from memhook.writing.captured import capture
from memhook.writing.transfer import draft_from

log = logging.getLogger("memhook")

SEVERAL = 3
LARGEST_BYTES = 4 << 20
"""More than a day of work; if the store cannot be written for longer, the newest records are dropped."""


class Spool:
    """Captured records that are not stored yet: private files named `path` but for the suffix, one per exchange.

    Storing embeds text, which no assistant should wait for: housekeeping does it. A file is deleted after its records
    were stored. A crash in between stores them twice, which storing detects.
    """

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


class Endings:
    """Handles the end of exchanges and contexts."""

    def __init__(self, engine: Engine, sessions: Sessions) -> None:
        self._engine = engine
        self._sessions = sessions
        self._spool = Spool(engine.paths.spool)
        self._late: deque[tuple[Event, Scene, Ongoing, datetime]] = deque(maxlen=KEPT)

    def ended(self, event: Event, scene: Scene, now: datetime) -> None:
        if event.kind is Kind.COMPACTED:
            self._keep(self._summary(event, scene, now), event, scene)
        elif is_followed(event):
            is_hard_won = scene.loaded.settings.capture.cues and was_hard_won(last_steps(event))
            exchange = self._sessions.ended(event, is_hard_won)
            self._mark_used(exchange, event, scene, now)
            if event.reply:
                self._keep(self._digest(event, scene, exchange, now), event, scene)
            elif event.transcript:  # Copilot writes its last message there a moment later
                self._late.append((event, scene, exchange, now))

    def _keep(self, records: Iterable[Record], event: Event, scene: Scene) -> None:
        if may_capture(event, scene) and (kept := list(records)):
            self._spool.add(kept)

    def _mark_used(self, exchange: Ongoing, event: Event, scene: Scene, now: datetime) -> None:
        """Mark the memories shown in the exchange that its answer used; no text of the exchange is stored."""
        if not exchange.shown or scene.loaded.unreadable:
            return
        known, answer = (*exchange.earlier, *words_in(exchange.prompt)), "\n".join([event.reply, *exchange.actions])
        library = self._engine.searched(scene.loaded.usable())
        used = used_in(answer, known, library, scene.project.id, sorted(exchange.shown))
        self._engine.accounts.mark_judged(sorted(exchange.shown))
        if used:
            self._engine.accounts.mark_used(used, now, event.session)

    def store(self) -> None:
        """Digest the exchanges whose reply came late, and store the spooled records; housekeeping calls it."""
        while self._late:
            event, scene, exchange, ended = self._late.popleft()
            self._keep(self._digest(event, scene, exchange, ended), event, scene)
        self._spool.drain(self._stored)

    def _stored(self, records: Sequence[Payload]) -> None:
        library = self._engine.library(self._engine.settings())
        drafts = [draft_from(record, "") for record in records]
        counts = capture(library, drafts, datetime.now(UTC), self._engine.accounts.usage)
        log.info("captured: %s", counts)

    def _digest(self, event: Event, scene: Scene, ended: Ongoing, now: datetime) -> Iterator[Record]:
        prompt = event.prompt or (ended.prompt if ended.may_capture else "")
        # Copilot's event lacks the last message.
        reply = event.reply or next((one.text for one in reversed(last_steps(event)) if isinstance(one, Reply)), "")
        entry = digest(self._exchange(event, scene, prompt, reply, ended.at or now))
        if entry.record is None:
            log.info("no digest of %s: %s", entry.place, entry.problem)
            return
        # By the prompt, not by its number: that is right only if memhook has seen the whole session.
        yield {**entry.record, "aliases": [f"{event.client}/{event.session}@{event.moment or ended.moment}"]}

    def _summary(self, event: Event, scene: Scene, now: datetime) -> Iterator[Record]:
        """The sections of a summary; none if it may repeat what the user marked as private."""
        if not self._sessions.exchange_of(event).has_private:
            exchange = self._exchange(event, scene, "", "", now)
            for title, text in sections(event.reply):
                if entry := noted(exchange, title, text).record:
                    yield entry

    def _exchange(self, event: Event, scene: Scene, asked: str, ended: str, at: datetime) -> Exchange:
        turn = self._engine.accounts.turn_of(event.session)
        return Exchange(asked, ended, event.client, event.session, turn, at, scene.project.id, bool(event.agent))


def last_steps(event: Event) -> list[Step]:
    """The steps of the exchange, as far as the end of the session's file has them."""
    path = Path(event.transcript)
    steps = list(KNOWN[event.client].session_format.last_steps(path)) if path.is_file() else []
    prompts = [at for at, step in enumerate(steps) if isinstance(step, Prompt)]
    return steps[prompts[-1] :] if prompts else steps


def was_hard_won(steps: Sequence[Step]) -> bool:
    """Whether several commands failed, something was edited, and the last command worked."""
    commands = [step for step in steps if isinstance(step, Ran)]
    is_edited = any(isinstance(step, Used) and step.is_edit for step in steps)
    failures = sum(command.failed for command in commands)
    return is_edited and failures >= SEVERAL and not commands[-1].failed


def may_capture(event: Event, scene: Scene) -> bool:
    settings = scene.loaded.settings
    is_here = settings.capture.enabled and not scene.is_excluded and not settings.store.foreign
    return is_here and is_followed(event) and not scene.loaded.unreadable and not silence.at_rest(settings, scene.pause)
