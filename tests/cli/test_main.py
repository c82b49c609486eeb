from __future__ import annotations

import ast
import subprocess
import sys
from argparse import ArgumentParser, _SubParsersAction
from collections.abc import Iterator
from pathlib import Path

import pytest

from memhook import __version__
from memhook.cli import commands
from memhook.cli.commands.help import SHELLS
from memhook.cli.main import main
from memhook.cli.parser import parser
from memhook.paths import user_paths
from tests.cli.conftest import NOTE, Cli, Engine


def test_the_way_to_the_hook_client_imports_nothing_else_of_the_command_line() -> None:
    script = (
        "import sys; from memhook.cli.main import main; main(['hook', 'X']);"
        "print([m for m in sys.modules if m.startswith('memhook') or m in ('argparse', 'json', 'socket', 'pydantic')])"
    )
    done = subprocess.run([sys.executable, "-I", "-c", script], input=b"", capture_output=True, check=True)
    ways = {"memhook", "memhook.cli", "memhook.cli.main", "memhook.daemon", "memhook.daemon.hook_client"}
    assert set(ast.literal_eval(done.stdout.decode())) == ways


def test_every_command_has_help_with_an_example(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    names = list(commands_in(parser()))
    assert {("remember",), ("add",), ("hook",), ("config", "list"), ("projects", "move")} <= set(names)
    for name in names:
        shown = cli(*name, "--help")
        assert shown.code == 0
        assert "example:\n  " in shown.out
        assert max(map(len, shown.out.splitlines())) <= 80


def commands_in(within: ArgumentParser) -> Iterator[tuple[str, ...]]:
    """Each command and action, as it is typed."""
    for action in within._actions:
        if isinstance(action, _SubParsersAction):
            for name, one in action.choices.items():
                yield (name,)
                yield from ((name, *rest) for rest in commands_in(one))


def test_the_table_of_commands_lists_each_file() -> None:
    files = {file.stem for file in Path(commands.__file__).parent.glob("*.py")} - {"__init__"}
    assert sorted(commands.COMMANDS) == sorted(files)
    words = " ".join(commands.COMMANDS.values()).split()
    assert sorted(words) == sorted(commands_of(parser()))
    assert all(word in commands_of(parser(word)) for word in words)


@pytest.mark.parametrize("typed", ["remember", "import", "config", "resume"])
def test_a_command_is_the_same_alone_as_among_the_others(typed: str) -> None:
    alone, among = (commands_of(one)[typed] for one in (parser(typed), parser()))
    assert alone.format_help() == among.format_help()
    assert list(commands_in(alone)) == list(commands_in(among))
    assert set(commands_of(parser(typed))) < set(commands_of(parser()))


def commands_of(within: ArgumentParser) -> dict[str, ArgumentParser]:
    return next(dict(one.choices) for one in within._actions if isinstance(one, _SubParsersAction))


def test_a_command_that_the_daemon_answers_reads_no_settings() -> None:
    script = "import sys; from memhook.cli.run import parser; parser('search'); print('pydantic' in sys.modules)"
    done = subprocess.run([sys.executable, "-I", "-c", script], capture_output=True, check=True)
    assert done.stdout == b"False\n"


def test_version_and_help_end_well(cli: Cli) -> None:
    assert cli("--version").out == f"memhook {__version__}\n"
    assert cli("--help").code == 0


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        (["remeber"], "remember"),
        (["serach", "x"], "search"),
        (["config", "shw"], "show"),
        (["daemon", "strt"], "start"),
        (["del"], "delete"),
        (["stat"], "stats, status or statusline"),
        (["list", "--tagg", "x"], "--tag"),
        (["list", "--quar"], "--quarantined"),
        (["config", "set", "max_tokens", "3", "--no-deamon"], "--no-daemon"),
        (["config", "max_tokens"], "memhook config get max_tokens"),
        (["config", "maxtokens"], "memhook config get max_tokens"),
        (["help", "lst"], "list"),
    ],
)
def test_a_typing_error_in_a_command_gets_a_suggestion(cli: Cli, typed: list[str], meant: str) -> None:
    result = cli(*typed)
    assert result.code == 2
    assert f"Did you mean {meant}?" in result.err
    assert "Did you mean" not in cli("xyzzy").err


def test_help_and_version_are_commands_too(cli: Cli) -> None:
    assert cli("version").out == cli("--version").out
    assert cli("help").out == cli("--help").out
    assert cli("help", "remember").out == cli("remember", "--help").out
    assert cli("help", "config", "set").out == cli("config", "set", "--help").out
    unknown = cli("help", "remeber")
    assert (unknown.code, unknown.out) == (2, "")
    assert "Did you mean remember?" in unknown.err
    assert "memhook guide settings" in cli("help", "settings").err


