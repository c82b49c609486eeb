"""Read the index of a repository that memories are checked against. Slow: never while a prompt waits."""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Collection, Container, Iterable, Mapping, Sequence
from operator import itemgetter
from pathlib import Path

from memhook.core.memory import Memory
from memhook.core.staleness import Repository, is_target, symbols_of, targets_of
from memhook.patterns import regex
from memhook.store.project import LOG, git_answer, git_dirs

SECONDS = 20.0
COMMITS = 5_000
MOST_FILES_READ = 20_000  # in a larger repository symbols are not looked up: git would read every file
LARGEST_FILE = 1_000_000
MOST_LOOKED_UP = 8  # old commits in which names are looked up, for each round
MOST_BUILD_FILES = 200

_TARGETS = regex(r"^([\w%][^:=#\n]*):(?!=)", re.MULTILINE)  # one or more of make, or one of just with its parameters
_REMOTE = "refs/remotes/origin/HEAD"  # the default branch of the remote
_PACKAGE = "package.json"
_BUILD_FILE = regex(r"(?:^|/)(?:(?:GNUm|M|m)akefile|\.?[Jj]ustfile|package\.json|[^/]+\.(?:mk|just))$")
_BUILD_FILES = ("*akefile", "*.mk", "*ustfile", "*.just", f"*{_PACKAGE}")


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
    changes, commits, moves = _history(root)
    once = {*changes, *(folder for path in changes for folder in _folders(path))}
    targets = _targets(root, files)
    lost = _lost(root, memories, targets, commits) if len(files) <= MOST_FILES_READ else {}
    elsewhere = _elsewhere(root, paths, {name for names in lost.values() for name in names})
    return Repository(frozenset(paths), _by_name(paths), changes, moves, _by_name(once), targets, lost, elsewhere)


def _elsewhere(root: Path, paths: Container[str], lost: Collection[str]) -> frozenset[str]:
    """The paths and the lost names that the default branch has; none where it is the one that is checked out."""
    branch = _default_branch(root)
    listed = git_answer(root, "ls-tree", "-rz", "--name-only", branch, timeout=SECONDS) if branch else ""
    files = [path for path in (listed or "").split("\0") if path]
    there = {*files, *(folder for path in files for folder in _folders(path))}
    names = _grepped(root, lost, branch) if branch else frozenset()
    return names | {path for path in there if path not in paths}


def _default_branch(root: Path) -> str:
    """The full name of the default branch, of the remote if that tells; empty where it is checked out, or unknown."""
    current, remote = (git_answer(root, "symbolic-ref", "-q", ref, timeout=SECONDS) or "" for ref in ("HEAD", _REMOTE))
    usual = [remote.strip()] if remote else ["refs/heads/main", "refs/heads/master"]
    found = git_answer(root, "for-each-ref", "--format=%(refname)", *usual, timeout=SECONDS) or ""
    branch = found.partition("\n")[0]
    name = branch.removeprefix("refs/heads/").removeprefix(_REMOTE.removesuffix("HEAD"))
    return "" if current.strip() == f"refs/heads/{name}" else branch


def _history(root: Path) -> tuple[dict[str, list[int]], list[tuple[int, str]], dict[str, str]]:
    """The times of the commits that touched each path, time and hash of every commit, the oldest first; and renames.

    Of files that a commit moved unchanged: to compare contents, git would have to read them.
    """
    renames = ("--name-status", "--find-renames=100%", "--diff-filter=ADMRT")
    listed = git_answer(root, *LOG, *renames, "--format=%x01%ct %H", f"-{COMMITS}", "HEAD", "--", timeout=SECONDS)
    times: dict[str, list[int]] = defaultdict(list)
    commits: list[tuple[int, str]] = []
    moves: dict[str, str] = {}
    for commit in (listed or "").split("\x01")[1:]:
        head, _, rest = commit.partition("\0")
        moment, _, digest = head.strip().partition(" ")
        commits.append((int(moment), digest))
        fields = iter(rest.lstrip("\n").split("\0"))
        for status in fields:
            names = [next(fields, "") for _ in range(2 if status.startswith("R") else 1)] if status.strip() else []
            for name in names:
                times[name].append(int(moment))
            if len(names) > 1:
                moves.setdefault(*names)  # git lists the newest first
    commits.reverse()  # those of one second stay in their order
    in_order = {name: sorted(some) for name, some in times.items()}
    return in_order, sorted(commits, key=itemgetter(0)), {old: _followed(old, moves) for old in moves}


def _followed(path: str, moves: Mapping[str, str]) -> str:
    """Where a file is after all renames; some go round in a circle."""
    seen = {path}
    while (path := moves.get(path, path)) not in seen:
        seen.add(path)
    return path


def _lost(
    root: Path, memories: Sequence[Memory], targets: frozenset[str], commits: Sequence[tuple[int, str]]
) -> dict[str, frozenset[str]]:
    """The symbols and targets of each memory that are in no tracked file now, and were when it was written.

    Memories written at the same commit are looked up together: reading the files takes longest.
    """
    wanted = {memory.id: symbols_of(memory) for memory in memories}
    present = _grepped(root, {name for names in wanted.values() for name in names})
    by_commit: dict[str, list[tuple[str, frozenset[str], frozenset[str]]]] = defaultdict(list)
    for memory in memories:
        at = bisect_right(commits, int(memory.updated.timestamp()), key=itemgetter(0)) - 1
        symbols = wanted[memory.id] - present
        runs = frozenset(one for one in targets_of(memory) if not is_target(one, targets))
        if at >= 0 and (symbols or runs):
            by_commit[commits[at][1]].append((memory.id, symbols, runs))
    lost: dict[str, frozenset[str]] = {}
    for commit, missing in list(by_commit.items())[:MOST_LOOKED_UP]:
        symbols = _grepped(root, {name for _, names, _ in missing for name in names}, commit)
        runs = _grepped(root, {name for _, _, names in missing for name in names}, commit, _BUILD_FILES)
        lost |= {key: had for key, some, others in missing if (had := (some & symbols) | (others & runs))}
    return lost


def _grepped(root: Path, names: Iterable[str], commit: str = "", files: Sequence[str] = ()) -> frozenset[str]:
    patterns = [part for name in sorted(names) for part in ("-e", name)]
    if not patterns:
        return frozenset()
    at = (commit,) if commit else ()
    found = git_answer(root, "grep", "-hoIFw", *patterns, *at, "--", *files, timeout=SECONDS)
    return frozenset((found or "").split("\n")) & frozenset(names)


def _targets(root: Path, files: Sequence[str]) -> frozenset[str]:
    build_files = [name for name in files if _BUILD_FILE.search(name)][:MOST_BUILD_FILES]
    texts = [(name.endswith(_PACKAGE), _text(root / name)) for name in build_files]
    lines = (line for is_package, text in texts if not is_package for line in _TARGETS.findall(text))
    found = {word for line in lines for word in line.split()}
    for is_package, text in texts:
        found |= _scripts(text) if is_package else set()
    return frozenset(found)


def _scripts(package: str) -> set[str]:
    try:
        scripts = json.loads(package or "{}")["scripts"]
        return set(scripts) if isinstance(scripts, dict) else set()
    except (ValueError, RecursionError, KeyError, TypeError):
        return set()


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
