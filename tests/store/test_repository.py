"""The index of a repository, and the value that tells when to read it again."""

from __future__ import annotations

import subprocess
from pathlib import Path

from memhook.store.repository import repository_at, stamp


def git(folder: Path, *arguments: str) -> None:
    identity = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", "-C", str(folder), *identity, *arguments], check=True, capture_output=True)


def test_a_commit_in_a_linked_worktree_is_noticed(tmp_path: Path) -> None:
    main, linked = tmp_path / "main", tmp_path / "linked"
    main.mkdir()
    git(main, "init", "-q")
    git(main, "commit", "-q", "--allow-empty", "-m", "first")
    git(main, "worktree", "add", "-q", str(linked))
    before = stamp(linked)
    assert before == stamp(linked)
    assert any(before)
    (linked / "new.py").touch()
    git(linked, "add", "new.py")
    git(linked, "commit", "-q", "-m", "second")
    assert stamp(linked) != before
    index = repository_at(linked, [])
    assert index is not None
    assert "new.py" in index.paths
