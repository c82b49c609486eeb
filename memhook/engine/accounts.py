"""Calls to the ledger that return a default where it cannot be opened or fails.

A failure is logged and costs only the account of a session: then nothing counts as shown before.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Concatenate, ParamSpec, TypeVar

from memhook.answering.account import Account
from memhook.errors import StoreError
from memhook.store.ledger import Captured, Ledger, Shown
from memhook.writing.notes import Note

log = logging.getLogger("memhook")

P = ParamSpec("P")
T = TypeVar("T")


def account_of(ledger: Ledger, session: str, agent: str, client: str) -> Account:
    # Clients that name no session share the empty name: together they would use up any budget.
    return Account(ledger.shown(session, agent), ledger.spent(session, agent) if session else 0, client)


def _or(asked: Callable[Concatenate[Ledger, P], T], otherwise: T) -> Callable[Concatenate[Accounts, P], T]:
    """Return a method that calls the ledger, and returns `otherwise` if there is none or it fails."""

    def call(self: Accounts, /, *args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return otherwise if self.ledger is None else asked(self.ledger, *args, **kwargs)
        except StoreError as error:
            log.warning("%s", error.message)
            return otherwise

    return call


class Accounts:
    """The record of what was shown, stored and reported in each session; defaults without a ledger."""

    def __init__(self, ledger: Ledger | None) -> None:
        self.ledger = ledger
        self._read: set[str] = set()

    reset = _or(Ledger.reset, None)
    record = _or(Ledger.record, 0)
    """The number of the event; 0 when it was not recorded."""
    add_considered = _or(Ledger.add_considered, None)
    mark_delivered = _or(Ledger.delivered, None)
    mark_used = _or(Ledger.mark_used, [])
    mark_judged = _or(Ledger.mark_judged, None)
    usage = _or(Ledger.usage, {})
    project_at = _or(Ledger.project_at, "")
    set_project_at = _or(Ledger.set_project_at, None)
    turn_of = _or(Ledger.turn_of, 1)
    propose = _or(Ledger.propose, None)
    proposals = _or(Ledger.proposals, [])
    declined = _or(Ledger.declined, set())
    withdraw = _or(Ledger.withdraw, None)
    was_captured = _or(Ledger.was_captured, False)
    last_captured = _or(Ledger.last_captured, None)
    take_back = _or(Ledger.take_back, None)
    begin_report = _or(Ledger.begin_report, 0)
    finish_report = _or(Ledger.finish_report, None)
    pending_reports = _or(Ledger.pending_reports, None)
    """None if the ledger cannot be read."""
    end_reports = _or(Ledger.end_reports, None)
    prune = _or(Ledger.prune, 0)
    events = _or(Ledger.events, [])
    showings = _or(Ledger.showings, (0, 0))
    history = _or(Ledger.history, [])
    last_injection = _or(Ledger.last_injection, None)
    last_runs = _or(Ledger.last_runs, [])
    last_by_event = _or(Ledger.last_by_event, {})
    projects = _or(Ledger.projects, {})
    problem = _or(Ledger.problem, "the record of what was shown cannot be opened")
    _account = _or(account_of, Account())
    _was_read = _or(Ledger.was_read, False)
    _mark_read = _or(Ledger.mark_read, None)
    _record_captured = _or(Ledger.record_captured, None)

    def of(self, session: str, agent: str, client: str, on_the_way: Iterable[tuple[str, Shown]] = ()) -> Account:
        """Return the account of a session; `on_the_way` is what a concurrent event is about to show there."""
        found = self._account(session, agent, client)
        shown = {memory: list(showings) for memory, showings in found.shown.items()}
        for memory, showing in on_the_way:
            shown.setdefault(memory, []).append(showing)
        return Account(shown, found.spent, client)

    def successors(self) -> Mapping[str, str]:
        """Return the newer memory for each that may be superseded, while the user has not decided."""
        return {one.memory: one.other for one in self.proposals() if one.other}

    def record_captured(self, session: str, moment: str, notes: Sequence[Note], now: datetime) -> None:
        if session:  # without one, the last note of another client could be taken back
            rows = [Captured(n.memory.id, n.memory.content_hash, n.is_new, n.was_forgotten) for n in notes]
            self._record_captured(session, moment, rows, now)

    def was_read(self, notice: str) -> bool:
        """Return whether the user has read this notice before; without a ledger, since this process started."""
        return notice in self._read or self._was_read(notice)

    def mark_read(self, notice: str, now: datetime) -> None:
        self._read.add(notice)
        self._mark_read(notice, now)
