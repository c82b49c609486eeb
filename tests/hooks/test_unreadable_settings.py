"""Settings that cannot be read: nothing is stored or shown, nothing goes elsewhere, and the user is told once."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memhook.engine.catalogue import OPERATIONS
from memhook.errors import MemhookError, SettingsError
from memhook.hooks.runner import Runner
from memhook.paths import Paths, user_paths
from tests.hooks.conftest import Assistant
from tests.hooks.test_prompt import FACT, QUESTION

ARGUMENTS: dict[str, dict[str, Any]] = {
    "remember": {"content": "another fact"},
    "import_lines": {"lines": [[1, '{"text": "another fact"}']]},
    "search": {"query": QUESTION},
    "inject": {"query": QUESTION},
    "pack": {"topic": QUESTION},
    "share": {"references": ["x"], "target": "team"},
    "edit": {"reference": "x", "title": "y"},
    **{name: {"references": ["x"]} for name in ("get", "forget", "redact", "purge", "mute", "release")},
}


def _appended(text: bytes) -> Callable[[Path], None]:
    def append(file: Path) -> None:
        file.write_bytes(file.read_bytes() + text)

    return append


def _directory(file: Path) -> None:
    file.unlink()
    file.mkdir()


def _link_to_nowhere(file: Path) -> None:
    file.unlink()
    file.symlink_to(file.parent / "not mounted")


BREAKS: dict[str, Callable[[Path], None]] = {
    "syntax": _appended(b"max_tokens = = 3\n"),
    "unclosed": _appended(b"[pack\n"),
    "encoding": _appended(b"# caf\xe9\n"),
    "value": _appended(b"[hooks]\ncapture = 'perhaps'\n"),
    "type": _appended(b"[pack]\nhalf_life_days = [1]\n"),
    "digits": _appended(b"[pack]\nhalf_life_days = " + b"9" * 5000 + b"\n"),
    "slip of the pen": _appended(b"[hooks]\ncaptures = false\n"),
    "value for a table": _appended(b"hooks = false\n"),
    "deep": _appended(b"x = " + b"[" * 20_000 + b"\n"),
    "keys": _appended(b"x." * 20_000 + b"x = 1\n"),
    "values": _appended(b"".join(b"x%d = 1\n" % number for number in range(3000))),
    "large": _appended(b"#" * 70_000),
    "directory": _directory,
    "link": _link_to_nowhere,
}
WITH_A_LINE = set(BREAKS) - {"digits", "deep", "values", "large", "directory", "link"}


@pytest.fixture
def paths(home: Path) -> Paths:
    return user_paths()


@pytest.fixture
def configured(paths: Paths, tmp_path: Path) -> Path:
    """A user's file that puts the store elsewhere."""
    paths.config.mkdir(parents=True)
    paths.config_file.write_text(f'max_tokens = 3000\nstore.uri = "{tmp_path}/elsewhere"\n', encoding="utf-8")
    return paths.config_file


@pytest.mark.parametrize("kind", BREAKS)
def test_no_door_stores_or_shows_anything(assistant: Assistant, configured: Path, paths: Paths, kind: str) -> None:
    assistant.remembers(FACT)
    BREAKS[kind](configured)
    for method in OPERATIONS if kind == "syntax" else ("remember", "list"):
        with pytest.raises(SettingsError) as refused:
            assistant.calls(method, **ARGUMENTS.get(method, {}))
        assert str(configured) in refused.value.message
        assert "line" in refused.value.message or kind not in WITH_A_LINE
        assert "memhook config edit" in refused.value.hint
    assert assistant.prompts(QUESTION) == ""
    assert assistant.starts() == ""
    assistant.runner.keep_house()
    assert not paths.store.exists()


@pytest.mark.parametrize("kind", BREAKS)
def test_a_daemon_that_starts_with_them_opens_no_store(
    runner: Runner, configured: Path, paths: Paths, kind: str
) -> None:
    BREAKS[kind](configured)
    runner.open()
    runner.engine.warm_up()
    runner.keep_house()
    assert not paths.store.exists()
    assert not list(paths.data.glob("*")) if paths.data.exists() else True


