"""Check what a memory names against an index of the repository: files that are gone, commits since, commands, symbols.

findings(memory, repository, exists)   what is no longer as the memory says
is_forgettable(memory, ...)            whether nothing is left of it, on the default branch neither
clause(found)                          the findings in a few words, to stand beside it

Only what the repository once had can be gone from it: a memory may name a file of another place, or of no place.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache

from memhook.core.anchors import Kind, anchors_of, is_distinctive, kind_of
from memhook.core.fencing import label
from memhook.core.memory import Memory
from memhook.patterns import regex

NAMED_GONE = 2
NAME_CHARS = 60
CACHED = 1_024  # memories whose anchors are not read again: reading them takes longer than the check

_SYMBOL = regex(r"[A-Za-z_]\w+")
_RUN = regex(r"(?:make|just|(?:npm|pnpm|yarn) run|pnpm) ([A-Za-z_][\w:./-]*)(?!\S)")


@dataclass(frozen=True, slots=True)
class Repository:
    """The index of one repository.

    `paths` has the tracked files and their folders, and `by_name` the paths of each last part; `changes` the times of
    the commits of each path that the history names, the oldest first, and `moves` where renamed files are now.
    `targets` has those of make and just and the scripts of npm, of all files together; `%` in one stands for any name.
    `lost` has the symbols and targets that were in the files when a memory was written and are no longer, by memory.
    `elsewhere` has the paths, symbols and targets that are missing here and that the default branch has.
    """

    paths: frozenset[str] = frozenset()
    by_name: Mapping[str, Sequence[str]] = field(default_factory=dict)
    changes: Mapping[str, Sequence[int]] = field(default_factory=dict)
    moves: Mapping[str, str] = field(default_factory=dict)
    once_by_name: Mapping[str, Sequence[str]] = field(default_factory=dict)
    targets: frozenset[str] = frozenset()
    lost: Mapping[str, frozenset[str]] = field(default_factory=dict)
    elsewhere: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Findings:
    """`gone` is what no longer exists, of `checked` anchors; `commits` have changed the files it names since.

    `moved` has the present path of each file that is elsewhere now.
    """

    gone: tuple[str, ...] = ()
    checked: int = 0
    commits: int = 0
    moved: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_all_gone(self) -> bool:
        return bool(self.gone) and len(self.gone) == self.checked


@dataclass(frozen=True, slots=True)
class _Check:
    """Whether a thing is there, the times of its commits, and for a file that moved where it is now."""

    is_there: bool
    times: Sequence[int] = ()
    moved_to: str = ""


def findings(memory: Memory, repository: Repository, exists: Callable[[str], bool]) -> Findings:
    """`exists` tells whether a path is in the work tree, tracked or not."""
    gone: list[str] = []
    moved: dict[str, str] = {}
    checked, commits = 0, Counter[int]()
    written = int(memory.updated.timestamp())
    lost = repository.lost.get(memory.id, frozenset())
    for anchor in _anchors(memory):
        for check in _checks(anchor, repository, lost, exists):
            since = check.times[bisect_right(check.times, written) :]
            if not check.is_there and check.times and check.times[-1] < written:
                continue  # it was gone when the memory was written, which knows
            checked += 1
            gone += [anchor] if not check.is_there else []
            moved |= {anchor: check.moved_to} if check.moved_to else {}
            commits |= Counter(since)  # one commit may have changed several files
    return Findings(tuple(dict.fromkeys(gone)), checked, commits.total(), moved)


def is_forgettable(memory: Memory, repository: Repository, exists: Callable[[str], bool]) -> bool:
    """Whether all that it names is gone, and not only from the branch that is checked out."""
    elsewhere = repository.elsewhere
    lost = {memory.id: repository.lost.get(memory.id, frozenset()) - elsewhere}
    found = findings(memory, replace(repository, lost=lost), lambda path: exists(path) or path in elsewhere)
    return found.is_all_gone


def clause(found: Findings) -> str:
    """Empty when all is as the memory says."""
    names = [label(name.removesuffix("()"), NAME_CHARS) for name in found.gone[:NAMED_GONE]]
    more = f" and {len(found.gone) - NAMED_GONE} more" if len(found.gone) > NAMED_GONE else ""
    gone = f"{', '.join(names)}{more} {'is' if len(found.gone) == 1 else 'are'} gone" if names else ""
    places = [f"{label(old, NAME_CHARS)} is now {label(new, NAME_CHARS)}" for old, new in found.moved.items()]
    since = f"{found.commits} commit{'' if found.commits == 1 else 's'} since" if found.commits else ""
    return "; ".join(filter(None, (gone, *places[:NAMED_GONE], since)))


def former_names(path: str, repository: Repository) -> list[str]:
    """The paths that a file had before it was renamed."""
    return [old for old, new in repository.moves.items() if new == path]


def symbols_of(memory: Memory) -> frozenset[str]:
    """The identifiers whose presence in the files can be looked up."""
    return frozenset(name for one in _anchors(memory) if (name := _symbol(one)))


def targets_of(memory: Memory) -> frozenset[str]:
    """The targets of make and just and the scripts of npm that it names."""
    return frozenset(run[1] for one in _anchors(memory) if (run := _RUN.match(one)))


def is_target(name: str, repository_targets: Collection[str]) -> bool:
    """Whether one of the targets is this, or a pattern for it: `test-%`."""
    if name in repository_targets:
        return True
    patterns = (one.partition("%") for one in repository_targets if "%" in one)
    return any(name.startswith(start) and name.endswith(end) for start, _, end in patterns)


def _anchors(memory: Memory) -> Sequence[str]:
    return memory.anchors or _named(memory.title, memory.content)


_named = lru_cache(CACHED)(anchors_of)


def _symbol(anchor: str) -> str:
    name = anchor.removesuffix("()")
    is_one = kind_of(anchor) is Kind.IDENTIFIER and _SYMBOL.fullmatch(name) and is_distinctive(name)
    return name if is_one else ""


def _checks(
    anchor: str, repository: Repository, lost: frozenset[str], exists: Callable[[str], bool]
) -> Iterator[_Check]:
    """Yield the state of each thing the anchor names; nothing if it is unknown."""
    kind = kind_of(anchor)
    if kind in (Kind.PATH, Kind.FOLDER):
        yield from _path_check(anchor, repository, exists)
    elif kind is Kind.COMMAND:
        yield from _command_checks(anchor, repository, lost, exists)
    elif (symbol := _symbol(anchor)) and symbol in lost:
        yield _Check(is_there=False)


def _path_check(path: str, repository: Repository, exists: Callable[[str], bool]) -> Iterator[_Check]:
    plain = path.strip("/").removeprefix("./")
    known = [plain] if plain in repository.paths else _called(plain, repository.by_name)
    there = [one for one in known if exists(one)]
    if there or exists(plain):
        yield _Check(is_there=True, times=repository.changes.get(there[0], ()) if len(there) == 1 else ())
    elif once := _called(plain, repository.once_by_name):
        now = {moved for old in once if exists(moved := repository.moves.get(old, old))}
        one = {*once, *now} if len(once) == 1 else ()
        times = sorted({time for name in one for time in repository.changes.get(name, ())})
        yield _Check(bool(now), times, min(now) if len(now) == 1 else "")


def _command_checks(
    command: str, repository: Repository, lost: frozenset[str], exists: Callable[[str], bool]
) -> Iterator[_Check]:
    if run := _RUN.match(command):
        if is_target(run[1], repository.targets):
            yield _Check(is_there=True)
        elif run[1] in lost:
            yield _Check(is_there=False)
    for word in command.split():
        if "/" in word and kind_of(word) in (Kind.PATH, Kind.FOLDER):
            yield from _path_check(word, repository, exists)


def _called(path: str, by_name: Mapping[str, Sequence[str]]) -> list[str]:
    """The paths that end in this one."""
    found = by_name.get(path.rpartition("/")[2], ())
    return [one for one in found if one == path or one.endswith(f"/{path}")]
