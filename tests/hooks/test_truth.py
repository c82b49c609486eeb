"""A memory is checked when it is shown: against the repository, against newer memories, and by its use."""

from __future__ import annotations

import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from memhook.core.memory import id_of
from memhook.errors import InvalidInput
from memhook.store.ledger import Proposal
from tests.hooks.conftest import Assistant
from tests.hooks.test_prompt import FACT, QUESTION


def git(directory: Path, *arguments: str) -> None:
    who = ("-c", "user.name=a", "-c", "user.email=a@b.test", "-c", "commit.gpgsign=false")
    subprocess.run(["git", "-C", str(directory), *who, *arguments], check=True, capture_output=True)


def commit(directory: Path, *arguments: str, minutes_ago: int) -> None:
    """At a time of its own: git knows whole seconds, and the memory may be of the same one."""
    git(directory, *arguments)
    at = datetime.now(UTC) - timedelta(minutes=minutes_ago)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GIT_COMMITTER_DATE", at.isoformat(timespec="seconds"))
        git(directory, "commit", "-m", "change")


def with_settings(assistant: Assistant, minutes_ago: int) -> Path:
    """The assistant's directory, a repository that has a file since then."""
    place = assistant.directory
    git(place, "init")
    (place / "ledger.prod.toml").write_text("timeout = 1\n")
    commit(place, "add", ".", minutes_ago=minutes_ago)
    return place


def test_a_file_that_is_gone_is_said_beside_the_memory_and_its_retirement_is_proposed(assistant: Assistant) -> None:
    place = with_settings(assistant, minutes_ago=5)
    urn = assistant.remembers(f"{FACT} See `ledger.prod.toml`.")
    assert "is gone" not in assistant.prompts(QUESTION, session="a")
    commit(place, "rm", "ledger.prod.toml", minutes_ago=-5)
    assistant.runner.keep_house()
    assert f"(ledger.prod.toml is gone; 1 commit since) {urn}" in assistant.prompts(QUESTION, session="b")
    waiting = assistant.calls("inbox_list")["items"]
    assert [(one["kind"], one["memory"]["urn"]) for one in waiting] == [("retire", urn)]


def test_a_file_that_moved_is_named_by_its_new_path_and_a_call_for_that_brings_the_memory(assistant: Assistant) -> None:
    place = with_settings(assistant, minutes_ago=5)
    urn = assistant.remembers(f"{FACT} See `ledger.prod.toml`.")
    assistant.prompts(QUESTION, session="a")  # the repository is known now
    commit(place, "mv", "ledger.prod.toml", "books.toml", minutes_ago=-5)
    (place / "deploy").mkdir()
    commit(place, "mv", "books.toml", "deploy/books.toml", minutes_ago=-6)
    assistant.runner.keep_house()
    assert f"(ledger.prod.toml is now deploy/books.toml; 2 commits since) {urn}" in assistant.prompts(
        QUESTION, session="b"
    )
    assert assistant.calls("inbox_list")["items"] == []
    assert (
        assistant.calls("explain", reference=urn)["checked"]
        == "ledger.prod.toml is now deploy/books.toml; 2 commits since"
    )
    edit = {"file_path": str(place / "deploy/books.toml"), "old_string": "1", "new_string": "2"}
    event = {"hook_event_name": "PreToolUse", "session_id": "c", "tool_name": "Edit", "tool_input": edit}
    assert urn in assistant.sends(event)


def test_what_is_proposed_for_a_file_that_is_gone_is_withdrawn_when_the_file_is_back(assistant: Assistant) -> None:
    place = with_settings(assistant, minutes_ago=5)
    urn = assistant.remembers(f"{FACT} See `ledger.prod.toml`.")
    assistant.prompts(QUESTION, session="a")
    commit(place, "rm", "ledger.prod.toml", minutes_ago=-5)
    assistant.runner.keep_house()
    (place / "ledger.prod.toml").touch()
    with pytest.raises(InvalidInput, match="exists again: nothing was dropped"):
        assistant.calls("inbox_drop", references=[urn])
    assert assistant.calls("get", references=[urn], touch=False)
    for number in range(2):  # it may be asked again
        (place / "ledger.prod.toml").unlink(missing_ok=True)
        (place / "notes.txt").write_text(str(number))
        commit(place, "add", "notes.txt", minutes_ago=-6 - number)
        assistant.runner.keep_house()
        assert assistant.calls("inbox_list")["total"] == 1
        assert [item["kind"] for item in assistant.calls("tidy_list")["items"]] == ["stale"]
        (place / "ledger.prod.toml").touch()
        assert assistant.calls("tidy_list" if number else "inbox_list")["items"] == []
        assert assistant.runner.engine.accounts.proposals() == []


def test_a_proposal_is_checked_against_the_repository_that_no_session_has_asked_about_yet(assistant: Assistant) -> None:
    with_settings(assistant, minutes_ago=5)
    urn = assistant.remembers(f"{FACT} See `ledger.prod.toml`.")
    proposal = Proposal("retire", id_of(urn), "all that it names is gone from the repository")
    assistant.runner.engine.accounts.propose([proposal], datetime.now(UTC))
    with pytest.raises(InvalidInput, match="nothing was dropped"):
        assistant.calls("inbox_drop", references=[urn])


