from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from memhook.answering.usage import usage
from memhook.core.memory import Draft, Sensitivity
from memhook.library.library import Library
from memhook.store.ledger import Considered, Injection, Ledger
from memhook.writing.remember import remembered

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
SILENT = Injection(
    at=NOW,
    session="s1",
    agent="",
    client="claude",
    event="UserPromptSubmit",
    project="here",
    outcome="nothing relevant",
    text="",
    tokens=0,
    budget=4000,
    milliseconds={},
)


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    return Ledger(tmp_path / "state" / "ledger.sqlite3")


def stored(library: Library, content: str, **fields: object) -> str:
    (one,) = remembered(library, [Draft(content, **fields)], NOW)  # type: ignore[arg-type]
    assert one.memory is not None
    return one.memory.id


def spoken(*memories: str, tokens: int) -> Injection:
    considered = tuple(Considered(memory, "hash", 0.9, level="preview", part=1) for memory in memories)
    return replace(SILENT, outcome="shown", text="text", tokens=tokens, considered=considered)


def record(ledger: Ledger, *injections: Injection) -> None:
    for injection in injections:
        ledger.delivered(ledger.record(injection), 1)


def test_prompts_shares_and_tokens_are_counted_by_prompt_and_by_session(library: Library, ledger: Ledger) -> None:
    record(
        ledger,
        *[SILENT] * 15,
        replace(SILENT, outcome="small talk"),
        *[spoken("a", tokens=100)] * 3,
        replace(spoken("a", tokens=900), session="s2"),
        replace(spoken("a", tokens=50), event="SessionStart"),
    )
    report = usage(library.store, ledger, NOW)
    assert (report["prompts"], report["with_injection"], report["share"]) == (20, 4, 0.2)
    assert report["silent"] == {"nothing relevant": 15, "small talk": 1}
    assert report["tokens_per_prompt"] == {"p50": 0, "p95": 100}
    assert report["tokens_per_injection"] == {"p50": 100, "p95": 900}
    assert report["tokens_per_session"] == {"p50": 350, "p95": 900}
    assert report["sessions"] == 2


def test_memories_surfaced_most_and_never_are_named(library: Library, ledger: Ledger) -> None:
    often, once, never = (stored(library, f"note {word}") for word in ("often", "once", "never"))
    stored(library, "out of date", expires=NOW - timedelta(days=1))
    stored(library, "nobody's business", sensitivity=Sensitivity.CONFIDENTIAL)
    stored(library, "quiet", muted=True)
    record(ledger, *[spoken(often, "forgotten000", tokens=10)] * 3, spoken(once, tokens=10))
    report = usage(library.store, ledger, NOW)
    assert [(one["title"], one["times"]) for one in report["surfaced_most"]] == [("note often", 3), ("note once", 1)]
    assert report["surfaced"] == 3
    assert (report["never_surfaced"], [one["urn"][-12:] for one in report["never_examples"]]) == (1, [never])


def test_what_became_confidential_is_not_named(library: Library, ledger: Ledger) -> None:
    secret = stored(library, "a secret", sensitivity=Sensitivity.CONFIDENTIAL)
    record(ledger, spoken(secret, tokens=10))
    assert usage(library.store, ledger, NOW)["surfaced_most"] == []


def test_days_and_project_narrow_what_is_counted(library: Library, ledger: Ledger) -> None:
    mine = stored(library, "of this project", project="here")
    stored(library, "of another", project="elsewhere")
    record(ledger, replace(SILENT, at=NOW - timedelta(days=9)), SILENT, replace(SILENT, project="elsewhere"))
    assert usage(library.store, ledger, NOW)["prompts"] == 3
    assert usage(library.store, ledger, NOW, days=7)["prompts"] == 2
    report = usage(library.store, ledger, NOW, days=7, project="here")
    assert (report["prompts"], report["since"]) == (1, NOW.isoformat())
    assert [one["urn"][-12:] for one in report["never_examples"]] == [mine]


def test_nothing_recorded_is_no_reason_to_fail(library: Library, ledger: Ledger) -> None:
    report = usage(library.store, ledger, NOW)
    assert (report["since"], report["prompts"], report["share"]) == (None, 0, 0.0)
    assert report["tokens_per_session"] == {"p50": 0, "p95": 0}
