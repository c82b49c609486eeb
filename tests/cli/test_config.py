from __future__ import annotations

import io
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from memhook.assistants.claude import CARRIED_TOKENS, budget_note
from memhook.errors import InvalidInput
from memhook.paths import user_paths
from memhook.settings import setting_keys
from memhook.settings_file import wanted_value
from tests.cli.conftest import Cli


@pytest.fixture
def file(home: Path) -> Path:
    path = user_paths().config_file
    path.parent.mkdir(parents=True)
    return path


def test_show_lists_every_setting_with_its_value_and_where_it_came_from(
    file: Path, cli: Cli, in_a_project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file.write_text("max_tokens = 3000\npreview_chars = 150\n[hooks]\ndetail = 'full'\n")
    (in_a_project / ".memhook.toml").write_text("preview_chars = 100\n")
    monkeypatch.setenv("MEMHOOK_MAX_TOKENS", "2000")
    rows = {line.split()[0]: line.split(maxsplit=2)[1:] for line in cli("config", "show").out.splitlines()}
    assert tuple(rows) == setting_keys()
    assert rows["max_tokens"] == ["2000", "environment"]
    assert rows["preview_chars"] == ["100", "project file"]
    assert rows["hooks.detail"] == ['"full"', "user file"]
    assert rows["enabled"] == ["true", "default"]
    shown = cli("config", "show", "--json").json
    assert shown["settings"]["max_tokens"] == {"value": 2000, "source": "environment"}
    assert shown["problems"] == []


def test_show_tells_what_is_wrong_beside_the_values(file: Path, cli: Cli) -> None:
    file.write_text("max_tokens = 'many'\n")
    result = cli("config", "show")
    assert "max_tokens must be a whole number from 1 to 100000, not 'many'" in result.err
    assert "4000" in result.out


def test_get_prints_the_bare_value(cli: Cli) -> None:
    assert cli("config", "get", "max_tokens").out == "4000\n"
    assert cli("config", "get", "hooks.detail").out == "preview\n"
    assert cli("config", "get", "namespaces").out == "[]\n"
    assert cli("config", "get", "enabled", "--json").json == {"key": "enabled", "value": True, "source": "default"}
    assert "The settings are: enabled," in cli("config", "get", "nope").err


def test_set_changes_one_line_and_unset_takes_it_back(file: Path, cli: Cli) -> None:
    before = "# mine\npreview_chars = 150 # short\r\n\n[store] # here\n"
    file.write_bytes(before.encode())
    assert cli("config", "set", "max_tokens", "2000").out == "max_tokens = 2000\n"
    assert file.read_bytes() == before.replace("\r\n", "\r\nmax_tokens = 2000\r\n").encode()
    assert cli("config", "unset", "max_tokens").out == "max_tokens = 4000\n"
    assert file.read_bytes() == before.encode()
    assert "is not set" in cli("config", "unset", "max_tokens").err


def test_set_makes_the_file_when_there_is_none(cli: Cli) -> None:
    cli("config", "set", "hooks.session_start.max_memories", "3")
    file = user_paths().config_file
    assert file.read_text() == "[hooks.session_start]\nmax_memories = 3\n"
    assert file.stat().st_mode & 0o777 == 0o600
    assert cli("config", "path").out == f"{file}\n"


@pytest.mark.parametrize(
    ("key", "value", "allowed"),
    [
        ("max_tokens", "0", "a whole number from 1 to 100000"),
        ("max_tokens", "many", "a whole number from 1 to 100000"),
        ("max_tokens", "true", "a whole number from 1 to 100000"),
        ("max_tokens", "2.5", "a whole number from 1 to 100000"),
        ("daemon.idle_minutes", "nan", "a number above 0, at most 10080"),
        ("hooks.detail", "everything", "one of preview, cascade, full"),
        ("enabled", "perhaps", "true or false"),
        ("namespaces", "[1]", "a list of names"),
        ("store.uri", "memories", "an absolute path"),
        ("embedding.model", "nonesuch", "memhook models list"),
        ("agents.x.max_tokens", "0", "a whole number from 1 to 100000"),
        ("agents..max_tokens", "1", "The settings are"),
        ("hooks", "1", "The settings are"),
        ("maxtokens", "1", "Did you mean max_tokens?"),
        ("store.uri", "\udcff", "UTF-8"),
    ],
)
def test_a_value_that_is_not_possible_is_refused_and_nothing_written(
    file: Path, cli: Cli, key: str, value: str, allowed: str
) -> None:
    file.write_text("max_tokens = 3000\n")
    result = cli("config", "set", key, value)
    assert result.code == 1
    assert key in result.err
    assert allowed in result.err
    assert file.read_text() == "max_tokens = 3000\n"


@pytest.mark.parametrize("broken", [b"max_tokens = = 1\n", b"\xff\xfe"])
def test_a_broken_file_is_left_as_it_is(file: Path, cli: Cli, broken: bytes) -> None:
    file.write_bytes(broken)
    for command in (["set", "max_tokens", "1"], ["unset", "max_tokens"]):
        result = cli("config", *command)
        assert result.code == 1
        assert str(file) in result.err
        assert "memhook config edit" in result.err
    assert file.read_bytes() == broken


@pytest.mark.parametrize(
    ("key", "typed", "value"),
    [
        ("max_tokens", "2_000", 2000),
        ("enabled", "false", False),
        ("enabled", "off", False),
        ("namespaces", "incidents, decisions", ["incidents", "decisions"]),
        ("namespaces", '["a"]', ["a"]),
        ("namespaces", "", []),
        ("embedding.model", "2026", "2026"),
        ("store.uri", "/data/my store", "/data/my store"),
        ("store.uri", '""', ""),
        ("daemon.idle_minutes", "1.5", 1.5),
    ],
)
def test_what_is_typed_is_read_as_the_setting_needs_it(key: str, typed: str, value: object) -> None:
    assert wanted_value(key, typed) == value


def test_a_model_is_set_by_its_listed_name_and_said_to_be_missing_when_it_is(file: Path, cli: Cli) -> None:
    result = cli("config", "set", "embedding.model", "baai/BGE-small-en-v1.5")
    assert result.out == 'embedding.model = "BAAI/bge-small-en-v1.5"\n'
    assert "memhook models pull BAAI/bge-small-en-v1.5" in result.err
    assert cli("config", "set", "embedding.model", "all-MiniLM-L6-v2").err == ""


def test_a_misspelt_key_in_the_file_can_be_unset(file: Path, cli: Cli) -> None:
    file.write_text("max_tokns = 1\nenabled = true\n")
    assert cli("config", "unset", "max_tokns").code == 0
    assert file.read_text() == "enabled = true\n"
    with pytest.raises(InvalidInput):
        wanted_value("max_tokns", "1")


def test_set_says_when_something_else_has_the_last_word(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMHOOK_MAX_TOKENS", "100")
    assert "here its value is 100, which comes from the environment" in cli("config", "set", "max_tokens", "2000").err


def test_a_budget_beyond_two_hook_entries_is_pointed_out(cli: Cli) -> None:
    assert CARRIED_TOKENS == 5000
    assert cli("config", "set", "max_tokens", "5000").err == ""
    assert "5,000 tokens" in cli("config", "set", "max_tokens", "5001").err
    assert budget_note(4000) == ""


def test_a_linked_file_stays_a_link(file: Path, cli: Cli, tmp_path: Path) -> None:
    real = tmp_path / "dotfiles.toml"
    real.write_text("enabled = true\n")
    file.symlink_to(real)
    cli("config", "set", "enabled", "false")
    assert file.is_symlink()
    assert real.read_text() == "enabled = false\n"


def test_changes_at_the_same_time_are_all_kept(home: Path) -> None:
    changes = {"max_tokens": "1", "preview_chars": "41", "hooks.detail": "full", "ledger.keep_days": "7"}
    running = [
        subprocess.Popen([sys.executable, "-m", "memhook.cli", "config", "set", key, value], stdout=subprocess.DEVNULL)
        for key, value in changes.items()
    ]
    assert [process.wait(300) for process in running] == [0] * len(changes)
    text = user_paths().config_file.read_text()
    assert all(f"{key.rpartition('.')[2]} = " in text for key in changes)


def test_edit_opens_the_file_and_tells_what_is_wrong_with_it(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    keys = io.StringIO()
    monkeypatch.setattr(sys, "stdin", keys)
    monkeypatch.setenv("EDITOR", "true")
    assert "no terminal" in cli("config", "edit").err
    assert not user_paths().config_file.exists()
    monkeypatch.setattr(keys, "isatty", lambda: True, raising=False)
    assert cli("config", "edit").code == 0
    editor = tmp_path / "editor"
    editor.write_text('#!/bin/sh\necho "max_tokens = 0" >>"$1"\n')
    editor.chmod(0o700)
    monkeypatch.setenv("EDITOR", str(editor))
    result = cli("config", "edit")
    assert result.code == 1
    assert "max_tokens must be a whole number from 1 to 100000, not 0" in result.err


def test_a_type_of_subagent_is_set_shown_and_unset(cli: Cli, home: Path) -> None:
    assert cli("config", "set", "agents.frontend.namespaces", "frontend,shared").code == 0
    assert cli("config", "set", "agents.team.ui.max_tokens", "1000").out == "agents.team.ui.max_tokens = 1000\n"
    written = tomllib.loads((home / ".config/memhook/config.toml").read_text(encoding="utf-8"))
    assert written == {"agents": {"frontend": {"namespaces": ["frontend", "shared"]}, "team.ui": {"max_tokens": 1000}}}
    assert "agents.team.ui.max_tokens" in cli("config", "show").out
    assert cli("config", "get", "agents.frontend.max_tokens").out == "4000\n"
    assert cli("config", "unset", "agents.team.ui.max_tokens").code == 0
    assert "team.ui" not in cli("config", "show").out
    assert "agents.x.colour" in cli("config", "set", "agents.x.colour", "red").err
