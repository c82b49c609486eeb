"""Was it used? What the stop event leaves of the memories that were shown."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime, timedelta
from io import BytesIO, TextIOWrapper
from pathlib import Path
from typing import Any

import pytest

from memhook.cli import statusline
from memhook.core.memory import id_of
from memhook.paths import user_paths
from memhook.store.ledger import Usage
from memhook.store.pauses import EVERYWHERE, Pause, pause, resume
from tests.hooks.conftest import Assistant
from tests.hooks.test_prompt import FACT, QUESTION, configure


def usage(assistant: Assistant, urn: str) -> Usage:
    return dict(assistant.runner.engine.accounts.usage([id_of(urn)])).get(id_of(urn), Usage())


def stops(assistant: Assistant, reply: str, **fields: Any) -> None:
    answer = assistant.answer(
        {"hook_event_name": "Stop", "session_id": "s1", "last_assistant_message": reply, **fields}
    )
    assert answer == {}


def test_an_answer_that_goes_by_a_memory_marks_it_as_used(assistant: Assistant) -> None:
    urn = assistant.remembers(f"{FACT} The fix is `ledgerctl resync --primary`.")
    assert assistant.prompts(QUESTION)
    stops(assistant, "I ran ledgerctl resync --primary and it is green.")
    assert (usage(assistant, urn).shown, usage(assistant, urn).used) == (1, 1)
    stops(assistant, "I ran ledgerctl resync --primary again.")  # nothing was shown since
    assert usage(assistant, urn).used == 1


def test_what_an_earlier_exchange_of_the_session_said_is_no_sign_of_use(assistant: Assistant) -> None:
    urn = assistant.remembers(f"{FACT} The fix is `ledgerctl resync --primary`.")
    assistant.prompts("which commands are there?")
    stops(assistant, "There is ledgerctl resync --primary.")
    assert urn in assistant.prompts(QUESTION)
    stops(assistant, "I ran ledgerctl resync --primary and it is green.")
    assert (usage(assistant, urn).shown, usage(assistant, urn).used) == (1, 0)


def test_an_answer_about_something_else_does_not(assistant: Assistant) -> None:
    urn = assistant.remembers(f"{FACT} The fix is `ledgerctl resync --primary`.")
    assert assistant.prompts(QUESTION)
    stops(assistant, "Done.")
    assert (usage(assistant, urn).shown, usage(assistant, urn).used) == (1, 0)


def test_what_the_start_showed_may_be_used_in_the_first_exchange(assistant: Assistant) -> None:
    urn = assistant.remembers(f"{FACT} The fix is `ledgerctl resync --primary`.", pinned=True)
    assert urn in assistant.starts()
    assert assistant.prompts(QUESTION) == ""  # seen at the start
    stops(assistant, "I ran ledgerctl resync --primary and it is green.")
    assert usage(assistant, urn).used == 1


def test_an_event_without_a_prompt_goes_on_with_the_exchange(assistant: Assistant) -> None:
    """Qwen Code sends one after each tool call."""
    assistant.environment = {"MEMHOOK_CLIENT": "qwen"}
    urn = assistant.remembers(f"{FACT} The fix is `ledgerctl resync --primary`.")
    assert assistant.prompts(QUESTION)
    assert assistant.prompts("") == ""
    stops(assistant, "I ran ledgerctl resync --primary and it is green.")
    assert usage(assistant, urn).used == 1
    assert assistant.runner.engine.accounts.turn_of("s1") == 1


def test_what_a_subagent_does_is_no_part_of_the_answer(assistant: Assistant) -> None:
    urn = assistant.remembers(f"{FACT} The fix is `ledgerctl resync --primary`.")
    assert assistant.prompts(QUESTION)
    tool = {"hook_event_name": "PreToolUse", "session_id": "s1", "tool_name": "Bash", "tool_use_id": "t1"}
    assistant.sends({**tool, "agent_id": "a1", "tool_input": {"command": "ledgerctl resync --primary"}})
    stops(assistant, "Done.")
    assert usage(assistant, urn).used == 0


def test_a_memory_that_was_shown_and_then_fetched_counts_as_used_once(assistant: Assistant) -> None:
    urn = assistant.remembers(f"{FACT} The fix is `ledgerctl resync --primary`.")
    assert urn in assistant.prompts(QUESTION)
    assistant.calls("get", references=[urn], touch=False)
    assert usage(assistant, urn).used == 0
    for _ in range(2):
        assistant.calls("get", references=[urn])
    stops(assistant, "I ran ledgerctl resync --primary and it is green.")
    assert (usage(assistant, urn).shown, usage(assistant, urn).used) == (1, 1)
    (event,) = assistant.calls("explain", reference=urn)["history"]
    assert event["used"]
    stats = assistant.calls("stats")
    assert (stats["used"], [one["times"] for one in stats["best_of_week"]]) == (1, [1])
    assert assistant.calls("status")["used"]["used"] == 1
    assert assistant.calls("get", references=[urn], touch=False)[0]["accessed"]


def test_a_memory_that_is_fetched_without_being_shown_lately_is_not_used(assistant: Assistant) -> None:
    urn = assistant.remembers(FACT)
    assistant.calls("get", references=[urn])
    assert urn in assistant.prompts(QUESTION, read=False)  # which never arrived
    assistant.calls("get", references=[urn])
    assert urn in assistant.prompts(QUESTION)
    with assistant.runner.engine.accounts.ledger._writing() as connection:  # type: ignore[union-attr]
        connection.execute("UPDATE injection SET at = ?", ((datetime.now(UTC) - timedelta(days=3)).isoformat(),))
    (record,) = assistant.calls("get", references=[urn])
    assert (record["accessed"], usage(assistant, urn).used) == (None, 0)
    assert assistant.calls("stats")["best_of_week"] == []


def test_only_showings_in_exchanges_whose_end_was_reported_count_as_unused(assistant: Assistant) -> None:
    urn = assistant.remembers(f"{FACT} The fix is `ledgerctl resync --primary`.")
    other = assistant.remembers("Parcels are weighed in grams.")
    for number in range(6):
        assert urn in assistant.prompts(QUESTION, session=f"unreported {number}")
    assistant.calls("get", references=[other])  # by the user: of the exchanges it says nothing
    assert assistant.calls("tidy_list")["items"] == []
    assert assistant.calls("stats")["never_used"] == 0
    for number in range(5):
        assert urn in assistant.prompts(QUESTION, session=f"reported {number}")
        stops(assistant, "Done.", session_id=f"reported {number}")
    (item,) = assistant.calls("tidy_list")["items"]
    assert (item["kind"], item["reason"]) == ("never used", "shown 5 times, never used")


def test_the_user_is_told_in_one_line_what_was_shown(assistant: Assistant) -> None:
    assistant.remembers(f"{FACT}\nMore about it.", title="Ledger\n\x1b[31mred")
    answer = assistant.answer({"hook_event_name": "UserPromptSubmit", "session_id": "s1", "prompt": QUESTION})
    assert answer["systemMessage"].startswith("memhook: 1 memory (")
    assert answer["systemMessage"].endswith(" tokens): Ledger red")


def test_the_notice_can_be_switched_off(assistant: Assistant, home: Path) -> None:
    assistant.remembers(FACT)
    configure(home, 'hooks.notice = "off"')
    answer = assistant.answer({"hook_event_name": "UserPromptSubmit", "session_id": "s1", "prompt": QUESTION})
    assert answer["hookSpecificOutput"]
    assert "systemMessage" not in answer


def test_the_status_line_counts_what_the_session_was_shown_and_says_when_memhook_is_paused(
    assistant: Assistant, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def line(sent: bytes) -> str:
        monkeypatch.setattr("sys.stdin", TextIOWrapper(BytesIO(sent)))
        assert statusline.main() == 0
        return capsys.readouterr().out

    session = json.dumps({"session_id": "s1", "cwd": str(assistant.directory)}).encode()
    assert line(session) == "memhook: nothing shown yet\n"
    assistant.remembers(f"{FACT} The fix is `ledgerctl resync --primary`.")
    assert assistant.prompts(QUESTION, session="s1")
    assert re.fullmatch(r"memhook: 1 memory, \d+ tokens\n", line(session))
    stops(assistant, "I ran ledgerctl resync --primary and it is green.")
    assert line(session).endswith(" tokens, 1 used\n")
    assert line(b'{"session_id": "another"}') == "memhook: nothing shown yet\n"
    assert line(b"[") == "\n"
    pause(user_paths(), Pause(EVERYWHERE), datetime.now(UTC))
    assert line(session) == "memhook: paused everywhere until you run: memhook resume\n"
    resume(user_paths(), EVERYWHERE, datetime.now(UTC))
    assert line(session).endswith(" tokens, 1 used\n")
