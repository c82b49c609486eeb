"""Read the index of a repository that memories are checked against. Slow: never while a prompt waits."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from memhook.core.memory import Memory
from memhook.core.staleness import Repository, symbols_of
from memhook.store.project import LOG, git_answer, git_dirs

SECONDS = 20.0
COMMITS = 5_000
MOST_FILES_READ = 20_000  # in a larger repository symbols are not looked up: git would read every file
LARGEST_FILE = 1_000_000
MOST_LOOKED_UP = 8  # memories whose symbols are looked up in an old commit, for each round

_TARGET = re.compile(r"^([A-Za-z0-9][\w./-]*)(?: [^:=\n]*)?:(?!=)", re.MULTILINE)
_FILES_OF_TARGETS = {"make": ("Makefile", "makefile", "GNUmakefile"), "just": ("justfile", "Justfile", ".justfile")}


def stamp(root: Path) -> tuple[int, ...]:
    """A value that changes with the commit, the branch and the tracked files."""
    own, common = git_dirs(root)
    return tuple(map(_changed, (own / "HEAD", own / "index", own / "logs/HEAD", common / "packed-refs")))


def repository_at(root: Path, memories: Sequence[Memory]) -> Repository | None:
    """The index as of now; None where there is no repository, or git takes too long."""
    listed = git_answer(root, "ls-files", "-z", timeout=SECONDS)
    if listed is None:
        return None
    files = [path for path in listed.split("\0") if path]
    paths = {*files, *(folder for path in files for folder in _folders(path))}
    changes = _changes(root)
    once = {*changes, *(folder for path in changes for folder in _folders(path))}
    lost = _lost(root, memories) if len(files) <= MOST_FILES_READ else {}
    return Repository(frozenset(paths), _by_name(paths), changes, _by_name(once), _targets(root), lost)


def _changes(root: Path) -> dict[str, list[int]]:
    """The times of the commits that touched each path, the oldest first."""
    listed = git_answer(
        root, *LOG, "--name-only", "--no-renames", "--format=%x01%ct", f"-{COMMITS}", "HEAD", "--", timeout=SECONDS
    )
    times: dict[str, list[int]] = defaultdict(list)
    for commit in (listed or "").split("\x01")[1:]:
        moment, _, names = commit.partition("\0")
        for name in names.replace("\n", "\0").split("\0"):
            if name:
                times[name].append(int(moment))
    return {name: sorted(some) for name, some in times.items()}


def _lost(root: Path, memories: Sequence[Memory]) -> dict[str, frozenset[str]]:
    """The symbols of each memory that are in no tracked file now, and were when it was written."""
    wanted = {memory.id: symbols_of(memory) for memory in memories}
    present = _grepped(root, {name for names in wanted.values() for name in names})
    missing = [(memory, names) for memory in memories if (names := wanted[memory.id] - present)]
    return {memory.id: lost for memory, names in missing[:MOST_LOOKED_UP] if (lost := _had(root, memory, names))}


def _had(root: Path, memory: Memory, names: frozenset[str]) -> frozenset[str]:
    before = f"--before={memory.updated.isoformat()}"
    commit = git_answer(root, "rev-list", "-1", before, "HEAD", "--", timeout=SECONDS)
    return frozenset(_grepped(root, names, commit.strip())) if commit and commit.strip() else frozenset()


def _grepped(root: Path, names: Iterable[str], commit: str = "") -> set[str]:
    patterns = [part for name in sorted(names) for part in ("-e", name)]
    if not patterns:
        return set()
    at = (commit,) if commit else ()
    found = git_answer(root, "grep", "-hoIFw", *patterns, *at, "--", timeout=SECONDS)
    return set((found or "").split("\n")) & set(names)


def _targets(root: Path) -> dict[str, frozenset[str]]:
    found = {
        runner: frozenset(_TARGET.findall("\n".join(_text(root / name) for name in names)))
        for runner, names in _FILES_OF_TARGETS.items()
    }
    try:
        package = json.loads(_text(root / "package.json") or "{}")
    except (ValueError, RecursionError):
        package = {}
    scripts = package.get("scripts") if isinstance(package, dict) else None
    found["npm"] = frozenset(scripts) if isinstance(scripts, dict) else frozenset()
    return {runner: targets for runner, targets in found.items() if targets}


def _text(path: Path) -> str:
    try:
        if path.is_symlink() or path.stat().st_size > LARGEST_FILE:
            return ""
        return path.read_text("utf-8", "replace")
    except OSError:
        return ""


def _folders(path: str) -> Iterable[str]:
    while path := path.rpartition("/")[0]:
        yield path


def _by_name(paths: Iterable[str]) -> Mapping[str, Sequence[str]]:
    named: dict[str, list[str]] = defaultdict(list)
    for path in sorted(paths):
        named[path.rpartition("/")[2]].append(path)
    return dict(named)


def _changed(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0
