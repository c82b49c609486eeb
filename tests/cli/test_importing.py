"""Import and export on a real engine, with an embedder one can compute by hand."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from memhook.cli import place
from memhook.cli.commands import import_
from memhook.engine.engine import Engine
from memhook.supply import markdown
from memhook.supply.files import folder_entries, source_of
from memhook.supply.json_files import REFERENCE_SERVER
from memhook.supply.markdown import MARKDOWN
from memhook.supply.source import Record, Source
from tests.cli.conftest import Cli
from tests.fake_embedder import HashEmbedder
from tests.mcp_server.conftest import engine_with

GRAPH: list[dict[str, Any]] = [
    {"type": "entity", "name": "Ana", "entityType": "person", "observations": ["Leads billing"]},
    {"type": "relation", "from": "Ana", "to": "Acme", "relationType": "works_at"},
]


@pytest.fixture(autouse=True)
def engine(home: Path, monkeypatch: pytest.MonkeyPatch) -> Engine:
    real = engine_with(HashEmbedder(), monkeypatch)
    monkeypatch.setattr(place, "door", lambda *_, **__: lambda method, **params: real.call(method, params, "", {}))
    return real


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    (folder / "deep" / ".hidden").mkdir(parents=True)
    (folder / "CLAUDE.md").write_text("# Shop\n\n## Build\nRun make.\n\n## Test\nRun pytest.\n")
    (folder / "deep" / "vpn.md").write_text("---\ntags: [vpn]\nnamespace: incidents\n---\nDeploys hang without it.\n")
    (folder / "deep" / ".hidden" / "x.md").write_text("hidden")
    (folder / "code.py").write_text("# not Markdown")
    return folder


def listed(cli: Cli) -> dict[str, dict[str, Any]]:
    return {one["title"]: one for one in cli("list", "--json", "--limit", "100").json["memories"]}


def test_a_folder_of_markdown_comes_in_and_again_only_what_has_changed(cli: Cli, notes: Path) -> None:
    assert cli("import", str(notes)).out == "stored 3, already there 0, forgotten before 0, bad lines 0\n"
    first = listed(cli)
    assert set(first) == {"Shop › Build", "Shop › Test", "Deploys hang without it."}
    vpn = first["Deploys hang without it."]
    assert (vpn["tags"], vpn["namespace"], vpn["source"]) == (["vpn"], "incidents", "deep/vpn.md")
    cli("edit", vpn["urn"], "--pin")
    (notes / "CLAUDE.md").write_text("# Shop\n\n## Build\nRun make -j.\n\n## Test\nRun pytest.\n")
    again = cli("import", str(notes)).out
    assert again == "stored 0, updated 1, already there 2, forgotten before 0, bad lines 0\n"
    second = listed(cli)
    assert {title: one["urn"] for title, one in second.items()} == {title: one["urn"] for title, one in first.items()}
    assert second["Shop › Build"]["content"] == "Run make -j."
    assert second["Deploys hang without it."]["pinned"]


def test_a_dry_run_shows_what_would_come_in_and_stores_nothing(cli: Cli, notes: Path, tmp_path: Path) -> None:
    shown = cli("import", str(notes / "CLAUDE.md"), "--dry-run").out
    assert shown == (
        "would store: Shop › Build  (CLAUDE.md: Shop › Build)\nwould store: Shop › Test  (CLAUDE.md: Shop › Test)\n"
        "would store 2, already there 0, forgotten before 0, bad lines 0\n"
    )
    lines = tmp_path / "a.jsonl"
    lines.write_text('{"content": "one"}\n')
    foreseen = cli("import", str(lines), "--dry-run", "--json").json
    assert foreseen["entries"] == [{"from": "line 1", "outcome": "would store", "title": "one"}]
    assert (foreseen["would_store"], foreseen["would_update"], foreseen["already_there"]) == (1, 0, 0)
    assert not {"stored", "updated"} & foreseen.keys()
    assert listed(cli) == {}
    cli("import", str(notes))
    (notes / "CLAUDE.md").write_text("# Shop\n\n## Build\nRun ninja.\n")
    assert "would update: Shop › Build  (CLAUDE.md: Shop › Build)\n" in cli("import", str(notes), "--dry-run").out
    assert listed(cli)["Shop › Build"]["content"] == "Run make."


def test_a_dry_run_of_several_batches_counts_as_the_import_does(
    cli: Cli, engine: Engine, in_a_project: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    calls = partial(engine.call, directory=str(in_a_project), environment={})
    monkeypatch.setattr(place, "door", lambda *_, **__: lambda method, **params: calls(method, params))
    monkeypatch.setattr(import_, "FIRST_LINES", 4)
    records = [{"title": f"Port of {number % 9}", "content": str(8080 + number % 2)} for number in range(30)]
    records += [{"content": "8080"}, {"title": "Port of 1", "content": "8080", "project": "elsewhere"}]
    file = tmp_path / "a.jsonl"
    file.write_text("\n".join(map(json.dumps, records)))
    foreseen = cli("import", str(file), "--dry-run")
    done = cli("import", str(file))
    assert foreseen.out.splitlines()[-1] == done.out.replace("stored", "would store").rstrip()
    assert done.out == "stored 19, already there 13, forgotten before 0, bad lines 0\n"
    assert foreseen.err == done.err.replace("Global", "Would be global")
    assert cli("import", str(file)).out.startswith("stored 0, already there 32")


def test_one_text_under_two_titles_is_two_memories_however_it_comes_in(cli: Cli, tmp_path: Path) -> None:
    for name in ("auth", "kiosk"):
        assert cli("remember", "Mara", "--title", f"Owner of {name}").out.startswith(f"Remembered: Owner of {name}\n")
    assert {"Owner of auth", "Owner of kiosk"} == set(listed(cli))
    for name, text in (
        ("p.md", "# Ports\n\n## Port of billing\n\n8080\n\n## Port of auth\n\n8080\n"),
        ("p.csv", "title,text\nPort of billing,8081\nPort of auth,8081\n"),
        ("p.jsonl", '{"title": "Port of billing", "text": "8082"}\n{"title": "Port of auth", "text": "8082"}\n'),
    ):
        (tmp_path / name).write_text(text)
        assert cli("import", str(tmp_path / name)).out.startswith("stored 2, already there 0")
        assert cli("import", str(tmp_path / name)).out.startswith("stored 0, already there 2")


def test_packages_and_what_git_ignores_are_left_out(cli: Cli, notes: Path) -> None:
    for name in ("node_modules/x/README.md", "deep/vendor/gem/README.md", "out.md", "deep/own.md"):
        (notes / name).parent.mkdir(parents=True, exist_ok=True)
        (notes / name).write_text(f"the text of {name}")
    entries = cli("import", str(notes), "--dry-run", "--json").json["entries"]
    assert [one["from"] for one in entries if "the text of" in one["title"]] == [
        "deep/own.md",
        "deep/vendor/gem/README.md",
        "out.md",
    ]
    subprocess.run(["git", "init", "-q", str(notes)], check=True)
    (notes / ".gitignore").write_text("vendor/\nout.md\n")
    entries = cli("import", str(notes), "--dry-run", "--json").json["entries"]
    assert [one["from"] for one in entries if "the text of" in one["title"]] == ["deep/own.md"]
    ignored = cli("import", str(notes / "deep" / "vendor"), "--dry-run", "--json").json["entries"]
    assert [one["from"] for one in ignored] == ["gem/README.md"]


def test_what_git_ignores_is_left_out_however_the_folder_is_named(
    cli: Cli, notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    subprocess.run(["git", "init", "-q", str(notes)], check=True)
    (notes / ".gitignore").write_text("private.md\n")
    (notes / "deep" / "private.md").write_text("nobody's business")
    (notes.parent / "link").symlink_to(notes / "deep")
    for directory, name in ((notes, "."), (notes, "deep"), (notes / "deep", ".."), (notes.parent, "link")):
        monkeypatch.chdir(directory)
        entries = cli("import", name, "--dry-run", "--json").json["entries"]
        assert {one["from"] for one in entries if "CLAUDE.md" not in one["from"]} <= {"vpn.md", "deep/vpn.md"}


def test_the_name_of_another_file_alone_is_no_memory(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "AGENTS.md").write_text("@../../README.md\n@docs/style.md\n\n# Agents\n@mara owns them.\n")
    assert cli("import", str(tmp_path / "AGENTS.md")).out.startswith("stored 1, ")
    assert set(listed(cli)) == {"Agents"}


def test_in_a_project_it_is_told_how_many_became_global(
    cli: Cli, notes: Path, engine: Engine, in_a_project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = partial(engine.call, directory=str(in_a_project), environment={})
    monkeypatch.setattr(place, "door", lambda *_, **__: lambda method, **params: calls(method, params))
    assert cli("import", str(notes), "--project").err == ""
    told = "Global, so seen in every project: 3 memories. For this project only: --project\n"
    assert cli("import", str(notes)).err == told


def test_a_broken_file_costs_only_its_broken_entries(cli: Cli, notes: Path) -> None:
    (notes / "bad.md").write_bytes(b"# A\n\xff\xfe")
    (notes / "odd.md").write_text("---\nsensitivity: top\n---\n# X\nx\n# Y\ny\n")
    result = cli("import", str(notes))
    assert result.code == 1
    assert result.out == "stored 3, already there 0, forgotten before 0, bad lines 3\n"
    assert "bad.md: not UTF-8 (invalid start byte at byte 5)\n" in result.err
    assert "odd.md: X: sensitivity: " in result.err


def test_a_list_in_json_comes_in_entry_by_entry(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "notes.json"
    file.write_text(json.dumps([{"content": "Ducks swim.", "title": "Ducks"}, {"text": "Geese fly."}, 5], indent=2))
    found = cli("import", str(file))
    assert found.out == "stored 2, already there 0, forgotten before 0, bad lines 1\n"
    assert "entry 3: not a JSON object" in found.err
    assert set(listed(cli)) == {"Ducks", "Geese fly."}
    file.write_text("[" * 100_000)
    assert "notes.json: not JSON" in cli("import", str(file)).err


def test_the_graph_of_the_reference_server_comes_in_and_grows(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "memory.json"
    file.write_text("\n".join(map(json.dumps, GRAPH)) + "\nbroken")
    result = cli("import", str(file))
    assert result.out == "stored 1, already there 0, forgotten before 0, bad lines 1\n"
    assert result.err == "line 3: not a JSON object\n"
    assert listed(cli)["Ana"]["content"] == "Leads billing\nworks_at Acme"
    grown = [{**GRAPH[0], "observations": ["Leads billing", "Speaks Dutch"]}, GRAPH[1]]
    file.write_text("\n".join(map(json.dumps, grown)))
    assert cli("import", str(file)).out.startswith("stored 0, updated 1")
    assert listed(cli)["Ana"]["content"] == "Leads billing\nSpeaks Dutch\nworks_at Acme"


def test_a_folder_of_markdown_goes_out_and_comes_back_as_it_was(
    cli: Cli, notes: Path, tmp_path: Path, engine: Engine
) -> None:
    cli("import", str(notes))
    cli("remember", "# Not a heading\ntext\n# of a file", "--title", 'Odd: "title" / [x]', "--tag", "a,b")
    folder = tmp_path / "out"
    assert cli("export", "--markdown", str(folder)).out == f"Exported 4 memories to {folder}.\n"
    before = listed(cli)
    names = sorted(str(path.relative_to(folder)) for path in folder.rglob("*.md"))
    odd = before['Odd: "title" / [x]']["id"]
    assert f"general/odd-title-x-{odd}.md" in names
    assert cli("import", str(folder)).out.startswith("stored 0, already there 4")
    file = folder / "general" / f"odd-title-x-{odd}.md"
    file.write_text(file.read_text().replace("of a file", "of a changed file"))
    assert cli("import", str(folder)).out.startswith("stored 0, updated 1, already there 3")
    assert listed(cli)['Odd: "title" / [x]']["content"] == "# Not a heading\ntext\n# of a changed file"
    cli("edit", odd, "--title", "Plain")
    cli("export", "--markdown", str(folder))
    assert len(list(folder.rglob("*.md"))) == 4


@pytest.mark.parametrize(
    ("head", "name", "source"),
    [
        (b'{"content": "x"}\n', "x.md", None),
        (b'\xef\xbb\xbf\n{"type":"entity","name":"A"}\n', "x.jsonl", REFERENCE_SERVER),
        (b"# Heading\ntext", "notes", MARKDOWN),
        (b"---\ntitle: x\n---\n", "-", MARKDOWN),
        (b"plain words", "AGENTS.md", MARKDOWN),
        (b'# Use\n```json\n{"a": 1}\n```\n', "x.md", MARKDOWN),
        (b'broken\n{"content": "x"}\n{"content": "y"}\n', "-", None),
        (b"# 3\n", "x.jsonl", None),
        (b"", "-", None),
    ],
)
def test_what_a_file_is_shows_in_its_first_lines(head: bytes, name: str, source: Source | None) -> None:
    assert source_of(head, name) is source


def test_a_link_out_of_the_folder_is_not_followed_and_a_pipe_not_waited_for(cli: Cli, notes: Path) -> None:
    private = notes.parent / "private.md"
    private.write_text("the key to everything")
    (notes / "innocent.md").symlink_to(private)
    (notes / "loop.md").symlink_to(notes / "loop.md")
    (notes / "same.md").symlink_to(notes / "deep" / "vpn.md")
    os.mkfifo(notes / "pipe.md")
    result = cli("import", str(notes), "--json").json
    reasons = {one["entry"]: one["reason"] for one in result["bad_lines"]}
    assert reasons["innocent.md"] == "a link that leads out of the folder"
    assert "loop.md" in reasons
    assert cli("search", "key to everything", "--json").json["results"][0]["content"] != "the key to everything"


def test_a_hostile_file_costs_itself_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.md").write_text("---\ntags: " + "[" * 100_000 + "\n---\nfirst", encoding="utf-8")
    (tmp_path / "b.md").write_text("second", encoding="utf-8")
    (tmp_path / "c.md").write_text("third", encoding="utf-8")
    records = markdown.records

    def failing(text: str, name: str, key: str, **_: bool) -> list[Record]:
        if text == "second":
            raise IndexError("list index out of range")
        return records(text, name, key)

    monkeypatch.setattr(markdown, "records", failing)
    entries = list(folder_entries(tmp_path))
    assert [one.record["content"] if one.record else one.problem for one in entries] == [
        "first",
        "memhook failed on it (IndexError: list index out of range)",
        "third",
    ]


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-be", "utf-32"])
@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("notes.jsonl", '{"title": "Tür", "text": "Die Tür hat den Code 4711."}\r\n'),
        ("notes.json", '[{"title": "Tür", "text": "Die Tür hat den Code 4711."}]'),
        ("notes.csv", "title;text\r\nTür;Die Tür hat den Code 4711.\r\n"),
        ("notes.md", "# Tür\nDie Tür hat den Code 4711.\n"),
    ],
)
def test_a_file_is_read_in_the_encoding_that_its_mark_names(
    cli: Cli, tmp_path: Path, name: str, text: str, encoding: str
) -> None:
    marked = f"\ufeff{text}" if encoding.endswith("-be") else text
    (tmp_path / name).write_bytes(marked.encode(encoding))
    assert cli("import", str(tmp_path / name)).out.startswith("stored 1,")
    assert listed(cli)["Tür"]["content"] == "Die Tür hat den Code 4711."


def test_a_folder_and_a_terminal_may_have_other_encodings_too(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.md").write_bytes("# Tür\nOffen.\n".encode("utf-16"))
    assert cli("import", str(tmp_path)).out.startswith("stored 1,")
    (tmp_path / "b.jsonl").write_bytes('{"text": "Zweitens."}\n'.encode("utf-16"))
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    assert cli("import", str(tmp_path / "b.jsonl")).out.startswith("stored 1,")


def test_a_table_comes_in_and_again_only_what_has_changed(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "notes.csv"
    file.write_text("id,text,tags\n1,The door code is 4711.,door\n2,Parcels are weighed.,\n3,,x\n")
    first = cli("import", str(file))
    assert first.out == "stored 2, already there 0, forgotten before 0, bad lines 1\n"
    assert "line 4" in first.err
    file.write_text("id,text,tags\n1,The door code is 4712.,door\n2,Parcels are weighed.,\n")
    again = cli("import", str(file))
    assert again.out == "stored 0, updated 1, already there 1, forgotten before 0, bad lines 0\n"
    assert listed(cli)["The door code is 4712."]["tags"] == ["door"]


def test_a_table_without_a_text_is_an_error_that_names_its_columns(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "sales.csv").write_text("id,amount\n1,2\n")
    result = cli("import", str(tmp_path / "sales.csv"))
    assert result.code == 1
    assert "found are id, amount" in result.err


@pytest.mark.parametrize(("name", "text"), [("{}.json", '[{{"id": 1, "text": "{}"}}]'), ("{}.csv", "id,text\n1,{}\n")])
def test_a_number_in_another_file_is_another_memory(cli: Cli, tmp_path: Path, name: str, text: str) -> None:
    for one in ("Alpha is red", "Beta is blue"):
        (tmp_path / name.format(one)).write_text(text.format(one))
        assert cli("import", str(tmp_path / name.format(one))).out.startswith("stored 1,")
    assert listed(cli).keys() == {"Alpha is red", "Beta is blue"}
