"""The launcher and the set-up as Claude Code runs them, without the download."""

from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from memhook import __version__

ROOT = Path(__file__).parents[2]
LAUNCH = ROOT / "hooks" / "launch"
HOOKS = json.loads((ROOT / "hooks" / "hooks.json").read_text(encoding="utf-8"))["hooks"]


@pytest.fixture
def tools(tmp_path: Path) -> Path:
    """A PATH of its own, with what the launcher needs and neither memhook nor Python."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in ("sh", "cat", "mkdir", "rm", "mv", "find", "dirname", "nohup", "printf"):
        found = shutil.which(name)
        if found:
            (folder / name).symlink_to(found)
    return folder


def script(path: Path, text: str) -> Path:
    path.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def launch(home: Path, tools: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {"HOME": str(home), "PATH": str(tools), **variables}
    command = [str(LAUNCH), *arguments]
    return subprocess.run(
        command, input="{}", capture_output=True, text=True, check=False, env=environment, timeout=300
    )


def state(home: Path) -> Path:
    folder = home / ".local/state/memhook"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def test_it_imports_the_recorded_client_with_the_recorded_interpreter_isolated(home: Path, tools: Path) -> None:
    python = script(home / "python with space", f'echo "$1 $2" >&2; exec {sys.executable} "$@"')
    client = home / "a folder" / "hook_client.py"
    client.parent.mkdir()
    client.write_text(
        "import os, sys\ndef main(a): print(a, sys.stdin.read(), __file__, flush=True)\n", encoding="utf-8"
    )
    (state(home) / "interpreter").write_text(f"{python}\n{client}\n{__version__}\n", encoding="utf-8")
    run = launch(home, tools, "UserPromptSubmit", "2")
    assert (run.returncode, run.stderr) == (0, "-I -S\n")
    assert run.stdout == f"['UserPromptSubmit', '2'] {{}} {client}\n"


def test_a_second_part_that_is_never_needed_is_not_asked_for(home: Path, tools: Path) -> None:
    script(tools / "memhook", 'echo memhook "$@"')
    (state(home) / "one-part").touch()
    assert launch(home, tools, "UserPromptSubmit", "2", CLAUDECODE="1").stdout == ""
    asked = "memhook hook UserPromptSubmit"
    assert launch(home, tools, "UserPromptSubmit", "1", CLAUDECODE="1").stdout == f"{asked} 1\n"
    assert launch(home, tools, "UserPromptSubmit", "2").stdout == f"{asked} 2\n"
    own_settings = launch(home, tools, "UserPromptSubmit", "2", CLAUDECODE="1", MEMHOOK_MAX_TOKENS="9000")
    assert own_settings.stdout == f"{asked} 2\n"
    (state(home) / "one-part").unlink()
    assert launch(home, tools, "UserPromptSubmit", "2", CLAUDECODE="1").stdout == f"{asked} 2\n"


def test_an_interpreter_that_is_gone_gives_way_to_memhook_on_the_path(home: Path, tools: Path) -> None:
    (state(home) / "interpreter").write_text("/gone/python\n/gone/client.py\n0.0.1\n", encoding="utf-8")
    script(tools / "memhook", 'echo memhook "$@"')
    assert launch(home, tools, "SessionStart", "1").stdout == "memhook hook SessionStart 1\n"


def test_a_command_whose_interpreter_is_gone_is_as_good_as_none(home: Path, tools: Path) -> None:
    broken = script(tools / "memhook", "")
    broken.write_text("#!/gone/python\n", encoding="utf-8")
    run = launch(home, tools, "UserPromptSubmit", "1")
    assert (run.returncode, run.stdout, run.stderr) == (0, "", "")


def test_the_set_up_runs_python_isolated_and_not_in_the_folder_of_the_project(home: Path, tools: Path) -> None:
    script(tools / "python3", f'echo "$PWD $1" >>"{home}/seen"; exit 1')
    run_setup(home, tools)
    assert (home / "seen").read_text(encoding="utf-8").split() == [str(state(home)), "-I"]


def test_with_nothing_there_it_answers_nothing_and_tells_the_user_at_the_start(home: Path, tools: Path) -> None:
    start = launch(home, tools, "SessionStart", "1")
    assert start.returncode == 0
    assert list(json.loads(start.stdout)) == ["systemMessage"]
    for arguments in (("SessionStart", "2"), ("UserPromptSubmit", "1"), ("UserPromptSubmit", "2")):
        run = launch(home, tools, *arguments)
        assert (run.returncode, run.stdout) == (0, "")
    assert launch(home, tools, "why").stdout.startswith("memhook is being set up;")


def test_a_set_up_without_python_says_what_is_missing(home: Path, tools: Path) -> None:
    run_setup(home, tools)
    assert "no Python 3.11" in (state(home) / "setup.failed").read_text(encoding="utf-8")
    assert not (state(home) / "setup.lock").exists()
    message = json.loads(launch(home, tools, "SessionStart", "1").stdout)["systemMessage"]
    assert "no Python 3.11" in message


def test_only_one_set_up_runs_at_a_time(home: Path, tools: Path) -> None:
    lock = state(home) / "setup.lock"
    lock.mkdir()
    (lock / "pid").write_text(f"{os.getpid()}\n", encoding="utf-8")
    run_setup(home, tools)
    assert not (state(home) / "setup.log").exists()
    assert lock.exists()


def test_the_lock_of_a_dead_set_up_is_taken_over(home: Path, tools: Path) -> None:
    dead = subprocess.Popen(["true"])
    dead.wait()
    lock = state(home) / "setup.lock"
    lock.mkdir()
    (lock / "pid").write_text(f"{dead.pid}\n", encoding="utf-8")
    run_setup(home, tools)
    assert (state(home) / "setup.failed").exists()
    assert not lock.exists()


def run_setup(home: Path, tools: Path, directory: Path = ROOT) -> None:
    command = [str(ROOT / "hooks" / "setup"), __version__, str(state(home))]
    environment = {"HOME": str(home), "PATH": str(tools)}
    subprocess.run(command, check=False, capture_output=True, env=environment, timeout=300, cwd=directory)


def test_hooks_json_names_two_entries_of_each_event_with_short_commands() -> None:
    for event in ("SessionStart", "SubagentStart", "UserPromptSubmit"):
        (group,) = HOOKS[event]
        commands = [entry["command"] for entry in group["hooks"]]
        assert commands == [f'"${{CLAUDE_PLUGIN_ROOT}}/hooks/launch" {event} {part}' for part in (1, 2)]
    for event in ("Stop", "PostCompact"):  # never answered: one is enough
        (group,) = HOOKS[event]
        assert [entry["command"] for entry in group["hooks"]] == [f'"${{CLAUDE_PLUGIN_ROOT}}/hooks/launch" {event} 1']


def test_plugin_marketplace_launcher_and_package_are_of_one_version() -> None:
    plugin = json.loads((ROOT / ".claude-plugin/plugin.json").read_text(encoding="utf-8"))
    market = json.loads((ROOT / ".claude-plugin/marketplace.json").read_text(encoding="utf-8"))
    assert plugin["version"] == __version__
    assert f"\nversion={__version__}\n" in LAUNCH.read_text(encoding="utf-8")
    assert [(entry["name"], entry["source"]) for entry in market["plugins"]] == [(plugin["name"], "./")]


@pytest.mark.parametrize("command", ["mcp", "why"])
def test_a_command_runs_with_the_recorded_interpreter_or_the_one_on_the_path(
    home: Path, tools: Path, command: str
) -> None:
    script(tools / "memhook", 'echo "on the path: $*"')
    assert launch(home, tools, command, "--", "a prompt").stdout == f"on the path: {command} -- a prompt\n"
    python = script(home / "python", 'echo "recorded: $*"')
    (state(home) / "interpreter").write_text(f"{python}\n{LAUNCH}\n{__version__}\n", encoding="utf-8")
    assert (
        launch(home, tools, command, "--", "a prompt").stdout
        == f"recorded: -P -E -m memhook.cli {command} -- a prompt\n"
    )
