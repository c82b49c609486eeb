"""The inbox in a terminal, with the real engine behind the commands."""

from __future__ import annotations

import os
import pty
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from memhook.cli import place
from memhook.engine.engine import Engine
from memhook.store.ledger import Proposal
from tests.cli.conftest import Cli
from tests.fake_embedder import HashEmbedder
from tests.mcp_server.conftest import engine_with

RUNNER = "Why do the nightly builds hang?\n\nThe disk of the runner was full: prune the images first."
MIGRATION = "How are migrations written here?\n\nOnly additive ones, and each with a test against a dump."
COLOURS = "Which colours may the page have?\n\nThose of the palette file, nothing else was ever agreed."


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch, home: Path) -> Iterator[Engine]:
    found = engine_with(HashEmbedder(), monkeypatch)
    monkeypatch.setattr(place, "door", lambda *_, **__: lambda method, **given: found.call(method, given, "/", {}))
    yield found
    found.close()


@pytest.fixture
def filled(engine: Engine) -> Engine:
    records = [
        {"content": text, "session": f"claude/5f2e{n}#1", "created": f"2026-02-2{n}", "quote": text[:30], "project": ""}
        for n, text in enumerate((RUNNER, MIGRATION, COLOURS), 1)
    ]
    engine.call("capture", {"records": records}, "/", {})
    return engine


@pytest.fixture
def keys(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], int]]:
    """A terminal, at which these keys are pressed."""
    ours, theirs = pty.openpty()
    with os.fdopen(theirs) as terminal:
        monkeypatch.setattr("sys.stdin", terminal)
        yield lambda pressed: os.write(ours, pressed.encode())
    os.close(ours)


Keys = Callable[[str], int]


def contents(cli: Cli) -> list[str]:
    return [item["memory"]["content"] for item in cli("inbox", "--json").json["items"]]


@pytest.mark.usefixtures("filled")
def test_the_inbox_is_listed_newest_first_with_the_source_of_each(cli: Cli) -> None:
    out = cli("inbox").out
    assert out.index("Which colours") < out.index("How are migrations") < out.index("Why do the nightly")
    assert "2026-02-21  claude, session 5f2e1, turn 1" in out
    assert contents(cli) == [COLOURS, MIGRATION, RUNNER]
    assert "2 more: memhook inbox --limit 3" in cli("inbox", "--limit", "1").out


@pytest.mark.usefixtures("filled")
def test_items_are_kept_dropped_edited_and_merged_by_command(cli: Cli) -> None:
    urns = [item["memory"]["urn"] for item in cli("inbox", "--json").json["items"]]
    assert cli("inbox", "keep", urns[0]).out.startswith("Kept: Which colours")
    assert cli("inbox", "edit", urns[1], "--content", "Migrations are additive.").out.startswith("Kept: Migrations")
    assert cli("inbox", "drop", urns[2]).out.startswith("Dropped: Why do the nightly")
    assert "Nothing waits for a review." in cli("inbox").out
    assert "is not in the inbox" in cli("inbox", "drop", urns[0]).err
    assert cli("get", urns[1], "--json").json["memories"][0]["origin"] == "user"


def test_dropping_what_may_be_superseded_says_that_it_is_kept_as_such(engine: Engine, cli: Cli) -> None:
    old, new = (
        engine.call("remember", {"content": f"The timeout is {seconds} seconds."}, "/", {})["memory"]
        for seconds in (30, 60)
    )
    engine.accounts.propose([Proposal("supersede", old["id"], "another value", new["id"])], datetime.now(UTC))
    assert cli("inbox", "drop", old["urn"]).out.startswith(f"Superseded by {new['urn']}: The timeout is 30 seconds.")


def test_a_review_goes_through_them_with_one_key_each(filled: Engine, cli: Cli, keys: Callable[[str], int]) -> None:
    keys("kudlk")
    out = cli("inbox", "review").out
    assert out.count("1 of 3") == 2
    assert "2 memories reviewed." in out
    assert contents(cli) == [MIGRATION]
    assert filled.call("list", {}, "/", {})["total"] == 2


@pytest.mark.usefixtures("filled")
def test_a_review_merges_into_the_memory_that_is_chosen(cli: Cli, keys: Callable[[str], int]) -> None:
    keys("m1q")
    assert "into which one?" in cli("inbox", "review").out
    assert len(contents(cli)) == 1


