from __future__ import annotations

import io
import json
import stat
import sys
from pathlib import Path
from typing import Any

import pytest

from memhook.cli.commands import import_
from tests.cli.conftest import NOTE, Cli, Engine

Batches = list[list[list[Any]]]


@pytest.fixture
def seen(engine: Engine) -> Batches:
    """The batches of lines that reach the engine, which takes every line that is a JSON object."""
    batches: Batches = []

    def import_lines(lines: list[list[Any]], here: bool, again: bool) -> dict[str, Any]:
        batches.append(lines)
        bad = [[number, "not JSON"] for number, text in lines if not text.startswith("{")]
        return {"outcomes": {"stored": len(lines) - len(bad)}, "bad": bad}

    engine.answers["import_lines"] = import_lines
    return batches


def test_bad_lines_are_listed_by_their_true_number_and_the_good_ones_stored(
    seen: Batches, cli: Cli, tmp_path: Path
) -> None:
    file = tmp_path / "notes.jsonl"
    file.write_bytes(b'\xef\xbb\xbf{"content": "a"}\r\n\n   \nnot json\n\xff\xfe\n{"content": "b\xe2\x80\xa8c"}\nnope')
    result = cli("import", str(file))
    assert [number for batch in seen for number, _ in batch] == [1, 4, 6, 7]
    assert result.code == 1
    listed = "line 4: not JSON\nline 5: not UTF-8 (invalid start byte at byte 1)\nline 7: not JSON\n"
    assert result.err.startswith(listed)
    assert "iconv -f latin1 -t utf-8 FILE" in result.err.removeprefix(listed)
    assert result.out == "stored 2, already there 0, forgotten before 0, bad lines 3\n"
    summary = cli("import", str(file), "--json").json
    assert [bad["line"] for bad in summary["bad_lines"]] == [4, 5, 7]
    assert summary["stored"] == 2


