"""Ongoing sessions by assistant: the current exchange of each, the text it started with, and which one saves what.

Prompts and tool calls stay in memory until their exchange ends, its words after that; nothing is written to disk.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime
from threading import Lock
from typing import Any, TypeVar

from memhook.answering.block import Block
from memhook.assistants.events import TRIAL_SESSION, Event, Kind
from memhook.assistants.known import KNOWN
from memhook.core.receipts import READ_CHARS, words_in
from memhook.supply.digests import PRIVATE

KEPT = 64
"""The most sessions, tool calls of each, and texts about to be saved that are in memory."""
KEPT_WORDS = 3_000  # of a session
RESUME = "resume"

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Ongoing:
    """The current exchange of a session. `prompt` is empty before its first prompt and after its end.

    `has_private` is set if any prompt of the session was marked private, `was_hard_won` if the previous exchange was.
    `earlier` has the words of earlier exchanges, the latest last: no text outlives its exchange.
    """

    prompt: str = ""
    moment: str = ""
    at: datetime | None = None
    may_capture: bool = False
    has_private: bool = False
    was_hard_won: bool = False
    shown: set[str] = field(default_factory=set)
    actions: list[str] = field(default_factory=list)
    earlier: tuple[str, ...] = ()

    def said(self, reply: str) -> tuple[str, ...]:
        """Return the latest words of the session up to the end of this exchange, which is this reply."""
        words = (*self.earlier, *words_in("\n".join((self.prompt, *self.actions, reply))))
        return tuple(dict.fromkeys(words[::-1]))[:KEPT_WORDS][::-1]


@dataclass(slots=True)
class _Session:
    """A session. Its events are handled one at a time, under `lock`: Copilot sends start and first prompt together."""

    lock: Lock = field(default_factory=Lock)
    exchange: Ongoing = field(default_factory=Ongoing)
    start: Block | None = None


class Sessions:
    """The ongoing sessions. A subagent's exchanges are not followed: no event reports its end."""

    def __init__(self) -> None:
        self._sessions: dict[tuple[str, str], _Session] = {}
        self._savers: dict[str, str] = {}
        self._lock = Lock()

    def lock_of(self, event: Event) -> Lock:
        with self._lock:
            return self._of(event).lock

    def noticed(self, event: Event, may_capture: bool, now: datetime) -> None:
        """Record the event: a prompt or a session start begins an exchange, a tool call is added to it."""
        if not is_followed(event):
            return
        with self._lock:
            earlier = self._of(event).exchange
            if event.tool:
                if earlier.at and len(earlier.actions) < KEPT:
                    earlier.actions.append(json.dumps(dict(event.tool.input), ensure_ascii=False)[:READ_CHARS])
            elif event.prompt or event.kind is Kind.SESSION_START:
                shown = set() if earlier.prompt else earlier.shown  # at the start
                has_private = earlier.has_private or PRIVATE in event.prompt.lower()
                prompt, said = event.prompt[:READ_CHARS], earlier.earlier
                began = Ongoing(prompt, event.moment, now, may_capture, has_private, earlier.was_hard_won, shown)
                self._of(event).exchange = replace(began, earlier=said)

    def shown(self, client: str, session: str, memories: Iterable[str]) -> None:
        with self._lock:
            known = self._sessions.get((client, session))
            if known and known.exchange.at:
                known.exchange.shown.update(memories)

    def ended(self, event: Event, was_hard_won: bool) -> Ongoing:
        """Close the exchange and return its last state.

        It may end again without a new prompt, as when the assistant goes on to carry out a plan.
        """
        exchange = self.exchange_of(event)
        said = exchange.said(event.reply)  # takes milliseconds, in which other sessions do not wait
        after = replace(exchange, prompt="", was_hard_won=was_hard_won, shown=set(), actions=[], earlier=said)
        with self._lock:
            self._of(event).exchange = after
        return exchange

    def exchange_of(self, event: Event) -> Ongoing:
        with self._lock:
            return self._of(event).exchange

    def took_attempts(self, event: Event) -> bool:
        """Return, once, whether the exchange before this prompt ended in a fix after several failures."""
        with self._lock:
            session = self._of(event)
            was_hard_won = session.exchange.was_hard_won
            session.exchange = replace(session.exchange, was_hard_won=False)
        return was_hard_won

    def started_with(self, event: Event, block: Block) -> None:
        """Keep the text of a start for clients that ask for it again when the session is resumed.

        Claude Code drops a text that is the same to the byte and adds any other to the history; Qwen Code has it in its
        system prompt, which it builds anew.
        """
        if not KNOWN[event.client].keeps_start:
            with self._lock:
                # Without what was considered: the ledger counts a showing once.
                self._of(event).start = Block(block.parts, tokens=block.tokens)

    def start_again(self, event: Event) -> Block | None:
        with self._lock:
            return self._of(event).start if event.source == RESUME else None

    def forget_starts(self) -> None:
        """Drop the start texts when a memory changes: a resumed session must not get a forgotten one."""
        with self._lock:
            for session in self._sessions.values():
                session.start = None

    def saves(self, event: Event) -> None:
        """Record which session is about to save this text: the MCP server that stores it does not know."""
        if event.tool and event.session:
            with self._lock:
                _put(self._savers, str(event.tool.input.get("content")), event.session)

    def saver_of(self, content: Any) -> str:
        with self._lock:
            return self._savers.pop(str(content), "")

    def _of(self, event: Event) -> _Session:
        key = (event.client, event.session)
        return _put(self._sessions, key, self._sessions.get(key) or _Session())


def is_followed(event: Event) -> bool:
    return bool(event.session) and event.session != TRIAL_SESSION and not event.agent


def _put(kept: dict[Any, T], key: Any, value: T) -> T:
    """Insert the value last, and drop the oldest beyond the limit."""
    kept.pop(key, None)
    kept[key] = value
    while len(kept) > KEPT:
        del kept[next(iter(kept))]
    return value
