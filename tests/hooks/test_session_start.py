from __future__ import annotations

import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from memhook.core.memory import id_of
from memhook.core.tokens import estimated_tokens
from memhook.hooks.runner import Runner
from memhook.paths import user_paths
from tests.hooks.conftest import Assistant
from tests.hooks.test_prompt import FACT, QUESTION, configure, urns
from tests.hooks.test_subagent import subagent

START = {"hook_event_name": "SessionStart", "source": "startup"}


def git(directory: Path, *arguments: str) -> None:
    identity = ("-c", "user.name=Dev", "-c", "user.email=dev@example.org")
    subprocess.run(["git", *identity, *arguments], cwd=directory, check=True, capture_output=True)


def test_an_empty_store_tells_the_model_nothing_and_the_user_once(assistant: Assistant) -> None:
    first = assistant.answer(START)
    assert list(first) == ["systemMessage"]
    assert first["systemMessage"] == (
        "memhook is on. There are no memories yet; to store the first, type: remember: what is worth keeping"
    )
    assert assistant.answer(START) == {}
    assistant.runner = Runner(user_paths())  # the next daemon
    assert assistant.answer(START) == {}


def test_the_welcome_says_what_to_run_where_prompts_are_not_captured(assistant: Assistant, home: Path) -> None:
    configure(home, "hooks.capture = false")
    assert assistant.answer(START)["systemMessage"].endswith('run: memhook remember "what is worth keeping"')


def test_a_welcome_that_came_too_late_comes_in_the_next_session(assistant: Assistant) -> None:
    assert list(assistant.answer({**START, "session_id": "slow"}, read=False)) == ["systemMessage"]
    assistant.runner = Runner(user_paths())  # the next daemon
    assert list(assistant.answer({**START, "session_id": "next"})) == ["systemMessage"]
    assert assistant.answer({**START, "session_id": "last"}) == {}


