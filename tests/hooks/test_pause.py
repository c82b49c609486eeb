from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from memhook.paths import user_paths
from memhook.store.pauses import EVERYWHERE, Pause, pause, resume
from tests.hooks.conftest import Assistant
from tests.hooks.test_prompt import FACT, QUESTION


def test_a_pause_silences_the_next_prompt_and_resume_ends_it(assistant: Assistant) -> None:
    assistant.remembers(FACT)
    assert FACT in assistant.prompts(QUESTION, session="a")
    now = datetime.now(UTC)
    pause(user_paths(), Pause(EVERYWHERE), now)
    assert assistant.prompts(QUESTION, session="b") == ""
    assert assistant.starts(session="b") == ""
    assert assistant.calls("why")["outcome"] == "paused"
    resume(user_paths(), EVERYWHERE, now)
    assert FACT in assistant.prompts(QUESTION, session="b")


@pytest.mark.parametrize(
    ("is_paused", "reason"),
    [
        (True, "it is paused (memhook resume ends that)."),
        (False, "it is switched off here (memhook config shows where)."),
    ],
)
def test_a_note_that_is_not_stored_meanwhile_is_not_lost_silently(
    assistant: Assistant, is_paused: bool, reason: str
) -> None:
    if is_paused:
        pause(user_paths(), Pause(EVERYWHERE), datetime.now(UTC))
    else:
        (assistant.directory / ".memhook.toml").write_text("enabled = false\n")
    prompt = "remember: the lock keeper is called Ines"
    said = assistant.answer({"hook_event_name": "UserPromptSubmit", "session_id": "s1", "prompt": prompt})
    assert said["systemMessage"] == f"memhook did not store that: {reason}"
    assert "hookSpecificOutput" not in said
    assert assistant.prompts(QUESTION) == ""


def test_a_pause_ends_when_its_time_is_over(assistant: Assistant) -> None:
    assistant.remembers(FACT)
    long_ago = datetime.now(UTC) - timedelta(hours=1)
    pause(user_paths(), Pause(EVERYWHERE, long_ago + timedelta(minutes=30)), long_ago)
    assert FACT in assistant.prompts(QUESTION)


def test_a_project_pauses_by_itself(assistant: Assistant, tmp_path: Path) -> None:
    (assistant.directory / "pyproject.toml").touch()
    assistant.remembers(FACT, here=False)
    project = assistant.calls("status")["project"]
    pause(user_paths(), Pause(project), datetime.now(UTC))
    assert assistant.prompts(QUESTION) == ""
    assert FACT in Assistant(assistant.runner, tmp_path).prompts(QUESTION)


def test_what_is_forgotten_while_paused_may_come_again_afterwards(assistant: Assistant) -> None:
    assistant.remembers(FACT)
    assert FACT in assistant.prompts(QUESTION)
    now = datetime.now(UTC)
    pause(user_paths(), Pause(EVERYWHERE), now)
    assert assistant.starts("compact") == ""
    resume(user_paths(), EVERYWHERE, now)
    assert FACT in assistant.prompts(QUESTION)
