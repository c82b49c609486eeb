from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from memhook.supply import git
from memhook.supply.git import git_entries

WHY = (
    "The importer read from the replica, which lags after the weekly vacuum, so rows were missing because nobody"
    " waited for it. It reads from the primary now."
)


class Repository:
    def __init__(self, root: Path) -> None:
        self.root = root
        self._minute = 0
        self.run("init", "-q")

    def run(self, *arguments: str) -> None:
        stamp = f"2026-02-21T09:{self._minute:02}:00+00:00"
        who = {
            f"GIT_{role}_{what}": "ada@example.org" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")
        }
        dates = {"GIT_AUTHOR_DATE": stamp, "GIT_COMMITTER_DATE": stamp}
        subprocess.run(["git", *arguments], cwd=self.root, env=os.environ | who | dates, check=True)

    def commit(self, subject: str, body: str = "", file: str = "ledger.py", text: str | None = "") -> None:
        self._minute += 1
        path = self.root / file
        if text is None:
            path.unlink()
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text or subject)
        self.run("add", "-A")
        self.run("commit", "-q", "-m", subject, *(("-m", body) if body else ()))


@pytest.fixture(name="repository")
def fixture_repository(tmp_path: Path) -> Repository:
    root = tmp_path / "ledger"
    root.mkdir()
    return Repository(root)


def titles(repository: Repository) -> list[str]:
    return [entry.record["title"] for entry in git_entries(repository.root, "ledger") if entry.record]


def test_a_commit_that_says_why_becomes_a_memory_with_its_date_and_hash(repository: Repository) -> None:
    repository.commit("Fix missing rows", f"{WHY}\n\nSigned-off-by: Ada <ada@example.org>")
    (entry,) = git_entries(repository.root, "ledger")
    record = entry.record
    assert record is not None
    assert record["content"] == f"Fix missing rows\n\n{WHY}"
    assert (record["project"], record["source"]) == ("ledger", entry.place)
    assert record["created"].startswith("2026-02-21T09:01")
    assert record["id"].removeprefix("git-").startswith(entry.place.removeprefix("commit "))


def test_commits_without_a_reason_and_those_of_bots_are_left_out(repository: Repository) -> None:
    repository.commit("Fix typo")
    repository.commit("Add a page", "A page with a list of all ledgers, sorted by name, and a button to add one.")
    repository.commit("Bump [left-pad] from 1 to 2", f"Fixes a crash. {WHY}")
    repository.commit('Revert "Read the replica"', WHY)
    repository.commit("Use SQLite instead of files", f"We decided so because locks were lost. {WHY}")
    assert titles(repository) == ["Use SQLite instead of files", 'Revert "Read the replica"']


def test_a_commit_whose_files_are_all_gone_is_left_out(repository: Repository) -> None:
    repository.commit("Fix the old importer", WHY, "old.py")
    repository.commit("Fix the new importer", WHY, "new.py")
    repository.commit("Remove it", file="old.py", text=None)
    assert titles(repository) == ["Fix the new importer"]


def test_records_of_decisions_that_hold_are_among_them(repository: Repository) -> None:
    repository.commit("One", file="docs/adr/0001-use-sqlite.md", text="# Use SQLite\n\n## Status\n\nAccepted\n\nLocks.")
    repository.commit("Two", file="docs/adr/0002-old.md", text="# Files\n\n## Status\n\nSuperseded by 1\n")
    repository.commit("Three", file="docs/adr/template.md", text="# Title\n")
    assert titles(repository) == ["Use SQLite"]


def test_the_newest_come_first_and_there_is_a_limit(repository: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(git, "MOST", 2)
    for name in ("one", "two", "three"):
        repository.commit(f"Fix {name}", WHY)
    assert titles(repository) == ["Fix three", "Fix two"]


def test_outside_a_repository_and_in_an_empty_one_there_is_nothing(repository: Repository, tmp_path: Path) -> None:
    assert git_entries(repository.root, "ledger") == []
    assert git_entries(tmp_path, "none") == []


def test_a_link_out_of_the_repository_is_no_record(repository: Repository, tmp_path: Path) -> None:
    (tmp_path / "secret.md").write_text("# Secret\n\nNobody's business.")
    (repository.root / "adr").mkdir()
    (repository.root / "adr/0001.md").symlink_to(tmp_path / "secret.md")
    repository.commit("Add", file="x")
    assert titles(repository) == []


def test_prose_that_says_what_was_wrong_is_a_reason_whatever_its_words(repository: Repository) -> None:
    repository.commit("Sort by name", "The page was in the order of the file, where nobody found a ledger by its name.")
    repository.commit("Add colours", "- nobody could read the grey ones\n- the buttons were too small for some of us")
    assert titles(repository) == ["Sort by name"]