def test_the_user_is_told_once_for_each_time_the_file_breaks(assistant: Assistant, configured: Path) -> None:
    whole = configured.read_bytes()
    assistant.remembers(FACT)

    def told() -> list[str]:
        events = [{"hook_event_name": "UserPromptSubmit", "session_id": f"s{n}", "prompt": QUESTION} for n in range(2)]
        events.append({"hook_event_name": "SessionStart", "session_id": "s3", "source": "startup"})
        messages = [str(assistant.answer(event).get("systemMessage", "")) for event in events]
        return [message for message in messages if str(configured) in message]

    for _ in range(2):
        configured.write_bytes(whole + b"oops\n")
        (notice,) = told()
        assert "line 3" in notice
        configured.write_bytes(whole)
        assert told() == []
        assert FACT in assistant.prompts(QUESTION, session=str(configured.stat().st_mtime_ns))


def test_a_note_in_a_prompt_is_refused_each_time_with_the_reason(
    assistant: Assistant, configured: Path, paths: Paths
) -> None:
    BREAKS["syntax"](configured)
    for number in range(2):
        event = {"hook_event_name": "UserPromptSubmit", "session_id": str(number), "prompt": f"remember: fact {number}"}
        message = assistant.answer(event)["systemMessage"]
        assert "did not store that" in message
        assert message.count(str(configured)) == 1
    assert not paths.store.exists()


def test_a_file_that_is_repaired_is_used_from_the_next_call_on(assistant: Assistant, configured: Path) -> None:
    whole = configured.read_bytes()
    urn = assistant.remembers(FACT)
    BREAKS["syntax"](configured)
    with pytest.raises(SettingsError):
        assistant.remembers("lost")
    configured.write_bytes(whole)
    assert [one["urn"] for one in assistant.calls("list")["memories"]] == [urn]


def test_a_variable_that_would_put_the_store_nowhere_stops_it_too(assistant: Assistant, paths: Paths) -> None:
    for name, value in (
        ("MEMHOOK_STORE__URI", "relative"),
        ("MEMHOOK_STORE_URI", "/slip/of/the/pen"),
        ("MEMHOOK_HOOKS__CAPTURE", "perhaps"),
        ("MEMHOOK_NAMESPACES", "[work"),
    ):
        assistant.environment = {name: value}
        with pytest.raises(SettingsError, match="the environment"):
            assistant.remembers(FACT)
    assert not paths.store.exists()
    assistant.environment = {"MEMHOOK_OF_ANOTHER_TOOL": "1", "MEMHOOK_MAX_TOKENS": "many"}
    assert assistant.remembers(FACT)


def test_a_key_of_another_version_stops_nothing(assistant: Assistant, configured: Path) -> None:
    _appended(b"[hooks]\nyet_to_come = 7\n[new_section]\nx = 1\n")(configured)
    assistant.remembers(FACT)
    assert FACT in assistant.prompts(QUESTION)


@pytest.mark.parametrize("kind", ["syntax", "encoding", "directory", "digits", "keys", "switch"])
def test_a_project_file_that_cannot_be_read_silences_nobody_and_nothing_is_captured_there(
    assistant: Assistant, kind: str
) -> None:
    file = assistant.directory / ".memhook.toml"
    file.write_text("hooks.capture = false\n", encoding="utf-8")
    if kind == "switch":
        file.write_text("hooks.capture = 'buy at example.com'\n", encoding="utf-8")
    else:
        BREAKS[kind](file)
    urn = assistant.remembers(FACT)
    first = assistant.answer({"hook_event_name": "UserPromptSubmit", "session_id": "a", "prompt": QUESTION})
    assert FACT in first["hookSpecificOutput"]["additionalContext"]
    assert str(file) in first["systemMessage"]
    assert "example.com" not in first["systemMessage"], "its author does not speak to the user"
    again = assistant.answer({"hook_event_name": "UserPromptSubmit", "session_id": "b", "prompt": QUESTION})
    assert FACT in again["hookSpecificOutput"]["additionalContext"]
    assert str(file) not in again.get("systemMessage", ""), "once is enough"
    note = assistant.answer({"hook_event_name": "UserPromptSubmit", "session_id": "b", "prompt": "remember: a note"})
    assert "did not store that" in note["systemMessage"]
    assert [one["urn"] for one in assistant.calls("list")["memories"]] == [urn]


def test_a_folder_that_may_not_be_entered_is_no_missing_file(assistant: Assistant, configured: Path) -> None:
    """A daemon that knew no file before must not take the refusal for "there is still none"."""
    aside = configured.rename(configured.with_suffix(".aside"))
    assistant.calls("list")
    aside.rename(configured)
    configured.parent.rename(configured.parent.with_name("really"))
    configured.parent.symlink_to(configured.parent)  # a loop: not even the file's status can be asked for
    with pytest.raises(MemhookError, match=r"config\.toml cannot be read"):
        assistant.remembers(FACT)
