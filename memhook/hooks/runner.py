"""The one entry point for events. It fails open: on any error the prompt continues without memhook."""

from __future__ import annotations

import hashlib
import json
import logging
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from threading import Lock
from typing import Any

from memhook.answering import silence
from memhook.answering.account import Account
from memhook.answering.answer import Outcome, Surroundings
from memhook.answering.silence import Silence
from memhook.answering.stages import Stages
from memhook.assistants.events import TRIAL_SESSION, UNANSWERED, Event, Kind
from memhook.assistants.known import FORCED, KNOWN, assistant_for
from memhook.core.fencing import collapsed
from memhook.core.note_requests import Asked, asked_in
from memhook.engine.catalogue import OPERATIONS
from memhook.engine.engine import Engine, Scene
from memhook.engine.scopes import Scope
from memhook.errors import MemhookError, SettingsError
from memhook.hooks import saving
from memhook.hooks.capture import Captures
from memhook.hooks.handlers import FORGETTING_SOURCES, brief_notice, handled, settings_for
from memhook.hooks.parts import OnePart
from memhook.hooks.sessions import RESUME, Sessions
from memhook.hooks.stop import Endings, may_capture
from memhook.hooks.withheld import Searched, Withheld
from memhook.paths import Paths
from memhook.settings import Loaded, Settings
from memhook.store.ledger import Injection, Shown
from memhook.turns import answering
from memhook.writing.notes import pasted_notice

log = logging.getLogger("memhook")

KEPT_PLANS = 64
KEPT_CONSIDERED = 40  # of up to a hundred candidates: keeps the ledger small and those near the threshold in it
PARTS_TOGETHER_SECONDS = 10.0
IN_FLIGHT_SECONDS = 2.0  # for which an unacknowledged answer may still be read
RESUMES = {Silence.PAUSED: " (memhook resume ends that)", Silence.SWITCHED_OFF: " here (memhook config shows where)"}
FIRST_COPY_SECONDS = 0.5  # of the 1.5 of a hook: on a new machine, a shared store must be fetched first
SILENCE: tuple[bytes, Callable[[], None]] = (b"", lambda: None)


@dataclass(slots=True)
class _Plan:
    """The answer to one event, computed once, though a separate process fetches each part."""

    outcome: Future[Outcome] = field(default_factory=Future)
    taken: set[int] = field(default_factory=set)
    injection: Injection | None = None
    searched: Searched | None = None
    number: int = 0
    reports: Mapping[int, str] = field(default_factory=dict)
    notices: list[str] = field(default_factory=list)
    brief: str = ""
    made: float = field(default_factory=time.monotonic)

    def is_recent(self) -> bool:
        """Return whether another part may still be fetched: the processes start at the same time."""
        return time.monotonic() - self.made < PARTS_TOGETHER_SECONDS

    def in_flight(self) -> list[tuple[str, Shown]]:
        """Return the memories that were just sent and are not in the ledger yet."""
        if self.number or self.injection is None or time.monotonic() - self.made > IN_FLIGHT_SECONDS:
            return []
        shown = (one for one in self.injection.considered if one.part)
        return [(one.memory, Shown(one.content_hash, one.level, one.passages)) for one in shown]


