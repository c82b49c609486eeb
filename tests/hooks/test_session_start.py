from __future__ import annotations

import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from memhook.hooks.runner import Runner
from memhook.paths import user_paths
from tests.hooks.conftest import Assistant
from tests.hooks.test_prompt import FACT, QUESTION, configure, urns

START = {"hook_event_name": "SessionStart", "source": "startup"}


def git(directory: Path, *arguments: str) -> None:
    identity = ("-c", "user.name=Dev", "-c", "user.email=dev@example.org")
    subprocess.run(["git", *identity, *arguments], cwd=directory, check=True, capture_output=True)


def test_an_empty_store_tells_the_model_nothing_and_the_user_once(assistant: Assistant) -> None:
    first = assistant.answer(START)
    assert list(first) == ["systemMessage"]
    assert first["systemMessage"].startswith("memhook is on. There are no memories yet; add the first: ")
    assert assistant.answer(START) == {}
    assistant.runner = Runner(user_paths())  # the next daemon
    assert assistant.answer(START) == {}


def test_where_the_ledger_cannot_be_written_each_daemon_tells_a_thing_once(
    assistant: Assistant, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(assistant.runner.engine, "_ledger", None)
    assert [list(assistant.answer(START)) for _ in range(2)] == [["systemMessage"], []]


@pytest.mark.parametrize("source", ["startup", "clear", "compact", "new"])
def test_a_session_starts_with_what_matters(assistant: Assistant, source: str) -> None:
    assistant.remembers(FACT)
    context = assistant.starts(source)
    assert context.startswith("## memhook notes on this project\n")
    assert FACT in context


@pytest.mark.parametrize("source", ["resume", "fork"])
def test_a_session_that_goes_on_stays_silent(assistant: Assistant, source: str) -> None:
    assistant.remembers(FACT)
    assert assistant.starts(source) == ""


def test_what_the_start_showed_whole_a_prompt_does_not_repeat(assistant: Assistant) -> None:
    assistant.remembers(FACT)
    assistant.starts()
    assert assistant.prompts(QUESTION) == ""


def test_pinned_memories_come_first_and_at_most_so_many_as_configured(assistant: Assistant, home: Path) -> None:
    pinned = assistant.remembers("Never push to main on a Friday.", pinned=True, created="2020-01-01T00:00:00+00:00")
    for number in range(12):
        assistant.remembers(f"Note {number} on topic {number}")
    assert urns(assistant.starts())[0] == pinned
    assert len(urns(assistant.starts("clear"))) == 8
    configure(home, "hooks.session_start.max_memories = 2")
    assert len(urns(assistant.starts("clear", session="s2"))) == 2
    configure(home, "hooks.session_start.max_memories = 0")
    assert assistant.starts("clear", session="s3") == ""


def test_recent_memories_come_before_old_ones(assistant: Assistant) -> None:
    now = datetime.now(UTC)
    old = assistant.remembers("Old news about the printer", created=(now - timedelta(days=400)).isoformat())
    new = assistant.remembers("Fresh news about the kitchen", created=now.isoformat())
    assert urns(assistant.starts()) == [new, old]


def test_what_is_near_to_the_branch_and_the_last_commits_comes_first(assistant: Assistant) -> None:
    git(assistant.directory, "init", "-b", "fix/invoice-rounding")
    git(assistant.directory, "commit", "--allow-empty", "-m", "Round invoice totals half to even")
    (near, *_) = [
        assistant.remembers("Invoice totals are rounded half to even, by law."),
        *[
            assistant.remembers(f"The office {thing} is on floor {n}.")
            for n, thing in enumerate(["cat", "lift", "bar"])
        ],
    ]
    assert urns(assistant.starts())[0] == near
