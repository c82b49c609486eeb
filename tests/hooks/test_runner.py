"""The door fails open, and speaks as the client expects."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memhook.hooks.runner import Runner
from memhook.library.languages import AT_ONCE_SECONDS, AT_START_SECONDS, Languages
from memhook.store.embedding.encoder import Embedder
from tests.hooks.conftest import PAYLOADS, Assistant, runner_with
from tests.hooks.test_prompt import FACT, QUESTION

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
FIELDS = st.sampled_from(["hook_event_name", "session_id", "prompt", "prompt_id", "cwd", "source", "agent_id"])
EVENTS = st.sampled_from(["UserPromptSubmit", "SessionStart", "SubagentStart", "Stop", ""])


def hooked(runner: Runner, body: bytes) -> bytes:
    return runner.hook("UserPromptSubmit", 1, "/", {}, body)[0]


@pytest.fixture(scope="module")
def greeted(tmp_path_factory: pytest.TempPathFactory, real_embedder: Embedder) -> Iterator[Assistant]:
    """One that the payloads share, each in a session of its own."""
    folder = tmp_path_factory.mktemp("greeted")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(folder))
        assistant = Assistant(runner_with(real_embedder, patch), folder)
        assistant.remembers("hello there")
        yield assistant
        assistant.runner.engine.close()


@pytest.mark.parametrize("name", sorted(path.stem for path in PAYLOADS.glob("*.json")))
def test_recorded_payloads_get_an_answer_in_the_clients_shape_or_none(
    greeted: Assistant, payload: Callable[[str], dict[str, Any]], name: str
) -> None:
    event = {key: name if key in ("session_id", "sessionId") else value for key, value in payload(name).items()}
    answer = greeted.answer(event)
    speaks = "start" in name.lower() and not name.endswith(("resume", "fork"))
    key = "additionalContext" if name.startswith("copilot") else "hookSpecificOutput"
    notice = {"systemMessage"} if name.startswith("claude") else set()  # of what the model was shown
    assert set(answer) == ({key} | notice if speaks else set())
    if "hookSpecificOutput" in answer:
        assert answer["hookSpecificOutput"]["hookEventName"] == event["hook_event_name"]


def test_the_event_named_on_the_command_line_serves_where_the_payload_names_none(runner: Runner, home: Path) -> None:
    assistant = Assistant(runner, home)
    assistant.remembers(FACT)
    text, _ = runner.hook("UserPromptSubmit", 1, "/", {}, json.dumps({"prompt": QUESTION}).encode())
    assert json.loads(text)["hookSpecificOutput"]["hookEventName"] == "UserPromptSubmit"


@pytest.mark.parametrize(
    "body",
    [b"", b"{", b"null", b"[]", b'"text"', b"\xff\xfe\x00", b"[" * 100_000, b'{"prompt": 7}', b'{"prompt": "\\ud800"}'],
)
def test_what_is_not_an_event_gets_nothing(runner: Runner, body: bytes) -> None:
    assert hooked(runner, body) == b""


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(payload=st.dictionaries(FIELDS, JSON, max_size=7), event=EVENTS, part=st.integers(-1, 4))
def test_any_payload_gets_one_json_object_or_nothing(
    runner: Runner, payload: dict[str, Any], event: str, part: int
) -> None:
    text, delivered = runner.hook(event, part, "/", {}, json.dumps(payload).encode())
    delivered()
    assert not text or isinstance(json.loads(text), dict)


def test_a_store_that_cannot_be_opened_is_told_to_the_user_once_and_left_alone(
    assistant: Assistant, home: Path
) -> None:
    store = home / ".local/share/memhook/store"
    store.parent.mkdir(parents=True)
    store.write_text("not a store", encoding="utf-8")
    first = assistant.answer({"hook_event_name": "UserPromptSubmit", "prompt": QUESTION})
    assert "is a file, not a store" in first["systemMessage"]
    assert assistant.answer({"hook_event_name": "UserPromptSubmit", "prompt": QUESTION}) == {}
    assert store.read_text(encoding="utf-8") == "not a store"


def test_a_store_that_is_mended_serves_again_without_a_restart(assistant: Assistant, home: Path) -> None:
    store = home / ".local/share/memhook/store"
    store.parent.mkdir(parents=True)
    store.write_text("not a store", encoding="utf-8")
    assistant.prompts(QUESTION)
    store.unlink()
    assistant.remembers(FACT)
    assert FACT in assistant.prompts(QUESTION)


def test_without_a_ledger_memories_still_come(
    assistant: Assistant, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assistant.remembers(FACT)
    monkeypatch.setattr(assistant.runner.engine.accounts, "ledger", None)
    assert FACT in assistant.prompts(QUESTION)
    assert FACT in assistant.prompts(QUESTION)


def test_a_bug_is_logged_and_costs_only_the_answer(
    assistant: Assistant, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def bug(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(assistant.runner.engine, "project", bug)
    assert assistant.prompts(QUESTION) == ""
    assert "ZeroDivisionError" in caplog.text


def test_the_log_holds_no_prompt_and_no_memory(assistant: Assistant, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG, logger="memhook"):
        assistant.remembers(FACT)
        assistant.prompts(QUESTION)
        hooked(assistant.runner, b'{"prompt": "' + QUESTION.encode())
    assert "reconciliation" not in caplog.text


def test_both_parts_asked_for_at_once_are_computed_once(assistant: Assistant, monkeypatch: pytest.MonkeyPatch) -> None:
    assistant.remembers(FACT)
    computed: list[int] = []
    original = assistant.runner._outcome

    def counting(*arguments: Any) -> Any:
        computed.append(1)
        return original(*arguments)

    monkeypatch.setattr(assistant.runner, "_outcome", counting)
    with ThreadPoolExecutor(2) as processes:
        parts = list(processes.map(lambda part: assistant.prompts(QUESTION, part, prompt_id="one"), (1, 2)))
    assert FACT in parts[0]
    assert parts[1] == ""
    assert len(computed) == 1


@pytest.mark.parametrize("place", ["environment", "project"])
def test_switched_off_means_silent(assistant: Assistant, place: str) -> None:
    assistant.remembers(FACT)
    if place == "environment":
        assistant.environment = {"MEMHOOK_ENABLED": "false"}
    else:
        (assistant.directory / ".memhook.toml").write_text("enabled = false\n", encoding="utf-8")
    assert assistant.prompts(QUESTION) == ""


def test_namespaces_narrow_what_surfaces(assistant: Assistant) -> None:
    assistant.remembers(FACT, namespace="incidents")
    assistant.environment = {"MEMHOOK_NAMESPACES": '["decisions"]'}
    assert assistant.prompts(QUESTION) == ""
    assistant.environment = {"MEMHOOK_NAMESPACES": '["decisions", "incidents"]'}
    assert FACT in assistant.prompts(QUESTION)


def test_while_the_daemon_starts_a_prompt_waits_longer_for_the_encoder_of_its_language(
    assistant: Assistant, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits: list[float] = []
    monkeypatch.setattr(Languages, "_encoder", lambda _, seconds, **__: waits.append(seconds))
    assistant.remembers(FACT)
    assistant.runner.open()
    assistant.prompts("warum ist der Umzug der Tabelle so langsam?")
    assistant.runner.engine.warm_up()
    assistant.prompts("und warum ist die Tabelle so langsam?")
    assert list(dict.fromkeys(waits)) == [AT_START_SECONDS, AT_ONCE_SECONDS]
