from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest

from memhook.errors import NotFound
from tests.cli.conftest import NOTE, Cli, Engine


@pytest.fixture
def in_terminal(monkeypatch: pytest.MonkeyPatch) -> io.StringIO:
    """stdin as a terminal; what the user types goes into it."""
    keys = io.StringIO()
    monkeypatch.setattr(keys, "isatty", lambda: True, raising=False)
    monkeypatch.setattr(sys, "stdin", keys)
    return keys


def test_remember_sends_only_what_was_given(engine: Engine, cli: Cli) -> None:
    engine.answers["remember"] = {"outcome": "stored", "memory": NOTE}
    result = cli("remember", "Read from the primary.")
    assert engine.asked == [("remember", {"content": "Read from the primary.", "here": True})]
    assert result.out == "Remembered: Replica lag\nurn:memhook:k3v9x2m4p7qa  global\n"
    assert result.code == 0


def test_remember_takes_every_field(engine: Engine, cli: Cli, in_a_project: Path) -> None:
    engine.answers["remember"] = {"outcome": "stored", "memory": NOTE}
    options = [
        "--title",
        "T",
        "--summary",
        "S",
        "--namespace",
        "n",
        "--tag",
        "a,b",
        "--tag",
        "c",
        "--project",
        "--sensitivity",
        "restricted",
        "--pin",
    ]
    options += ["--source", "s", "--supersedes", "urn:memhook:k3v9x2m4p7qa", "--related", "X", "--related", "Y"]
    cli("remember", "unquoted", "words", *options, "--expires", "2026-03-01")
    assert engine.asked[0][1] == {
        "content": "unquoted words",
        "here": True,
        "title": "T",
        "summary": "S",
        "namespace": "n",
        "tags": ["a", "b", "c"],
        "sensitivity": "restricted",
        "pinned": True,
        "source": "s",
        "supersedes": ["urn:memhook:k3v9x2m4p7qa"],
        "related": ["X", "Y"],
        "expires": "2026-03-01T00:00:00+00:00",
    }


def test_remember_global_stores_outside_the_project(engine: Engine, cli: Cli, in_a_project: Path) -> None:
    engine.answers["remember"] = {"outcome": "stored", "memory": NOTE}
    cli("remember", "x", "--global")
    assert engine.asked[0][1]["here"] is False


@pytest.mark.parametrize("command", [["remember", "x"], ["search", "x"], ["list"], ["import", "-"]])
def test_project_outside_any_project_is_refused(engine: Engine, cli: Cli, command: list[str]) -> None:
    result = cli(*command, "--project")
    assert result.code == 1
    assert "belongs to no project" in result.err
    assert not engine.asked


def test_remember_says_what_was_there_already(engine: Engine, cli: Cli) -> None:
    engine.answers["remember"] = {"outcome": "already there", "memory": NOTE | {"project": "github.com/a/b"}}
    result = cli("remember", "x")
    assert result.out == "Already remembered: Replica lag\nurn:memhook:k3v9x2m4p7qa  project github.com/a/b\n"
    assert cli("remember", "x", "--json").json["outcome"] == "already there"


def test_a_memory_that_has_expired_already_is_pointed_out(engine: Engine, cli: Cli) -> None:
    engine.answers["remember"] = {"outcome": "stored", "memory": NOTE | {"expires": "2020-01-01T00:00:00+00:00"}}
    assert "expires: 2020-01-01 00:00 UTC (past), so no assistant is shown it" in cli("remember", "x").out


def test_a_dash_reads_the_text_from_stdin(engine: Engine, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    engine.answers["remember"] = {"outcome": "stored", "memory": NOTE}
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO("zwei\nZeilen ü\n".encode())))
    cli("remember", "-")
    assert engine.asked[0][1]["content"] == "zwei\nZeilen ü\n"
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"\xff")))
    assert "not UTF-8" in cli("remember", "-").err


@pytest.mark.parametrize(
    "arguments",
    [
        ("remember", "a\udcffb"),
        ("remember", "ab", "--title", "a\udcffb"),
        ("remember", "ab", "--tag", "a\udcffb"),
        ("edit", "k3v9x2m4p7qa", "--content", "a\udcffb"),
    ],
)
def test_bytes_on_the_command_line_that_are_no_text_are_refused(
    arguments: tuple[str, ...], engine: Engine, cli: Cli
) -> None:
    result = cli(*arguments)
    assert result.code == 1
    assert result.err.startswith("memhook: The text on the command line is not UTF-8 (invalid start byte at byte 1).\n")
    assert "iconv -f ENCODING -t UTF-8" in result.err
    assert engine.asked == []


