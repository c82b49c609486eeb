"""The one door through which events come in. It fails open: whatever goes wrong, the prompt goes on without memhook."""

from __future__ import annotations

import hashlib
import json
import logging
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from threading import Lock
from typing import Any

from memhook.context.answer import Outcome, Surroundings, silence
from memhook.context.engine import Engine
from memhook.context.stages import Stages
from memhook.errors import MemhookError
from memhook.hooks.adapters import claude
from memhook.hooks.events import TRIAL_SESSION, Answer, Event, Kind
from memhook.hooks.handlers import FORGETTING_SOURCES, handled
from memhook.paths import Paths
from memhook.settings import Settings
from memhook.store.ledger import Injection
from memhook.store.project import Project

log = logging.getLogger("memhook")

KEPT_PLANS = 64
KEPT_CONSIDERED = 40  # of up to a hundred candidates: those near the threshold, and the ledger stays small
PARTS_TOGETHER_SECONDS = 10.0
SILENCE: tuple[bytes, Callable[[], None]] = (b"", lambda: None)


@dataclass(slots=True)
class _Plan:
    """What one event gets, computed once though each part of it is fetched by a process of its own."""

    outcome: Future[Outcome] = field(default_factory=Future)
    taken: set[int] = field(default_factory=set)
    injection: Injection | None = None
    number: int = 0
    made: float = field(default_factory=time.monotonic)

    def is_for(self, part: int) -> bool:
        """Whether this part is still to be fetched: its process starts with the others', not much later."""
        return part not in self.taken and time.monotonic() - self.made < PARTS_TOGETHER_SECONDS


class Runner:
    """Answers hooks; everything it needs belongs to the engine."""

    def __init__(self, paths: Paths) -> None:
        self.engine = Engine(paths)
        self._plans: dict[tuple[str, ...], _Plan] = {}
        self._planning = Lock()
        self._recording = Lock()

    def hook(
        self, name: str, part: int, directory: str, environment: Mapping[str, str], body: bytes
    ) -> tuple[bytes, Callable[[], None]]:
        """The bytes for stdout, and what to do once the client has read them to their end."""
        try:
            event = _event(name, directory, environment, body)
            if event is None:
                return SILENCE
            plan, is_first = self._plan(event, part)
            if is_first:
                self._fulfil(plan, event, environment)
            outcome = plan.outcome.result()
            text = claude.output_of(event, _part_of(outcome, part))
            return text, partial(self._delivered, plan, part)
        except Exception:  # the one broad except: a broken memhook must not break a prompt
            log.exception("hook %s failed", name)
            return SILENCE

    def warm_up(self) -> None:
        self.engine.warm_up()

    def keep_house(self) -> None:
        self.engine.keep_house(datetime.now(UTC))

    def idle_seconds(self) -> float:
        return self.engine.settings().daemon.idle_minutes * 60

    def call(self, method: str, params: Mapping[str, Any], directory: str, environment: Mapping[str, str]) -> Any:
        return self.engine.call(method, params, directory, environment)

    def _plan(self, event: Event, part: int) -> tuple[_Plan, bool]:
        """The plan of this event, and whether the caller has to fulfil it."""
        words = hashlib.sha256(event.prompt.encode("utf-8", "surrogatepass")).hexdigest()
        key = (event.client, event.session, event.agent, event.name, event.source, event.moment, words)
        with self._planning:
            plan = self._plans.get(key)
            if plan is not None and plan.is_for(part):
                plan.taken.add(part)
                return plan, False
            plan = self._plans[key] = _Plan(taken={part})
            while len(self._plans) > KEPT_PLANS:
                del self._plans[next(iter(self._plans))]
            return plan, True

    def _fulfil(self, plan: _Plan, event: Event, environment: Mapping[str, str]) -> None:
        try:
            plan.outcome.set_result(self._outcome(plan, event, environment))
        except MemhookError as error:
            log.error("%s: %s %s", event.name, error.message, error.hint)
            self.engine.reopen()
            plan.outcome.set_result(Outcome("failed", notice=self._told_once(error)))
        except BaseException as error:
            plan.outcome.set_exception(error)
            raise

    def _outcome(self, plan: _Plan, event: Event, environment: Mapping[str, str]) -> Outcome:
        stages = Stages()
        now = datetime.now(UTC)
        with stages.timed("total"):
            with stages.timed("project"):
                project = self.engine.project(event.directory)
                settings = self.engine.settings(environment, project.root)
            if event.kind is Kind.SESSION_START and event.source in FORGETTING_SOURCES:
                self.engine.reset_account(event.session, event.agent)
            reason = silence(settings, self.engine.pause(project, now))
            outcome = Outcome(reason) if reason else self._handled(event, project, settings, now, stages)
        if event.session != TRIAL_SESSION:
            plan.injection = _injection(event, outcome, project, settings, now, stages)
        if outcome.notice and not self.engine.first_telling(outcome.notice, now):
            outcome = Outcome(outcome.outcome, outcome.block)
        return outcome

    def _handled(self, event: Event, project: Project, settings: Settings, now: datetime, stages: Stages) -> Outcome:
        with stages.timed("open"):
            library = self.engine.library(settings)
            account = self.engine.account(event.session, event.agent)
        around = Surroundings(library, settings, project, account, now, stages)
        return handled(event, around, self.engine.times_shown)

    def _delivered(self, plan: _Plan, part: int) -> None:
        """After the answer is out, so that writing the ledger costs the prompt nothing."""
        with self._recording:
            if plan.injection is not None and not plan.number:
                plan.number = self.engine.recorded(plan.injection)
            if plan.number:
                self.engine.mark_delivered(plan.number, part)

    def _told_once(self, error: MemhookError) -> str:
        notice = f"memhook: {error.message} {error.hint}".strip()
        return notice if self.engine.first_telling(notice, datetime.now(UTC)) else ""


def _injection(
    event: Event, outcome: Outcome, project: Project, settings: Settings, now: datetime, stages: Stages
) -> Injection:
    return Injection(
        at=now,
        session=event.session,
        agent=event.agent,
        client=event.client,
        event=event.name,
        project=project.id,
        outcome=outcome.outcome,
        text=outcome.block.text,
        tokens=outcome.block.tokens,
        budget=settings.max_tokens,
        milliseconds=stages.milliseconds,
        considered=outcome.block.considered[:KEPT_CONSIDERED],
    )


def _event(name: str, directory: str, environment: Mapping[str, str], body: bytes) -> Event | None:
    payload = _payload(body)
    if payload is None:
        log.warning("hook %s: what came on stdin is not a JSON object (%d bytes)", name, len(body))
        return None
    payload.setdefault("hook_event_name", name)
    return claude.event_of(payload, directory or environment.get("CLAUDE_PROJECT_DIR", ""))


def _payload(body: bytes) -> dict[str, Any] | None:
    try:
        payload = json.loads(body.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return None
    return payload if isinstance(payload, dict) else None


def _part_of(outcome: Outcome, part: int) -> Answer:
    parts = outcome.block.parts
    context = parts[part - 1] if 1 <= part <= len(parts) else ""
    return Answer(context, outcome.notice if part == 1 else "")
