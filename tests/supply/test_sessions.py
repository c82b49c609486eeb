from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from memhook.assistants import reading
from memhook.assistants.assistant import Where
from memhook.assistants.reading import UNKNOWN, About, Recording, Step, words
from memhook.store.project import project_of
from memhook.supply import digests, recorded, sessions
from memhook.supply.recorded import Bookmarks, Found, found, project_for
from memhook.supply.sessions import Learned, learned
from memhook.supply.source import Record
from tests.supply import recordings
from tests.supply.recordings import ALL, RIGHT, WRONG, Turn, Write, claude, claude_lines, opencode, written

LEDGER = Turn(
    "Why does the ledger import fail on the replica every Monday?",
    "The replica lags after the weekly vacuum, so `import_ledger` now reads from the primary and waits 40 seconds.",
)
TIMEOUT = Turn(
    "And where is the statement timeout of the ledger configured?",
    "In `ledger/settings.py`: STATEMENT_TIMEOUT, in seconds; the deployment overrides it for the replica alone.",
)
PROJECT = "example.org/team/ledger"


@pytest.fixture(name="home")
def fixture_home(tmp_path: Path) -> Path:
    (tmp_path / "work").mkdir()
    return tmp_path


def in_home(home: Path, *places: Path) -> list[Found]:
    return found(Where(home, {}, launcher=Path()), places)[0]


def read(home: Path, *places: Path) -> list[Learned]:
    every = in_home(home, *places)
    return [learned(one.recording.steps(), one.assistant, lambda _: PROJECT) for one in every]


def contents(one: Learned) -> list[str]:
    return [entry.record["content"] for entry in one.entries if entry.record is not None]


def only(some: list[Learned]) -> Learned:
    assert len(some) == 1
    return some[0]


@pytest.mark.parametrize("write", ALL.values(), ids=ALL)
def test_each_assistants_session_gives_a_digest_an_exchange_and_its_pairs_of_commands(write: Write, home: Path) -> None:
    write(home, [LEDGER, TIMEOUT], str(home / "work"), "5f2c")
    one = only(read(home))
    pair = f"`{WRONG}` does not work here; `{RIGHT}` does."
    texts = [f"{turn.asked}\n\n{turn.ended}" for turn in (LEDGER, TIMEOUT)]
    assert contents(one) == [texts[0], pair, texts[1], pair]
    assert (one.turns, one.problems) == (2, [])
    records = [entry.record for entry in one.entries if entry.record]
    assert [record["session"].partition("/")[2] for record in records] == ["5f2c#1", "5f2c#1.1", "5f2c#2", "5f2c#2.1"]
    assert {datetime.fromisoformat(record["created"]).date().isoformat() for record in records} == {"2026-02-21"}


@pytest.mark.parametrize("write", ALL.values(), ids=ALL)
def test_a_session_says_where_it_was(write: Write, home: Path) -> None:
    write(home, [LEDGER], str(home / "work"), "5f2c")
    (one,) = in_home(home)
    about = next(step for step in one.recording.steps() if isinstance(step, About))
    assert (about.session, about.directory, about.is_subagent) == ("5f2c", str(home / "work"), False)


@pytest.mark.parametrize("name", ["claude", "codex", "copilot", "gemini", "gemini, one object", "opencode", "qwen"])
def test_a_file_in_any_folder_is_recognised_by_its_content(name: str, home: Path) -> None:
    path = ALL[name](home, [LEDGER], str(home / "work"), "5f2c")
    copy = home / "copies" / f"{name.partition(',')[0]}{path.suffix}"
    copy.parent.mkdir()
    copy.write_bytes(path.read_bytes())
    (one,) = in_home(home, copy.parent)
    assert one.assistant == name.partition(",")[0]


def test_the_folders_that_environment_variables_name_are_read(home: Path) -> None:
    path = claude(home, [LEDGER], str(home / "work"))
    elsewhere = home / "elsewhere"
    (home / ".claude").rename(elsewhere)
    assert in_home(home) == []
    (one,), _ = found(Where(home, {"CLAUDE_CONFIG_DIR": str(elsewhere)}, launcher=Path()))
    assert one.recording.key == str(elsewhere / path.relative_to(home / ".claude"))


