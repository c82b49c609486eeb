"""Recorded sessions, imported on a real engine: all of them once, wherever it is interrupted, and no secret."""

from __future__ import annotations

import json
import sys
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from memhook.assistants import reading
from memhook.assistants.reading import UNKNOWN, UNREADABLE
from memhook.cli import place, session_import
from memhook.cli.place import place_of
from memhook.cli.session_import import offer_capture, offer_sessions
from memhook.engine.engine import Engine
from tests.cli.conftest import Cli
from tests.cli.test_projects import Terminal
from tests.core.secret_samples import samples
from tests.fake_embedder import HashEmbedder
from tests.mcp_server.conftest import engine_with
from tests.supply.recordings import ALL, Turn, claude, codex

NOUNS = (
    *("ledger", "replica", "vacuum", "invoice", "courier", "parcel", "harbour"),
    *("lantern", "violin", "meadow", "glacier", "orchard", "compass"),
)


class Door:
    """The way to the engine; it may stop working before or after a call, as when the user presses Ctrl-C."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.calls = 0
        self.stops_before = self.stops_after = 0
        self._counting = threading.Lock()

    def __call__(self, method: str, **params: Any) -> Any:
        with self._counting:
            self.calls += method == "capture"
            number = self.calls if method == "capture" else -1
        if number == self.stops_before:
            raise KeyboardInterrupt
        answer = self.engine.call(method, params, "", {})
        if number == self.stops_after:
            raise KeyboardInterrupt
        return answer


@pytest.fixture(autouse=True)
def door(home: Path, monkeypatch: pytest.MonkeyPatch) -> Door:
    found = Door(engine_with(HashEmbedder(), monkeypatch))
    monkeypatch.setattr(place, "door", lambda *_, **__: found)
    return found


def turn(number: int, noun: str) -> Turn:
    return Turn(
        f"Why does the {noun} of shelf {number} fail on {noun}s every Monday morning?",
        f"Because {noun} {number} waits for {NOUNS[-number % 13]}: the {noun} job now starts at {number} past six, and"
        f" {noun}.toml says so for everybody who looks for it in the folder of the {noun}.",
    )


@pytest.fixture
def recorded(home: Path, in_a_project: Path) -> Path:
    for number, noun in enumerate(NOUNS):
        write = claude if number % 2 else codex
        write(home, [turn(number, noun), turn(number + 20, noun)], str(in_a_project), f"s{number}")
    return in_a_project


def stored(cli: Cli) -> Counter[str]:
    return Counter(one["content"] for one in cli("list", "--json", "--limit", "1000").json["memories"])


def test_sessions_become_captured_memories_of_their_project_and_are_read_once(cli: Cli, recorded: Path) -> None:
    first = cli("import", "--sessions", "--json").json
    assert (first["sessions"], first["projects"]) == (13, 1)
    memories = cli("list", "--json", "--limit", "1000").json["memories"]
    assert {(one["origin"], one["project"]) for one in memories} == {("captured", str(recorded))}
    assert {one["session"].partition("#")[0] for one in memories} >= {"codex/s0", "claude/s1"}
    again = cli("import", "--sessions", "--json").json
    assert (again["notes"], again["skipped"]) == (0, {"read before": 13})


def test_a_dry_run_counts_and_stores_nothing(cli: Cli, recorded: Path, door: Door) -> None:
    result = cli("import", "--sessions", "--dry-run")
    assert (result.code, door.calls) == (0, 0)
    assert "of 13 sessions in 1 project would be kept." in result.out
    assert cli("import", "--sessions", "--json").json["sessions"] == 13


def test_without_any_session_that_is_said(cli: Cli, home: Path) -> None:
    assert cli("import", "--sessions").out.startswith("No recorded sessions were found.")


def test_only_what_was_added_to_a_session_is_read_later(cli: Cli, home: Path, in_a_project: Path) -> None:
    turns = [turn(number, noun) for number, noun in enumerate(NOUNS[:3])]
    claude(home, turns[:2], str(in_a_project))
    cli("import", "--sessions")
    claude(home, turns, str(in_a_project))
    answer = cli("import", "--sessions", "--json").json
    assert answer["notes"] == 2  # the digest and its pair of commands
    assert sum(turns[2].asked in content for content in stored(cli)) == 1


@pytest.mark.parametrize("when", ["stops_before", "stops_after"])
def test_wherever_it_is_interrupted_the_next_run_goes_on_and_the_last_completes_it(
    cli: Cli, recorded: Path, door: Door, when: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session_import, "FIRST_RECORDS", 6)
    monkeypatch.setattr(session_import, "BATCH_RECORDS", 6)
    for call in (1, 2, 3):
        door.calls = 0
        setattr(door, when, call)
        assert cli("import", "--sessions").code != 0
        assert door.calls >= call  # several are under way at once
    setattr(door, when, 0)
    assert cli("import", "--sessions").code == 0
    _assert_complete(cli)


@pytest.mark.parametrize("after", [0, 1, 9, 40, 100])
def test_an_interruption_while_reading_loses_nothing_either(
    cli: Cli, recorded: Path, after: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session_import, "FIRST_RECORDS", 6)
    read, count = reading.json_lines, iter(range(after))

    def interrupted(path: Path, problems: list[str]) -> Iterator[Any]:
        for line in read(path, problems):
            if next(count, None) is None:
                raise KeyboardInterrupt
            yield line

    with monkeypatch.context() as patched:
        patched.setattr(reading, "json_lines", interrupted)
        stopped = cli("import", "--sessions")
    assert stopped.code != 0
    kept = sum(stored(cli).values())
    assert (f"(stored {kept}" if kept else "Stopped after 0 notes.") in stopped.err
    assert cli("import", "--sessions").code == 0
    _assert_complete(cli)


def _assert_complete(cli: Cli) -> None:
    kept = stored(cli)
    assert set(kept.values()) == {1}
    missing = [noun for number, noun in enumerate(NOUNS) if not any(turn(number, noun).asked in one for one in kept)]
    assert missing == []
    assert cli("import", "--sessions", "--json").json["skipped"] == {"read before": 13}


def test_files_that_cannot_be_read_are_counted_and_the_others_are_imported(
    cli: Cli, home: Path, in_a_project: Path
) -> None:
    whole = claude(home, [turn(1, "ledger")], str(in_a_project), "whole")
    folder = whole.parent
    (folder / "unknown.jsonl").write_text('{"kind": "v9"}\n')
    (folder / "cut.jsonl").write_bytes(whole.read_bytes()[:-30])
    (folder / "link.jsonl").symlink_to(whole)
    (folder / "binary.jsonl").write_bytes(b"\0\xff" * 100)
    (folder / "folder.jsonl").mkdir()
    result = cli("import", "--sessions", "--json")
    assert result.code == 0
    assert result.json["sessions"] == 1
    assert result.json["skipped"] == {
        "a link": 1,
        UNKNOWN: 1,
        reading.CUT_SHORT: 2,
        UNREADABLE: 1,
    }


def test_no_secret_of_fifty_kinds_is_stored_from_prompts_answers_or_output(
    cli: Cli, home: Path, in_a_project: Path
) -> None:
    every = list(samples(5, 1))
    assert len({sample.provider for sample in every}) >= 50
    writers = list(ALL.items())
    for number, sample in enumerate(every):
        plain = turn(number, NOUNS[number % 13])
        turns: Sequence[Turn] = [
            Turn(f"{plain.asked} {sample.text}", plain.ended),
            Turn(plain.asked, f"{plain.ended} {sample.text}"),
            Turn(plain.asked, plain.ended, f"unknown command\n{sample.text}"),
        ]
        name, write = writers[number % len(writers)]
        if not name.startswith("gemini"):  # whose folder names the project, one for all of its sessions
            write(home, turns, str(in_a_project), f"s{number}")
    answer = cli("import", "--sessions", "--json").json
    assert answer["left_out"]["may hold a secret"] > len(every)
    everything = json.dumps(cli("list", "--json", "--limit", "1000").json["memories"])
    assert NOUNS[0] in everything
    assert [sample.provider for sample in every if sample.secret[:12] in everything] == []


@pytest.mark.parametrize(("answer", "notes"), [("y", 26), ("n", 0), ("", 0)])
def test_the_set_up_asks_with_counts_and_keeps_nothing_unless_told(
    cli: Cli,
    recorded: Path,
    answer: str,
    notes: int,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(sys, "stdin", Terminal(f"{answer}\n"))
    offer_sessions(place_of(None, use_daemon=False))
    asked = capsys.readouterr().err
    assert "13 sessions in 1 project since" in asked
    assert "keep short notes of them? Tool output is never kept, secrets are dropped, unreviewed notes expire." in asked
    assert sum(stored(cli).values()) >= notes
    assert bool(stored(cli)) == bool(notes)


def test_the_set_up_is_silent_where_there_are_no_sessions(capsys: pytest.CaptureFixture[str]) -> None:
    offer_sessions(place_of(None, use_daemon=False))
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(("answer", "enabled"), [("y", True), ("", False)])
def test_the_set_up_asks_once_whether_to_go_on_with_it(
    answer: str, enabled: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    here = place_of(None, use_daemon=False)
    monkeypatch.setattr(sys, "stdin", Terminal(f"{answer}\n"))
    offer_capture(here)
    assert here.settings().settings.capture.enabled is enabled
    assert "sessions to come" in capsys.readouterr().err
    if enabled:
        offer_capture(here)
        assert capsys.readouterr().err == ""


def test_sessions_of_an_excluded_project_are_left_out(
    cli: Cli, recorded: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMHOOK_CAPTURE__EXCLUDE", json.dumps([str(recorded)]))
    answer = cli("import", "--sessions", "--json").json
    assert (answer["notes"], answer["skipped"]) == (0, {"of no project, or of an excluded one": 13})