@pytest.mark.usefixtures("filled")
def test_a_review_edits_in_the_users_editor(
    cli: Cli, keys: Callable[[str], int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VISUAL", "sed -i s/colours/fonts/")
    keys("eq")
    cli("inbox", "review")
    assert contents(cli) == [MIGRATION, RUNNER]
    assert "Which fonts may" in cli("list").out


@pytest.mark.usefixtures("filled")
def test_without_a_terminal_a_review_names_the_commands(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    with Path(os.devnull).open() as nothing:
        monkeypatch.setattr("sys.stdin", nothing)
        assert "memhook inbox keep URN" in cli("inbox", "review").err


def test_a_proposal_is_shown_with_its_reason_and_the_other_memory(engine: Engine, cli: Cli) -> None:
    old, new = (
        engine.call("remember", {"content": f"The timeout is {n} seconds {n * 'now '}."}, "/", {})["memory"]
        for n in (3, 6)
    )
    proposal = Proposal("supersede", old["id"], "another value", new["id"])
    engine.accounts.propose([proposal], datetime.now(UTC))
    out = cli("inbox").out
    assert f"superseded? newer: {new['title']}  {new['urn']}  (another value" in out


@pytest.fixture
def contradicting(engine: Engine) -> tuple[str, str]:
    """The texts of two memories, of which the newer repeats one of the facts of the older."""
    facts = " ".join(f"Rack {number} is cooled by unit {number * 7}." for number in range(40))
    texts = (f"The data centre has two rooms. {facts} The door code changes monthly.", "The door code changes weekly.")
    old, new = (engine.call("remember", {"content": text}, "/", {})["memory"]["id"] for text in texts)
    engine.accounts.propose([Proposal("supersede", old, "another value", new)], datetime.now(UTC))
    return texts


@pytest.mark.parametrize("command", [["inbox"], ["tidy", "--list"], ["tidy", "--json"], ["inbox", "--json"]])
def test_whether_one_supersedes_another_is_asked_with_both_texts_in_full(
    cli: Cli, contradicting: tuple[str, str], command: list[str]
) -> None:
    out = cli(*command).out
    assert all(text in out for text in contradicting)


@pytest.mark.usefixtures("contradicting")
def test_tidy_says_what_each_key_does_and_keeps_both_with_undo(engine: Engine, cli: Cli, keys: Keys) -> None:
    keys("kq")
    out = cli("tidy").out
    assert "[k]eep both, do not ask again  [s]upersede the older by the newer  [f]orget the older" in out
    assert "1 memory changed." in out
    assert cli("tidy").out == "Everything is tidy.\n"
    assert contents(cli) == []
    assert engine.call("list", {}, "/", {})["total"] == 2


@pytest.mark.usefixtures("contradicting")
def test_what_tidy_kept_can_be_undone_at_the_next_one(engine: Engine, cli: Cli, keys: Keys) -> None:
    for port in (2525, 2587):
        engine.call("remember", {"content": f"The mailer listens on port {port}."}, "/", {})
    assert cli("tidy", "--json").json["total"] == 2
    keys("kuq")
    assert "0 memories changed." in cli("tidy").out
    assert cli("tidy", "--json").json["total"] == 2


@pytest.mark.usefixtures("filled")
def test_the_source_of_a_memory_names_assistant_session_turn_date_and_words(cli: Cli) -> None:
    urn = cli("inbox", "--json").json["items"][-1]["memory"]["urn"]
    assert cli("source", urn, "--json").json == {
        "urn": urn,
        "by": "captured",
        "assistant": "claude",
        "session": "5f2e1",
        "turn": "1",
        "date": "2026-02-21",
        "source": "",
        "also_in": [],
        "quote": RUNNER[:30].strip(),
    }
    assert "Why do the nightly builds" in cli("source", urn).out
    assert "captured 2026-02-21 from claude, session 5f2e1, turn 1, unreviewed." in cli("why", urn).out


@pytest.mark.usefixtures("filled")
def test_what_was_captured_is_forgotten_by_one_command(cli: Cli) -> None:
    assert len(cli("forget", "--captured", "--session", "5f2e2", "--yes", "--json").json["forgotten"]) == 1
    assert cli("forget", "--captured", "--yes").out == "Forgotten: 2 memories.\n"
    assert "stands alone" in cli("forget", "--captured", "k3v9x2m4p7qa", "--yes").err
    assert "give a URN" in cli("forget", "--yes").err


@pytest.mark.usefixtures("filled")
def test_status_and_stats_say_what_came_in_and_what_was_used(cli: Cli) -> None:
    report = cli("status", "--json").json["supply"]
    assert (report["digests"], report["this_week"], report["waiting"]) == (False, {"captured": 3}, 3)
    out = cli("status").out
    assert "this week: 3 captured; 3 unreviewed: memhook inbox\n" in out
    counts: Any = cli("stats", "--json").json["by_origin"]
    assert counts == {"captured": {"memories": 3, "shown": 0, "used": 0}}
