"""Backups of others: what they would change is shown, and nothing of it comes unasked."""

from __future__ import annotations

import json
import os
import pty
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from memhook.paths import Paths, user_paths
from memhook.settings import Settings, setting_keys, value_of
from memhook.store.memories import own_store
from memhook.store.table import changes
from memhook.writing.backup import backed_up
from memhook.writing.offered_settings import LOCATIONS
from tests.cli.conftest import Cli, Result
from tests.store.test_memories import MODEL, axis, memory

THEIRS = """\
max_tokens = 1234
store.uri = "/tmp/theirs"
store.options.endpoint = "http://theirs.example"
store.options.aws_secret_access_key = "AKIATHEIRS"
embedding.model = "their-model"
command = "rm -rf"

[stores.team]
uri = "s3://theirs/bucket"

[hooks]
capture = false
"""


@pytest.fixture
def theirs(tmp_path: Path) -> Path:
    """A backup that somebody else made."""
    paths = user_paths({"HOME": str(tmp_path / "them")})
    store = own_store(str(paths.store), paths.backups)
    with store.writing():
        store.write(changes.add, [memory(1, "their note")], [axis(1)], MODEL)
    paths.config.mkdir(parents=True)
    paths.config_file.write_text(THEIRS, encoding="utf-8")
    backed_up(tmp_path / "theirs.zip", paths, str(paths.store))
    return tmp_path / "theirs.zip"


Restore = Callable[..., Result]


@pytest.fixture
def restore(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> Restore:
    """`memhook restore`, with nothing on its stdin or at a terminal where somebody types."""

    def restored(*arguments: object, terminal: bytes = b"") -> Result:
        ours, its = pty.openpty()
        os.write(ours, terminal)
        with os.fdopen(ours, "wb"), os.fdopen(its) as typed, Path(os.devnull).open(encoding="ascii") as nothing:
            monkeypatch.setattr("sys.stdin", typed if terminal else nothing)
            result = cli("--no-daemon", "restore", *map(str, arguments))
        assert result.code == 0, result.err
        return result

    return restored


def settings(paths: Paths) -> str:
    return paths.config_file.read_text(encoding="utf-8") if paths.config_file.exists() else ""


def test_without_a_terminal_no_setting_comes_back_and_each_is_named(home: Path, theirs: Path, restore: Restore) -> None:
    done = restore(theirs)
    assert settings(user_paths()) == ""
    for part in ("max_tokens = 1234", '"/tmp/theirs"', "http://theirs.example", "s3://theirs/bucket", "their-model"):
        assert part in done.out
    assert "--with-stores" in done.out
    assert "AKIATHEIRS" not in done.out
    assert "command" in done.out


def test_yes_speaks_for_no_store_model_or_endpoint(home: Path, theirs: Path, restore: Restore) -> None:
    done = restore(theirs, "--yes")
    assert "taken over" in done.out
    assert sorted(settings(user_paths()).split("\n")) == sorted(
        ["max_tokens = 1234", "", "[hooks]", "capture = false", ""]
    )


def test_stores_come_back_by_an_option_of_their_own_and_credentials_never(
    home: Path, theirs: Path, restore: Restore
) -> None:
    restore(theirs, "--with-stores")
    text = settings(user_paths())
    assert "/tmp/theirs" in text
    assert "s3://theirs/bucket" in text
    assert "AKIATHEIRS" not in text
    assert "max_tokens" not in text
    assert "rm -rf" not in text


@pytest.mark.parametrize("options", [[], ["--yes"]])
def test_json_says_what_was_left_out(home: Path, theirs: Path, restore: Restore, options: list[str]) -> None:
    report = json.loads(restore(theirs, "--json", *options).out)
    left = {one["key"]: one for one in report["settings_left"]}
    assert left["store.uri"] == {
        "key": "store.uri",
        "here": "",
        "backup": '"/tmp/theirs"',
        "names_a_location": True,
    }
    assert ("max_tokens" in left) == (not options)
    assert report["settings_restored"] == (["hooks.capture", "max_tokens"] if options else [])
    assert "store.uri" not in settings(user_paths())
    assert set(report["settings_unusable"]) == {"command", "store.options.aws_secret_access_key"}


def test_at_a_terminal_settings_and_stores_are_asked_for_apart(home: Path, theirs: Path, restore: Restore) -> None:
    done = restore(theirs, terminal=b"y\nn\n")
    assert "max_tokens = 1234 (here: not set)" in done.err
    assert "/tmp/theirs" in done.err
    text = settings(user_paths())
    assert "max_tokens = 1234" in text
    assert "theirs" not in text


def test_control_characters_in_a_setting_of_others_do_not_reach_the_terminal(
    home: Path, theirs: Path, restore: Restore
) -> None:
    changed = theirs.with_name("changed.zip")
    with zipfile.ZipFile(theirs) as old, zipfile.ZipFile(changed, "w") as new:
        for name in old.namelist():
            text = 'store.uri = "/tmp/\\u001b[31m\\u202e"\n"a\\u001bb" = 1\n'
            new.writestr(name, text if name == "config.toml" else old.read(name))
    done = restore(changed)
    assert not set(done.out) & {"\x1b", "\u202e"}
    assert "/tmp/" in done.out


def test_each_setting_that_takes_any_text_counts_as_a_location() -> None:
    free = {key for key in setting_keys() if isinstance(value_of(Settings(), key), str)}
    known = {"hooks.detail", "hooks.relevance", "hooks.notice"}  # of a few words each
    assert {key.split(".")[0] for key in free - known} <= set(LOCATIONS)
    assert free - known
