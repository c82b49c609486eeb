"""The index of a repository, and the value that tells when to read it again."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import MappingProxyType

from memhook.core.memory import Memory
from memhook.store.repository import repository_at, stamp


def git(folder: Path, *arguments: str, environment: Mapping[str, str] = MappingProxyType({})) -> None:
    identity = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
    command = ["git", "-C", str(folder), *identity, *arguments]
    subprocess.run(command, check=True, capture_output=True, env={**os.environ, **environment})


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


def test_a_target_is_lost_if_the_build_files_had_it_when_the_memory_was_written(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    (tmp_path / "web").mkdir()
    (tmp_path / "Makefile").write_text("include rules.mk\ntest lint: all\n\tdo it\ndeploy:\n\tdo it\n")
    (tmp_path / "rules.mk").write_text("audit:\n\tdo it\n")
    (tmp_path / "web/package.json").write_text('{"scripts": {"gen": "x"}}')
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-q", "-m", "first")
    commands = ("make deploy", "make lint", "make audit", "npm run gen", "make menuconfig")
    now = datetime.now(UTC) + timedelta(seconds=1)
    memories = [Memory(f"{at:012}", "", f"Run `{one}`.", "", now, now) for at, one in enumerate(commands)]
    (tmp_path / "Makefile").write_text("include rules.mk\ntest lint: all\n\tdo it\n")
    later = (now + timedelta(minutes=1)).isoformat()
    git(tmp_path, "commit", "-q", "-a", "-m", "second", environment={"GIT_COMMITTER_DATE": later})
    index = repository_at(tmp_path, memories)
    assert index is not None
    assert index.lost == {memories[0].id: frozenset({"deploy"})}
    assert index.targets >= {"test", "lint", "audit", "gen"}


def test_what_the_default_branch_has_and_the_one_checked_out_has_not_is_known(tmp_path: Path) -> None:
    origin, clone = tmp_path / "origin", tmp_path / "clone"
    origin.mkdir()
    git(origin, "init", "-q", "-b", "trunk")
    (origin / "src").mkdir()
    (origin / "src/frame.c").write_text("int parse_frame(void);\n")
    (origin / "kept.c").touch()
    git(origin, "add", "-A")
    git(origin, "commit", "-q", "-m", "first")
    git(tmp_path, "clone", "-q", str(origin), str(clone))
    now = datetime.now(UTC) + timedelta(seconds=1)
    memory = Memory("0" * 12, "", "`parse_frame()` needs a lock.", "", now, now)
    git(clone, "checkout", "-q", "-b", "feature")
    git(clone, "rm", "-q", "src/frame.c")
    later = (now + timedelta(minutes=1)).isoformat()
    git(clone, "commit", "-q", "-m", "second", environment={"GIT_COMMITTER_DATE": later})
    for branch, elsewhere in (("feature", {"src", "src/frame.c", "parse_frame"}), ("trunk", set())):
        git(clone, "checkout", "-q", branch)
        index = repository_at(clone, [memory])
        assert index is not None
        assert index.elsewhere == elsewhere