class Runner:
    """Answers hooks with the resources of its engine."""

    def __init__(self, paths: Paths) -> None:
        self.engine = Engine(paths)
        self._captures = Captures(self.engine)
        self._withheld = Withheld(self.engine)
        self._one_part = OnePart(paths.one_part)
        self._sessions = Sessions()
        self._endings = Endings(self.engine, self._sessions)
        self._saving = saving.Saving(self.engine, self._sessions)
        self._plans: dict[tuple[str, ...], _Plan] = {}
        self._planning = Lock()
        self._recording = Lock()

    def hook(
        self, name: str, part: int, directory: str, environment: Mapping[str, str], body: bytes
    ) -> tuple[bytes, Callable[[], None]]:
        """Return the bytes for stdout, and a callback for when the client has read them."""
        with answering():
            return self._hooked(name, part, directory, environment, body)

    def _hooked(
        self, name: str, part: int, directory: str, environment: Mapping[str, str], body: bytes
    ) -> tuple[bytes, Callable[[], None]]:
        try:
            payload = _payload(name, body)
            assistant = assistant_for(payload, environment)
            where = directory or environment.get("CLAUDE_PROJECT_DIR", "")
            event = assistant.event_of(payload, where) if payload else None
            if event is None:
                return SILENCE
            if event.kind in UNANSWERED:
                now = datetime.now(UTC)
                self._endings.ended(event, self.engine.scene(event.directory, environment, now), now)
                return SILENCE
            if event.kind is Kind.BEFORE_TOOL and event.is_saving:
                self._sessions.saves(event)
                return SILENCE
            plan, is_first = self._plan(event, part)
            if plan is None:
                return SILENCE
            if is_first:
                with self._sessions.lock_of(event):
                    self._fulfil(plan, event, environment)
            outcome = plan.outcome.result()
            self._one_part.answered(len(outcome.block.parts), self.engine.loaded().settings)
            context = dict(enumerate(outcome.block.parts, 1)).get(part, "")
            notices = [outcome.notice, plan.brief if assistant.shows_notices else ""] if part == 1 else []
            text = assistant.output_of(event, context, " ".join(filter(None, notices)))
            return text, partial(self._delivered, plan, part)
        except Exception:  # the one broad except: a broken memhook must not break a prompt
            log.exception("hook %s failed", name)
            return SILENCE

    def open(self) -> None:
        self._one_part.renew(self.engine.loaded().settings)
        self.engine.open()

    def keep_house(self, *, is_quiet: bool = True) -> None:
        self._one_part.renew(self.engine.loaded().settings)
        if is_quiet:
            self._withheld.record()
        self._endings.store()
        self.engine.keep_house(datetime.now(UTC))

    def call(self, method: str, params: Mapping[str, Any], directory: str, environment: Mapping[str, str]) -> Any:
        if method == "why":
            self._withheld.record()
        is_read = (operation := OPERATIONS.get(method)) is not None and operation.scope is Scope.READ
        if operation and not is_read:
            self._sessions.forget_starts()
        if method == "remember" and (session := self._sessions.saver_of(params.get("content"))):
            params = {**params, "in_session": session}
        with answering() if is_read else nullcontext():
            return self.engine.call(method, params, directory, environment)

    def _plan(self, event: Event, part: int) -> tuple[_Plan | None, bool]:
        """Return the plan of this event, and whether the caller must fulfil it; None for a repeated request."""
        words = hashlib.sha256(event.prompt.encode("utf-8", "surrogatepass")).hexdigest()
        occasion = (event.name, event.source, event.moment, event.directory, words)
        key = (event.session, event.agent, *occasion, event.client)
        with self._planning:
            plan = self._plans.get(key)
            if plan is not None and plan.is_recent():
                if part not in plan.taken:
                    plan.taken.add(part)
                    return plan, False
                if event.is_told_apart:
                    log.info("%s %s received twice: memhook is installed twice in %s", event.name, part, event.client)
                    return None, False
            plan = self._plans[key] = _Plan(taken={part})
            while len(self._plans) > KEPT_PLANS:
                del self._plans[next(iter(self._plans))]
            return plan, True

    def _fulfil(self, plan: _Plan, event: Event, environment: Mapping[str, str]) -> None:
        try:
            try:
                outcome = self._outcome(plan, event, environment)
            except SettingsError as error:
                notice = self._once(plan, _described(error), self.engine.version_of_settings())
                outcome = Outcome(Silence.FAILED, notice=notice)
            except MemhookError as error:
                log.error("%s: %s %s", event.name, error.message, error.hint)
                self.engine.reopen()
                outcome = Outcome(Silence.FAILED, notice=self._once(plan, _described(error)))
            # After the search: a note must not be recalled for the prompt that contains it.
            notices = (self._captured(plan, event, environment, outcome.notice), outcome.notice)
            plan.outcome.set_result(replace(outcome, notice=" ".join(filter(None, notices))))
        except BaseException as error:
            plan.outcome.set_exception(error)
            raise

    def _captured(self, plan: _Plan, event: Event, environment: Mapping[str, str], notice: str) -> str:
        """Store the notes of this prompt, and return the messages about them and about earlier ones.

        They do not repeat what the `notice` says that follows them.
        """
        if event.session == TRIAL_SESSION or event.kind is Kind.SUBAGENT_START or event.tool:
            return ""
        asked = asked_in(event.prompt) if event.kind is Kind.PROMPT else Asked((), "")
        message = self._executed(asked, event, environment, notice) if asked.commands or asked.pasted else ""
        plan.reports = self._captures.reports.due(event.session)
        return " ".join(filter(None, (*plan.reports.values(), message)))

    def _executed(self, asked: Asked, event: Event, environment: Mapping[str, str], notice: str) -> str:
        scene = self.engine.scene(event.directory, environment, datetime.now(UTC))
        loaded, settings = scene.loaded, scene.loaded.settings
        if at_rest := silence.at_rest(settings, scene.pause):
            return f"memhook did not store that: it is {at_rest}{RESUMES[at_rest]}." if asked.commands else ""
        unknown = collapsed(loaded.unreadable or loaded.project_problem)
        if unknown and asked.commands:  # every time: the note would be lost silently
            return "memhook did not store that." if unknown in notice else f"memhook did not store that: {unknown}"
        if unknown or not settings.hooks.capture:
            return ""
        self._sessions.forget_starts()
        message = self._captures.execute(asked.commands, event, scene) if asked.commands else ""
        if asked.pasted:
            self._captures.reports.noted(event.session, pasted_notice(asked.pasted))
        return message

    def _outcome(self, plan: _Plan, event: Event, environment: Mapping[str, str]) -> Outcome:
        stages = Stages()
        now = datetime.now(UTC)
        with stages.timed("total"):
            with stages.timed("project"):
                scene = self.engine.scene(event.directory, environment, now)
                settings = settings_for(event, scene.loaded.usable())
            self._sessions.noticed(event, may_capture(event, scene), now)
            if event.kind is Kind.SESSION_START and event.source in FORGETTING_SOURCES:
                self.engine.accounts.reset(event.session, event.agent)
            reason = silence.at_rest(settings, scene.pause)
            outcome = Outcome(reason) if reason else self._handled(event, scene, settings, now, stages, environment)
            outcome = replace(outcome, notice=outcome.notice or _project_file_notice(scene.loaded))
        if event.tool:
            outcome = replace(outcome, notice="")  # the next prompt has it
        if _is_recorded(event, outcome):
            plan.brief = brief_notice(outcome.block) if settings.hooks.notice == "brief" else ""
            names = (event.kind.value, event.session, event.agent, event.client, scene.project.id)
            whole = outcome.injection(*names, settings.max_tokens, now, stages)
            plan.injection = replace(whole, considered=whole.considered[:KEPT_CONSIDERED])
            if event.kind is Kind.PROMPT and "search" in stages.milliseconds:
                plan.searched = Searched(event.prompt, scene.project.id, settings, now)
        notice = self._once(plan, outcome.notice)
        if not notice and not reason and event.kind is Kind.SESSION_START and event.session != TRIAL_SESSION:
            notice = self._waiting(plan, settings, now)
        return replace(outcome, notice=notice)

    def _waiting(self, plan: _Plan, settings: Settings, now: datetime) -> str:
        """Return how much waits in the inbox, once a day."""
        occasion = f"inbox of {now:%Y-%m-%d}"
        waiting = 0 if self.engine.accounts.was_read(occasion) else self.engine.waiting(settings)
        if not waiting:
            return ""
        plan.notices.append(occasion)
        return f"memhook: {waiting} unreviewed in the inbox (memhook inbox review)."

    def _handled(
        self,
        event: Event,
        scene: Scene,
        settings: Settings,
        now: datetime,
        stages: Stages,
        environment: Mapping[str, str],
    ) -> Outcome:
        with stages.timed("open"):
            missing = " ".join(self.engine.first_copies(settings, 0.0 if event.tool else FIRST_COPY_SECONDS))
            library = self.engine.searched(settings)
            account = self._account(event)
        if block := self._sessions.start_again(event):
            return Outcome(Silence.RESUMED, block)
        doubts = self.engine.doubts(scene.project)
        around = Surroundings(library, settings, scene.project, account, now, stages, doubts)
        has_server, may_repeat = _has_server(event, environment), _may_repeat(event, account)
        asked = self._saving.line_for(event, scene, settings.max_tokens, has_server=has_server, may_repeat=may_repeat)
        around = saving.with_room_for(asked, around)
        outcome = saving.with_line(handled(event, around), asked, event)
        if event.kind is Kind.SESSION_START and outcome.block.parts:
            self._sessions.started_with(event, outcome.block)
        notice = outcome.notice or self.engine.repair_notice(settings) or (missing and f"memhook: {collapsed(missing)}")
        return replace(outcome, notice=notice)

    def _account(self, event: Event) -> Account:
        """Return what the session has seen, including what another event is just sending."""
        with self._planning:
            session = (event.session, event.agent)
            others = [
                plan for key, plan in self._plans.items() if key[:2] == session and (event.tool or key[2] != event.name)
            ]
        in_flight = [one for plan in others for one in plan.in_flight()]
        return self.engine.accounts.of(event.session, event.agent, event.client, in_flight)

    def _delivered(self, plan: _Plan, part: int) -> None:
        """Write the ledger after the answer was sent, so that the prompt does not wait for it."""
        if part == 1:  # it carries the notice
            self._captures.reports.acknowledged(plan.reports)
            for notice in plan.notices:
                self.engine.accounts.mark_read(notice, datetime.now(UTC))
        with self._recording:
            if plan.injection is not None and not plan.number:
                plan.number = self.engine.accounts.record(plan.injection)
                if plan.number and plan.searched:
                    self._withheld.add(plan.number, plan.searched)
                plan.searched = None  # a plan outlives its event, the prompt must not
            if plan.number and plan.injection is not None:
                self.engine.accounts.mark_delivered(plan.number, part)
                shown = [one.memory for one in plan.injection.considered if one.part == part]
                self._sessions.shown(plan.injection.client, plan.injection.session, shown)

    def _once(self, plan: _Plan, notice: str, occasion: str = "") -> str:
        """Return the notice unless the user has read it on this occasion. An answer that came too late was not read."""
        if not notice or self.engine.accounts.was_read(f"{notice}{occasion}"):
            return ""
        plan.notices.append(f"{notice}{occasion}")
        return notice


