from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from typing import Any

import pytest

from memhook.engine.catalogue import OPERATIONS
from memhook.engine.engine import Engine
from memhook.engine.scopes import Rights, Scope, written
from memhook.errors import Conflict, InvalidInput
from memhook.mcp_server.tools import TOOLS
from memhook.store.ledger import Proposal

Call = Callable[..., Any]
NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
RUNNER = "Why do the nightly builds hang?\n\nThe disk of the runner was full: prune the images first."
MIGRATION = "How are migrations written here?\n\nOnly additive ones, and each with a test against a dump."


def captured(call: Call, *texts: str) -> list[str]:
    records = [
        {"content": text, "session": f"claude/5f2e#{n}", "created": f"2026-02-{20 + n}", "quote": text[:20]}
        for n, text in enumerate(texts, 1)
    ]
    assert call("capture", records=records)["stored"] == len(texts)
    return [item["memory"]["id"] for item in call("inbox_list")["items"]][::-1]


def undone(call: Call, answer: dict[str, Any]) -> None:
    call(answer["undo"]["method"], **answer["undo"]["params"])


def test_what_is_unreviewed_is_listed_newest_first_with_its_source(call: Call) -> None:
    captured(call, RUNNER, MIGRATION)
    call("remember", content="Not in the inbox.")
    page = call("inbox_list")
    assert [item["memory"]["content"] for item in page["items"]] == [MIGRATION, RUNNER]
    assert (page["items"][1]["from"], page["items"][1]["kind"]) == ("claude, session 5f2e, turn 1", "captured")
    assert (page["total"], page["kinds"]) == (2, {"captured": 2})
    assert [item["memory"]["content"] for item in call("inbox_list", limit=1, offset=1)["items"]] == [RUNNER]


def test_what_is_kept_is_the_users_own_and_does_not_expire_until_that_is_undone(call: Call) -> None:
    (key,) = captured(call, RUNNER)
    before = call("get", references=[key], touch=False)[0]
    answer = call("inbox_keep", references=[key], title="Nightly builds hang")
    kept = answer["memories"][0]
    assert (kept["origin"], kept["expires"], kept["title"]) == ("user", None, "Nightly builds hang")
    assert (kept["session"], kept["quote"]) == (before["session"], before["quote"])
    assert call("inbox_list")["total"] == 0
    with pytest.raises(InvalidInput, match="is not in the inbox"):
        call("inbox_keep", references=[key])
    undone(call, answer)
    assert call("get", references=[key], touch=False)[0] == before


def test_what_is_dropped_does_not_come_back_unless_that_is_undone(call: Call) -> None:
    (key,) = captured(call, RUNNER)
    answer = call("inbox_drop", references=[key])
    again = call("capture", records=[{"content": RUNNER, "session": "claude/5f2e#1"}])
    assert (again["known"], call("inbox_list")["total"]) == (1, 0)
    undone(call, answer)
    assert call("inbox_list")["items"][0]["memory"]["content"] == RUNNER


def test_a_decision_on_what_was_changed_meanwhile_is_refused(call: Call) -> None:
    (key,) = captured(call, RUNNER)
    seen = call("inbox_list")["items"][0]["memory"]["version"]
    call("edit", reference=key, tags=["ci"])
    for decision in ("inbox_keep", "inbox_drop"):
        with pytest.raises(Conflict):
            call(decision, references=[key], versions={key: seen})
    own = call("remember", content="Nightly builds hang.")["memory"]["id"]
    with pytest.raises(Conflict):
        call("inbox_merge", reference=key, into=own, versions={key: seen})


def test_of_two_decisions_at_once_one_is_refused(call: Call) -> None:
    (key,) = captured(call, RUNNER)
    versions = {key: call("inbox_list")["items"][0]["memory"]["version"]}

    def kept(title: str) -> bool:
        try:
            return bool(call("inbox_keep", references=[key], versions=versions, title=title))
        except (Conflict, InvalidInput):  # by then it may no longer wait for a review
            return False

    with ThreadPoolExecutor(4) as pool:
        assert sum(pool.map(kept, "abcd")) == 1


def test_what_its_owner_edits_is_reviewed_and_what_a_model_edits_is_not(call: Call) -> None:
    first, second = captured(call, RUNNER, MIGRATION)
    before = call("get", references=[first], touch=False)[0]
    rights = written(Rights(frozenset((Scope.READ, Scope.WRITE))))
    model = call("edit", reference=first, expires="900d", rights=rights)
    assert (model["origin"], model["expires"]) == ("captured", before["expires"])
    mine = call("edit", reference=second, content="Migrations are additive.")
    assert (mine["origin"], mine["expires"]) == ("user", None)