def test_a_file_that_is_deleted_and_not_committed_is_gone_and_nothing_is_proposed(assistant: Assistant) -> None:
    place = with_settings(assistant, minutes_ago=5)
    urn = assistant.remembers(f"{FACT} See `ledger.prod.toml`.")
    assistant.prompts(QUESTION, session="a")
    assistant.runner.keep_house()
    (place / "ledger.prod.toml").unlink()
    assert f"(ledger.prod.toml is gone) {urn}" in assistant.prompts(QUESTION, session="b")
    git(place, "add", "-A")
    assistant.runner.keep_house()
    assert f"(ledger.prod.toml is gone) {urn}" in assistant.prompts(QUESTION, session="c")
    assert assistant.calls("inbox_list")["items"] == []


def test_nothing_is_proposed_for_what_the_default_branch_still_has(assistant: Assistant) -> None:
    place = with_settings(assistant, minutes_ago=5)
    git(place, "branch", "-M", "main")
    urn = assistant.remembers(f"{FACT} See `ledger.prod.toml`.")
    assistant.prompts(QUESTION, session="a")
    git(place, "checkout", "-b", "feature")
    commit(place, "rm", "ledger.prod.toml", minutes_ago=-5)
    assistant.runner.keep_house()
    assert "(ledger.prod.toml is gone; 1 commit since)" in assistant.prompts(QUESTION, session="b")
    assert assistant.calls("inbox_list")["items"] == []
    git(place, "checkout", "main")
    git(place, "merge", "feature")
    assistant.runner.keep_house()
    assert [one["memory"]["urn"] for one in assistant.calls("inbox_list")["items"]] == [urn]


def test_who_writes_of_a_file_that_is_gone_knows_it(assistant: Assistant) -> None:
    place = with_settings(assistant, minutes_ago=9)
    commit(place, "rm", "ledger.prod.toml", minutes_ago=5)
    assistant.remembers(f"{FACT} `ledger.prod.toml` was dropped on purpose.")
    assistant.prompts(QUESTION, session="a")
    assistant.runner.keep_house()
    assert "is gone" not in assistant.prompts(QUESTION, session="b")
    assert assistant.calls("inbox_list")["items"] == []


def test_until_it_is_decided_the_newer_of_two_comes_first_and_the_older_is_marked(assistant: Assistant) -> None:
    older = assistant.remembers("Ledger reconciliation reads from the replica, with a timeout of 10 seconds.")
    newer = assistant.remembers("Ledger reconciliation reads from the replica, with a timeout of 40 seconds.")
    context = assistant.prompts(QUESTION, session="a")
    assert f"(older, may be superseded by {newer}) {older}" in context
    assert context.index(newer) < context.index(f"{older}\n")
    hits = [{"id": older, "score": 0.9}, {"id": newer, "score": 0.8}]
    for text in (
        assistant.calls("inject", query=QUESTION)["text"],
        assistant.calls("inject", hits=hits)["text"],
        assistant.calls("pack", topic=QUESTION, ordering="relevance")["text"],
    ):
        assert f"older, may be superseded by {newer}" in text
        assert text.index("40 seconds") < text.index("10 seconds")
    assistant.calls("inbox_drop", references=[older])  # superseded by the newer one
    context = assistant.prompts(QUESTION, session="b")
    assert newer in context
    assert older not in context


def test_given_hits_keep_their_order_and_scores_but_for_the_newer_of_two(assistant: Assistant) -> None:
    place = with_settings(assistant, minutes_ago=9)
    gone = assistant.remembers("Who may change `ledger.prod.toml`: the data team alone.")
    older = assistant.remembers("Ledger reconciliation reads from the replica, with a timeout of 10 seconds.")
    newer = assistant.remembers("Ledger reconciliation reads from the replica, with a timeout of 40 seconds.")
    assistant.prompts(QUESTION, session="a")  # the repository is known now
    commit(place, "rm", "ledger.prod.toml", minutes_ago=-5)
    assistant.runner.keep_house()
    hits = [{"id": gone, "score": 0.9}, {"id": older, "score": 0.8}, {"id": newer}]
    answer = assistant.calls("inject", hits=hits)
    assert answer["memories"] == [gone, newer, older]
    assert "ledger.prod.toml is gone" in answer["text"]
    assert [score in answer["text"] for score in ("0.90", "0.80")] == [True, True]


def test_what_replaced_a_memory_comes_along_though_the_prompt_is_not_near_it(assistant: Assistant) -> None:
    older = assistant.remembers("Deploys need approval by Olga.")
    newer = assistant.remembers("Olga left; approvals come from Piet.")
    context = assistant.prompts("who approves a deploy?")
    assert f"(older, may be superseded by {newer}) {older}" in context
    assert "approvals come from Piet" in context


def test_a_memory_shown_often_and_never_used_is_quieter_and_a_used_one_comes_first(assistant: Assistant) -> None:
    first = assistant.remembers("Ledger reconciliation reads from the primary when the replica lags.")
    second = assistant.remembers("Who is on call when the replica lags and ledger reconciliation fails: the data team.")
    shown = assistant.prompts(QUESTION, session="a")
    order = sorted((first, second), key=shown.index)
    ledger = assistant.runner.engine.accounts
    ledger.mark_used([id_of(order[1])], datetime.now(UTC))
    for number in range(5):
        assistant.prompts(QUESTION, session=f"again {number}")
        stop = {"hook_event_name": "Stop", "session_id": f"again {number}", "last_assistant_message": "Done."}
        assistant.answer(stop)
    context = assistant.prompts(QUESTION, session="b")
    assert order[1] in context
    assert order[0] not in context or context.index(order[1]) < context.index(order[0])
