"""The lines that ask the assistant to save something."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from memhook.core.cues import CUE_TOKENS, FIXED, INSTRUCTION, cue, standing_orders
from memhook.core.tokens import estimated_tokens
from tests.core.prompt_samples import PASTED
from tests.hooks.conftest import Assistant
from tests.hooks.test_prompt import FACT, QUESTION, configure


@pytest.fixture(autouse=True)
def as_by_default(assistant: Assistant) -> None:
    assistant.environment = {}


ORDER = "From now on use pnpm, not npm."


def test_the_lines_are_as_short_as_promised() -> None:
    assert estimated_tokens(INSTRUCTION) <= 60
    assert estimated_tokens(FIXED) <= CUE_TOKENS
    for sentence in (ORDER, "never " * 60, "今後は必ず pnpm を使ってください。" * 8, "x" * 300):
        assert estimated_tokens(cue(sentence)) <= CUE_TOKENS
    assert "“no, use clang-format 17, not 16”" in cue("no, use clang-format 17, not 16")


def test_a_start_asks_to_save_below_the_memories_and_says_the_same_when_the_session_is_resumed(
    assistant: Assistant,
) -> None:
    assert assistant.begins(session="s0") == INSTRUCTION
    assistant.remembers(FACT)
    text = assistant.begins()
    assert FACT in text
    assert text.endswith(f"\n{INSTRUCTION}\n")
    assert assistant.begins("resume") == text
    assert assistant.begins("fork", session="s2") == ""
    assert assistant.begins("resume", session="s2") == INSTRUCTION  # which began before memhook came
    assert INSTRUCTION in assistant.begins("compact", session="s3")


def test_a_resumed_session_gets_no_other_text_than_it_started_with(assistant: Assistant) -> None:
    urn = assistant.remembers(FACT)
    assistant.begins()
    assistant.calls("forget", references=[urn])
    assert assistant.begins("resume") == ""


def test_who_keeps_the_start_in_the_history_is_not_told_again(assistant: Assistant) -> None:
    assistant.environment = {"MEMHOOK_CLIENT": "codex"}
    assert assistant.begins() == INSTRUCTION
    assert assistant.begins("resume") == ""


def test_who_drops_the_start_from_a_resumed_session_gets_it_again_with_what_it_had_shown(assistant: Assistant) -> None:
    urn = assistant.remembers("Use pnpm, not npm.", pinned=True)
    assistant.environment = {"MEMHOOK_CLIENT": "gemini"}
    texts = [assistant.starts(source=source) for source in ("startup", "resume")]
    assert texts[0] == texts[1]
    assert urn in texts[1]


def test_who_has_no_tool_is_not_asked_to_use_it(assistant: Assistant) -> None:
    assistant.environment = {"QWEN_PROJECT_DIR": "/"}
    payload = {"hook_event_name": "SessionStart", "session_id": "q", "source": "startup"}
    assert assistant.sends({**payload, "timestamp": "1", "permission_mode": "auto"}) == ""
    assistant.environment = {"MEMHOOK_CLIENT": "qwen"}
    assert assistant.sends({**payload, "session_id": "r"}) == INSTRUCTION


def test_the_instruction_can_be_switched_off(assistant: Assistant, home: Path) -> None:
    configure(home, "capture.instruction = false")
    assert assistant.begins() == ""


def test_a_start_that_may_show_nothing_asks_nothing(assistant: Assistant, home: Path) -> None:
    configure(home, "hooks.session_start.max_tokens = 0")
    assert assistant.begins() == ""


def test_the_instruction_takes_a_quarter_of_the_budget_at_most(assistant: Assistant, home: Path) -> None:
    enough = 4 * estimated_tokens(INSTRUCTION)
    configure(home, f"hooks.session_start.max_tokens = {enough - 1}")
    assert assistant.begins(session="s1") == ""
    configure(home, f"hooks.session_start.max_tokens = {enough}")
    assert assistant.begins(session="s2") == INSTRUCTION


def test_the_instruction_counts_among_the_tokens_of_a_start(assistant: Assistant) -> None:
    assistant.remembers(FACT)
    text = assistant.begins()
    assert text.endswith(f"\n{INSTRUCTION}\n")
    assert assistant.calls("why")["tokens"] >= estimated_tokens(text)


def test_a_standing_order_is_quoted_to_the_assistant(assistant: Assistant) -> None:
    assert assistant.prompts(f"{ORDER} Then build it.") == cue(ORDER)
    assert f"“{ORDER}”" in cue(ORDER)


def test_a_cue_comes_below_the_memories(assistant: Assistant) -> None:
    assistant.remembers(FACT)
    text = assistant.prompts(f"{QUESTION}\nno, use the primary, not the replica")
    assert FACT in text
    assert text.endswith(f"{cue('no, use the primary, not the replica')}\n")


def test_a_session_gets_five_cues(assistant: Assistant) -> None:
    found = [assistant.prompts(f"never touch the file number {number} by hand") for number in range(7)]
    assert [bool(text) for text in found] == [True] * 5 + [False] * 2
    assert assistant.prompts(ORDER, session="s2")


def test_cues_can_be_switched_off(assistant: Assistant, home: Path) -> None:
    configure(home, "capture.cues = false")
    assert assistant.prompts(ORDER) == ""


@pytest.mark.parametrize(
    "prompt",
    [
        "the function always returns null",
        "it somehow never stops, look into it",
        "why does it always fail?",
        "never mind, go on",
        "can you use the code-simplifier plugin",
        f"```\n{ORDER}\n```",
        f"> {ORDER}",
        f"summarize this mail:\n\nDear all,\n{ORDER}\nKind regards\nJo",
        f"2026-01-01 12:00:00 INFO start\n{ORDER}\n2026-01-01 12:00:01 INFO done",
    ],
)
def test_descriptions_and_pasted_text_give_no_cue(assistant: Assistant, prompt: str) -> None:
    assert assistant.prompts(prompt) == ""


def test_pasted_samples_give_no_cue(assistant: Assistant) -> None:
    assert not [prompt for prompt in PASTED[::20] if "the user said" in assistant.prompts(f"{prompt}\n{ORDER}")]


@pytest.mark.parametrize(
    "sentence",
    [
        *("never commit to main directly", "no, use the primary", "We should never be in mock mode in production."),
        *("ab jetzt immer auf Deutsch antworten", "Nein, nimm stattdessen pnpm", "nunca uses npm aquí"),
        *("No, usa pnpm en vez de npm", "désormais, écris les tests en premier", "впредь всегда используй pnpm"),
        *("以后都用 pnpm，不要用 npm", "今後は必ず pnpm を使ってください", "앞으로 항상 pnpm 써", "अब से हमेशा pnpm"),
    ],
)
def test_orders_are_understood_in_many_languages(sentence: str) -> None:
    assert list(standing_orders(sentence)) == [sentence]


def tool(number: int, command: str, failed: bool) -> list[dict[str, object]]:
    use = {"type": "tool_use", "id": f"t{number}", "name": "Bash", "input": {"command": command}}
    text = "Exit code 1\nassertion failed" if failed else "12 passed"
    result = {"type": "tool_result", "tool_use_id": f"t{number}", "is_error": failed, "content": text}
    return [
        {"type": "assistant", "message": {"content": [use]}},
        {"type": "user", "message": {"content": [result]}},
    ]


@pytest.mark.parametrize("failures", [2, 3])
def test_a_fix_after_several_failures_gives_a_cue_with_the_next_prompt(assistant: Assistant, failures: int) -> None:
    edit = {"type": "tool_use", "id": "e", "name": "Edit", "input": {"file_path": "a.py"}}
    lines = [
        {"type": "user", "sessionId": "s1", "cwd": "/", "message": {"content": "make the export work again"}},
        *(line for number in range(failures) for line in tool(number, f"pytest -k {number}", failed=True)),
        {"type": "assistant", "message": {"content": [edit]}},
        *tool(9, "pytest", failed=False),
    ]
    transcript = assistant.directory / "s1.jsonl"
    transcript.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    stop = {"hook_event_name": "Stop", "session_id": "s1", "transcript_path": str(transcript)}
    assert assistant.answer(stop) == {}
    assert assistant.prompts("now add the column to the other table") == (FIXED if failures > 2 else "")
    assert assistant.prompts("and the third table as well") == ""


def test_what_the_model_saves_is_linked_to_the_session_at_work(assistant: Assistant) -> None:
    (assistant.directory / ".memhook.toml").touch()
    assistant.prompts(ORDER, session="s7")
    saved = assistant.calls("remember", content="Use pnpm, not npm, in this project.", origin="agent")["memory"]
    assert (saved["origin"], saved["session"]) == ("agent", "claude/s7#1")


def test_of_two_assistants_at_work_the_one_that_saves_is_linked(assistant: Assistant) -> None:
    (assistant.directory / ".memhook.toml").touch()
    assistant.prompts(ORDER, session="s7")
    assistant.environment = {"MEMHOOK_CLIENT": "codex"}
    assistant.prompts(ORDER, session="c9")
    for client, session in {
        "claude-code": "claude/s7#1",
        "codex-mcp-client": "codex/c9#1",
        "other": "",  # whose session is not known
    }.items():
        saved = assistant.calls("remember", content=f"Said to {client}.", origin="agent", client=client)["memory"]
        assert saved["session"] == session


@pytest.mark.parametrize(
    "tool", ["mcp__memhook__remember", "mcp__plugin_memhook_memhook__remember", "memhook-remember"]
)
def test_of_two_sessions_of_one_assistant_the_one_that_saves_is_linked(assistant: Assistant, tool: str) -> None:
    (assistant.directory / ".memhook.toml").touch()
    content = "Use pnpm, not npm, in this project."
    assistant.prompts(ORDER, session="s1")
    call = {"hook_event_name": "PreToolUse", "session_id": "s1", "tool_name": tool, "tool_input": {"content": content}}
    assert assistant.answer(call) == {}
    assistant.prompts(ORDER, session="s2")
    saved = [assistant.calls("remember", content=one, origin="agent")["memory"] for one in (content, "Another one.")]
    assert [memory["session"] for memory in saved] == ["claude/s1#1", "claude/s2#1"]