def test_a_subagents_session_is_left_out(home: Path) -> None:
    path = opencode(home, [LEDGER], str(home / "work"))
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("UPDATE session SET parent_id = 'parent'")
    assert {entry.problem for entry in only(read(home)).entries} == {digests.SUBAGENT}


@pytest.mark.parametrize(
    ("damage", "reason", "kept"),
    [
        (lambda data: data[:-40], reading.CUT_SHORT, 2),
        (lambda data: data[: len(data) // 2], reading.CUT_SHORT, 0),
        (lambda data: b'{"kind": "v9"}\n', UNKNOWN, 0),
        (lambda data: b"\xff\xfe\x00" * 50, reading.CUT_SHORT, 0),
        (lambda data: b"", UNKNOWN, 0),
    ],
    ids=["last line", "half", "unknown", "no text", "empty"],
)
def test_a_damaged_file_is_skipped_with_a_reason(damage: object, reason: str, kept: int, home: Path) -> None:
    path = claude(home, [LEDGER, TIMEOUT], str(home / "work"))
    assert callable(damage)
    path.write_bytes(damage(path.read_bytes()))
    one = only(read(home))
    assert reason in one.problems
    assert len(contents(one)) == kept


def test_a_huge_file_is_not_read(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "LARGEST_BYTES", 100)
    claude(home, [LEDGER], str(home / "work"))
    assert only(read(home)).problems == [reading.HUGE]


def test_a_link_is_not_followed(home: Path) -> None:
    path = claude(home, [LEDGER], str(home / "work"))
    target = home / "target.jsonl"
    path.rename(target)
    path.symlink_to(target)
    assert found(Where(home, {}, launcher=Path())) == ([], [recorded.A_LINK])


def test_the_exchange_that_is_going_on_waits_for_its_end(home: Path) -> None:
    lines = claude_lines([LEDGER, TIMEOUT], str(home / "work"), "5f2c")
    path = written(home / ".claude/projects/-ledger/5f2c.jsonl", lines[:-2])
    one = only(read(home))
    assert (one.turns, one.problems) == (1, [sessions.GOES_ON])
    written(path, lines)
    (again,) = in_home(home)
    rest = learned(again.recording.steps(), "claude", lambda _: PROJECT, turns_read=1)
    assert [text.partition("\n")[0] for text in contents(rest)][:1] == [TIMEOUT.asked]


def test_a_file_that_grows_while_it_is_read_keeps_its_last_exchange_for_later(home: Path) -> None:
    path = claude(home, [LEDGER, TIMEOUT], str(home / "work"))
    (one,) = in_home(home)

    def steps() -> Iterator[Step]:
        for number, step in enumerate(one.recording.steps()):
            if number == 1:
                with path.open("a") as file:
                    file.write(json.dumps({"type": "system"}) + "\n")
            yield step

    result = learned(steps(), "claude", lambda _: PROJECT)
    assert (result.turns, result.problems) == (1, [reading.BEING_WRITTEN])


def test_private_exchanges_teach_nothing(home: Path) -> None:
    claude(home, [Turn(f"{LEDGER.asked} Always use the primary. #private", LEDGER.ended)], str(home / "work"))
    one = only(read(home))
    assert (contents(one), one.orders) == ([], [])


def test_a_session_in_no_project_is_left_out(home: Path) -> None:
    claude(home, [LEDGER], str(home / "work"))
    (one,) = in_home(home)
    assert learned(one.recording.steps(), "claude", lambda _: "").problems == [sessions.NO_PROJECT]


def test_the_project_of_a_directory_that_is_gone_is_its_remotes_or_its_repositorys_or_its_paths(home: Path) -> None:
    (home / "work/.git").mkdir()
    for name in ("objects", "refs"):
        (home / "work/.git" / name).mkdir()
    (home / "work/.git/HEAD").write_text("ref: refs/heads/main\n")
    inside = project_of(home / "work").id
    assert project_for(About("", str(home / "work/gone/deep")), project_of) == inside
    assert project_for(About("", "/gone/ledger", "git@example.org:team/ledger.git"), project_of) == PROJECT
    assert project_for(About("", "/gone/ledger"), project_of) == "/gone/ledger"
    assert project_for(About("", "/tmp/gone-ledger"), project_of) == ""
    assert project_for(About("", ""), project_of) == ""


def order(session: str, sentence: str) -> Record:
    return {"content": sentence, "quote": sentence, "project": PROJECT, "session": f"{session}#1.rule1"}


def test_an_order_counts_once_a_second_session_has_heard_it(tmp_path: Path) -> None:
    file = tmp_path / "read.json"
    bookmarks = Bookmarks(file)
    first, other = "Always run the ledger tests with the replica off.", "Never push to the release branch on Fridays."
    assert bookmarks.recurring(order("claude/1", first)) is None
    assert bookmarks.recurring(order("claude/1", first)) is None
    assert bookmarks.recurring(order("claude/2", other)) is None
    bookmarks.save()
    again = order("codex/3", "always run ledger tests with replica off!")
    assert Bookmarks(file).recurring(again) == again
    assert "ledger" not in file.read_text().replace(PROJECT, "")


def test_bookmarks_that_cannot_be_read_count_as_none(tmp_path: Path) -> None:
    one = Recording("a", "1:2:3", 0.0, lambda: iter(()))
    for text in ("", "[]", '{"read": {"a": 5}}', "\0"):
        (tmp_path / "read.json").write_text(text)
        assert not Bookmarks(tmp_path / "read.json").is_read(one)
    bookmarks = Bookmarks(tmp_path / "read.json")
    bookmarks.put(one, 4)
    bookmarks.save()
    assert Bookmarks(tmp_path / "read.json").is_read(one)
    assert Bookmarks(tmp_path / "read.json").turns(one) == 4


def test_a_pair_of_commands_is_anchored_to_what_failed_without_what_it_was_run_on(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recordings, "WRONG", "bellplan render --out week.pdf")
    monkeypatch.setattr(recordings, "RIGHT", "bellplan render --output week.pdf")
    claude(home, [LEDGER], str(home / "work"))
    records = [entry.record for entry in only(read(home)).entries if entry.record]
    assert [record.get("anchors") for record in records] == [None, ["bellplan render --out"]]


def test_orders_are_found_in_what_the_user_typed_and_questions_are_none(home: Path) -> None:
    asked = f"{LEDGER.asked} From now on, use the primary for imports. Should we always retry?"
    claude(home, [Turn(asked, LEDGER.ended)], str(home / "work"))
    (one,) = only(read(home)).orders
    assert one["content"] == "From now on, use the primary for imports."
    assert one["created"] == datetime(2026, 2, 21, 9, 30, tzinfo=UTC).isoformat()


def test_a_command_that_failed_for_any_reason_is_worth_a_note_when_a_second_session_has_the_pair(home: Path) -> None:
    by_chance = Turn(LEDGER.asked, LEDGER.ended, output="2 failed, 40 passed")
    bookmarks = Bookmarks(home / "read.json")
    notes = []
    for session in ("5f2c", "77aa"):
        path = written(home / f"{session}.jsonl", claude_lines([by_chance], str(home / "work"), session))
        one = only(read(home, path))
        assert len(contents(one)) == 1
        notes += [bookmarks.recurring(order) for order in one.orders]
    assert [note and note["content"] for note in notes] == [None, f"`{WRONG}` does not work here; `{RIGHT}` does."]


@pytest.mark.parametrize(
    "content", ["Why?", {"text": "Why?"}, [{"text": "Why?"}, {"text": "Hm.", "thought": True}], ["Why?"]]
)
def test_a_message_is_read_in_each_form_that_the_apis_allow(content: object) -> None:
    assert words(content) == "Why?"
