"""The sessions' accounts: every call that hooks make to the ledger.

A ledger that fails is reported in the log and costs only the account: then nothing counts as shown before.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import TypeVar

from memhook.answering.account import Account
from memhook.errors import StoreError
from memhook.store.ledger import Captured, Considered, Injection, Ledger, Proposal, Shown, Usage
from memhook.writing.notes import Note

log = logging.getLogger("memhook")

T = TypeVar("T")


def account_of(ledger: Ledger | None, session: str, agent: str, client: str) -> Account:
    if ledger is None:
        return Account(client=client)
    # Clients that name no session share the empty name: together they would use up anything.
    return Account(ledger.shown(session, agent), ledger.spent(session, agent) if session else 0, client)


class Accounts:
    """What was shown, stored and reported in which session, as far as the ledger can say it."""

    def __init__(self, ledger: Ledger | None) -> None:
        self._ledger = ledger
        self._read: set[str] = set()

    def of(self, session: str, agent: str, client: str, on_the_way: Iterable[tuple[str, Shown]] = ()) -> Account:
        """`on_the_way` is what another event brings the session at this moment."""
        found = self._from(lambda ledger: account_of(ledger, session, agent, client), Account(client=client))
        shown = {memory: list(showings) for memory, showings in found.shown.items()}
        for memory, showing in on_the_way:
            shown.setdefault(memory, []).append(showing)
        return Account(shown, found.spent, client)

    def reset(self, session: str, agent: str) -> None:
        self._from(lambda ledger: ledger.reset(session, agent), None)

    def record(self, injection: Injection) -> int:
        """The number of the event; 0 when it was not recorded."""
        return self._from(lambda ledger: ledger.record(injection), 0)

    def add_considered(self, number: int, considered: Sequence[Considered]) -> None:
        self._from(lambda ledger: ledger.add_considered(number, considered), None)

    def mark_delivered(self, number: int, part: int) -> None:
        self._from(lambda ledger: ledger.delivered(number, part), None)

    def times_shown(self, memories: Sequence[str]) -> Mapping[str, int]:
        return self._from(lambda ledger: ledger.times_shown(memories), {})

    def mark_used(self, memories: Sequence[str], now: datetime, session: str = "") -> None:
        self._from(lambda ledger: ledger.mark_used(memories, now, session), None)

    def usage(self, memories: Sequence[str] | None = None) -> Mapping[str, Usage]:
        return self._from(lambda ledger: ledger.usage(memories), {})

    def prompts_of(self, session: str) -> int:
        return self._from(lambda ledger: ledger.prompts_of(session), 0)

    def propose(self, proposals: Sequence[Proposal], now: datetime) -> None:
        self._from(lambda ledger: ledger.propose(proposals, now), None)

    def proposals(self) -> Sequence[Proposal]:
        return self._from(lambda ledger: ledger.proposals(), [])

    def measured_usage(self, memories: Sequence[str]) -> Mapping[str, Usage]:
        """As `usage`, and nothing where no assistant reports the end of an exchange."""
        return self._from(lambda ledger: ledger.usage(memories) if ledger.has_receipts() else {}, {})

    def successors(self) -> Mapping[str, str]:
        """The newer memory for each that may be superseded, as long as the user has not decided."""
        return self._from(
            lambda ledger: {one.memory: one.other for one in ledger.proposals() if one.other}, dict[str, str]()
        )

    def record_captured(self, session: str, moment: str, notes: Sequence[Note], now: datetime) -> None:
        if session:  # without one nobody could say whose last note to take back
            rows = [Captured(n.memory.id, n.memory.content_hash, n.is_new, n.was_forgotten) for n in notes]
            self._from(lambda ledger: ledger.record_captured(session, moment, rows, now), None)

    def was_captured(self, session: str, moment: str) -> bool:
        return self._from(lambda ledger: ledger.was_captured(session, moment), False)

    def last_captured(self, session: str) -> Captured | None:
        return self._from(lambda ledger: ledger.last_captured(session), None)

    def take_back(self, note: Captured) -> None:
        self._from(lambda ledger: ledger.take_back(note.number), None)

    def begin_report(self, line: str, now: datetime) -> int:
        return self._from(lambda ledger: ledger.begin_report(line, now), 0)

    def finish_report(self, number: int, line: str, memories: Sequence[str]) -> None:
        self._from(lambda ledger: ledger.finish_report(number, line, memories), None)

    def pending_reports(self) -> dict[int, str] | None:
        """None when the ledger does not say."""
        return self._from(lambda ledger: ledger.pending_reports(), None)

    def end_reports(self, numbers: Sequence[int]) -> None:
        self._from(lambda ledger: ledger.end_reports(numbers), None)

    def was_read(self, notice: str) -> bool:
        """Whether the user has read this notice before; without a ledger, since this process started."""
        return notice in self._read or self._from(lambda ledger: ledger.was_read(notice), False)

    def mark_read(self, notice: str, now: datetime) -> None:
        self._read.add(notice)
        self._from(lambda ledger: ledger.mark_read(notice, now), None)

    def prune(self, now: datetime, keep_days: int) -> None:
        self._from(lambda ledger: ledger.prune(now, keep_days), None)

    def _from(self, action: Callable[[Ledger], T], otherwise: T) -> T:
        try:
            return otherwise if self._ledger is None else action(self._ledger)
        except StoreError as error:
            log.warning("%s", error.message)
            return otherwise
