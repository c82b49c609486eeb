"""A session gets so much in all, and then nothing until its context is compacted or cleared."""

from __future__ import annotations

from pathlib import Path

import pytest

from memhook.core.tokens import estimated_tokens
from tests.hooks.conftest import Assistant
from tests.hooks.test_prompt import FACT, QUESTION, configure, urns

OTHER = "The office cat is called Minka, lives on floor 3 and gets tuna on Fridays."
OTHER_QUESTION = "what is the name of the office cat on floor 3 that gets tuna?"


def test_a_session_that_has_used_its_budget_up_gets_nothing_and_why_says_so(assistant: Assistant, home: Path) -> None:
    assistant.remembers(FACT)
    assistant.remembers(OTHER)
    first = assistant.prompts(QUESTION)
    configure(home, f"session_max_tokens = {assistant.calls('why')['tokens']}")
    assert assistant.answer({"hook_event_name": "UserPromptSubmit", "session_id": "s1", "prompt": OTHER_QUESTION}) == {}
    report = assistant.calls("why")
    assert report["outcome"] == "session budget used up"
    assert report["session_budget"]["spent"] >= report["session_budget"]["of"] > 0
    assert assistant.calls("why", prompt=OTHER_QUESTION, session="s1")["outcome"] == "session budget used up"
    assert assistant.prompts(QUESTION, session="s2") == first
    report = assistant.calls("stats")
    assert (report["sessions_used_up"], report["silent"]) == (1, {"session budget used up": 1})


@pytest.mark.parametrize("source", ["clear", "compact"])
def test_clear_and_compact_give_the_session_its_budget_back(assistant: Assistant, home: Path, source: str) -> None:
    assistant.remembers(FACT)
    assistant.remembers(OTHER)
    configure(home, "session_max_tokens = 130\nhooks.session_start.max_memories = 0")
    assert FACT in assistant.prompts(QUESTION)
    assert assistant.prompts(OTHER_QUESTION) == ""
    assistant.starts(source)
    assert OTHER in assistant.prompts(OTHER_QUESTION)


def test_what_is_left_of_the_sessions_budget_is_what_a_block_is_packed_into(assistant: Assistant, home: Path) -> None:
    assistant.imports(
        *(
            f"{FACT} Seen again on shard {number}, where shard {number} had to be rebuilt that day."
            for number in range(8)
        )
    )
    whole = assistant.prompts(QUESTION, session="s2")
    assistant.remembers(OTHER)
    first = assistant.prompts(OTHER_QUESTION)
    left = estimated_tokens(whole) // 2
    configure(home, f"session_max_tokens = {estimated_tokens(first) + left}")
    rest = assistant.prompts(QUESTION)
    assert 0 < len(urns(rest)) < len(urns(whole))
    assert estimated_tokens(rest) <= left


def test_what_the_client_did_not_read_is_not_spent_and_a_subagent_has_a_budget_of_its_own(
    assistant: Assistant, home: Path
) -> None:
    assistant.remembers(FACT)
    configure(home, "session_max_tokens = 130")
    assert FACT in assistant.prompts(QUESTION, read=False)
    assert FACT in assistant.prompts(QUESTION)
    subagent = {"hook_event_name": "SubagentStart", "session_id": "s1", "agent_id": "a1", "agent_type": "x"}
    assert FACT in assistant.sends(subagent)


def test_events_without_a_session_have_no_common_budget(assistant: Assistant, home: Path) -> None:
    assistant.remembers(FACT)
    assistant.remembers(OTHER)
    configure(home, "session_max_tokens = 130")
    assert FACT in assistant.prompts(QUESTION, session="")
    assert OTHER in assistant.prompts(OTHER_QUESTION, session="")
