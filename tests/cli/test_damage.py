"""A store that had to be repaired, as the user hears of it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from memhook.paths import user_paths
from memhook.store.table.manifest import manifests


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "memhook.cli", "--no-daemon", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, env=os.environ)


def test_a_command_says_once_that_the_store_was_repaired_and_the_doctor_keeps_saying_it(home: Path) -> None:
    assert run("remember", "the replica lags").returncode == 0
    manifest = manifests(user_paths().store / "memories.lance")[0]
    content = bytearray(manifest.read_bytes())
    content[len(content) // 2] ^= 4
    manifest.write_bytes(content)
    first, second = run("list", "--json"), run("list", "--json")
    assert [one["content"] for one in json.loads(first.stdout)["memories"]] == ["the replica lags"]
    assert "1 damaged file of the store replaced by a copy" in first.stderr
    assert "memhook doctor" in first.stderr
    assert (second.returncode, second.stderr) == (0, "")
    assert "files of the store were damaged" in run("doctor").stdout
