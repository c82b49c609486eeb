"""What memhook rests on: tested ranges, locked versions, and no network."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import textwrap
import tomllib
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from memhook.daemon import hook_client

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
LOCK = (ROOT / "scripts" / "requirements-dev.lock").read_text(encoding="utf-8")
RUNTIME = [Requirement(text) for text in PROJECT["project"]["dependencies"]]
DEVELOPMENT = [Requirement(text) for text in PROJECT["dependency-groups"]["dev"]]


def locked() -> dict[str, set[str]]:
    """The versions of each package: there may be several, for different systems."""
    versions: dict[str, set[str]] = {}
    for name, version in re.findall(r"^([\w.-]+)(?:\[[\w,]+\])?==([\w.+]+)", LOCK, re.MULTILINE):
        versions.setdefault(name.lower().replace("_", "-"), set()).add(version)
    return versions


@pytest.mark.parametrize("needed", [*RUNTIME, *DEVELOPMENT], ids=lambda needed: needed.name)
def test_the_lock_file_has_a_version_within_the_range_for_everything_named(needed: Requirement) -> None:
    versions = locked()[needed.name.lower()]
    assert all(version in needed.specifier for version in versions)


@pytest.mark.parametrize("needed", RUNTIME, ids=lambda needed: needed.name)
def test_what_is_installed_is_within_the_range_that_is_tested(needed: Requirement) -> None:
    assert metadata.version(needed.name) in needed.specifier


def test_each_locked_version_has_hashes_and_no_address() -> None:
    entries = [entry for entry in re.split(r"\n(?=[\w-])", LOCK) if not entry.startswith("#")]
    assert len(entries) > 50
    assert [entry.splitlines()[0] for entry in entries if "--hash=sha256:" not in entry] == []
    assert "://" not in LOCK


# An address family other than Unix sockets is refused and written down, whoever asks for it in Python.
BLOCKED = """
import os, sys
def watched(event, arguments):
    if event in ("socket.getaddrinfo", "socket.gethostbyname", "socket.connect", "socket.bind", "socket.sendto"):
        if event == "socket.bind" and arguments[-1] == ("::1", 0):
            return  # urllib3, which LanceDB imports, finds out so whether there is IPv6; nothing is sent
        if event == "socket.getaddrinfo" or not isinstance(arguments[-1], (str, bytes)):
            with open({attempts!r}, "a") as file:
                file.write(f"{{event}} {{arguments!r}}\\n")
            raise OSError("the network is blocked")
sys.addaudithook(watched)
"""


def blocked_python(tmp_path: Path) -> tuple[str, Path]:
    """An interpreter that cannot reach a network, nor can what it starts, and the file of what it tried."""
    environment, attempts = tmp_path / "environment", tmp_path / "attempts"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(environment)], check=True)
    (site,) = environment.glob("lib/python*/site-packages")
    (site / "memhook_blocked.py").write_text(BLOCKED.format(attempts=str(attempts)), encoding="utf-8")
    paths = [str(ROOT), *filter(None, sys.path), "import memhook_blocked"]
    (site / "here.pth").write_text("\n".join(paths), encoding="utf-8")
    return str(environment / "bin/python"), attempts


def without_network() -> list[str]:
    """A prefix that takes the network away from a command and all it starts, also from code that is not Python."""
    for prefix in (["unshare", "--net"], ["unshare", "--map-root-user", "--net"]):
        if (
            shutil.which("unshare")
            and not subprocess.run([*prefix, "true"], check=False, capture_output=True).returncode
        ):
            return prefix
    return []


def test_the_core_works_with_networking_blocked_and_never_tries(tmp_path: Path) -> None:
    python, attempts = blocked_python(tmp_path)
    prefix = without_network()

    def ran(*arguments: str, body: str = "") -> str:
        command = [*prefix, python, *arguments]
        run = subprocess.run(command, input=body, capture_output=True, text=True, timeout=300, check=False, cwd="/")
        assert run.returncode == 0, run.stderr
        return run.stdout

    fact = "Ledger reconciliation must read from the primary, as the replica lags."
    event = {"session_id": "s", "prompt": "why does the ledger reconciliation fail when the replica lags?"}
    ran("-m", "memhook.cli", "remember", fact)
    found = json.loads(ran("-m", "memhook.cli", "search", "replica lag", "--json"))["results"]
    assert [one["content"] for one in found] == [fact]
    assert fact in ran("-I", "-S", str(hook_client.__file__), "UserPromptSubmit", "1", body=json.dumps(event))
    status = json.loads(ran("-m", "memhook.cli", "status", "--json"))
    assert status["daemon"]["running"]
    assert status["by_meaning"]
    ran("-m", "memhook.cli", "daemon", "stop")
    ran("-c", "import memhook.mcp_server.server, memhook.cli.run, memhook.hooks.runner, fastembed, lancedb")
    assert not attempts.exists(), attempts.read_text(encoding="utf-8")


def test_the_block_would_be_noticed(tmp_path: Path) -> None:
    python, attempts = blocked_python(tmp_path)
    code = """
    import socket
    for family, address in ((socket.AF_INET, ("127.0.0.1", 9)), (socket.AF_UNIX, "/nonexistent")):
        try:
            socket.socket(family).connect(address)
        except OSError as error:
            print(error.args[-1])
    """
    run = subprocess.run([python, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=True)
    assert run.stdout.splitlines() == ["the network is blocked", os.strerror(2)]
    assert "127.0.0.1" in attempts.read_text(encoding="utf-8")
