"""The index of a repository, and the value that tells when to read it again."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import MappingProxyType

from memhook.core.memory import Memory
from memhook.core.staleness import Repository as Index
from memhook.core.staleness import clause, findings, is_forgettable
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


def committed(root: Path, minute: int, *changes: str) -> None:
    """Carry out changes of git's and commit all that changed, so many minutes from now."""
    for change in changes:
        git(root, *change.split())
    at = (datetime.now(UTC) + timedelta(minutes=minute)).isoformat(timespec="seconds")
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "change", environment={"GIT_COMMITTER_DATE": at})


def written(root: Path, files: Mapping[str, str]) -> None:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)


def indexed(root: Path, *memories: Memory) -> Index:
    index = repository_at(root, memories)
    assert index is not None
    return index


def shown(root: Path, *contents: str) -> list[str]:
    """What stands beside memories of now."""
    now = datetime.now(UTC)
    memories = [Memory(f"{at:012}", "", content, "", now, now) for at, content in enumerate(contents)]
    index = indexed(root, *memories)
    return [clause(findings(one, index, lambda path: os.path.lexists(root / path))) for one in memories]


def test_a_folder_whose_files_were_nearly_all_renamed_into_another_is_there(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    written(tmp_path, {f"assets/vendor/{name}": name for name in ("a.js", "b.js", "c/d.js", "c/e.js", "c/f.js")})
    written(tmp_path, {f"lib/{number}.py": f"{number} = 0" for number in range(5)})
    committed(tmp_path, -2)
    written(tmp_path, {"assets/vendor/a.js": "other"})
    committed(tmp_path, 1, "mv assets/vendor assets/third")
    written(tmp_path, {"assets/third/a.js": "changed with the move"})
    (tmp_path / "src").mkdir()
    committed(tmp_path, 2, "mv assets/third src/third", "mv lib/0.py src/0.py", "mv lib/1.py src/1.py", "rm -q -r lib")
    assert shown(tmp_path, "assets/vendor is patched.", "`assets/vendor/c/` too.", "`assets/vendor/a.js` is.") == [
        "assets/vendor is now src/third; 1 commit since",
        "assets/vendor/c/ is now src/third/c; 1 commit since",
        "assets/vendor/a.js is now src/third/a.js; 2 commits since",
    ]
    assert shown(tmp_path, "Only `lib/` may be imported.") == ["lib/ is gone; 1 commit since"]


def test_a_folder_that_was_deleted_before_a_memory_was_written_is_nothing_to_tell(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    written(tmp_path, {"old/a.c": "a", "b.c": "b"})
    committed(tmp_path, -9)
    committed(tmp_path, -5, "rm -q -r old")
    assert shown(tmp_path, "`old/` was dropped on purpose.") == [""]


def test_what_is_deleted_or_renamed_and_not_committed_is_known(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    written(tmp_path, {"conf/quiet.yaml": "a", "conf/loud.yaml": "b", "conf/bells.yaml": "c", "web/app.ts": "d"})
    committed(tmp_path, -5)
    (tmp_path / "conf/quiet.yaml").unlink()
    git(tmp_path, "rm", "-q", "conf/loud.yaml")
    git(tmp_path, "mv", "conf/bells.yaml", "conf/tower.yaml")
    git(tmp_path, "mv", "web", "site")
    texts = [f"`{name}` is the parish's." for name in ("conf/quiet.yaml", "loud.yaml", "bells.yaml", "web/")]
    assert shown(tmp_path, *texts) == [
        "conf/quiet.yaml is gone",
        "loud.yaml is gone",
        "bells.yaml is now conf/tower.yaml",
        "web/ is now site",
    ]
    now = datetime.now(UTC)
    memories = [Memory(f"{at:012}", "", text, "", now, now) for at, text in enumerate(texts)]
    index = indexed(tmp_path, *memories)
    assert not any(is_forgettable(one, index, lambda path: os.path.lexists(tmp_path / path)) for one in memories)


def test_files_that_a_sparse_checkout_leaves_out_are_not_gone(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    written(tmp_path, {"web/app.ts": "a", "core/app.c": "b"})
    committed(tmp_path, -5)
    git(tmp_path, "sparse-checkout", "set", "core")
    assert not (tmp_path / "web/app.ts").exists()
    assert shown(tmp_path, "`web/app.ts` and `web/` are the parish's.") == [""]


def test_a_class_of_one_word_that_is_defined_no_longer_is_gone(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    code = {
        "a.ts": "export class Modbus extends Bus {}\n",
        "b.ex": "defmodule Belfry.Calendar do\n",
        "c.go": "func (m *Relay) Close(all bool) {\n",
        "d.py": "class Kept:\n    pass\nprint(Math)\n",
        "e.rs": "pub struct Fee<T> { }\nfn parse(x: u8) {}\n",
    }
    written(tmp_path, code)
    committed(tmp_path, -5)
    written(
        tmp_path,
        {
            "a.ts": "export class FieldBus extends Bus {}  // was Modbus\n",
            "b.ex": "defmodule Belfry.Feasts do # not the class Calendar\n",
            "c.go": "func (m *Relay) Shut(all bool) {\n",
            "d.py": "class Kept:\n    pass\n",
            "e.rs": "pub struct Tariff<T> { }\nuse other::{parse, Fee};\n",
            "f.md": "The class Modbus is explained here.\n",
        },
    )
    committed(tmp_path, 5)
    assert shown(
        tmp_path,
        "The `Modbus` class retries.",
        "Module `Calendar` is slow; the `Kept` class is not.",
        "Call `Close()` last.",
        "Never use the `Math` module or `print()`.",
        "`Modbus` speaks slowly.",
        "The `Fee` struct and `parse()` come from another place.",
    ) == ["Modbus is gone", "", "Close is gone", "", "", ""]