def test_where_the_ledger_cannot_be_written_each_daemon_tells_a_thing_once(
    assistant: Assistant, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(assistant.runner.engine.accounts, "ledger", None)
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
    assistant.imports(*(f"Note {number} on topic {number}" for number in range(12)))
    assert urns(assistant.starts())[0] == pinned
    configure(home, "hooks.session_start.max_tokens = 2000")
    assert len(urns(assistant.starts("clear"))) == 8
    configure(home, "hooks.session_start.max_memories = 2")
    assert len(urns(assistant.starts("clear", session="s2"))) == 2
    configure(home, "hooks.session_start.max_memories = 0")
    assert assistant.starts("clear", session="s3") == ""


def test_a_start_is_bounded_in_tokens_everything_included(assistant: Assistant, home: Path) -> None:
    told = f"{'which is told at some length, ' * 4}and that is all."
    assistant.imports(*(f"Note {number} on topic {number}, {told}" for number in range(30)))
    configure(home, "hooks.session_start.max_memories = 30\nhooks.session_start.max_tokens = 1500")
    many = assistant.starts()
    configure(home, "hooks.session_start.max_memories = 30\nhooks.session_start.max_tokens = 400")
    few = assistant.starts(session="s2")
    assert 300 < estimated_tokens(few) <= 400
    assert 1200 < estimated_tokens(many) <= 1500
    assert urns(few) == urns(many)[: len(urns(few))]
    report = assistant.calls("why")
    assert (report["event"], report["budget"]) == ("SessionStart", 400)


def test_the_bound_of_a_start_is_a_subagents_too(assistant: Assistant, home: Path) -> None:
    assistant.imports(*(f"Note {number} on topic {number}" for number in range(12)))
    configure(home, "hooks.session_start.max_tokens = 200")
    assert 0 < estimated_tokens(assistant.sends(subagent())) <= 200
    configure(home, "hooks.session_start.max_tokens = 200\n[agents.frontend]\nmax_tokens = 110")
    assert 0 < estimated_tokens(assistant.sends(subagent("frontend", agent="a2"))) <= 110


def test_a_bound_of_nothing_keeps_the_start_silent_and_leaves_the_prompts_alone(
    assistant: Assistant, home: Path
) -> None:
    assistant.remembers(FACT)
    configure(home, "hooks.session_start.max_tokens = 0")
    assert assistant.starts() == ""
    assert assistant.calls("why")["outcome"] == "switched off at the start"
    assert FACT in assistant.prompts(QUESTION)


def test_a_small_start_shows_the_beginning_of_one_memory(assistant: Assistant, home: Path) -> None:
    urn = assistant.remembers(f"Never push to main on a Friday. {'It takes the whole weekend to repair. ' * 9}")
    configure(home, "hooks.session_start.max_tokens = 100")
    shown = assistant.starts()
    assert urns(shown) == [urn]
    assert estimated_tokens(shown) <= 100


def test_a_start_too_small_for_any_memory_says_so(assistant: Assistant, home: Path) -> None:
    assistant.remembers(FACT)
    configure(home, "hooks.session_start.max_tokens = 20")
    assert assistant.starts() == ""
    assert assistant.calls("why")["outcome"] == "nothing fits"


def test_the_same_memories_give_the_same_start(assistant: Assistant) -> None:
    now = datetime.now(UTC).isoformat()
    assistant.imports(*(f"Note {number} on topic {number}" for number in range(20)), created=now)
    first = assistant.starts()
    assert assistant.starts(session="s2") == first
    assistant.runner = Runner(user_paths())
    assert assistant.starts(session="s3") == first


def test_what_a_start_shows_in_part_a_prompt_brings_with_the_words_that_matter(assistant: Assistant) -> None:
    assistant.remembers(f"{FACT} {'The job was moved and watched for a week. ' * 8}\nFix: restart `ledgerd` first.")
    assert "ledgerd" in assistant.prompts(QUESTION, session="s2")
    start = assistant.starts()
    assert urns(start)
    assert "ledgerd" in start + assistant.prompts(QUESTION)


def test_what_sounds_like_a_rule_comes_before_what_does_not(assistant: Assistant) -> None:
    rule = assistant.remembers("Never log the name of a patient.", created="2026-01-01T00:00:00+00:00")
    filed = assistant.remembers("Money is kept in cents.", created="2026-01-01T00:00:00+00:00", tags=["rule"])
    assistant.remembers("The roster of the ward is printed at six.")
    assert urns(assistant.starts())[:2] == [filed, rule]


@pytest.mark.parametrize("filed", [{"namespace": "decisions"}, {"tags": ["db", "convention"]}])
def test_rules_come_before_what_is_newer_however_old_they_are(assistant: Assistant, filed: dict[str, Any]) -> None:
    rule = assistant.remembers("Money is kept in integer cents.", created="2020-01-01T00:00:00+00:00", **filed)
    pinned = assistant.remembers("Never push to main on a Friday.", pinned=True)
    assistant.imports(*(f"Note {number} on topic {number}" for number in range(60)))
    assert urns(assistant.starts())[:2] == [pinned, rule]


def test_what_was_written_down_comes_before_what_was_imported(assistant: Assistant) -> None:
    written = assistant.remembers("I like short answers.")
    assistant.imports("Pin sharp to 0.32 so that the image job stops crashing.", origin="import")
    started = assistant.starts()
    assert started.index(written) < started.index("Pin sharp")


def test_recent_memories_come_before_old_ones(assistant: Assistant) -> None:
    now = datetime.now(UTC)
    old = assistant.remembers("Old news about the printer", created=(now - timedelta(days=400)).isoformat())
    new = assistant.remembers("Fresh news about the kitchen", created=now.isoformat())
    assert urns(assistant.starts()) == [new, old]


def test_being_shown_at_starts_does_not_bring_a_memory_forward_and_being_used_does(assistant: Assistant) -> None:
    now = datetime.now(UTC).isoformat()
    assistant.imports(*(f"Note {number} on topic {number}" for number in range(20)), created=now)
    for number in range(4):
        shown = urns(assistant.starts(session=f"s{number}"))
    parts = [one["score_parts"]["use"] for one in assistant.calls("why")["candidates"]]
    assert set(parts) == {0.0}
    accounts = assistant.runner.engine.accounts
    accounts.mark_used([id_of(shown[-1])], datetime.now(UTC))
    assistant.sends({"hook_event_name": "Stop", "session_id": "s0", "last_assistant_message": "Done."})
    assert urns(assistant.starts(session="s9"))[0] == shown[-1]


def test_a_start_fills_its_bound_with_what_is_smaller(assistant: Assistant, home: Path) -> None:
    now = datetime.now(UTC)
    long = f"{'is told at some length in words, ' * 9}end."
    for number in range(2):
        assistant.remembers(f"Topic {number} {long}", pinned=True)
    short = assistant.remembers("Use tabs.", created=(now - timedelta(days=400)).isoformat())
    configure(home, "hooks.session_start.max_tokens = 170")
    shown = urns(assistant.starts())
    assert (len(shown), shown[-1]) == (2, short)
    configure(home, "hooks.session_start.max_tokens = 2000")
    assert len(urns(assistant.starts(session="s2"))) == 3


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


def test_what_waits_in_the_inbox_is_counted_for_the_user_once_a_day(assistant: Assistant) -> None:
    def said(session: str) -> str:
        return str(assistant.answer({**START, "session_id": session}).get("systemMessage", ""))

    assistant.remembers(FACT)
    assert "inbox" not in said("before")
    records = [{"content": f"asked {word}\n\nended {word}", "session": f"claude/s#{word}"} for word in ("one", "two")]
    assistant.runner.call("capture", {"records": records}, str(assistant.directory), {})
    assert said("first").startswith("memhook: 2 unreviewed in the inbox (memhook inbox review).")
    assert "inbox" not in said("second")
