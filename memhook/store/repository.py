"""Read the index of a repository that memories are checked against. Slow: never while a prompt waits."""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from operator import itemgetter
from pathlib import Path

from memhook.core.memory import Memory
from memhook.core.staleness import Repository, is_target, read_backwards, symbols_of, targets_of, words_of
from memhook.patterns import regex
from memhook.store.project import LOG, git_answer, git_dirs

SECONDS = 20.0
COMMITS = 5_000
MOST_FILES_READ = 20_000  # in a larger repository symbols are not looked up: git would read every file
LARGEST_FILE = 1_000_000
MOST_LOOKED_UP = 8  # old commits in which names are looked up, for each round
MOST_BUILD_FILES = 200
MOST_WORDS_SOUGHT = 16  # each in a process of its own
NEARLY_ALL = 0.8  # of the files of a folder

_TARGETS = regex(r"^([\w%][^:=#\n]*):(?!=)", re.MULTILINE)  # one or more of make, or one of just with its parameters
_REMOTE = "refs/remotes/origin/HEAD"  # the default branch of the remote
_PACKAGE = "package.json"
_BUILD_FILE = regex(r"(?:^|/)(?:(?:GNUm|M|m)akefile|\.?[Jj]ustfile|package\.json|[^/]+\.(?:mk|just))$")
_BUILD_FILES = ("*akefile", "*.mk", "*ustfile", "*.just", f"*{_PACKAGE}")
_CODE_FILES = tuple(f":(exclude,icase)*.{ending}" for ending in ("adoc", "md", "mdx", "rst", "txt"))
_DEFINING = (
    "class|contract|data|defmacro|defmodule|defp?|enum|fn|func?|function|interface|macro|method|module|namespace"
    "|newtype|object|package|proc|procedure|protocol|record|struct|sub|trait|type|typedef|union"
)
_OWNER = r"(\([^()]*\)[[:space:]]*)?([[:alnum:]_]+(\.|::))*"  # func (m *Relay) Close, defmodule Belfry.Relay
_Lookup = Callable[[Collection[str], str], frozenset[str]]  # those of the names that are in a commit, or now
_Entry = tuple[str, ...]  # the letter of the status and the path, of a renamed file the old and the new path
_LAST_WORD = regex(r"\w+$", re.MULTILINE)
_RENAMES = ("--name-status", "--find-renames=100%")


def stamp(root: Path) -> tuple[int, ...]:
    """A value that changes with the commit, the branch and the tracked files."""
    own, common = git_dirs(root)
    return tuple(map(_changed, (own / "HEAD", own / "index", own / "logs/HEAD", common / "packed-refs")))


def repository_at(root: Path, memories: Sequence[Memory]) -> Repository | None:
    """Return the current index; None where there is no repository, or git takes too long."""
    listed = git_answer(root, "ls-files", "-tz", timeout=SECONDS)
    if listed is None:
        return None
    tracked = [(entry[0], entry[2:]) for entry in listed.split("\0") if entry]
    files = [path for _, path in tracked]
    staged = _staged(root)
    paths = _with_folders((*files, *(names[0] for _, *names in staged)))
    history = _history(root, staged)
    targets = _targets(root, files)
    lost = _lost(root, memories, targets, history.commits) if len(files) <= MOST_FILES_READ else {}
    return Repository(
        paths=frozenset(paths),
        by_name=_by_name(paths),
        changes={**history.times, **_times_of_folders(history.times, paths)},
        moves={old: _followed(old, history.moves) for old in history.moves},
        once_by_name=_by_name(_with_folders(history.times)),
        targets=targets,
        lost=lost,
        elsewhere=_elsewhere(root, paths, {name for names in lost.values() for name in names}),
        unseen=frozenset(_with_folders(path for tag, path in tracked if tag == "S")),
    )


def _staged(root: Path) -> list[_Entry]:
    """The deletions and renames in the index that no commit has."""
    wanted = ("--cached", *_RENAMES, "--diff-filter=DR", "-z", "HEAD", "--")
    return _entries(git_answer(root, "diff-index", *wanted, timeout=SECONDS) or "")


def _elsewhere(root: Path, paths: Container[str], lost: Collection[str]) -> frozenset[str]:
    """Return the missing paths and lost names that the default branch has; none if it is checked out."""
    branch = _default_branch(root)
    listed = git_answer(root, "ls-tree", "-rz", "--name-only", branch, timeout=SECONDS) if branch else ""
    there = _with_folders(path for path in (listed or "").split("\0") if path)
    names = _grepped(root, lost, branch) if branch else frozenset()
    return names | {path for path in there if path not in paths}


