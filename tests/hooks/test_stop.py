"""The end of an exchange: a digest by way of the spool, and never a word on stdout."""

from __future__ import annotations

import json
import stat
from pathlib import Path
from typing import Any

import pytest

from memhook.hooks import stop
from memhook.paths import user_paths
from memhook.store.pauses import EVERYWHERE, Pause, pause
from memhook.supply.digests import sections
from tests.hooks.conftest import Assistant
from tests.hooks.test_prompt import configure

ASKED = "why does the nightly export of invoices time out on the replica?"
ENDED = (
    "The export read from the replica, which lags behind by minutes at night. It reads from the primary now, and the"
    " statement timeout of the export role is 40 seconds."
)


def exchange(assistant: Assistant, asked: str = ASKED, ended: str = ENDED, **fields: Any) -> None:
    assistant.prompts(asked, **fields)
    stops(assistant, last_assistant_message=ended, **fields)


def stops(assistant: Assistant, session: str = "s1", event: str = "Stop", **fields: Any) -> None:
    payload = {"cwd": str(assistant.directory), "hook_event_name": event, "session_id": session, **fields}
    text, _ = assistant.runner.hook(
        "", 1, str(assistant.directory), assistant.environment, json.dumps(payload).encode()
    )
    assert text == b""


def captured(assistant: Assistant) -> list[dict[str, Any]]:
    assistant.runner.keep_house()
    return [memory for memory in assistant.calls("list")["memories"] if memory["origin"] == "captured"]


def spooled() -> list[Path]:
    return stop.Spool(user_paths().spool).files()


@pytest.fixture
def capturing(assistant: Assistant, home: Path) -> Assistant:
    configure(home, "capture.enabled = true")
    return assistant


def test_an_exchange_that_has_ended_becomes_a_digest_that_knows_its_session(capturing: Assistant) -> None:
    exchange(capturing)
    (memory,) = captured(capturing)
    assert memory["content"] == f"{ASKED}\n\n{ENDED}"
    assert (memory["session"], memory["quote"], memory["source"]) == ("claude/s1#1", ASKED, "session in claude")
    assert not spooled()


def test_nothing_is_written_before_the_user_has_agreed(assistant: Assistant, home: Path) -> None:
    exchange(assistant)
    assert not spooled()
    configure(home, "capture.enabled = true")
    assert captured(assistant) == []


def test_the_spool_is_private_and_survives_the_daemon(capturing: Assistant) -> None:
    exchange(capturing)
    (file,) = spooled()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    file.rename(user_paths().spool)  # as an older version left it, killed while it wrote
    user_paths().spool.write_bytes(user_paths().spool.read_bytes() + b'{"cut in hal')
    assert [memory["quote"] for memory in captured(capturing)] == [ASKED]
    assert captured(capturing)[0]["content"].endswith("40 seconds.")


def test_a_full_spool_drops_what_comes_and_keeps_what_it_has(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = stop.Spool(tmp_path / "spool")
    monkeypatch.setattr(stop, "LARGEST_BYTES", 20)
    kept.add([{"content": "a"}])
    kept.add([{"content": "b"}])
    stored: list[Any] = []
    kept.drain(stored.extend)
    assert stored == [{"content": "a"}]


@pytest.mark.parametrize(
    "fields",
    [
        {"asked": "fix the failing export"},
        {"asked": f"{ASKED} #private"},
        {"ended": "Done."},
        {"agent_id": "a1"},
        {"session": ""},
    ],
)
def test_what_is_short_private_or_a_subagents_is_not_kept(capturing: Assistant, fields: dict[str, Any]) -> None:
    exchange(capturing, **fields)
    assert captured(capturing) == []


def test_an_excluded_or_paused_project_keeps_nothing(capturing: Assistant, home: Path) -> None:
    configure(home, f'capture.enabled = true\ncapture.exclude = ["{capturing.directory}"]')
    (capturing.directory / ".memhook.toml").touch()
    exchange(capturing)
    configure(home, "capture.enabled = true")
    pause(user_paths(), Pause(EVERYWHERE), capturing.runner.engine._pruned)
    exchange(capturing, session="s2")
    assert captured(capturing) == []


def test_a_project_may_switch_it_off_and_not_on(assistant: Assistant, home: Path) -> None:
    (assistant.directory / ".memhook.toml").write_text("capture.enabled = true")
    exchange(assistant)
    (assistant.directory / ".memhook.toml").write_text("capture.enabled = false")
    configure(home, "capture.enabled = true")
    exchange(assistant, session="s2")
    assert captured(assistant) == []


def test_one_exchange_is_kept_once_however_often_its_end_comes(capturing: Assistant) -> None:
    exchange(capturing)
    stops(capturing, last_assistant_message=f"{ENDED} One more thing was done in the background.")
    assert len(captured(capturing)) == 1


def test_where_the_event_does_not_say_the_reply_the_end_of_the_session_s_file_does(capturing: Assistant) -> None:
    transcript = capturing.directory / "events.jsonl"
    events = [("user.message", ASKED), ("assistant.message", "Looking."), ("assistant.message", ENDED)]
    capturing.environment = {"MEMHOOK_CLIENT": "copilot"}
    capturing.answer({"hook_event_name": "UserPromptSubmit", "session_id": "c1", "prompt": ASKED, "timestamp": "1"})
    stops(capturing, session="c1", transcript_path=str(transcript), stop_reason="end_turn")
    # Copilot writes it a moment after the event.
    transcript.write_text("\n".join(json.dumps({"type": kind, "data": {"content": text}}) for kind, text in events))
    (memory,) = captured(capturing)
    assert memory["content"].endswith(ENDED)
    assert memory["session"] == "copilot/c1#1"


SUMMARY = f"""<analysis>
Thinking about what to keep.
</analysis>

<summary>
1. Primary Request and Intent:
   The user wants the export to be fast.

2. Errors and fixes:
   - {ENDED}

3. All user messages:
   - {ASKED} {ASKED}
</summary>"""


def test_a_summary_is_split_at_its_headings_and_leaves_out_the_prompts() -> None:
    found = list(sections(SUMMARY))
    assert [title for title, _ in found] == ["Primary Request and Intent", "Errors and fixes"]
    assert list(sections("## One\na\n## Two\n\n**Three**\nb")) == [("One", "a"), ("Three", "b")]
    assert list(sections("no heading")) == [("", "no heading")]


def test_a_compacted_context_leaves_its_summary_in_the_inbox(capturing: Assistant) -> None:
    capturing.prompts(ASKED)
    stops(capturing, event="PostCompact", compact_summary=SUMMARY)
    (memory,) = captured(capturing)
    assert memory["title"].startswith("Errors and fixes: The export read from the replica")
    assert memory["session"] == "claude/s1#1"


def test_a_summary_may_repeat_what_was_private(capturing: Assistant) -> None:
    capturing.prompts(f"{ASKED} #private")
    capturing.prompts(ASKED)
    stops(capturing, event="PostCompact", compact_summary=SUMMARY)
    assert captured(capturing) == []