@pytest.mark.usefixtures("seen")
def test_of_a_file_that_is_no_text_a_few_lines_are_listed_and_the_rest_counted(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "picture.jsonl"
    file.write_bytes(b"\x89PNG\xff\n" * 300 + b"no object\n" * 300)
    result = cli("import", str(file))
    assert len(result.err.splitlines()) == import_.MOST_REPORTED + 2
    assert "and 580 more; all of them: --json\n" in result.err
    assert result.out == "stored 0, already there 0, forgotten before 0, bad lines 600\n"
    assert len(cli("import", str(file), "--json").json["bad_lines"]) == 600


def test_lines_go_in_batches_that_grow_and_of_a_bearable_size(
    seen: Batches, cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "notes.jsonl"
    file.write_text('{"content": "x"}\n' * 1_500)
    assert cli("import", str(file)).out.startswith("stored 1500")
    assert sorted(len(batch) for batch in seen) == [28, 64, 128, 256, 512, 512]
    seen.clear()
    monkeypatch.setattr(import_, "BATCH_BYTES", 40)
    cli("import", str(file))
    assert {len(batch) for batch in seen} == {2}


def test_a_line_longer_than_any_memory_costs_only_itself(
    seen: Batches, cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(import_, "MAX_LINE_BYTES", 20)
    file = tmp_path / "notes.jsonl"
    file.write_bytes(b'{"content": "a"}\n' + b"x" * 90 + b'\n{"content": "1234"}\n' + b'{"content": "b"}')
    assert "line 2: longer than" in cli("import", str(file)).err
    assert [number for number, _ in seen[0]] == [1, 3, 4]


def test_import_reads_stdin_and_passes_on_where_to_and_whether_again(
    engine: Engine,
    seen: Batches,
    cli: Cli,
    monkeypatch: pytest.MonkeyPatch,
    in_a_project: Path,
    tmp_path: Path,
) -> None:
    file = tmp_path / "lines"
    file.write_text('{"content": "a"}\n')
    with file.open() as stdin:
        monkeypatch.setattr(sys, "stdin", stdin)
        assert cli("import", "-", "--project", "--again").code == 0
    assert engine.asked[0][1]["here"] is True
    assert engine.asked[0][1]["again"] is True


def test_what_was_forgotten_before_is_counted_and_the_way_back_told(engine: Engine, cli: Cli, tmp_path: Path) -> None:
    engine.answers["import_lines"] = {"outcomes": {"already there": 2, "forgotten before": 1}, "bad": []}
    file = tmp_path / "notes.jsonl"
    file.write_text("{}\n")
    result = cli("import", str(file))
    assert result.out == "stored 0, already there 2, forgotten before 1, bad lines 0\n"
    assert "--again" in result.err
    assert result.code == 0


def test_a_terminal_sees_a_progress_bar(
    seen: Batches, cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    terminal = io.StringIO()
    monkeypatch.setattr(terminal, "isatty", lambda: True, raising=False)
    monkeypatch.setattr(sys, "stderr", terminal)
    file = tmp_path / "notes.jsonl"
    file.write_text("{}\n")
    cli("import", str(file))
    assert "0/1" in terminal.getvalue()
    assert "memories/s" in terminal.getvalue()


def test_who_interrupts_an_import_is_told_how_to_go_on(engine: Engine, cli: Cli, tmp_path: Path) -> None:
    def import_lines(lines: list[list[Any]], here: bool, again: bool) -> dict[str, Any]:
        if lines[0][0] > 1:
            raise KeyboardInterrupt
        return {"outcomes": {"stored": len(lines)}, "bad": []}

    engine.answers["import_lines"] = import_lines
    file = tmp_path / "notes.jsonl"
    file.write_text('{"content": "x"}\n' * 100)
    result = cli("import", str(file))
    assert result.code == 130
    assert "Stopped after 64 memories, which are stored. Run the same command to continue" in result.err


@pytest.mark.parametrize(
    ("name", "told"), [("missing.jsonl", "missing.jsonl cannot be read"), (".", ". contains nothing to import")]
)
def test_a_file_or_folder_that_cannot_be_imported_is_named(engine: Engine, cli: Cli, name: str, told: str) -> None:
    result = cli("import", name)
    assert result.code == 1
    assert f"memhook: {told}" in result.err


@pytest.fixture
def pages(engine: Engine) -> list[dict[str, Any]]:
    records = [NOTE | {"id": f"{number:012}", "content": "ü \udc80"} for number in range(450)]

    def page(after: str, limit: int) -> list[dict[str, Any]]:
        return [record for record in records if record["id"] > after][:limit]

    engine.answers["export_page"] = page
    return records


def test_export_writes_every_record_privately(pages: list[dict[str, Any]], cli: Cli, outside_any_project: Path) -> None:
    result = cli("export", "out.jsonl")
    file = outside_any_project / "out.jsonl"
    assert result.out == "Exported 450 memories to out.jsonl.\n"
    assert [json.loads(line) for line in file.read_text().splitlines()] == pages
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert [path.name for path in outside_any_project.iterdir()] == ["out.jsonl"]


@pytest.mark.parametrize("form", [[], ["--html"]])
def test_export_replaces_a_file_only_when_told_to(
    pages: list[dict[str, Any]], cli: Cli, outside_any_project: Path, form: list[str]
) -> None:
    file = outside_any_project / "out"
    file.write_text("old")
    refused = cli("export", "out", *form)
    assert refused.code == 1
    assert refused.err == "memhook: out already exists.\nChoose another name, or add --replace.\n"
    assert file.read_text() == "old"
    assert cli("export", "out", "--replace", *form).out == "Exported 450 memories to out.\n"
    assert file.read_text() != "old"


def test_export_goes_to_stdout_unless_told_otherwise(pages: list[dict[str, Any]], cli: Cli) -> None:
    result = cli("export")
    assert len(result.out.splitlines()) == 450
    assert cli("export", "-").out == result.out


def test_an_export_that_fails_leaves_the_old_file(engine: Engine, cli: Cli, outside_any_project: Path) -> None:
    engine.answers["export_page"] = ZeroDivisionError()
    (outside_any_project / "out.jsonl").write_text("old")
    assert cli("export", "out.jsonl", "--replace").code == 3
    assert [(path.name, path.read_text()) for path in outside_any_project.iterdir()] == [("out.jsonl", "old")]


def test_an_export_to_nowhere_says_so(pages: list[dict[str, Any]], cli: Cli) -> None:
    assert "no/such/x cannot be written" in cli("export", "no/such/x").err
    assert "cannot be written" in cli("export", ".").err
    assert cli("export", "/dev/null").code == 0
    assert Path("/dev/null").is_char_device()