def _has_server(event: Event, environment: Mapping[str, str]) -> bool:
    """Return whether the assistant has memhook's tools: an installation brings them, not every plugin does."""
    return FORCED in environment or KNOWN[event.client].plugin_has_server


def _may_repeat(event: Event, account: Account) -> bool:
    """Return whether a start may carry the instruction: a resumed one only if it is the start's whole text."""
    if event.source != RESUME:
        return event.source != "fork"
    return not KNOWN[event.client].keeps_start and not account.shown


def _is_recorded(event: Event, outcome: Outcome) -> bool:
    """Return whether the ledger records the event: not the thousands of tool calls that get no answer."""
    is_empty = event.kind is Kind.PROMPT and not event.prompt  # Qwen Code sends one after each tool call
    return event.session != TRIAL_SESSION and not is_empty and not (event.tool and outcome.silence)


def _described(error: MemhookError) -> str:
    return f"memhook: {collapsed(error.message)} {error.hint}".strip()


def _project_file_notice(loaded: Loaded) -> str:
    problem = collapsed(loaded.project_problem)
    return f"memhook: {problem} Your own settings apply here, and no note is stored from a prompt." if problem else ""


def _payload(name: str, body: bytes) -> dict[str, Any]:
    """Parse the payload, {} if invalid. The event from the command line applies if the payload names none."""
    try:
        payload = json.loads(body.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        payload = None
    if not isinstance(payload, dict):
        log.warning("hook %s: stdin is not a JSON object (%d bytes)", name, len(body))
        return {}
    return {"hook_event_name": name, **payload} if name else payload