def _default_branch(root: Path) -> str:
    """Return the full name of the default branch, the remote's if known; empty if it is checked out or unknown."""
    current, remote = (git_answer(root, "symbolic-ref", "-q", ref, timeout=SECONDS) or "" for ref in ("HEAD", _REMOTE))
    usual = [remote.strip()] if remote else ["refs/heads/main", "refs/heads/master"]
    found = git_answer(root, "for-each-ref", "--format=%(refname)", *usual, timeout=SECONDS) or ""
    branch = found.partition("\n")[0]
    name = branch.removeprefix("refs/heads/").removeprefix(_REMOTE.removesuffix("HEAD"))
    return "" if current.strip() == f"refs/heads/{name}" else branch


@dataclass(frozen=True, slots=True)
class _History:
    """The times of the commits that touched each path, time and hash of every commit, the oldest first; and renames.

    Only files that a commit moved unchanged count: to compare contents, git would have to read them. For folders, files
    that a commit both moved and changed count as well.
    """

    times: Mapping[str, Sequence[int]]
    commits: Sequence[tuple[int, str]]
    moves: Mapping[str, str]


def _history(root: Path, staged: Sequence[_Entry]) -> _History:
    wanted = (*_RENAMES, "--diff-filter=ADMRT", "--format=%x01%ct %H")
    listed = git_answer(root, *LOG, *wanted, f"-{COMMITS}", "HEAD", "--", timeout=SECONDS)
    times: dict[str, list[int]] = defaultdict(list)
    commits: list[tuple[int, str]] = []
    moves = _Moves()
    moves.add(staged)
    for commit in (listed or "").split("\x01")[1:]:  # git lists the newest first
        head, _, rest = commit.partition("\0")
        moment, _, digest = head.strip().partition(" ")
        commits.append((int(moment), digest))
        entries = _entries(rest.lstrip("\n"))
        for name in (name for _, *names in entries for name in names):
            times[name].append(int(moment))
        moves.add(entries)
    commits.reverse()  # those of one second stay in their order
    in_order = {name: sorted(some) for name, some in times.items()}
    return _History(in_order, sorted(commits, key=itemgetter(0)), moves.found)


def _entries(listed: str) -> list[_Entry]:
    fields = iter(listed.split("\0"))
    statuses = (status.strip() for status in fields)
    return [
        (status[0], *(next(fields, "") for _ in range(2 if status.startswith("R") else 1)))
        for status in statuses
        if status
    ]


class _Moves:
    """Where files and folders went, from the commits of a history, the newest first.

    The files that have left a folder since a commit are those that it had before, if it is no longer there.
    """

    def __init__(self) -> None:
        self.found: dict[str, str] = {}
        self._left = Counter[str]()
        self._moved = Counter[tuple[str, str]]()

    def add(self, entries: Sequence[_Entry]) -> None:
        added = {names[0] for status, *names in entries if status == "A"}
        deleted = [names[0] for status, *names in entries if status == "D"]
        renamed = [(old, new) for status, old, *moved in entries if status == "R" for new in moved]
        folders = [pair for old, new in renamed for pair in _folder_pairs(old, new)]
        places: dict[str, set[str]] = defaultdict(set)
        for folder, place in folders:
            places[folder].add(place)
        changed = [
            (old, new, (folder, place))
            for old in deleted
            for folder in _folders(old)
            for place in places.get(folder, ())
            if (new := place + old[len(folder) :]) in added
        ]
        self._left.update(folder for old in (*deleted, *(old for old, _ in renamed)) for folder in _folders(old))
        self._moved.update((*folders, *(pair for *_, pair in changed)))
        nearly_all = {pair for pair in folders if self._moved[pair] >= NEARLY_ALL * self._left[pair[0]]}
        for old, new in (*renamed, *nearly_all, *((old, new) for old, new, pair in changed if pair in nearly_all)):
            self.found.setdefault(old, new)


def _folder_pairs(old: str, new: str) -> Iterator[tuple[str, str]]:
    """The folders above a renamed file with those that they became, as far up as they have the same names."""
    old, new = old.rpartition("/")[0], new.rpartition("/")[0]
    while old and new and old != new:
        yield old, new
        (old, _, name), (new, _, other) = old.rpartition("/"), new.rpartition("/")
        if name != other:
            return