def test_a_family_of_commands_alone_shows_what_there_is(cli: Cli) -> None:
    assert cli("config").out == cli("config", "list").out == cli("config", "show").out
    assert cli("config", "--json").json == cli("config", "show", "--json").json
    assert cli("token").err == cli("token", "list").err
    assert cli("daemon").out == cli("daemon", "status").out


def test_add_rm_and_delete_are_remember_and_forget(engine: Engine, cli: Cli) -> None:
    engine.answers |= {"remember": {"outcome": "stored", "memory": NOTE}, "forget": [NOTE]}
    assert cli("add", "Read from the primary.").out.startswith("Remembered: Replica lag\n")
    for name in ("rm", "delete"):
        assert cli(name, "k3v9x2m4p7qa", "--yes").out.startswith("Forgotten: Replica lag\n")
    assert [method for method, _ in engine.asked] == ["remember", "forget", "forget"]


@pytest.mark.parametrize("command", [["search", "x", "--limit", "0"], ["list", "--limit", "0"]])
def test_a_limit_of_nothing_is_refused(cli: Cli, command: list[str]) -> None:
    result = cli(*command)
    assert result.code == 2
    assert "'0' is not a number of memories: give 1 or more" in result.err


def test_a_hook_behind_the_global_options_runs_as_well(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "memhook.cli", "-C", str(tmp_path), "hook", "UserPromptSubmit"]
    done = subprocess.run(command, input=b"", capture_output=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_arguments_that_make_no_sense_exit_with_2_and_point_to_the_help(cli: Cli) -> None:
    for arguments in (
        ["nonsense"],
        ["remember"],
        ["list", "--nope"],
        ["daemon", "dance"],
        ["stats", "--days", "0"],
    ):
        result = cli(*arguments)
        assert result.code == 2
        assert "--help" in result.err


def test_arguments_that_a_command_does_not_know_are_answered_with_its_usage(cli: Cli) -> None:
    ran = cli("edit", "k3v9x2m4p7qa", "another text")
    assert ran.code == 2
    assert "usage: memhook edit" in ran.err
    assert "unrecognized arguments: another text\nSee: memhook edit --help" in ran.err


def test_the_global_options_may_stand_on_either_side_of_the_command(
    engine: Engine, cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[tuple[str, bool]] = []

    def door(_paths: object, directory: str, *, use_daemon: bool) -> object:
        opened.append((directory, use_daemon))
        return lambda *_, **__: {"memories": [], "total": 0}

    monkeypatch.setattr("memhook.cli.place.door", door)
    cli("-C", str(tmp_path), "--no-daemon", "list")
    cli("list", "--no-daemon", "-C", str(tmp_path))
    cli("list")
    assert opened == [(str(tmp_path), False), (str(tmp_path), False), (str(tmp_path), True)]


def test_a_directory_that_cannot_be_entered_is_named(cli: Cli) -> None:
    result = cli("-C", "/nowhere/at/all", "list")
    assert result.code == 1
    assert "/nowhere/at/all" in result.err


def test_a_bug_is_one_line_and_its_traceback_is_in_the_log(engine: Engine, cli: Cli) -> None:
    engine.answers["list"] = ZeroDivisionError("boom")
    result = cli("list")
    log = user_paths().log
    assert result.code == 3
    assert result.err == f"memhook met an unexpected error (ZeroDivisionError: boom). The details are in {log}.\n"
    assert "commands/search.py" in log.read_text()


def test_ctrl_c_and_a_full_disk_and_a_closed_pipe_end_quietly(
    engine: Engine, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(**_: object) -> None:
        raise KeyboardInterrupt

    engine.answers["list"] = interrupted
    assert (cli("list").code, cli("list").err) == (130, "Interrupted.\n")
    engine.answers["list"] = OSError(28, "No space left on device")
    assert cli("list").code == 1
    assert "No space left" in cli("list").err


def test_a_reader_who_went_away_is_not_an_error() -> None:
    command = f"{sys.executable} -m memhook.cli --help | true; {sys.executable} -m memhook.cli config show | head -1"
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=True)
    assert done.stderr == ""
    assert done.stdout.startswith("enabled")


def test_closed_streams_are_no_reason_to_fail() -> None:
    command = f"{sys.executable} -m memhook.cli config show >&- <&- && {sys.executable} -m memhook.cli nonsense 2>&-"
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", "")


@pytest.mark.parametrize(("arguments", "code"), [(["list"], 1), (["hook", "UserPromptSubmit"], 0)])
def test_windows_is_pointed_to_wsl(
    arguments: list[str], code: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    assert main(arguments) == code
    out, err = capsys.readouterr()
    assert out == ""
    assert "WSL" in err


@pytest.mark.parametrize("shell", SHELLS)
def test_completion_knows_the_commands_and_options(cli: Cli, shell: str) -> None:
    pytest.importorskip("shtab")
    script = cli("completion", shell).out
    assert all(command in script for command in ("remember", "why", "stats", "pause", "resume", "mute", "models"))
    assert "sensitivity" in script
