"""The script that assistants run, as they run it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from memhook.assistants import switching
from memhook.assistants.switching import launcher_path, launcher_text
from memhook.paths import user_paths
from tests.plugin.test_launcher import script, state, tools

__all__ = ["tools"]

EVENT = ("UserPromptSubmit", "1", "--client", "codex")


@pytest.fixture
def launch(home: Path) -> Path:
    path = launcher_path(user_paths())
    path.parent.mkdir(parents=True)
    path.write_text(launcher_text(), encoding="utf-8")
    path.chmod(0o755)
    return path


def run(path: Path, tools: Path, home: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {"HOME": str(home), "PATH": str(tools)}
    return subprocess.run(
        [str(path), *arguments], input="{}", capture_output=True, text=True, check=False, env=environment, timeout=300
    )


def gone(path: Path) -> None:
    """As after an upgrade of Python."""
    path.write_text(path.read_text(encoding="utf-8").replace(sys.executable, "/gone/python"), encoding="utf-8")


def test_it_names_the_interpreter_and_the_client_absolutely_and_needs_no_path(
    launch: Path, tools: Path, home: Path
) -> None:
    assert f"run {sys.executable} /" in launch.read_text(encoding="utf-8")
    script(tools / "memhook", "echo not this one")
    done = run(launch, tools, home, *EVENT)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_a_gone_interpreter_gives_way_to_the_daemon_s_and_then_to_the_one_on_the_path(
    launch: Path, tools: Path, home: Path
) -> None:
    gone(launch)
    script(tools / "memhook", 'echo memhook "$@"')
    assert run(launch, tools, home, *EVENT).stdout == "memhook hook UserPromptSubmit 1 --client codex\n"
    assert run(launch, tools, home, "mcp").stdout == "memhook mcp\n"
    client = script(home / "hook_client.py", "")
    python = script(home / "python", 'shift 4; echo recorded "$@"')
    (state(home) / "interpreter").write_text(f"{python}\n{client}\n0.1\n", encoding="utf-8")
    assert run(launch, tools, home, *EVENT).stdout == f"recorded {home} UserPromptSubmit 1 --client codex\n"


def test_when_all_are_gone_the_user_is_told_once_and_nothing_fails(launch: Path, tools: Path, home: Path) -> None:
    gone(launch)
    told = [run(launch, tools, home, *EVENT) for _ in range(3)]
    assert [done.returncode for done in told] == [0, 0, 0]
    assert [bool(done.stdout) for done in told] == [True, False, False]
    assert "memhook install" in json.loads(told[0].stdout)["systemMessage"]
    assert run(launch, tools, home, "mcp").returncode == 1


def test_a_path_with_quotes_and_spaces_is_no_trouble(
    tmp_path: Path, tools: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / """it's "here" """
    folder.mkdir()
    python = script(folder / "python", 'echo "$1 $2"')
    monkeypatch.setattr(sys, "executable", str(python))
    path = script(tmp_path / "launch", launcher_text().removeprefix("#!/bin/sh\n"))
    assert run(path, tools, home, *EVENT).stdout == "-I -S\n"
    python.unlink()
    assert run(path, tools, home, *EVENT).stdout == f"{json.dumps({'systemMessage': switching.GONE})}\n"


def test_an_environment_that_gets_cleaned_away_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not switching.is_temporary()
    monkeypatch.setattr(sys, "prefix", "/home/dev/.cache/uv/archive-v0/abc")
    assert switching.is_temporary()
