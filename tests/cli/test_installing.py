"""Switching on and off, with real files in a home of its own."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

from memhook.assistants.known import KNOWN
from memhook.cli.commands import doctor
from memhook.cli.place import Place
from memhook.paths import user_paths
from tests.cli.conftest import Cli

ALL = tuple(KNOWN)
CLAUDE = (
    '{\n  // mine\n  "model": "opus",\n  "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "x"}]}]}\n}\n'
)
CODEX = '# mine\nmodel = "gpt" # the large one\n\n[mcp_servers.other]\ncommand = "o"'
OPENCODE = '{"$schema": "https://opencode.ai/config.json", "mcp": {}}'


@pytest.fixture
def files(home: Path) -> dict[Path, str]:
    """Settings that somebody has."""
    contents = {
        home / ".claude/settings.json": CLAUDE,
        home / ".claude.json": '{"numStartups": 3, "projects": {"/a": {}}}',
        home / ".codex/config.toml": CODEX,
        home / ".qwen/settings.json": '\ufeff{\r\n\t"ui": {}\r\n}\r\n',
        home / ".copilot/mcp-config.json": "",
        home / ".config/opencode/opencode.jsonc": OPENCODE,
        home / ".gemini/settings.json": "{}",
    }
    for path, content in contents.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode())
        path.chmod(0o640)
    return contents


def tree(home: Path) -> dict[str, bytes]:
    """Everything there, folders too, except what is memhook's."""
    found = (path for path in home.rglob("*") if "memhook" not in path.relative_to(home).parts)
    kept = (path for path in found if not str(path.relative_to(home)).startswith(".local"))
    return {str(path.relative_to(home)): path.read_bytes() if path.is_file() else b"folder" for path in kept}


def commands(hooks: dict[str, Any]) -> dict[str, list[str]]:
    launcher = str(user_paths().data / "launch")
    return {
        event: [
            entry.get("command", entry.get("bash")).removeprefix(launcher)
            for group in groups
            for entry in group.get("hooks", [group])
            if launcher in entry.get("command", entry.get("bash"))
        ]
        for event, groups in hooks.items()
    }


