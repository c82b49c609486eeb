"""What git knows, shown and imported on a real engine."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from memhook.cli import place
from memhook.engine.engine import Engine
from tests.cli.conftest import Cli
from tests.cli.test_projects import Terminal
from tests.fake_embedder import HashEmbedder
from tests.mcp_server.conftest import engine_with
from tests.supply.test_git import WHY, Repository


@pytest.fixture(autouse=True)
def engine(home: Path, monkeypatch: pytest.MonkeyPatch) -> Engine:
    real = engine_with(HashEmbedder(), monkeypatch)
    monkeypatch.setattr(place, "door", lambda *_, **__: lambda method, **params: real.call(method, params, "", {}))
    return real


@pytest.fixture(autouse=True)
def repository(outside_any_project: Path) -> Repository:
    found = Repository(outside_any_project)
    found.commit("Fix missing rows", WHY)
    return found


def test_what_would_be_imported_is_shown_before_the_question(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", Terminal("n\n"))
    result = cli("import", "--git")
    assert result.code == 1
    assert result.err.index("Fix missing rows") < result.err.index("Import 1 memory? [y/N]")
    assert cli("list", "--json").json["memories"] == []


def test_commits_become_memories_of_the_project_once(cli: Cli, outside_any_project: Path) -> None:
    assert "would store 1" in cli("import", "--git", "--dry-run").out
    assert cli("import", "--git", str(outside_any_project), "--yes").out.startswith("stored 1")
    assert cli("import", "--git", "--yes").out.startswith("stored 0, already there 1")
    (memory,) = cli("list", "--json").json["memories"]
    assert (memory["origin"], memory["project"]) == ("import", str(outside_any_project))


def test_a_folder_without_a_repository_is_an_error(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("")  # a project, but not of git
    for folder in (tmp_path, tmp_path / "missing"):
        result = cli("import", "--git", str(folder), "--yes")
        assert result.code == 1
        assert result.err.startswith(f"memhook: {folder} is not in a git repository.\n")


def test_a_repository_without_reasons_has_nothing_to_import(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    Repository(tmp_path / "empty")
    result = cli("import", "--git", str(tmp_path / "empty"), "--yes")
    assert (result.code, result.err) == (0, "No commit here gives a reason, and there is no record of a decision.\n")
