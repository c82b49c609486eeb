"""A store that had to be repaired, as the user hears of it."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

from memhook.paths import user_paths
from memhook.store.table.manifest import manifests
from tests.cli.conftest import Cli


def test_a_command_says_once_that_the_store_was_repaired_and_the_doctor_keeps_saying_it(home: Path, cli: Cli) -> None:
    run = partial(cli, "--no-daemon")
    assert run("remember", "the replica lags").code == 0
    manifest = manifests(user_paths().store / "memories.lance")[0]
    content = bytearray(manifest.read_bytes())
    content[len(content) // 2] ^= 4
    manifest.write_bytes(content)
    first, second = run("list", "--json"), run("list", "--json")
    assert [one["content"] for one in json.loads(first.out)["memories"]] == ["the replica lags"]
    assert "1 damaged file of the store replaced by a copy" in first.err
    assert "memhook doctor" in first.err
    assert (second.code, second.err) == (0, "")
    assert "files of the store were damaged" in run("doctor").out


def test_a_store_that_was_whole_when_it_was_rebuilt_is_not_reported_as_damaged(home: Path, cli: Cli) -> None:
    run = partial(cli, "--no-daemon")
    run("remember", "the replica lags")
    kept = Path(run("restore", "--from-damaged", "--json").json["kept"])
    assert (kept / "memories.lance").is_dir()
    assert "damaged" not in run("doctor").out
    urn = run("list", "--json").json["memories"][0]["urn"]
    assert str(kept) in run("forget", "--purge", urn, "--yes", "--json").json["copies"]


def test_the_doctor_reports_a_file_in_place_of_the_folder_of_the_store(home: Path, cli: Cli) -> None:
    data = user_paths().data
    data.parent.mkdir(parents=True, exist_ok=True)
    data.touch(0o600)
    assert cli("--no-daemon", "remember", "the replica lags").code == 1
    checks = cli("--no-daemon", "doctor", "--json").json["checks"]
    problems = {check["name"]: check["message"] for check in checks if not check["ok"]}
    assert problems["folders"] == f"{data} is a file, not a folder"
    assert problems["store"] == f"The store at {data / 'store'} cannot be made: {data} is a file."
