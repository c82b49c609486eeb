from __future__ import annotations

import json
from pathlib import Path

import pytest

from memhook.cli import place
from memhook.daemon.control import door
from memhook.paths import user_paths
from tests.cli.conftest import Cli

pytestmark = pytest.mark.usefixtures("home_with_model")


@pytest.fixture
def one_engine(monkeypatch: pytest.MonkeyPatch, outside_any_project: Path) -> None:
    """The real thing in this process, opened once for all commands of a test."""
    call = door(user_paths(), str(outside_any_project), use_daemon=False)
    monkeypatch.setattr(place, "door", lambda *_, **__: call)


def test_what_is_remembered_is_found_changed_moved_and_forgotten(
    cli: Cli, in_a_project: Path, one_engine: None
) -> None:
    stored = cli("remember", "Deploys hang without the VPN.", "--tag", "deploy", "--json")
    urn = stored.json["memory"]["urn"]
    assert stored.json["memory"]["project"] == str(in_a_project.resolve())
    assert cli("remember", "Deploys hang without the VPN.").out.startswith("Already remembered")
    found = cli("search", "why does the deploy hang", "--json").json["results"]
    assert [result["urn"] for result in found] == [urn]
    edited = cli("edit", urn, "--title", "VPN", "--expires", "30d", "--global", "--json").json["memory"]
    assert (edited["title"], edited["project"], edited["expires"] is None) == ("VPN", "", False)
    assert cli("edit", urn, "--expires", "", "--json").json["memory"]["expires"] is None
    assert cli("forget", urn, "--yes").code == 0
    assert cli("get", urn).code == 1
    assert cli("list", "--json").json == {"memories": [], "total": 0, "next_cursor": None}


def test_an_export_imported_elsewhere_and_again_is_the_same(
    cli: Cli, outside_any_project: Path, one_engine: None
) -> None:
    notes = outside_any_project / "notes.jsonl"
    lines = [json.dumps({"content": f"Note {number} about the ledger.", "tags": ["n"]}) for number in range(70)]
    notes.write_text("\n".join([*lines, "not json"]))
    first = cli("import", "notes.jsonl")
    assert (first.code, first.out) == (1, "stored 70, already there 0, forgotten before 0, bad lines 1\n")
    assert first.err.startswith("line 71: not JSON")
    assert cli("import", "notes.jsonl").out.startswith("stored 0, already there 70")
    cli("export", "out.jsonl")
    urn = json.loads((outside_any_project / "out.jsonl").read_text().splitlines()[0])["urn"]
    cli("forget", urn, "--yes")
    assert "stored 0, already there 69, forgotten before 1" in cli("import", "out.jsonl").out
    assert "stored 1, already there 69" in cli("import", "out.jsonl", "--again").out


def test_status_and_doctor_without_a_daemon_start_none(cli: Cli) -> None:
    status = cli("--no-daemon", "status", "--json").json
    assert status["memories"] == 0
    assert status["daemon"]["running"] is False
    checks = cli("--no-daemon", "doctor", "--json").json["checks"]
    assert {check["name"] for check in checks if not check["ok"]} == {"hook SessionStart", "hook UserPromptSubmit"}
    assert not user_paths().socket.exists()


def test_what_a_prompt_would_get_is_explained_muted_and_counted(cli: Cli, in_a_project: Path, one_engine: None) -> None:
    urn = cli("remember", "Deploys hang without the VPN.", "--json").json["memory"]["urn"]
    question = "why do deploys hang without the VPN?"
    shown = cli("why", question)
    assert f"{urn}  whole, " in shown.out
    assert "\n  Deploys hang without the VPN.\n(end of memhook notes)\n" in shown.out
    assert cli("why").code == 1
    cli("mute", urn)
    assert f"{urn}  muted\n" in cli("why", question).out
    assert " · muted\n" in cli("list").out
    cli("unmute", urn)
    cli("pause", "30m", "--project")
    assert "nothing: paused" in cli("why", question).out
    assert cli("stats", "--json").json["never_surfaced"] == 1