def _followed(path: str, moves: Mapping[str, str]) -> str:
    """Return the path of a file after all renames, which may form a cycle."""
    seen = {path}
    while (path := moves.get(path, path)) not in seen:
        seen.add(path)
    return path


def _lost(
    root: Path, memories: Sequence[Memory], targets: frozenset[str], commits: Sequence[tuple[int, str]]
) -> dict[str, frozenset[str]]:
    """The symbols and targets of each memory that are in no tracked file now, and were when it was written."""

    def lost(names_of: Callable[[Memory], frozenset[str]], found: _Lookup) -> dict[str, frozenset[str]]:
        return _lost_names([(memory, names_of(memory)) for memory in memories], found, commits)

    words = lost(words_of, partial(_defined, root))
    sought = sorted(frozenset[str]().union(*words.values()))[:MOST_WORDS_SOUGHT]
    unused = frozenset(name for name in sought if not _is_used(root, name))
    symbols, runs = lost(symbols_of, partial(_grepped, root)), lost(targets_of, partial(_made, root, targets))
    found: dict[str, frozenset[str]] = {}
    for some in (symbols, runs, {key: names & unused for key, names in words.items()}):
        found |= {key: names | found.get(key, frozenset()) for key, names in some.items() if names}
    return found


def _lost_names(
    wanted: Sequence[tuple[Memory, frozenset[str]]], found: _Lookup, commits: Sequence[tuple[int, str]]
) -> dict[str, frozenset[str]]:
    """Memories written at the same commit are looked up together: reading the files takes longest."""
    present = found(frozenset[str]().union(*(names for _, names in wanted)), "")
    by_commit: dict[str, dict[str, frozenset[str]]] = defaultdict(dict)
    for memory, names in wanted:
        at = bisect_right(commits, int(memory.updated.timestamp()), key=itemgetter(0)) - 1
        if at >= 0 and names - present:
            by_commit[commits[at][1]][memory.id] = names - present
    lost: dict[str, frozenset[str]] = {}
    for commit, missing in list(by_commit.items())[:MOST_LOOKED_UP]:
        had = found(frozenset[str]().union(*missing.values()), commit)
        lost |= {key: names & had for key, names in missing.items()}
    return lost


def _defined(root: Path, names: Collection[str], commit: str) -> frozenset[str]:
    """Those that a keyword says to be defined, in a file of code."""
    if not names:
        return frozenset()
    pattern = f"({_DEFINING})[[:space:]]+{_OWNER}({'|'.join(sorted(names))})"
    at = (commit,) if commit else ()
    found = git_answer(root, "grep", "-hoIEw", "-e", pattern, *at, "--", *_CODE_FILES, timeout=SECONDS)
    return frozenset(_LAST_WORD.findall(found or "")) & frozenset(names)


def _is_used(root: Path, name: str) -> bool:
    """Whether a file of code has it before a comment starts."""
    pattern = rf"^([[:space:]]*([^#/*[:space:]]|/[^/*])([^#/]|/[^/*])*[^[:alnum:]_])?{name}([^[:alnum:]_]|$)"
    return bool(git_answer(root, "grep", "-lIE", "-e", pattern, "--", *_CODE_FILES, timeout=SECONDS))


def _made(root: Path, targets: frozenset[str], names: Collection[str], commit: str) -> frozenset[str]:
    if not commit:
        return frozenset(name for name in names if is_target(name, targets))
    return _grepped(root, names, commit, _BUILD_FILES)


def _grepped(root: Path, names: Collection[str], commit: str = "", files: Sequence[str] = ()) -> frozenset[str]:
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


def _folders(path: str) -> Iterator[str]:
    while path := path.rpartition("/")[0]:
        yield path


def _with_folders(paths: Iterable[str]) -> set[str]:
    files = set(paths)
    return files.union(*map(_folders, files))


def _times_of_folders(times: Mapping[str, Sequence[int]], paths: Container[str]) -> dict[str, list[int]]:
    """The times of the commits in each folder that is no longer there."""
    found: dict[str, set[int]] = defaultdict(set)
    for path, some in times.items():
        for folder in _folders(path):
            if folder not in paths:
                found[folder].update(some)
    return {folder: sorted(some) for folder, some in found.items()}


def _by_name(paths: Iterable[str]) -> Mapping[str, Sequence[str]]:
    named: dict[str, list[str]] = defaultdict(list)
    for path in sorted(paths, key=read_backwards):
        named[path.rpartition("/")[2]].append(path)
    return dict(named)


def _changed(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0