def test_get_shows_the_whole_record(engine: Engine, cli: Cli) -> None:
    engine.answers["get"] = [
        NOTE
        | {"source": "TICKET-1", "related": ["Ledger"], "pinned": True, "superseded_by": "a" * 12, "aliases": ["m7"]},
        NOTE | {"title": "Other"},
    ]
    result = cli("get", "k3v9x2m4p7qa", "other")
    assert engine.asked == [("get", {"references": ["k3v9x2m4p7qa", "other"], "touch": True})]
    assert result.out.startswith(
        "Replica lag\n"
        "urn:memhook:k3v9x2m4p7qa\n"
        "incidents · 2026-02-14 · global · by user · pinned · superseded\n"
        "tags: db\n"
        "related: Ledger\n"
        "source: TICKET-1\n"
        "superseded by: urn:memhook:aaaaaaaaaaaa\n"
        "also called: m7\n"
        "\n"
        "Read from the primary.\nRaise the timeout to 40 seconds.\n"
        "\n"
        "Other\n"
    )
    assert [memory["title"] for memory in cli("get", "a", "--json").json["memories"]] == ["Replica lag", "Other"]


def test_an_unknown_urn_is_an_error_with_a_way_out(engine: Engine, cli: Cli) -> None:
    engine.answers["get"] = NotFound("No memory is called nope.", "See: memhook list")
    result = cli("get", "nope")
    assert (result.code, result.out) == (1, "")
    assert result.err == "memhook: No memory is called nope.\nSee: memhook list\n"


def test_search_shows_scores_and_excerpts(engine: Engine, cli: Cli) -> None:
    engine.answers["search"] = {"results": [NOTE | {"score": 0.8712, "score_parts": {}}], "next_cursor": "abc"}
    result = cli("search", "statement", "timeout", "--limit", "3", "--namespace", "incidents", "--tag", "db")
    assert engine.asked == [
        ("search", {"query": "statement timeout", "limit": 3, "namespaces": ["incidents"], "tags": ["db"]})
    ]
    assert result.out == (
        "0.87  Replica lag\n"
        "      urn:memhook:k3v9x2m4p7qa  incidents · 2026-02-14 · global · by user #db\n"
        "      Read from the primary. Raise the timeout to 40 seconds.\n"
    )
    page = cli("search", "x", "--ordering", "recency", "--json").json
    assert page["results"][0]["score"] == 0.8712
    cli("search", "x", "--ordering", "recency", "--cursor", page["next_cursor"])
    assert engine.asked[-1] == ("search", {"query": "x", "limit": 10, "ordering": "recency", "cursor": "abc"})


def test_what_scores_nothing_is_left_out_where_something_scores_and_is_shown_otherwise(
    engine: Engine, cli: Cli
) -> None:
    def found(*scores: float) -> None:
        engine.answers["search"] = {"results": [NOTE | {"score": one} for one in scores], "next_cursor": None}

    found(0.2, 0.005, 0.0049, 0.0)
    result = cli("search", "x")
    assert [line[:4] for line in result.out.splitlines() if line.endswith("Replica lag")] == ["0.20", "0.01"]
    assert result.err == "Searched: all projects. Left out, with a score of 0.00: 2 memories; --json has all.\n"
    assert len(cli("search", "x", "--json").json["results"]) == 4
    found(0.001, 0.0)
    result = cli("search", "x")
    assert result.out.count("0.00  Replica lag") == 2
    assert "all score 0.00" in result.err


def test_a_search_without_results_says_so_beside_an_empty_output(engine: Engine, cli: Cli) -> None:
    engine.answers["search"] = {"results": [], "next_cursor": None}
    result = cli("search", "x")
    assert (result.code, result.out, result.err) == (0, "", "Nothing found in all projects.\n")


@pytest.mark.parametrize("condition", [["--tag", "nope"], ["--since", "2030-01-01"], ["--namespace", "nope"]])
def test_a_list_that_no_memory_fits_says_so_and_not_that_there_is_none(
    engine: Engine, cli: Cli, condition: list[str]
) -> None:
    engine.answers["list"] = {"memories": [], "total": 0}
    assert cli("list", *condition).err == "Nothing found in all projects. Try it with fewer conditions.\n"
    assert cli("list").err.startswith("No memories in all projects. Add one: ")


