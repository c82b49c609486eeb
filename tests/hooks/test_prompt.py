"""What a prompt gets, through the very door the daemon uses."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from memhook.core.packing import utf16_units
from memhook.core.rendering import LABEL
from memhook.core.tokens import estimated_tokens
from tests.hooks.conftest import Assistant

OWN_FACT = "Ledger reconciliation fails here when the replica lags and no lock is taken."
FACT = "Ledger reconciliation must read from the primary: the replica lags up to 50 seconds behind."
QUESTION = "why does the ledger reconciliation fail when the replica lags?"


def configure(home: Path, text: str) -> None:
    path = home / ".config/memhook/config.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def test_a_matching_prompt_gets_a_short_memory_whole_with_its_urn(assistant: Assistant) -> None:
    urn = assistant.remembers(FACT)
    context = assistant.prompts(QUESTION)
    assert context.startswith(f"## memhook notes\n{LABEL}\n")
    assert f"  {FACT}\n" in context
    assert urn in context
    assert context.endswith("(end of memhook notes)")


def test_an_unrelated_prompt_gets_nothing_at_all(assistant: Assistant) -> None:
    assistant.remembers(FACT)
    assert assistant.answer({"hook_event_name": "UserPromptSubmit", "prompt": "write a haiku about the sea"}) == {}


@pytest.mark.parametrize("prompt", ["yes", "continue", "1", "ok do it", "", "  \n", "/compact now", "/memhook:why x"])
def test_acknowledgements_and_commands_get_nothing(assistant: Assistant, prompt: str) -> None:
    assistant.remembers("yes continue 1 ok do it compact now why x")
    assert assistant.prompts(prompt) == ""


@pytest.mark.parametrize("prompt", ["spot on", "sounds fab", "proceed as planned", "geht klar"])
def test_what_keeps_a_conversation_going_is_nearer_to_such_talk_than_to_a_memory_that_has_its_words(
    assistant: Assistant, prompt: str
) -> None:
    assistant.remembers(f"The runbook of the ledger says at one spot: {prompt}, then read from the primary.")
    assert assistant.prompts(prompt) == ""
    assert assistant.calls("why")["outcome"] == "small talk"


def test_a_short_question_that_a_memory_answers_is_no_small_talk(assistant: Assistant) -> None:
    assistant.remembers("Retry a block after an exception: wrap it in with_retries(3), never in a bare loop.")
    assert "with_retries" in assistant.prompts("retry a block after an exception?")


def test_a_path_at_the_start_is_not_a_command(assistant: Assistant) -> None:
    assistant.remembers("/home/ci/build fails with exit code 137 when the runner has less than 4 GB of memory")
    assert "137" in assistant.prompts("/home/ci/build fails with exit code 137")


def test_what_was_shown_is_not_shown_again_in_the_session(assistant: Assistant) -> None:
    assistant.remembers(FACT)
    assert FACT in assistant.prompts(QUESTION)
    assert assistant.prompts(QUESTION) == ""
    assert FACT in assistant.prompts(QUESTION, session="s2")


def test_a_subagent_has_its_own_account(assistant: Assistant) -> None:
    assistant.remembers(FACT)
    assert FACT in assistant.prompts(QUESTION)
    assert FACT in assistant.prompts(QUESTION, agent_id="agent-1")
    assert assistant.prompts(QUESTION, agent_id="agent-1") == ""


def test_an_answer_that_was_not_read_to_its_end_does_not_count_as_shown(assistant: Assistant) -> None:
    assistant.remembers(FACT)
    assert FACT in assistant.prompts(QUESTION, read=False)
    assert FACT in assistant.prompts(QUESTION)


@pytest.mark.parametrize("source", ["clear", "compact"])
def test_after_clear_and_compact_it_may_come_again(assistant: Assistant, source: str) -> None:
    assistant.remembers(FACT)
    assert FACT in assistant.prompts(QUESTION)
    assert FACT in assistant.starts(source)


def test_a_changed_memory_may_come_again(assistant: Assistant) -> None:
    urn = assistant.remembers(FACT)
    assistant.prompts(QUESTION)
    assistant.calls("edit", reference=urn, content=FACT + " Since May this is a setting.")
    assert "Since May" in assistant.prompts(QUESTION)


def test_another_passage_of_a_long_memory_may_come(assistant: Assistant) -> None:
    filler = " ".join(f"Paragraph {number} is about the office plants." for number in range(80))
    assistant.remembers(
        f"Ledger reconciliation reads from the primary. {filler} The invoice export to SAP runs at 4 in the morning.",
        title="Ledger and invoices",
    )
    assert "reads from the primary" in assistant.prompts("where does the ledger reconciliation read from, the primary?")
    second = assistant.prompts("when does the invoice export to SAP run?")
    assert "at 4 in the morning" in second
    assert "reads from the primary" not in second


STORY = " ".join(f"On day {day} somebody looked at the ledger reconciliation." for day in range(12))
RULE = "Rule: `reconcile` reads from the primary, never from the replica."


def test_the_best_memory_arrives_whole_and_the_others_as_previews(assistant: Assistant) -> None:
    best = assistant.remembers(f"{FACT} {STORY} {RULE}")
    moves = " ".join(f"Its disk went to rack {rack} for a night and came back." for rack in range(12))
    for shard in range(3):
        assistant.remembers(f"The ledger replica of shard {shard} was moved in May. {moves} Ask the owner of {shard}.")
    whole, *previews = assistant.prompts(QUESTION).split("\n- ")[1:]
    assert best in whole
    assert whole.endswith(f"\n  {FACT} {STORY} {RULE}")
    assert previews
    for preview in previews:
        assert len(preview.split("\n  ", 1)[1].removesuffix("\n(end of memhook notes)")) <= 200 + len("… ") + len(" …")


def test_a_rule_far_behind_the_first_characters_arrives_in_a_preview(assistant: Assistant, home: Path) -> None:
    configure(home, "hooks.best_chars = 0")
    assistant.remembers(f"{STORY} {RULE} {STORY.replace('ledger', 'old')}", title="Notes on the ledger")
    context = assistant.prompts(QUESTION)
    assert RULE in context
    assert len(context) < 600


def test_what_was_seen_in_part_may_come_whole_and_then_no_more(assistant: Assistant) -> None:
    assistant.remembers(f"{FACT} {STORY} {RULE}")
    started = assistant.starts()
    assert "…" in started
    assert f"{STORY} {RULE}" in assistant.prompts(QUESTION)
    assert assistant.prompts(QUESTION) == ""


def test_the_label_is_given_once_as_long_as_the_session_has_it(assistant: Assistant) -> None:
    assistant.imports(*(f"{FACT} Seen in case {number}." for number in range(3)))
    cat = "The office cat is called Schroedinger and sleeps on the router."
    dog = "The office dog is called Pavlov and barks at the printer."
    assistant.remembers(cat)
    assistant.remembers(dog)
    assert LABEL in assistant.prompts(QUESTION, read=False)
    assert LABEL in assistant.prompts(QUESTION)
    later = assistant.prompts("what is the name of the office cat on the router?")
    assert later.startswith("## memhook notes\n- ")
    assert f"  {cat}\n" in later
    assert later.endswith("(end of memhook notes)")
    assert LABEL in assistant.prompts("what is the name of the office dog at the printer?", agent_id="agent-1")
    assert LABEL in assistant.starts("compact")
    assert LABEL not in assistant.prompts(QUESTION)


def test_a_client_that_does_not_say_when_it_compacts_gets_the_label_each_time(assistant: Assistant) -> None:
    assistant.environment = {"MEMHOOK_CLIENT": "qwen"}
    assistant.remembers(FACT)
    assistant.remembers("The office cat is called Schroedinger and sleeps on the router.")
    assert LABEL in assistant.prompts(QUESTION)
    assert LABEL in assistant.prompts("what is the name of the office cat on the router?")


@pytest.mark.parametrize(
    "fields",
    [{"sensitivity": "confidential"}, {"sensitivity": "restricted"}, {"expires": "2020-01-01T00:00:00+00:00"}],
    ids=["confidential", "restricted", "expired"],
)
def test_what_must_not_surface_is_never_in_a_hook(assistant: Assistant, fields: dict[str, str]) -> None:
    assistant.remembers(FACT, **fields)
    assert assistant.prompts(QUESTION) == ""
    assert assistant.starts() == ""
    assert assistant.calls("search", query=QUESTION)["results"][0]["content"] == FACT


def test_a_superseded_memory_gives_way_to_its_successor(assistant: Assistant) -> None:
    old = assistant.remembers(FACT)
    assistant.remembers(FACT.replace("50", "5"), supersedes=[old])
    context = assistant.prompts(QUESTION)
    assert "5 seconds" in context
    assert "50 seconds" not in context


def test_memories_of_another_project_stay_there(assistant: Assistant, tmp_path: Path) -> None:
    (assistant.directory / "pyproject.toml").touch()
    assistant.remembers(FACT)
    elsewhere = Assistant(assistant.runner, tmp_path / "elsewhere")
    elsewhere.directory.mkdir()
    (elsewhere.directory / "package.json").touch()
    # In sessions of their own: what a session has seen would not come up again anyway.
    assert elsewhere.prompts(QUESTION, session="elsewhere") == ""
    assert FACT in assistant.prompts(QUESTION, session="there")
    elsewhere.remembers(OWN_FACT)
    shown = elsewhere.prompts(QUESTION, session="elsewhere")
    assert (OWN_FACT in shown, FACT in shown) == (True, False)


def test_the_budget_bounds_the_whole_text_and_takes_effect_at_once(assistant: Assistant, home: Path) -> None:
    cases = (f"Case {n}: replica lag of {n} seconds was seen on shard {n}." for n in range(30))
    assistant.imports(*(f"{FACT} {case}" for case in cases))
    whole = assistant.prompts(QUESTION, session="a")
    configure(home, "max_tokens = 300")
    less = assistant.prompts(QUESTION, session="b")
    assert 300 < estimated_tokens(whole) <= 4000
    assert 0 < estimated_tokens(less) <= 300
    configure(home, "max_tokens = 10")
    assert assistant.prompts(QUESTION, session="c") == ""


def incident(number: int) -> str:
    story = " ".join(f"On day {day} the ledger replica lagged on shard {number}." for day in range(24))
    return f"Ledger reconciliation incident {number}. {story}"


def test_a_block_above_one_entry_arrives_over_two(assistant: Assistant, home: Path) -> None:
    configure(home, 'hooks.detail = "full"')
    assistant.imports(*map(incident, range(12)))
    first = assistant.prompts(QUESTION, part=1, prompt_id="one")
    second = assistant.prompts(QUESTION, part=2, prompt_id="one")
    assert first.startswith(f"## memhook notes\n{LABEL}\n")
    assert second.startswith(f"## memhook notes, continued\n{LABEL}\n")
    assert utf16_units(first) <= 10_000
    assert utf16_units(second) <= 10_000
    assert utf16_units(first) + utf16_units(second) > 10_000
    assert 3000 < estimated_tokens(first) + estimated_tokens(second) <= 4000
    assert not set(urns(first)) & set(urns(second))
    assert assistant.prompts(QUESTION, part=1) == "" or set(urns(assistant.prompts(QUESTION))).isdisjoint(urns(first))


def urns(text: str) -> list[str]:
    """Of the memories in a block; what is said beside one may name another."""
    return re.findall(r"^- .*?(urn:memhook:\w+)(?![\w)])", text, re.MULTILINE)


def test_the_same_event_gives_the_same_bytes(assistant: Assistant) -> None:
    assistant.imports(*(f"{FACT} Seen in case {number}." for number in range(8)))
    assert assistant.prompts(QUESTION, session="a") == assistant.prompts(QUESTION, session="b")


@pytest.mark.parametrize(
    ("stored", "asked"),
    [
        ("getLocalSyncBranch returns the remote name, not the branch", "what does getLocalSyncBranch return?"),
        (
            "getLocalSyncBranch returns the remote name, not the branch",
            "the local sync branch is wrong, remote name again",
        ),
        ("E1234 means that the token cache is stale: restart the worker", "the worker fails with E1234"),
        ("src/billing/invoice_total.py rounds half to even", "look at src/billing/invoice_total.py"),
        ("src/billing/invoice_total.py rounds half to even", "why is the invoice total rounded half to even?"),
        ("数据库迁移超时：把批量大小改为两千行", "数据库迁移超时怎么办"),
        ("リリース前にデータベースのバックアップを取ること", "データベースのバックアップはどうする"),
        ("การสำรองข้อมูลทำงานทุกคืนเวลาตีสอง", "การสำรองข้อมูลทำงานเมื่อไร"),
    ],
)
def test_developer_text_and_text_without_spaces_is_found(assistant: Assistant, stored: str, asked: str) -> None:
    assistant.remembers(stored)
    assert stored in assistant.prompts(asked)
