from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from memhook.errors import StoreError
from memhook.store.ledger import Captured, Considered, Injection, Ledger, Shown, Usage

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
SHOWN = Considered(
    "aaaaaaaaaaaa",
    "hash-a",
    0.91,
    level="preview",
    passages=((10, 60), (90, 140)),
    tokens=40,
    parts={"dense": 0.8},
    part=1,
)
SECOND = replace(SHOWN, memory="bbbbbbbbbbbb", content_hash="hash-b", part=2)
LEFT_OUT = Considered("cccccccccccc", "hash-c", 0.2, reason="below relevance")
INJECTION = Injection(
    at=NOW,
    session="s1",
    agent="",
    client="claude",
    event="UserPromptSubmit",
    project="example.org/team/shop",
    outcome="shown",
    text="## Relevant memories (memhook)",
    tokens=80,
    budget=4000,
    milliseconds={"embed": 6.1},
    considered=(SHOWN, SECOND, LEFT_OUT),
)


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    return Ledger(tmp_path / "state" / "ledger.sqlite3")


def test_what_was_recorded_is_read_back_whole(ledger: Ledger) -> None:
    ledger.record(INJECTION)
    assert ledger.last_injection(session="s1") == INJECTION
    assert ledger.last_injection(project="example.org/team/shop") == INJECTION
    assert ledger.last_injection(session="other") is None


def test_only_parts_read_to_their_end_count_as_shown(ledger: Ledger) -> None:
    number = ledger.record(INJECTION)
    assert ledger.shown("s1", "") == {}
    ledger.delivered(number, 1)
    assert ledger.shown("s1", "") == {"aaaaaaaaaaaa": [Shown("hash-a", "preview", ((10, 60), (90, 140)))]}
    ledger.delivered(number, 2)
    assert set(ledger.shown("s1", "")) == {"aaaaaaaaaaaa", "bbbbbbbbbbbb"}


def test_uses_are_counted_for_good_and_once_per_showing(ledger: Ledger) -> None:
    number = ledger.record(INJECTION)
    for _ in range(2):
        ledger.delivered(number, 1)
    ledger.mark_used(["aaaaaaaaaaaa"], NOW + timedelta(minutes=5))
    ledger.prune(NOW + timedelta(days=90), keep_days=30)
    assert ledger.usage() == {"aaaaaaaaaaaa": Usage(1, 1, NOW, NOW + timedelta(minutes=5))}
    assert ledger.usage(["bbbbbbbbbbbb"]) == ledger.usage([]) == {}
    ledger.expunge(["aaaaaaaaaaaa"])
    assert ledger.usage() == {}


def test_the_showing_that_was_used_is_marked_by_session_or_is_the_last_one(ledger: Ledger) -> None:
    for session in ("s1", "s2", "s3"):
        ledger.delivered(ledger.record(replace(INJECTION, session=session)), 1)
    ledger.mark_used(["aaaaaaaaaaaa", "bbbbbbbbbbbb"], NOW, "s2")  # the second was never delivered
    assert [one["used"] for one in ledger.history("aaaaaaaaaaaa", 9)] == [0, 1, 0]
    assert ledger.showings(NOW) == (3, 1)
    ledger.mark_used(["aaaaaaaaaaaa"], NOW)
    assert [one["used"] for one in ledger.history("aaaaaaaaaaaa", 9)] == [1, 1, 0]
    assert [one.used for _, event in ledger.recent(1) for one in event.considered][:2] == [True, False]
    assert ledger.showings(NOW + timedelta(seconds=1)) == (0, 0)


def test_sessions_and_subagents_have_accounts_of_their_own(ledger: Ledger) -> None:
    ledger.delivered(ledger.record(INJECTION), 1)
    assert ledger.shown("s2", "") == {}
    assert ledger.shown("s1", "agent-7") == {}


def test_a_reset_forgets_what_was_shown_but_not_what_comes_after(ledger: Ledger) -> None:
    ledger.delivered(ledger.record(INJECTION), 1)
    ledger.reset("s1", "")
    assert ledger.shown("s1", "") == {}
    ledger.delivered(ledger.record(INJECTION), 2)
    assert set(ledger.shown("s1", "")) == {"bbbbbbbbbbbb"}