def test_since_goes_as_it_was_typed_once_it_is_understood(engine: Engine, cli: Cli) -> None:
    engine.answers["list"] = {"memories": [], "total": 0}
    cli("list", "--since", "30d", "--before", "2026-01-01")
    assert engine.asked[0][1]["since"] == "30d"
    assert engine.asked[0][1]["before"] == "2026-01-01"
    assert cli("list", "--since", "yesterday").code == 1


def test_list_is_plain_when_piped(engine: Engine, cli: Cli) -> None:
    engine.answers["list"] = {"memories": [NOTE], "total": 41}
    result = cli("list", "--limit", "1", "--offset", "2")
    assert engine.asked == [("list", {"limit": 1, "offset": 2})]
    assert result.out == "Replica lag\n  urn:memhook:k3v9x2m4p7qa  incidents · 2026-02-14 · global · by user #db\n"
    assert result.err == "3 of 41 memories in all projects. More: memhook list --offset 3\n"
    as_json = cli("list", "--json")
    assert (as_json.json["total"], as_json.err) == (41, "")


def test_an_empty_list_says_how_to_begin(engine: Engine, cli: Cli) -> None:
    engine.answers["list"] = {"memories": [], "total": 0}
    assert "memhook remember" in cli("list").err


@pytest.mark.parametrize(
    ("options", "changes"),
    [
        (["--title", "New"], {"title": "New"}),
        (["--expires", ""], {"expires": ""}),
        (["--tag", ""], {"tags": []}),
        (["--tag", "a, b"], {"tags": ["a", "b"]}),
        (["--pin"], {"pinned": True}),
        (["--no-pin"], {"pinned": False}),
        (["--global"], {"project": ""}),
        (["--content", "Other text"], {"content": "Other text"}),
        (["--source", "", "--related", ""], {"source": "", "related": []}),
    ],
)
def test_edit_changes_what_was_named(engine: Engine, cli: Cli, options: list[str], changes: dict[str, object]) -> None:
    engine.answers["edit"] = NOTE
    assert cli("edit", "k3v9x2m4p7qa", *options).out.startswith("Changed: Replica lag\n")
    assert engine.asked == [("edit", {"reference": "k3v9x2m4p7qa", **changes})]


def test_edit_project_moves_a_memory_into_the_project(engine: Engine, cli: Cli, in_a_project: Path) -> None:
    engine.answers["edit"] = NOTE
    cli("edit", "k3v9x2m4p7qa", "--project")
    assert engine.asked[0][1]["project"] == str(in_a_project.resolve())


