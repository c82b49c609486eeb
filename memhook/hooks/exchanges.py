"""The exchanges that go on, by assistant and session, and which session saves what.

Prompts and tool calls are in memory until their exchange has ended, and then its words; nothing is written to disk.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime
from threading import Lock
from typing import Any, TypeVar

from memhook.assistants.events import TRIAL_SESSION, Event, Kind
from memhook.core.receipts import READ_CHARS, words_in
from memhook.supply.digests import PRIVATE

KEPT = 64
"""Exchanges, tool calls of each, and texts about to be saved."""
KEPT_WORDS = 3_000  # of a session

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Ongoing:
    """`prompt` is empty before the first one and after the end; `may_capture` is what the settings said at the prompt.

    `has_private` is set if any prompt of the session was marked so, `was_hard_won` if the exchange before was.
    `earlier` has the words of the exchanges before, the last said last: no text outlives its exchange.
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
        """Return the words said up to its end, which was this reply."""
        words = (*self.earlier, *words_in("\n".join((self.prompt, *self.actions, reply))))
        return tuple(dict.fromkeys(words[::-1]))[:KEPT_WORDS][::-1]


class Exchanges:
    """A subagent's are not followed, for nothing tells when it ends."""

    def __init__(self) -> None:
        self._ongoing: dict[tuple[str, str], Ongoing] = {}
        self._savers: dict[str, str] = {}
        self._lock = Lock()

    def noticed(self, event: Event, may_capture: bool, now: datetime) -> None:
        """A prompt or the start of a session begins an exchange, a tool call belongs to it."""
        if not is_followed(event):
            return
        with self._lock:
            earlier = self._ongoing.get(_key(event), Ongoing())
            if event.tool:
                if len(earlier.actions) < KEPT:
                    earlier.actions.append(json.dumps(dict(event.tool.input), ensure_ascii=False)[:READ_CHARS])
            elif event.prompt or event.kind is Kind.SESSION_START:
                shown = set() if earlier.prompt else earlier.shown  # those of the start
                has_private = earlier.has_private or PRIVATE in event.prompt.lower()
                prompt, said = event.prompt[:READ_CHARS], earlier.earlier
                began = Ongoing(prompt, event.moment, now, may_capture, has_private, earlier.was_hard_won, shown)
                _put(self._ongoing, _key(event), replace(began, earlier=said))

    def shown(self, client: str, session: str, memories: Iterable[str]) -> None:
        with self._lock:
            if exchange := self._ongoing.get((client, session)):
                exchange.shown.update(memories)

    def ended(self, event: Event, was_hard_won: bool) -> Ongoing:
        """Return the exchange as it was. It may end once more: a plan to go on does that."""
        exchange = self.of(event)
        said = exchange.said(event.reply)  # takes milliseconds, in which other sessions do not wait
        after = replace(exchange, prompt="", was_hard_won=was_hard_won, shown=set(), actions=[], earlier=said)
        with self._lock:
            _put(self._ongoing, _key(event), after)
        return exchange

    def of(self, event: Event) -> Ongoing:
        with self._lock:
            return self._ongoing.get(_key(event), Ongoing())

    def took_attempts(self, event: Event) -> bool:
        """Return, once, whether the exchange before this prompt ended in a fix after several failures."""
        with self._lock:
            exchange = self._ongoing.get(_key(event), Ongoing())
            if exchange.was_hard_won:
                self._ongoing[_key(event)] = replace(exchange, was_hard_won=False)
        return exchange.was_hard_won

    def saves(self, event: Event) -> None:
        """Note which session is about to save this text: the MCP server that stores it is not told."""
        if event.tool and event.session:
            with self._lock:
                _put(self._savers, str(event.tool.input.get("content")), event.session)

    def saver_of(self, content: Any) -> str:
        with self._lock:
            return self._savers.pop(str(content), "")


def is_followed(event: Event) -> bool:
    return bool(event.session) and event.session != TRIAL_SESSION and not event.agent


def _key(event: Event) -> tuple[str, str]:
    return event.client, event.session


def _put(kept: dict[Any, T], key: Any, value: T) -> None:
    """Put it last, and drop the first beyond the limit."""
    kept.pop(key, None)
    kept[key] = value
    while len(kept) > KEPT:
        del kept[next(iter(kept))]
