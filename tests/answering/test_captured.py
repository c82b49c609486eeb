"""Captured memories beside the others: last, few, labelled, and never at the start of a session."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from memhook.answering.account import Account
from memhook.answering.answer import Outcome, Surroundings, prompt_outcome
from memhook.answering.recall import for_enrichment, for_search
from memhook.answering.stages import Stages
from memhook.answering.start import session_outcome
from memhook.core import grading
from memhook.core.memory import Draft, Origin
from memhook.library.access import enriching
from memhook.library.library import Library
from memhook.settings import Settings
from memhook.store.project import NO_PROJECT
from memhook.writing.captured import capture
from memhook.writing.remember import remembered

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
QUESTION = "why does the ledger reconciliation fail when the replica lags?"
DIGESTS = (
    "why does the ledger reconciliation fail when the replica lags\n\nThe replica lags after the backup.",
    "why does ledger reconciliation fail, the replica lags\n\nRead the primary, it says.",
    "ledger reconciliation: when the replica lags, why does it fail?\n\nTimeouts of forty seconds.",
)


def around(library: Library) -> Surroundings:
    return Surroundings(library, Settings(), NO_PROJECT, Account(), NOW, Stages())


def answered(library: Library) -> Outcome:
    return prompt_outcome(QUESTION, around(library), None)


@pytest.fixture
def filled(library: Library, monkeypatch: pytest.MonkeyPatch) -> Library:
    """Three digests of different sessions, all of them near the question, and a gate that they all pass."""
    monkeypatch.setattr(grading, "GATE", 0.05)
    monkeypatch.setattr(grading, "RAISED_GATE", 0.05)
    drafts = [
        Draft(text, session=f"claude/s{n}#1", created=NOW - timedelta(days=8 + n)) for n, text in enumerate(DIGESTS)
    ]
    assert capture(library, drafts, NOW).stored == len(drafts)
    return library


def test_two_are_shown_labelled_and_why_names_the_others(filled: Library) -> None:
    outcome = answered(filled)
    assert outcome.block.text.count("unreviewed)") == grading.MOST_CAPTURED
    assert "(from a session of 2026-02-21, unreviewed) urn:memhook:" in outcome.block.text
    assert [one.reason for one in outcome.block.considered] == ["", "", grading.ENOUGH]


def test_they_come_after_all_others_whatever_their_score(filled: Library) -> None:
    remembered(filled, [Draft("Ledger reconciliation must read from the primary: the replica lags.")], NOW)
    remembered(filled, [Draft("Why the replica lags: reconciliation fails.", origin=Origin.AGENT)], NOW)
    text = answered(filled).block.text
    entries = [line for line in text.splitlines() if line.startswith("- ")]
    assert ["unreviewed" in line for line in entries] == [False, False, True, True]


def test_they_do_not_change_what_is_shown_of_the_others(library: Library) -> None:
    remembered(library, [Draft("Ledger reconciliation must read from the primary: the replica lags.")], NOW)
    alone = answered(library).block.considered
    capture(library, [Draft(text, session=f"claude/s{n}#1", created=NOW) for n, text in enumerate(DIGESTS[:1])], NOW)
    beside = answered(library).block.considered
    assert [(one.memory, one.level) for one in beside[:1]] == [(one.memory, one.level) for one in alone]


def test_below_the_gate_nothing_is_shown_and_why_says_so(filled: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grading, "GATE", 1.1)
    outcome = answered(filled)
    assert outcome.block.text == ""
    assert {one.reason for one in outcome.block.considered} == {grading.BELOW}


def test_a_session_never_starts_with_them(filled: Library) -> None:
    started = session_outcome("startup", around(filled), None)
    assert started.block.text == ""
    remembered(filled, [Draft("Rules are rules.", tags=("rule",))], NOW)
    text = session_outcome("startup", around(filled), None).block.text
    assert "Rules are rules." in text
    assert "unreviewed" not in text


def test_inject_has_them_after_all_others_and_pack_none(filled: Library) -> None:
    remembered(filled, [Draft("Ledger reconciliation must read from the primary: the replica lags.")], NOW)
    allowed = enriching("", (), NOW)
    relevant, weak, _ = for_enrichment(filled, QUESTION, allowed, "balanced")
    assert [one.memory.origin for one in (*relevant, *weak)] == [Origin.USER, Origin.CAPTURED, Origin.CAPTURED]
    assert [one.memory.origin for one in for_search(filled, QUESTION, allowed, 9)] == [Origin.USER]