def test_edit_alone_opens_the_editor(
    engine: Engine, cli: Cli, in_terminal: io.StringIO, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    engine.answers |= {"get": [NOTE], "edit": NOTE}
    editor = tmp_path / "my editor"
    editor.write_text('#!/bin/sh\nsed -i.old s/40/60/ "$2"; rm -f "$2.old"; test "$1" = -w\n')
    editor.chmod(0o700)
    monkeypatch.setenv("EDITOR", f"'{editor}' -w")
    cli("edit", "k3v9x2m4p7qa")
    assert engine.asked[1][1]["content"] == "Read from the primary.\nRaise the timeout to 60 seconds."


@pytest.mark.parametrize(("editor", "message"), [("true", "Nothing changed."), ("false", "ended with code 1")])
def test_an_editor_that_changes_nothing_changes_nothing(
    engine: Engine, cli: Cli, in_terminal: io.StringIO, monkeypatch: pytest.MonkeyPatch, editor: str, message: str
) -> None:
    engine.answers["get"] = [NOTE]
    monkeypatch.setenv("VISUAL", editor)
    assert message in cli("edit", "k3v9x2m4p7qa").err
    assert [method for method, _ in engine.asked] == ["get"]


def test_without_a_setting_edit_opens_an_editor_of_the_system(
    engine: Engine, cli: Cli, in_terminal: io.StringIO, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    engine.answers |= {"get": [NOTE], "edit": NOTE}
    editor = tmp_path / "bin" / "nano"
    editor.parent.mkdir()
    editor.write_text('#!/bin/sh\necho changed >"$1"\n')
    editor.chmod(0o700)
    for name in ("VISUAL", "EDITOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PATH", str(editor.parent))
    assert cli("edit", "k3v9x2m4p7qa").code == 0
    assert engine.asked[-1] == ("edit", {"reference": "k3v9x2m4p7qa", "content": "changed"})


def test_without_editor_or_terminal_edit_says_what_to_do(
    engine: Engine, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine.answers["get"] = [NOTE]
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.delenv("EDITOR", raising=False)
    assert "--content" in cli("edit", "k3v9x2m4p7qa").err
    monkeypatch.setenv("EDITOR", "vi")
    monkeypatch.setattr(sys, "stdin", io.StringIO())
    assert "no terminal" in cli("edit", "k3v9x2m4p7qa").err


def test_forget_asks_in_a_terminal(engine: Engine, cli: Cli, in_terminal: io.StringIO) -> None:
    engine.answers |= {"get": [NOTE], "forget": [NOTE]}
    in_terminal.write("n\ny\n")
    in_terminal.seek(0)
    refused = cli("forget", "k3v9x2m4p7qa")
    assert refused.code == 1
    assert "Replica lag" in refused.err
    assert "Nothing forgotten." in refused.err
    assert "forget" not in dict(engine.asked)
    assert cli("forget", "k3v9x2m4p7qa").out.startswith("Forgotten: Replica lag\n")


def test_forget_without_a_terminal_needs_yes(engine: Engine, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    engine.answers |= {"get": [NOTE], "forget": [NOTE]}
    monkeypatch.setattr(sys, "stdin", io.StringIO("y\n"))
    refused = cli("forget", "k3v9x2m4p7qa")
    assert refused.code == 1
    assert "--yes" in refused.err
    assert "forget" not in dict(engine.asked)
    done = cli("forget", "--yes", "k3v9x2m4p7qa")
    assert done.code == 0
    assert "To have it back: " in done.err


@pytest.mark.parametrize("command", ["forget", "redact"])
def test_without_a_terminal_a_wrong_name_is_what_is_reported(
    engine: Engine, cli: Cli, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    engine.answers["get"] = NotFound("No memory is called nope.", "See: memhook list")
    monkeypatch.setattr(sys, "stdin", io.StringIO())
    refused = cli(command, "nope")
    assert refused.code == 1
    assert refused.err == "memhook: No memory is called nope.\nSee: memhook list\n"


def test_remembered_text_cannot_act_on_the_terminal(engine: Engine, cli: Cli) -> None:
    evil = "\x1b]0;owned\x07\x1b[2Jred\u202e"
    engine.answers["get"] = [NOTE | dict.fromkeys(("title", "content", "namespace", "source", "project"), evil)]
    shown = cli("get", "x").out
    assert "\x1b" not in shown
    assert "\u202e" not in shown
    assert "red" in shown


def test_json_survives_half_a_surrogate_pair_and_keeps_letters(engine: Engine, cli: Cli) -> None:
    engine.answers["get"] = lambda references, touch=True: [NOTE | {"content": "ü \udc80"}]
    out = cli("get", "x", "--json").out
    assert "ü \\udc80" in out
    assert json.loads(out)["memories"][0]["content"] == "ü \udc80"


def test_a_terminal_gets_bold_titles_and_wrapped_lines(
    engine: Engine, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setattr("memhook.cli.output.is_terminal", lambda: True)
    engine.answers["get"] = [NOTE | {"content": "  indented " + "word " * 20 + "\n\nend"}]
    monkeypatch.delenv("NO_COLOR", raising=False)
    lines = cli("get", "x").out.splitlines()
    assert lines[0] == "\033[1mReplica lag\033[0m"
    assert all(line.startswith("  ") and len(line) <= 40 for line in lines[5:-2])
    assert lines[-2:] == ["", "end"]
    monkeypatch.setenv("NO_COLOR", "1")
    assert cli("get", "x").out.splitlines()[0] == "Replica lag"


def test_a_narrow_encoding_costs_characters_not_the_command(
    engine: Engine, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine.answers["get"] = [NOTE | {"content": "größer → 日本"}]
    raw = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(raw, encoding="latin-1", write_through=True))
    assert cli("get", "x").code == 0
    assert cli("get", "x", "--json").code == 0
    text = raw.getvalue().decode("latin-1")
    assert "größer ? ??" in text
    assert json.loads(text[text.index("{") :])["memories"][0]["content"] == "größer → 日本"


def test_limits_are_numbers(engine: Engine, cli: Cli) -> None:
    assert cli("list", "--limit", "-1").code == 2
    assert cli("list", "--limit", "many").code == 2
    assert not engine.asked


def test_mute_and_unmute_say_what_they_did(engine: Engine, cli: Cli) -> None:
    engine.answers["mute"] = lambda references, muted: [NOTE | {"muted": muted}]
    assert cli("mute", NOTE["urn"]).out.startswith("Muted: Replica lag\n")
    assert cli("unmute", NOTE["urn"]).out == "No longer muted: Replica lag\nurn:memhook:k3v9x2m4p7qa  global\n"
    assert cli("mute", NOTE["urn"], "--json").json == {"memories": [NOTE | {"muted": True}]}


@pytest.mark.parametrize(
    ("fields", "mark"),
    [
        ({"muted": True}, "muted"),
        ({"superseded_by": "aaaaaaaaaaaa"}, "superseded"),
        ({"expires": "2020-01-01T00:00:00+00:00"}, "expired"),
    ],
)
def test_a_memory_that_no_assistant_is_shown_is_marked(
    engine: Engine, cli: Cli, fields: dict[str, object], mark: str
) -> None:
    engine.answers["get"] = [NOTE | fields]
    assert f" · {mark}\n" in cli("get", "x").out


EXPUNGED = {
    "memories": ["urn:memhook:k3v9x2m4p7qa"],
    "shown_in": 2,
    "copies": ["/backups/one"],
    "deleted_copies": ["/backups/three"],
    "unreadable_copies": ["/backups/two"],
    "same_content": ["urn:memhook:aaaaaaaaaaaa"],
    "shared_in": ["team"],
}


@pytest.mark.parametrize(("command", "method"), [(["redact"], "redact"), (["forget", "--purge"], "purge")])
def test_what_is_to_be_gone_for_good_is_asked_about_and_told(
    engine: Engine, cli: Cli, in_terminal: io.StringIO, command: list[str], method: str
) -> None:
    engine.answers |= {"get": [NOTE], method: EXPUNGED}
    in_terminal.write("n\ny\n")
    in_terminal.seek(0)
    refused = cli(*command, "k3v9x2m4p7qa")
    assert (refused.code, method in dict(engine.asked)) == (1, False)
    assert "cannot be undone" in refused.err
    assert NOTE["title"] not in refused.err
    done = cli(*command, "k3v9x2m4p7qa")
    assert engine.asked[-1] == (method, {"references": ["k3v9x2m4p7qa"]})
    assert "ed: urn:memhook:k3v9x2m4p7qa\n  the store was rewritten" in done.out
    assert "deleted from 2 recorded answers" in done.out
    assert "/backups/one" in done.out
    assert "deleted the copy /backups/three: it is damaged" in done.out
    assert "/backups/two" in done.err
    assert "The shared store team has a copy" in done.err
    assert "urn:memhook:aaaaaaaaaaaa" in done.err
    assert cli(*command, "k3v9x2m4p7qa", "--yes", "--json").json == EXPUNGED


def test_forget_and_edit_say_which_shared_store_still_has_it_as_it_was(engine: Engine, cli: Cli) -> None:
    record = {**NOTE, "shared_in": ["team"]}
    engine.answers |= {"forget": [record], "edit": record}
    assert "team has a copy, which everybody there sees. To delete it there: --store team" in (
        cli("forget", "k3v9x2m4p7qa", "--yes").err
    )
    assert "To change it there: --store team" in cli("edit", "k3v9x2m4p7qa", "--title", "x").err


@pytest.mark.parametrize("command", [["redact"], ["forget", "--purge"]])
def test_without_a_terminal_nothing_is_gone_for_good_unless_yes_is_said(
    engine: Engine, cli: Cli, monkeypatch: pytest.MonkeyPatch, command: list[str]
) -> None:
    engine.answers["get"] = [NOTE]
    monkeypatch.setattr(sys, "stdin", io.StringIO("y\n"))
    refused = cli(*command, "k3v9x2m4p7qa")
    assert (refused.code, set(dict(engine.asked)) - {"get"}) == (1, set())
    assert "--yes" in refused.err


def test_a_redacted_memory_says_so(engine: Engine, cli: Cli) -> None:
    engine.answers["get"] = [{**NOTE, "redacted": True, "title": "", "content": "", "summary": "", "tags": []}]
    assert cli("get", "k3v9x2m4p7qa").out.startswith("(redacted)\nurn:memhook:k3v9x2m4p7qa\n")
