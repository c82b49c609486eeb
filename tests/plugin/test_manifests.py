"""The manifests of plugin, extension and registry: one version, and only what exists."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tarfile
import tomllib
from pathlib import Path
from typing import Any

import pytest

from memhook import __version__
from memhook.assistants.assistant import Where
from memhook.assistants.known import KNOWN
from memhook.settings import is_setting
from tests.plugin.test_launcher import ROOT, script

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def manifest(name: str) -> dict[str, Any]:
    value = json.loads((ROOT / name).read_text(encoding="utf-8"))
    assert isinstance(value, dict)
    return value


SERVER = manifest("server.json")
PLUGINS = (".claude-plugin/plugin.json", ".codex-plugin/plugin.json", "gemini-extension.json")


def test_every_manifest_has_this_version() -> None:
    versions = {name: manifest(name)["version"] for name in (*PLUGINS, "server.json")}
    versions |= {package["identifier"]: package["version"] for package in SERVER["packages"]}
    (versions["launch"],) = re.findall(r"^version=(.*)$", (ROOT / "hooks/launch").read_text(), re.MULTILINE)
    assert set(versions.values()) == {__version__}, versions


@pytest.mark.parametrize("name", PLUGINS)
def test_what_a_plugin_names_is_there(name: str) -> None:
    assert manifest(name)["name"] == "memhook"
    paths = re.findall(r'"\./([^"]+)"', (ROOT / name).read_text(encoding="utf-8"))
    paths += re.findall(r"\$\{extensionPath\}/([\w/]+)", (ROOT / name).read_text(encoding="utf-8"))
    assert paths
    assert not [path for path in paths if not (ROOT / path).exists()]


def test_the_plugins_of_claude_code_and_codex_are_the_same() -> None:
    claude, codex = manifest(PLUGINS[0]), manifest(PLUGINS[1])
    for key in ("name", "version", "description", "author", "license", "keywords"):
        assert claude[key] == codex[key]


@pytest.mark.parametrize("moved", [False, True])
def test_codex_finds_the_server_of_the_installed_plugin(home: Path, moved: bool) -> None:
    """It starts a plugin's server in the project and does not say in which folder the plugin is."""
    folder = home / ("elsewhere" if moved else ".codex")
    hooks = folder / "plugins/cache/market/memhook/0.1.0/hooks"
    hooks.mkdir(parents=True)
    script(hooks / "launch", 'echo "$PWD $*"')
    server = manifest(PLUGINS[1])["mcpServers"]["memhook"]
    environment = {"HOME": str(home)} | ({name: str(folder) for name in server["env_vars"]} if moved else {})
    ran = subprocess.run(
        [server["command"], *server["args"]], env=environment, cwd=home, capture_output=True, text=True, check=True
    )
    assert ran.stdout == f"{home} mcp\n"


def test_the_registrys_entry_is_the_package_and_its_server() -> None:
    """The rules are those of its schema of 2025-12-11, and that a README names the entry it belongs to."""
    assert re.fullmatch(r"[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+", SERVER["name"])
    assert 1 <= len(SERVER["description"]) <= 100
    assert f"<!-- mcp-name: {SERVER['name']} -->" in (ROOT / "README.md").read_text(encoding="utf-8")
    (package,) = SERVER["packages"]
    assert package["identifier"] == PROJECT["name"]
    assert package["identifier"] in PROJECT["scripts"]
    assert [argument["value"] for argument in package["packageArguments"]] == ["mcp"]
    for variable in package["environmentVariables"]:
        assert is_setting(variable["name"].removeprefix("MEMHOOK_").lower())


def test_the_archive_for_gemini_cli_has_its_own_events(tmp_path: Path) -> None:
    archive = tmp_path / "memhook.tar.gz"
    subprocess.run([sys.executable, str(ROOT / "scripts/gemini-extension"), str(archive)], check=True)
    with tarfile.open(archive) as packed:
        names = packed.getnames()
        hooks = json.load(packed.extractfile("hooks/hooks.json") or pytest.fail("no hooks"))["hooks"]
        assert packed.getmember("hooks/launch").mode & 0o100
    assert len(names) == len(set(names))
    assert {"gemini-extension.json", "hooks/setup", "memhook/__init__.py", "config/default.toml"} <= set(names)
    assert not [name for name in names if name.startswith((".", "tests/"))]
    installed = KNOWN["gemini"].edits(Where(tmp_path, {}, Path("/launch"), None))[1]
    written = json.dumps(hooks).replace('\\"${extensionPath}/hooks/launch\\"', "/launch")
    assert json.loads(written) == json.loads(installed.add(""))["hooks"]