def read(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def test_every_assistant_is_told_in_its_own_way(cli: Cli, home: Path) -> None:
    result = cli("install", *ALL, "--yes")
    assert result.code == 0
    launcher = str(user_paths().data / "launch")

    def two(client: str, *more: str) -> dict[str, list[str]]:
        events = ("SessionStart", "UserPromptSubmit", *more)
        return {event: [f" {event} {part} --client {client}" for part in (1, 2)] for event in events}

    def one(client: str, *events: str) -> dict[str, list[str]]:
        return {event: [f" {event} 1 --client {client}"] for event in events}

    usual = ("SessionStart", "UserPromptSubmit", "Stop")

    claude = read(home / ".claude/settings.json")["hooks"]
    tools = ("PreToolUse", "PostToolUse")
    assert commands(claude) == two("claude", "SubagentStart") | one(
        "claude", "PreToolUse", "PostToolUseFailure", "Stop", "PostCompact"
    )
    assert claude["PreToolUse"][0]["matcher"] == "Bash|Edit|MultiEdit|NotebookEdit|Write|mcp__.*memhook__remember"
    assert claude["SessionStart"][0]["hooks"][0]["timeout"] == 10
    assert read(home / ".claude.json")["mcpServers"]["memhook"]["alwaysLoad"] is True
    assert commands(read(home / ".codex/hooks.json")["hooks"]) == two("codex") | one("codex", "Stop", *tools)
    server = tomllib.loads((home / ".codex/config.toml").read_text(encoding="utf-8"))["mcp_servers"]["memhook"]
    assert server == {"command": launcher, "args": ["mcp"], "startup_timeout_sec": 20}
    extension = home / ".gemini/extensions/memhook"
    gemini = read(extension / "hooks/hooks.json")["hooks"]
    assert commands(gemini) == one("gemini", "SessionStart", "BeforeAgent", "AfterAgent", "BeforeTool", "AfterTool")
    assert gemini["BeforeAgent"][0]["hooks"][0]["timeout"] == 10_000  # milliseconds there
    assert read(extension / "gemini-extension.json")["mcpServers"]["memhook"] == {"command": launcher, "args": ["mcp"]}
    qwen = read(home / ".qwen/settings.json")
    assert commands(qwen["hooks"]) == one("qwen", *usual, *tools, "PostToolUseFailure")
    assert qwen["mcpServers"]["memhook"] == {"command": launcher, "args": ["mcp"], "alwaysLoadTools": True}
    copilot = read(home / ".copilot/hooks/memhook.json")
    assert commands(copilot["hooks"]) == one("copilot", *usual, *tools)
    assert copilot["version"] == 1
    assert read(home / ".copilot/mcp-config.json")["mcpServers"]["memhook"]["tools"] == ["*"]
    assert launcher in (home / ".config/opencode/plugin/memhook.js").read_text(encoding="utf-8")
    assert read(home / ".config/opencode/opencode.json")["mcp"]["memhook"]["command"] == [launcher, "mcp"]
    assert user_paths().data.stat().st_mode & 0o077 == 0
    assert "Codex runs no hook before you have trusted it" in result.out


def test_uninstall_puts_every_file_back_byte_for_byte(cli: Cli, home: Path, files: dict[Path, str]) -> None:
    before = tree(home)
    assert cli("install", *ALL, "--yes").code == 0
    changed = tree(home)
    assert all(
        changed[str(path.relative_to(home))] != content.encode()
        for path, content in files.items()
        if "gemini" not in str(path)
    )
    assert cli("uninstall", "--yes").code == 0
    assert tree(home) == before
    assert {path.stat().st_mode & 0o777 for path in files} == {0o640}
    assert not (user_paths().data / "launch").exists()


def test_installing_again_changes_nothing_and_still_everything_is_put_back(
    cli: Cli, home: Path, files: dict[Path, str]
) -> None:
    before = tree(home)
    cli("install", *ALL, "--yes")
    once = tree(home)
    again = cli("install", *ALL, "--yes")
    assert tree(home) == once
    assert again.out.count("is on already") == len(ALL)
    cli("uninstall", "--yes")
    assert tree(home) == before


def test_what_was_changed_since_keeps_the_change_and_loses_only_memhook_s_entries(
    cli: Cli, home: Path, files: dict[Path, str]
) -> None:
    cli("install", "claude", "codex", "--yes")
    settings, config = home / ".claude/settings.json", home / ".codex/config.toml"
    settings.write_text(settings.read_text(encoding="utf-8").replace('"opus"', '"sonnet"'), encoding="utf-8")
    config.write_text(config.read_text(encoding="utf-8") + "\n[later]\nx = 1\n", encoding="utf-8")
    cli("install", "--yes", "claude", "codex")  # in between, which must not make the change the original
    cli("uninstall", "--yes")
    assert settings.read_text(encoding="utf-8") == CLAUDE.replace('"opus"', '"sonnet"')
    assert config.read_text(encoding="utf-8") == f"{CODEX}\n\n[later]\nx = 1\n"


def test_a_command_someone_put_beside_memhook_s_stays(cli: Cli, home: Path) -> None:
    cli("install", "claude", "--yes")
    settings = home / ".claude/settings.json"
    content = read(settings)
    content["hooks"]["SessionStart"][0]["hooks"].append({"type": "command", "command": "mine"})
    settings.write_text(json.dumps(content), encoding="utf-8")
    cli("uninstall", "claude", "--yes")
    assert read(settings) == {"hooks": {"SessionStart": [{"hooks": [{"type": "command", "command": "mine"}]}]}}


def test_a_server_of_that_name_that_the_user_wrote_is_left_alone(cli: Cli, home: Path) -> None:
    own = {"mcpServers": {"memhook": {"command": "memhook", "args": ["mcp", "--scopes", "memory:read"]}}}
    (home / ".claude.json").write_text(json.dumps(own), encoding="utf-8")
    cli("install", "claude", "--yes")
    assert read(home / ".claude.json") == own
    cli("uninstall", "--yes")
    assert read(home / ".claude.json") == own


def test_the_launcher_stays_while_another_assistant_starts_it(cli: Cli, home: Path) -> None:
    cli("install", "claude", "qwen", "--yes")
    (user_paths().data / "switched-on/record.json").unlink()
    cli("uninstall", "claude", "--yes")
    assert (user_paths().data / "launch").exists()
    assert not read(home / ".claude/settings.json")
    cli("uninstall", "--yes")
    assert not (user_paths().data / "launch").exists()


def test_dry_run_prints_the_difference_and_writes_nothing(cli: Cli, home: Path, files: dict[Path, str]) -> None:
    before = tree(home)
    result = cli("install", *ALL, "--dry-run")
    assert result.code == 0
    assert tree(home) == before
    assert not user_paths().data.exists()
    assert "+[mcp_servers.memhook]\n" in result.out
    assert f"--- {home}/.claude/settings.json\n" in result.out
    cli("install", *ALL, "--yes")
    assert "-[mcp_servers.memhook]\n" in cli("uninstall", "--dry-run").out
    assert (user_paths().data / "launch").exists()


def test_without_a_name_those_found_on_the_machine_are_asked_about(cli: Cli, home: Path) -> None:
    assert "No assistant was found" in cli("install", "--yes").err
    (home / ".qwen").mkdir()
    refused = cli("install")
    assert refused.code == 1
    assert "--yes" in refused.err
    assert f"new      {home}/.qwen/settings.json" in refused.out
    assert not (home / ".qwen/settings.json").exists()
    assert cli("install", "--yes").out.count("memhook is on.") == 1


def test_for_one_project_nothing_is_written_for_the_others(cli: Cli, home: Path, in_a_project: Path) -> None:
    before = tree(in_a_project)
    assert cli("install", *ALL, "--project", "--yes").code == 0
    written = {path for path in tree(home) if (home / path).is_file()}
    assert written == {".claude.json"}  # where Claude Code keeps what is one's own in a project
    server = read(home / ".claude.json")["projects"][str(in_a_project.resolve())]["mcpServers"]["memhook"]
    assert server["args"] == ["mcp"]
    for name in (".claude/settings.local.json", ".codex/hooks.json", ".gemini/settings.json", ".qwen/settings.json"):
        assert commands(read(in_a_project / name)["hooks"])["SessionStart"]
    cli("install", "claude", "--yes")
    cli("uninstall", "--project", "--yes")
    assert tree(in_a_project) == before
    assert list(read(home / ".claude.json")) == ["mcpServers"]
    cli("uninstall", "--yes")
    assert tree(home) == {}


def test_a_file_that_cannot_be_understood_is_told_and_the_others_go_on(cli: Cli, home: Path) -> None:
    broken = home / ".claude/settings.json"
    broken.parent.mkdir()
    broken.write_text('{"model": ', encoding="utf-8")
    result = cli("install", "claude", "qwen", "--yes")
    assert result.code == 1
    assert f"{broken}: It is not valid JSON" in result.err
    assert broken.read_text(encoding="utf-8") == '{"model": '
    assert "Qwen Code: memhook is on." in result.out


def test_a_linked_file_is_changed_where_it_is(cli: Cli, home: Path) -> None:
    real = home / "dotfiles/settings.json"
    real.parent.mkdir()
    real.write_text("{}", encoding="utf-8")
    (home / ".qwen").mkdir()
    (home / ".qwen/settings.json").symlink_to(real)
    cli("install", "qwen", "--yes")
    assert (home / ".qwen/settings.json").is_symlink()
    assert "memhook" in real.read_text(encoding="utf-8")
    cli("uninstall", "--yes")
    assert real.read_text(encoding="utf-8") == "{}"


def test_where_memhook_is_a_plugin_the_settings_stay_as_they_are(cli: Cli, home: Path) -> None:
    settings = home / ".claude/settings.json"
    settings.parent.mkdir()
    settings.write_text('{"enabledPlugins": {"memhook@memhook": true}}', encoding="utf-8")
    assert "as a plugin" in cli("install", "claude", "--yes").out
    assert not (home / ".claude.json").exists()
    assert "has memhook as a plugin; remove it there" in cli("uninstall", "--yes").out


def test_doctor_says_where_it_is_there_twice_and_when_the_launcher_is_another_s(cli: Cli, home: Path) -> None:
    cli("install", "claude", "codex", "--yes")
    settings = home / ".claude/settings.json"
    settings.write_text(json.dumps({**read(settings), "enabledPlugins": {"memhook@memhook": True}}), encoding="utf-8")
    found = list(doctor.assistants(Place(str(home), user_paths())))
    assert [(one.ok, one.repair) for one in found] == [(False, "memhook uninstall claude"), (True, "")]
    assert "by settings and plugin: one of them answers, the other stays silent" in found[0].message
    (user_paths().data / "launch").write_text("another", encoding="utf-8")
    assert [one.repair for one in doctor.assistants(Place(str(home), user_paths()))][-1] == "memhook install"


def test_purge_deletes_everything_memhook_keeps_after_asking(cli: Cli, home: Path) -> None:
    cli("install", "qwen", "--yes")
    cli("config", "set", "max_tokens", "3000")
    asked = cli("uninstall", "--purge")
    assert asked.code == 1
    assert user_paths().config_file.exists()
    purged = cli("uninstall", "--purge", "--yes")
    assert purged.code == 0
    paths = user_paths()
    assert str(paths.data) in purged.out
    assert not any(folder.exists() for folder in (paths.data, paths.config, paths.cache))
    assert not list(paths.state.iterdir())


def test_moved_settings_folders_are_followed(cli: Cli, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for variable, name in (("CODEX_HOME", "c"), ("CLAUDE_CONFIG_DIR", "d"), ("XDG_CONFIG_HOME", "e")):
        monkeypatch.setenv(variable, str(home / name))
    cli("install", "codex", "claude", "opencode", "--yes")
    for path in ("c/hooks.json", "d/settings.json", "d/.claude.json", "e/opencode/plugin/memhook.js"):
        assert (home / path).is_file()
    monkeypatch.delenv("CODEX_HOME")
    cli("uninstall", "--yes")
    assert not (home / "c").exists()


@pytest.mark.parametrize(
    ("name", "file", "content"),
    [
        ("claude", ".claude/settings.json", '{"enabledPlugins": {"memhook@memhook": true}}'),
        ("copilot", ".copilot/settings.json", '{"enabledPlugins": {"memhook@memhook": true}}'),
        ("codex", ".codex/config.toml", '[plugins."memhook@memhook"]\nenabled = true\n'),
        ("qwen", ".qwen/extensions/memhook/plugin", ""),
    ],
)
def test_a_plugin_is_known_by_what_the_assistant_writes_when_it_installs_one(
    cli: Cli, home: Path, name: str, file: str, content: str
) -> None:
    (home / file).parent.mkdir(parents=True)
    (home / file).write_text(content, encoding="utf-8")
    result = cli("install", name, "--yes")
    assert f"{KNOWN[name].title}: memhook is on as a plugin" in result.out
    (home / file).write_text(content.replace("true", "false"), encoding="utf-8")
    assert ("as a plugin" in cli("install", name, "--dry-run").out) == (name == "qwen")


def test_switching_on_twice_changes_nothing_in_whatever_order_the_events_stand(cli: Cli, home: Path) -> None:
    settings = home / ".claude/settings.json"
    settings.parent.mkdir()
    settings.write_text('{"hooks": {"UserPromptSubmit": [], "SessionStart": []}}', encoding="utf-8")
    cli("install", "claude", "--yes")
    once = settings.read_bytes()
    assert "on already" in cli("install", "claude", "--yes").out
    assert settings.read_bytes() == once


def test_switching_off_leaves_what_stood_empty_before(cli: Cli, home: Path) -> None:
    settings = home / ".qwen/settings.json"
    settings.parent.mkdir()
    settings.write_text('{"hooks": {"SessionStart": []}, "mcpServers": {}}', encoding="utf-8")
    cli("install", "qwen", "--yes")
    changed = settings.read_text(encoding="utf-8").replace("{", '{"theme": "dark", ', 1)
    settings.write_text(changed, encoding="utf-8")
    cli("uninstall", "--yes")
    assert settings.read_text(encoding="utf-8") == '{"theme": "dark", "hooks": {"SessionStart": []}, "mcpServers": {}}'


def test_a_link_that_leads_nowhere_does_so_again_afterwards(cli: Cli, home: Path) -> None:
    link, target = home / ".claude/settings.json", home / "dotfiles/claude.json"
    link.parent.mkdir()
    target.parent.mkdir()
    link.symlink_to(target)
    cli("install", "claude", "--yes")
    assert "memhook" in target.read_text(encoding="utf-8")
    cli("uninstall", "--yes")
    assert link.is_symlink()
    assert not target.exists()


def test_a_file_of_the_users_under_memhooks_name_comes_back(cli: Cli, home: Path) -> None:
    mine = home / ".copilot/hooks/memhook.json"
    mine.parent.mkdir(parents=True)
    mine.write_text('{"version": 1, "hooks": {}}', encoding="utf-8")
    cli("install", "copilot", "--yes")
    assert "launch" in mine.read_text(encoding="utf-8")
    cli("uninstall", "--yes")
    assert mine.read_text(encoding="utf-8") == '{"version": 1, "hooks": {}}'


def test_a_broken_file_that_memhook_is_not_in_does_not_hinder_switching_off(cli: Cli, home: Path) -> None:
    cli("install", "qwen", "--yes")
    broken = home / ".claude/settings.json"
    broken.parent.mkdir()
    broken.write_text("{ broken", encoding="utf-8")
    assert cli("uninstall", "--yes").code == 0
    assert not (user_paths().data / "launch").exists()


def test_one_that_cannot_be_read_is_told_and_the_others_go_on(cli: Cli, home: Path) -> None:
    (home / ".claude/settings.json").mkdir(parents=True)
    result = cli("install", "claude", "qwen", "--yes")
    assert result.code == 1
    assert "settings.json cannot be read" in result.err
    assert "Qwen Code: memhook is on." in result.out


def test_one_that_cannot_be_written_is_told_and_the_others_go_on(cli: Cli, home: Path) -> None:
    (home / ".codex").write_text("a file in the folder's place", encoding="utf-8")
    result = cli("install", "codex", "qwen", "--yes")
    assert result.code == 1
    assert "hooks.json cannot be written" in result.err
    assert "Qwen Code: memhook is on." in result.out


def test_without_the_copy_of_a_file_memhooks_entries_are_taken_out_of_it(cli: Cli, home: Path) -> None:
    settings = home / ".qwen/settings.json"
    settings.parent.mkdir()
    settings.write_text('{"theme": "dark"}', encoding="utf-8")
    cli("install", "qwen", "--yes")
    for copy in (user_paths().data / "switched-on").glob("*-settings.json"):
        copy.unlink()
    assert cli("uninstall", "--yes").code == 0
    assert settings.read_text(encoding="utf-8") == '{"theme": "dark"}'


def test_off_everywhere_means_off_also_in_a_file_of_several_scopes(
    cli: Cli, home: Path, files: dict[Path, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = tree(home)
    cli("install", "claude", "--yes")
    for name in ("one", "two"):
        project = tmp_path / name
        project.mkdir()
        (project / "pyproject.toml").touch()
        monkeypatch.chdir(project)
        cli("install", "claude", "--project", "--yes")
    servers = (home / ".claude.json").read_text(encoding="utf-8")
    assert servers.count("launch") == 3
    assert cli("uninstall", "--yes").code == 0
    assert tree(home) == before