def test_what_a_model_remembers_takes_the_place_of_the_digest(call: Call) -> None:
    captured(call, RUNNER, MIGRATION)
    call("remember", content="Nightly builds hang: the disk of the runner is full, prune images first.", origin="agent")
    assert [item["memory"]["content"] for item in call("inbox_list")["items"]] == [MIGRATION]


def test_merging_adds_the_words_to_the_other_memory_and_can_be_undone(call: Call) -> None:
    own = call("remember", content="Nightly builds hang when the disk of the runner is full.", here=False)["memory"]
    call("remember", content="Nightly builds hang: the password of the runner.", sensitivity="confidential", here=False)
    (key,) = captured(call, RUNNER)
    near = call("inbox_near", reference=key)
    assert own["id"] in [one["id"] for one in near]
    assert {one["sensitivity"] for one in near} == {"normal"}
    answer = call("inbox_merge", reference=key, into=own["id"])
    merged = call("get", references=[own["id"]], touch=False)[0]
    assert merged["content"] == f"{own['content']}\n\n{RUNNER}"
    assert (merged["origin"], call("inbox_list")["total"]) == ("user", 0)
    undone(call, answer)
    assert call("get", references=[own["id"]], touch=False)[0]["content"] == own["content"]
    assert call("inbox_list")["total"] == 1
    whole = call("inbox_merge", reference=key, into=own["id"], content=RUNNER)
    assert whole["memories"][0]["content"] == RUNNER


def test_a_memory_is_not_merged_with_itself(call: Call) -> None:
    (key,) = captured(call, RUNNER)
    with pytest.raises(InvalidInput, match="with itself"):
        call("inbox_merge", reference=key, into=key)
    assert call("inbox_list")["items"][0]["memory"]["content"] == RUNNER


def test_what_is_proposed_about_another_project_is_not_listed_here(call: Call, engine: Engine) -> None:
    there = call("remember", content="The mailer is retired.", project="example.org/team/mailer")["memory"]["id"]
    engine.accounts.propose([Proposal("retire", there, "all that it names is gone")], NOW)
    assert [item["memory"]["id"] for item in call("inbox_list")["items"]] == [there]
    assert call("inbox_list", here=True)["items"] == []


def test_a_proposal_to_retire_is_carried_out_by_dropping_and_declined_by_keeping(call: Call, engine: Engine) -> None:
    own = call("remember", content="Migrations live in db/old.")["memory"]
    engine.accounts.propose([Proposal("retire", own["id"], "db/old no longer exists")], NOW)
    item = call("inbox_list")["items"][0]
    assert (item["kind"], item["reason"], item["other"]) == ("retire", "db/old no longer exists", None)
    undone(call, call("inbox_keep", references=[own["id"]]))
    assert call("inbox_list")["kinds"] == {"retire": 1}
    undone(call, call("inbox_drop", references=[own["id"]]))
    assert call("get", references=[own["id"]], touch=False)[0]["content"] == own["content"]
    call("inbox_keep", references=[own["id"]])
    engine.accounts.propose([Proposal("retire", own["id"], "asked again")], NOW)
    assert call("inbox_list")["total"] == 0


def test_a_proposal_to_supersede_marks_the_old_one_by_dropping_it(call: Call, engine: Engine) -> None:
    old = call("remember", content="The timeout is 30 seconds.")["memory"]
    new = call("remember", content="The timeout is 60 seconds, since May.")["memory"]
    engine.accounts.propose([Proposal("supersede", old["id"], "another value", new["id"])], NOW)
    engine.accounts.propose([Proposal("retire", old["id"], "all that it names is gone")], NOW)
    (item,) = call("inbox_list")["items"]  # one question about each memory
    assert (item["memory"]["id"], item["other"]["id"]) == (old["id"], new["id"])
    answer = call("inbox_drop", references=[old["id"]])
    assert call("get", references=[old["id"]], touch=False)[0]["superseded_by"] == new["id"]
    assert call("inbox_list")["total"] == 0
    undone(call, answer)
    assert call("get", references=[old["id"]], touch=False)[0]["superseded_by"] == ""
    assert call("inbox_list")["total"] == 1


def test_no_tool_of_mcp_reviews_or_captures() -> None:
    assert not {tool.operation for tool in TOOLS.values()} & {
        name for name in OPERATIONS if name.startswith(("inbox", "capt"))
    }
    assert all(OPERATIONS[name].scope is None for name in OPERATIONS if name.startswith(("inbox", "capture")))
