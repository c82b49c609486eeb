"""What `why` says, beside what the hook really does."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import pytest

from memhook.answering.why import WITHHELD
from memhook.assistants.claude import PART_LIMIT
from memhook.core.grading import EDGES, FLOOR, Strictness
from memhook.errors import NotFound
from memhook.paths import user_paths
from tests.hooks.conftest import Assistant
from tests.hooks.test_prompt import FACT, QUESTION, configure, incident, urns

CAT = "The office cat lives on floor 3 and likes tuna."


def asked(assistant: Assistant, prompt: str, **params: Any) -> dict[str, Any]:
    report: dict[str, Any] = assistant.calls("why", prompt=prompt, part_units=PART_LIMIT.size, **params)
    return report


def reasons(report: dict[str, Any]) -> dict[str, str]:
    return {candidate["urn"]: candidate["reason"] for candidate in report["candidates"]}


def test_the_last_event_is_explained_with_the_text_it_got(assistant: Assistant) -> None:
    urn, other = assistant.remembers(FACT, title="Replica lag"), assistant.remembers(CAT)
    context = assistant.prompts(QUESTION)
    report = assistant.calls("why")
    assert (report["recorded"], report["event"], report["session"]) == (True, "UserPromptSubmit", "s1")
    assert (report["outcome"], report["parts"]) == ("shown", [context])
    shown, below = report["candidates"]
    assert (shown["urn"], shown["title"], shown["level"], shown["part"]) == (urn, "Replica lag", "preview", 1)
    assert (shown["shown"], shown["is_whole"]) == (True, True)
    assert (shown["passages"], 0 < shown["tokens"] < report["tokens"]) == ([[0, len(FACT)]], True)
    assert {"dense", "lexical"} <= set(shown["score_parts"])
    assert (below["urn"], below["reason"], below["shown"]) == (other, "below relevance", False)
    assert {"total", "embed", "search", "rank", "pack"} <= set(report["milliseconds"])
    edges = EDGES[Strictness.BALANCED]
    relevance = report["relevance"]
    assert (relevance["level"], relevance["grade"], relevance["floor"]) == ("balanced", "sure", FLOOR)
    assert (relevance["unsure_from"], relevance["sure_from"]) == (edges.unsure, edges.sure)
    assert edges.sure <= relevance["chance"] <= 1
    assert relevance["nearest"] == shown["score_parts"]["dense"]
    assert (relevance["nearness_needed"], relevance["speaks_at"]) == (None, None)


def test_what_is_true_of_the_prompt_is_said_once_and_not_of_every_memory(assistant: Assistant) -> None:
    assistant.remembers(FACT)
    report = asked(assistant, QUESTION)
    assert {"chance", "request", "talk"} <= set(report["relevance"])
    assert not {"chance", "request", "talk"} & set(report["candidates"][0]["score_parts"])


def test_of_silence_it_is_said_how_near_a_memory_would_have_to_be_and_which_level_speaks(
    assistant: Assistant, home: Path
) -> None:
    assistant.remembers(FACT)
    configure(home, 'hooks.relevance = "strict"')
    doubtful = asked(assistant, "the job is slow")["relevance"]
    assert doubtful["grade"] == "far"
    assert doubtful["nearest"] < doubtful["nearness_needed"] < 1
    assert doubtful["speaks_at"] in ("balanced", "eager")
    configure(home, f'hooks.relevance = "{doubtful["speaks_at"]}"')
    assert asked(assistant, "the job is slow")["outcome"] == "shown"


def test_what_is_likely_and_beyond_the_limit_is_not_called_below_relevance(assistant: Assistant, home: Path) -> None:
    for number in range(4):
        assistant.remembers(FACT.replace("50", f"{number}0"))
    configure(home, "hooks.max_memories = 2")
    assert list(reasons(asked(assistant, QUESTION)).values()) == ["", "", "beyond the best 2", "beyond the best 2"]


def test_silence_is_explained_too_and_points_to_what_was_shown_last(assistant: Assistant) -> None:
    assistant.remembers(FACT)
    context = assistant.prompts(QUESTION)
    assistant.prompts("yes")
    report = assistant.calls("why")
    assert (report["outcome"], report["parts"], report["candidates"]) == ("small talk", [], [])
    assert report["last_shown"]
    assert assistant.calls("why", shown=True)["parts"] == [context]
    assistant.prompts(QUESTION)
    report = assistant.calls("why")
    assert report["outcome"] == "nothing new"
    assert list(reasons(report).values()) == ["already shown"]


def test_a_session_is_explained_by_its_name_and_the_start_of_one_like_any_event(assistant: Assistant) -> None:
    assistant.remembers(FACT)
    start = assistant.starts(session="first")
    assistant.prompts(QUESTION, session="second")
    report = assistant.calls("why", session="first")
    assert (report["event"], report["parts"], report["relevance"]) == ("SessionStart", [start], None)
    assert {"nearness", "recency", "use", "project", "written", "rule"} == set(report["candidates"][0]["score_parts"])
    with pytest.raises(NotFound, match="third"):
        assistant.calls("why", session="third")


def test_another_project_has_its_own_last_event(assistant: Assistant, tmp_path: Path) -> None:
    (assistant.directory / "pyproject.toml").touch()
    assistant.prompts(QUESTION)
    with pytest.raises(NotFound, match="in this project"):
        Assistant(assistant.runner, tmp_path).calls("why")


def test_what_a_prompt_would_get_is_what_it_gets(assistant: Assistant, home: Path) -> None:
    configure(home, 'hooks.detail = "full"')
    assistant.imports(*map(incident, range(12)))
    expected = asked(assistant, QUESTION)
    received = [assistant.prompts(QUESTION, part=part, prompt_id="one") for part in (1, 2)]
    assert expected["parts"] == received
    assert assistant.calls("why")["parts"] == received
    shown = [one["urn"] for one in expected["candidates"] if one["shown"]]
    assert shown == urns(received[0]) + urns(received[1])
    assert {one["part"] for one in expected["candidates"] if one["shown"]} == {1, 2}


def test_asking_records_nothing(assistant: Assistant) -> None:
    urn = assistant.remembers(FACT)
    assistant.prompts("write a haiku about the sea")
    before = ledger_rows(), assistant.calls("get", references=[urn], touch=False)
    assert asked(assistant, QUESTION, session="s1")["outcome"] == "shown"
    assert (ledger_rows(), assistant.calls("get", references=[urn], touch=False)) == before
    assert FACT in assistant.prompts(QUESTION)


def ledger_rows() -> list[Any]:
    with sqlite3.connect(user_paths().ledger) as ledger:
        return [ledger.execute(f"SELECT * FROM {name}").fetchall() for name in ("injection", "considered", "told")]


def test_what_a_session_has_seen_counts_when_it_is_named(assistant: Assistant) -> None:
    urn = assistant.remembers(FACT)
    assistant.prompts(QUESTION)
    assert asked(assistant, QUESTION)["outcome"] == "shown"
    again = asked(assistant, QUESTION, session="s1")
    assert (again["outcome"], reasons(again)) == ("nothing new", {urn: "already shown"})


def test_what_may_not_surface_is_named_with_its_reason(assistant: Assistant) -> None:
    muted = assistant.remembers(FACT.replace("50", "10"))
    assistant.calls("mute", references=[muted])
    old = assistant.remembers(FACT.replace("50", "20"))
    new = assistant.remembers(FACT.replace("50", "30"), supersedes=[old])
    expired = assistant.remembers(FACT.replace("50", "40"), expires="2020-01-01T00:00:00+00:00")
    irrelevant = assistant.remembers(CAT)
    assistant.calls("mute", references=[irrelevant])
    given = reasons(asked(assistant, QUESTION))
    assert given == {muted: "muted", old: "superseded", new: "", expired: "expired", irrelevant: "below relevance"}


def test_what_was_withheld_from_a_prompt_is_in_its_record_with_the_reason(assistant: Assistant) -> None:
    muted = assistant.remembers(FACT.replace("50", "10"))
    assistant.calls("mute", references=[muted])
    old = assistant.remembers(FACT.replace("50", "20"))
    new = assistant.remembers(FACT.replace("50", "30"), supersedes=[old])
    expired = assistant.remembers(FACT.replace("50", "40"), expires="2020-01-01T00:00:00+00:00")
    assistant.remembers(f"{FACT} Ask Rhea.", sensitivity="confidential")
    assistant.remembers(f"{FACT} Ask Ada.", sensitivity="restricted")
    context = assistant.prompts(QUESTION)
    report = assistant.calls("why")
    assert reasons(report) == {muted: "muted", old: "superseded", new: "", expired: "expired"}
    assert report["withheld"] == {"confidential": 1, "restricted": 1}
    assert report["parts"] == [context]
    assert report["relevance"]["grade"] == "sure"
    assert assistant.calls("why") == report


def test_what_was_withheld_is_recorded_in_a_quiet_moment_and_the_prompt_never(assistant: Assistant) -> None:
    urn = assistant.remembers(FACT)
    assistant.calls("mute", references=[urn])
    assistant.prompts(f"{QUESTION} Xylophone.")
    assistant.runner.keep_house()
    ledger = user_paths().ledger
    with sqlite3.connect(ledger) as connection:
        assert connection.execute("SELECT memory, reason FROM considered").fetchall() == [
            (urn.removeprefix("urn:memhook:"), "muted")
        ]
    assert not any(b"Xylophone" in file.read_bytes() for file in ledger.parent.glob("ledger*"))


def test_a_secret_that_was_withheld_and_forgotten_since_is_not_named(assistant: Assistant) -> None:
    urn = assistant.remembers(FACT, sensitivity="confidential")
    assistant.prompts(QUESTION)
    assert assistant.calls("why")["withheld"] == {"confidential": 1}
    assistant.calls("forget", references=[urn])
    assert urn not in str(assistant.calls("why"))


def test_what_does_not_fit_is_over_budget(assistant: Assistant, home: Path) -> None:
    urn = assistant.remembers(FACT)
    configure(home, "max_tokens = 20")
    report = asked(assistant, QUESTION)
    assert (report["outcome"], reasons(report)) == ("nothing fits", {urn: "over budget"})


def test_other_namespaces_are_a_reason(assistant: Assistant) -> None:
    urn = assistant.remembers(FACT, namespace="incidents")
    assistant.environment = {"MEMHOOK_NAMESPACES": '["decisions"]'}
    assert reasons(asked(assistant, QUESTION)) == {urn: "another namespace"}


@pytest.mark.parametrize("sensitivity", ["confidential", "restricted"])
def test_what_is_secret_is_counted_and_not_named(assistant: Assistant, sensitivity: str) -> None:
    urn = assistant.remembers(FACT, title="Secret plan", sensitivity=sensitivity)
    report = asked(assistant, QUESTION)
    assert report["withheld"] == {sensitivity: 1}
    assert report["candidates"] == []
    for part in (urn, "Secret plan", "primary"):
        assert part not in str(report)
    assert asked(assistant, "write a haiku about the sea")["withheld"] == {}


def test_what_became_secret_since_is_taken_out_of_the_record(assistant: Assistant) -> None:
    urn, other = assistant.remembers(FACT), assistant.remembers(f"{FACT} Since May this is a setting.")
    assistant.prompts(QUESTION)
    assistant.calls("edit", reference=urn, sensitivity="confidential")
    report = assistant.calls("why")
    assert report["withheld"] == {"confidential": 1}
    assert [one["urn"] for one in report["candidates"]] == [other]
    assert urn not in str(report)
    (text,) = report["parts"]
    assert WITHHELD in text
    assert "Since May" in text
    assert text.count(FACT) == 1


def test_a_forgotten_memory_is_said_to_be_gone(assistant: Assistant) -> None:
    urn = assistant.remembers(FACT)
    assistant.prompts(QUESTION)
    assistant.calls("forget", references=[urn])
    report = assistant.calls("why")
    (candidate,) = report["candidates"]
    assert (candidate["urn"], candidate["title"], candidate["exists"]) == (urn, None, False)
    assert FACT not in str(report)


def test_what_was_changed_since_is_marked(assistant: Assistant) -> None:
    urn = assistant.remembers(FACT)
    assistant.prompts(QUESTION)
    assert not assistant.calls("why")["candidates"][0]["changed_since"]
    assistant.calls("edit", reference=urn, content="Something else.")
    assert assistant.calls("why")["candidates"][0]["changed_since"]


def test_the_doctors_own_event_is_not_recorded(assistant: Assistant) -> None:
    assistant.remembers(FACT)
    assistant.prompts(QUESTION, session="memhook-doctor")
    with pytest.raises(NotFound):
        assistant.calls("why")


def test_after_a_prompt_what_is_muted_in_a_shared_store_is_named_as_it_is_before_one(
    assistant: Assistant, home: Path, tmp_path: Path
) -> None:
    team = tmp_path / "team"
    team.mkdir(0o770)
    configure(home, f'[stores.team]\nuri = "{team}"\n')
    urn = assistant.remembers(FACT, store="team")
    assistant.calls("mute", references=[urn])
    assert assistant.prompts(QUESTION) == ""
    for report in (assistant.calls("why", prompt=QUESTION), assistant.calls("why")):
        assert [(one["urn"], one["reason"]) for one in report["candidates"]] == [(urn, "muted")]