def test_what_is_older_than_the_days_kept_is_pruned_with_its_memories(ledger: Ledger) -> None:
    ledger.delivered(ledger.record(replace(INJECTION, at=NOW - timedelta(days=31))), 1)
    ledger.delivered(ledger.record(INJECTION), 1)
    assert ledger.prune(NOW, keep_days=30) == 1
    assert ledger.surfaced() == {"aaaaaaaaaaaa": 1}


def test_a_notice_that_was_read_is_known_to_be(ledger: Ledger) -> None:
    assert not ledger.was_read("no memories yet")
    for _ in range(2):
        ledger.mark_read("no memories yet", NOW)
    assert ledger.was_read("no memories yet")
    assert not ledger.was_read("something else")


def test_the_file_is_private(ledger: Ledger) -> None:
    assert ledger.path.stat().st_mode & 0o077 == 0


def test_a_damaged_file_is_an_error_that_says_so_and_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite3"
    path.write_bytes(b"not a database, but long enough to look at" * 10)
    with pytest.raises(StoreError, match="cannot be used"):
        Ledger(path)
    assert path.read_bytes().startswith(b"not a database")


def test_the_last_event_that_got_any_text_is_found_behind_silent_ones(ledger: Ledger) -> None:
    ledger.record(INJECTION)
    silent = replace(INJECTION, outcome="small talk", text="", tokens=0, considered=())
    ledger.record(silent)
    assert ledger.last_injection(session="s1") == silent
    assert ledger.last_injection(session="s1", with_text=True) == INJECTION
    assert ledger.last_injection(project=INJECTION.project, with_text=True) == INJECTION


def test_events_and_what_surfaced_are_counted_for_some_days_and_one_project(ledger: Ledger) -> None:
    old = replace(INJECTION, at=NOW - timedelta(days=9))
    elsewhere = replace(INJECTION, project="elsewhere", considered=(SECOND,))
    for injection in (old, INJECTION, elsewhere):
        number = ledger.record(injection)
        for part in (1, 2):
            ledger.delivered(number, part)
    ledger.record(INJECTION)  # and never delivered
    assert [event.at for event in ledger.events()] == [old.at, NOW, NOW, NOW]
    assert len(ledger.events(NOW - timedelta(days=7))) == 3
    assert len(ledger.events(project="elsewhere")) == 1
    assert ledger.surfaced() == {"bbbbbbbbbbbb": 3, "aaaaaaaaaaaa": 2}
    assert list(ledger.surfaced()) == ["bbbbbbbbbbbb", "aaaaaaaaaaaa"]
    assert ledger.surfaced(NOW - timedelta(days=7), "elsewhere") == {"bbbbbbbbbbbb": 1}


def test_a_ledger_with_one_passage_a_showing_is_read_and_written_on(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite3"
    ledger = Ledger(path)
    ledger.delivered(ledger.record(INJECTION), 1)
    ledger.close()
    with closing(sqlite3.connect(path)) as older:
        older.execute("ALTER TABLE considered DROP COLUMN passages")
    ledger = Ledger(path)
    assert ledger.shown("s1", "") == {"aaaaaaaaaaaa": [Shown("hash-a", "preview", ((10, 140),))]}
    assert ledger.last_injection("s1").considered[-1].passages == ()  # type: ignore[union-attr]
    ledger.delivered(ledger.record(replace(INJECTION, session="s2")), 1)
    assert ledger.shown("s2", "") == {"aaaaaaaaaaaa": [Shown("hash-a", "preview", ((10, 60), (90, 140)))]}


def test_a_ledger_from_before_notes_were_captured_takes_them(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite3"
    Ledger(path).close()
    with closing(sqlite3.connect(path)) as older:
        older.execute("DROP TABLE captured")
    ledger = Ledger(path)
    ledger.record_captured("s1", "p1", [Captured("aaaaaaaaaaaa", "hash-a", True, False)], NOW)
    assert ledger.was_captured("s1", "p1")
    assert not ledger.was_captured("s2", "p1")
    assert ledger.shown("s1", "") == {"aaaaaaaaaaaa": [Shown("hash-a", "full", ())]}
    assert ledger.shown("s1", "agent-7") == {}
    ledger.prune(NOW + timedelta(days=31), 30)
    assert ledger.last_captured("s1") is None
