"""Was it used? At the end of an exchange its answer is compared with the memories that were shown in it.

The prompt and the tool calls of an exchange are in memory until it ends; of all texts only the verdict is kept.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from threading import Lock

from memhook.assistants.events import TRIAL_SESSION, Event, Kind
from memhook.core.receipts import READ_CHARS, was_used
from memhook.engine.engine import Engine, Scene

KEPT_SESSIONS = 64


@dataclass(slots=True)
class _Exchange:
    prompt: str
    shown: set[str] = field(default_factory=set)
    actions: list[str] = field(default_factory=list)


class Receipts:
    """The exchanges that go on, by session; a subagent's are not followed, for nothing tells when it ends."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._exchanges: dict[tuple[str, str], _Exchange] = {}
        self._lock = Lock()

    def noticed(self, event: Event) -> None:
        """A prompt or the start of a session begins an exchange, a tool call belongs to it."""
        if not event.session or event.session == TRIAL_SESSION or event.agent:
            return
        with self._lock:
            if event.kind in (Kind.SESSION_START, Kind.PROMPT):
                self._begin(event)
            elif event.tool and event.kind in (Kind.BEFORE_TOOL, Kind.AFTER_TOOL):
                exchange = self._exchanges.get(_key(event))
                if exchange and len(exchange.actions) < KEPT_SESSIONS:
                    exchange.actions.append(json.dumps(dict(event.tool.input), ensure_ascii=False)[:READ_CHARS])

    def shown(self, client: str, session: str, memories: Iterable[str]) -> None:
        with self._lock:
            if exchange := self._exchanges.get((client, session)):
                exchange.shown.update(memories)

    def ended(self, event: Event, scene: Scene) -> None:
        """Mark the memories that the answer went by."""
        with self._lock:
            exchange = self._exchanges.pop(_key(event), None)
        if exchange is None or not exchange.shown or scene.loaded.unreadable or event.agent:
            return
        answer = "\n".join([event.reply, *exchange.actions])
        found = self._engine.searched(scene.loaded.usable()).store.by_ids(sorted(exchange.shown))
        used = [key for key, memory in found.items() if was_used(memory, exchange.prompt, answer)]
        if used:
            self._engine.accounts.mark_used(used, datetime.now(UTC), event.session)

    def _begin(self, event: Event) -> None:
        """Start an exchange, with the memories of the session's start; an exchange that never ended is dropped."""
        earlier = self._exchanges.pop(_key(event), None)
        shown = earlier.shown if earlier and not earlier.prompt else set()
        self._exchanges[_key(event)] = _Exchange(event.prompt[:READ_CHARS], shown)
        while len(self._exchanges) > KEPT_SESSIONS:
            del self._exchanges[next(iter(self._exchanges))]


def _key(event: Event) -> tuple[str, str]:
    return event.client, event.session
