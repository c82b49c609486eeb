"""What the commands do while the user's settings cannot be read, and how one gets out of it."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest

from memhook.paths import Paths, user_paths
from tests.cli.conftest import Cli

WRITING = (
    ("remember", "a fact"),
    ("import", "notes.jsonl"),
    ("edit", "urn:memhook:k3v9x2m4p7qa", "--title", "x"),
    ("forget", "urn:memhook:k3v9x2m4p7qa", "--yes"),
    ("redact", "urn:memhook:k3v9x2m4p7qa", "--yes"),
    ("backup", "saved.zip"),
    ("restore", "saved.zip"),
    ("restore", "--from-damaged"),
)
READING = (
    ("search", "facts"),
    ("list",),
    ("get", "urn:memhook:k3v9x2m4p7qa"),
    ("export", "-"),
    ("why", "facts"),
    ("pack", "facts"),
    ("config", "get", "store.uri"),
)


@pytest.fixture
def paths(home: Path, tmp_path: Path, outside_any_project: Path) -> Paths:
    paths = user_paths()
    paths.config.mkdir(parents=True)
    paths.config_file.write_text(f'store.uri = "{tmp_path}/elsewhere"\nmax_tokens = = 3\n', encoding="utf-8")
    (outside_any_project / "notes.jsonl").write_text('{"text": "a fact"}\n', encoding="utf-8")
    return paths


def test_each_command_about_memories_is_refused_with_file_and_line(cli: Cli, paths: Paths, tmp_path: Path) -> None:
    for command in (*WRITING, *READING):
        result = cli("--no-daemon", *command)
        assert result.code == 1, command
        assert f"{paths.config_file} cannot be read" in result.err, command
        assert "line 2" in result.err, command
        assert "memhook config edit" in result.err, command
    assert not paths.store.exists()
    assert not (tmp_path / "elsewhere").exists()


def test_status_doctor_and_config_tell_what_is_wrong(cli: Cli, paths: Paths) -> None:
    for command in (("status",), (), ("doctor",), ("config", "show")):
        result = cli("--no-daemon", *command)
        assert "line 2" in result.out + result.err, command
    assert "line 2" in cli("--no-daemon", "status", "--json").json["settings_problem"]
    checks = cli("--no-daemon", "doctor", "--json").json["checks"]
    assert {check["name"] for check in checks if not check["ok"]} == {"settings"}
    assert "line 2" in cli("config", "show", "--json").json["unreadable"]
    assert "line 2" in cli("config", "set", "max_tokens", "3").err


def test_memhook_alone_names_what_repairs_them_first_and_nothing_that_would_be_refused(
    cli: Cli, paths: Paths, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps = cli().out.partition("What to do next:\n")[2]
    assert [line.split("  ")[1] for line in steps.splitlines()[:2]] == ["memhook config edit", "memhook doctor"]
    assert "memhook remember" not in steps
    paths.config_file.unlink()
    monkeypatch.setenv("MEMHOOK_STORE__URI", "relative")
    assert cli().out.partition("What to do next:\n")[2].startswith("  memhook doctor ")


def test_without_a_terminal_the_file_itself_is_what_repairs_one_that_is_no_toml(
    cli: Cli, paths: Paths, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EDITOR", "true")
    monkeypatch.setattr(sys, "stdin", io.StringIO())
    told = cli("config", "edit").err
    assert "memhook config path" in told
    assert "line 2" in told
    assert "config set" not in told
    paths.config_file.write_text("max_tokens = 'many'\n", encoding="utf-8")
    assert "memhook config set KEY VALUE" in cli("config", "edit").err


def test_a_value_that_is_impossible_is_set_right_by_a_command(cli: Cli, paths: Paths) -> None:
    paths.config_file.write_text("max_tokens = 'many'\n[hooks]\n# off\ncapture = 'perhaps'\n", encoding="utf-8")
    assert "line 1: max_tokens must be a whole number" in cli("--no-daemon", "remember", "a fact").err
    assert cli("config", "set", "max_tokens", "3000").code == 0
    assert "line 4: hooks.capture must be true or false" in cli("--no-daemon", "remember", "a fact").err
    assert cli("config", "unset", "hooks.capture").code == 0
    assert cli("--no-daemon", "remember", "a fact").code == 0
