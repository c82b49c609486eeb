"""Each assistant's recorded payloads, what memhook understands of them and what it would print."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from memhook.assistants.events import Event
from memhook.assistants.known import FORCED, KNOWN, assistant_for
from memhook.core.packing import utf8_bytes, utf16_units
from tests.hooks.conftest import PAYLOADS, Assistant
from tests.hooks.test_prompt import FACT, QUESTION

GOLDEN = Path(__file__).parent / "golden"
RECORDED = sorted(path.stem for path in PAYLOADS.glob("*.json"))
ANSWER = ("what was learned", "what the user should know")


def recorded(name: str) -> dict[str, Any]:
    payload: dict[str, Any] = json.loads((PAYLOADS / f"{name}.json").read_text(encoding="utf-8"))
    return payload


def understood(payload: Mapping[str, Any], environment: Mapping[str, str]) -> dict[str, Any]:
    assistant = assistant_for(payload, environment)
    event = assistant.event_of(payload, "/elsewhere")
    output = assistant.output_of(event, *ANSWER) if event else b""
    shown_output = json.loads(output) if output else None
    return {"client": assistant.name, "event": event and shown(event), "output": shown_output}


def shown(event: Event) -> dict[str, Any]:
    fields = asdict(event) | {"part_limit": event.part_limit and f"{event.part_limit.size}"}
    return {name: value for name, value in fields.items() if value not in ("", None)}


@pytest.mark.parametrize("name", RECORDED)
def test_a_recorded_payload_is_understood_and_answered_as_the_golden_file_says(name: str) -> None:
    """To renew a golden file, delete it and run this once."""
    found = understood(recorded(name), {})
    golden = GOLDEN / f"{name}.json"
    if not golden.exists():
        golden.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")
        pytest.fail(f"{golden} was missing and is written now: look at it")
    assert found == json.loads(golden.read_text(encoding="utf-8"))


def test_no_golden_file_is_left_over() -> None:
    assert {path.stem for path in GOLDEN.glob("*.json")} == set(RECORDED)


@pytest.mark.parametrize("name", [name for name in RECORDED if "Start" in name or "Prompt" in name or "Before" in name])
def test_a_payload_is_recognised_whatever_another_assistant_around_it_has_set(name: str) -> None:
    around = {"COPILOT_CLI": "1", "GEMINI_PROJECT_DIR": "/", "QWEN_PROJECT_DIR": "/", "CLAUDE_PROJECT_DIR": "/"}
    assert assistant_for(recorded(name), around).name == name.split("-", maxsplit=1)[0]


@pytest.mark.parametrize("client", KNOWN)
def test_the_command_line_forces_the_assistant(client: str) -> None:
    assert assistant_for(recorded("codex-0.166.0.UserPromptSubmit"), {FORCED: client}).name == client


@pytest.mark.parametrize(
    ("variables", "client"),
    [
        ({"COPILOT_CLI": "1", "CLAUDE_PROJECT_DIR": "/w"}, "copilot"),
        ({"GEMINI_PROJECT_DIR": "/w", "CLAUDE_PROJECT_DIR": "/w"}, "gemini"),
        ({"QWEN_PROJECT_DIR": "/w", "GEMINI_PROJECT_DIR": "/w", "CLAUDE_PROJECT_DIR": "/w"}, "qwen"),
        ({"CLAUDE_PROJECT_DIR": "/w"}, "claude"),
        ({FORCED: "an assistant of the future"}, "claude"),
        ({}, "claude"),
    ],
)
def test_the_environment_speaks_where_the_payload_is_silent(variables: dict[str, str], client: str) -> None:
    assert assistant_for({"hook_event_name": "UserPromptSubmit", "prompt": "x"}, variables).name == client


def test_limits_are_in_the_assistant_s_own_unit() -> None:
    limits = {name: one.part_limit for name, one in KNOWN.items() if one.part_limit}
    assert {name: (limit.size, limit.measure) for name, limit in limits.items()} == {
        "claude": (10_000, utf16_units),
        "codex": (10_000, utf8_bytes),
    }


LONG = "Die Größe der Schlüssel änderte sich für das Ledger: " + "größer, älter, übler. " * 250


CARRIED: list[tuple[str, str, Callable[[str], int], int]] = [
    ("claude", "UserPromptSubmit", utf16_units, 10_000),
    ("codex", "UserPromptSubmit", utf8_bytes, 10_000),
    ("gemini", "BeforeAgent", len, 40_000),
]


def test_no_part_is_above_what_the_assistant_carries(assistant: Assistant) -> None:
    assistant.imports(*(f"{FACT} Case {number}. {LONG}" for number in range(6)))
    for client, prompt_event, measure, limit in CARRIED:
        assistant.environment = {FORCED: client, "MEMHOOK_HOOKS__DETAIL": "full", "MEMHOOK_MAX_TOKENS": "20000"}
        event = {"hook_event_name": prompt_event, "session_id": client, "prompt": QUESTION, "prompt_id": "p"}
        parts = [assistant.sends({**event, "turn_id": "p"}, part) for part in (1, 2)]
        assert 0 < measure(parts[0]) <= limit
        assert measure(parts[1]) <= limit
        assert bool(parts[1]) == (limit == 10_000)  # one that carries everything needs no second part


def native(name: str, **fields: Any) -> dict[str, Any]:
    return {**recorded(f"copilot-1.0.102.native-{name}"), **fields}


def test_copilot_s_native_events_are_answered_at_the_top_level(assistant: Assistant) -> None:
    assistant.remembers(FACT)
    answer = assistant.answer(native("userPromptSubmitted", prompt=QUESTION, cwd=str(assistant.directory)))
    assert list(answer) == ["additionalContext"]
    assert FACT in answer["additionalContext"]


def test_a_start_and_a_prompt_at_the_same_time_do_not_bring_the_same_memory_twice(assistant: Assistant) -> None:
    assistant.remembers(FACT)
    events = [native("sessionStart.new"), native("userPromptSubmitted", prompt=QUESTION)]
    with ThreadPoolExecutor(2) as processes:
        answers = list(processes.map(lambda event: assistant.answer(event, read=False), events))
    assert sum(FACT in str(answer) for answer in answers) == 1


def test_the_words_of_a_hook_are_no_part_of_what_gemini_was_asked(assistant: Assistant) -> None:
    assistant.remembers(FACT)
    event = recorded("gemini-0.61.0.BeforeAgent")
    said = f"<hook_context>{QUESTION}</hook_context>\n\n"
    assert assistant.answer({**event, "prompt": f"{said}write a haiku about the sea"}) == {}
    answer = assistant.answer({**event, "prompt": f"<hook_context>the sea</hook_context>\n\n{QUESTION}"})
    assert answer["hookSpecificOutput"]["hookEventName"] == "BeforeAgent"
    assert FACT in answer["hookSpecificOutput"]["additionalContext"]


def test_qwen_s_second_event_without_a_prompt_gets_nothing(assistant: Assistant) -> None:
    assistant.remembers(FACT)
    asked = {**recorded("qwen-0.24.4.UserPromptSubmit"), "prompt": QUESTION}
    assert FACT in assistant.sends(asked, read=False)
    assert assistant.answer(recorded("qwen-0.24.4.UserPromptSubmit.empty")) == {}


@pytest.mark.parametrize("name", ["claude-2.1.325", "codex-0.166.0", "qwen-0.24.4"])
def test_a_hook_that_is_there_twice_speaks_once(assistant: Assistant, name: str) -> None:
    assistant.remembers(FACT)
    for event in (
        {**recorded(f"{name}.UserPromptSubmit"), "prompt": QUESTION},
        recorded(f"{name}.SessionStart.startup"),
    ):
        answers = [assistant.answer({**event, "session_id": event["hook_event_name"]}, read=False) for _ in range(2)]
        assert FACT in str(answers[0])
        assert answers[1] == {}


@pytest.mark.parametrize("name", KNOWN)
def test_whoever_is_forced_on_a_usual_prompt_answers_in_that_ones_shape(name: str) -> None:
    payload = {"hook_event_name": "UserPromptSubmit", "session_id": "s", "cwd": "/", "prompt": QUESTION}
    assistant = assistant_for(payload, {FORCED: name})
    event = assistant.event_of(payload, "")
    assert event is not None
    assert (event.client, event.prompt) == (name, QUESTION)
    assert ("additionalContext" in json.loads(assistant.output_of(event, *ANSWER))) == (name == "copilot")


@pytest.mark.parametrize(
    ("typed", "understood_as"),
    [('"remember: it is so"', "remember: it is so"), ('"a" and "b"', '"a" and "b"'), ('"', '"'), ("plain", "plain")],
)
def test_a_prompt_that_opencode_put_in_quotes_is_read_without_them(typed: str, understood_as: str) -> None:
    payload = {"hook_event_name": "UserPromptSubmit", "prompt": typed}
    event = assistant_for(payload, {FORCED: "opencode"}).event_of(payload, "")
    assert event is not None
    assert event.prompt == understood_as
