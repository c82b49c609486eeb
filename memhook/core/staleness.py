"""Check a memory against an index of the repository: deleted files, commits since, commands, symbols.

findings(memory, repository, exists)   the differences between the memory and the repository
is_forgettable(memory, ...)            whether all that it names was deleted, on the default branch as well
clause(found)                          the findings in a few words, to show beside the memory

A path counts as deleted only if the repository once had it: a memory may name files that were never there.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum, auto
from functools import lru_cache
from itertools import chain, islice

from memhook.core.anchors import Kind, anchors_of, is_distinctive, kind_of
from memhook.core.fencing import label
from memhook.core.memory import Memory, titled
from memhook.core.mentions import mentions_of
from memhook.core.sentences import SUBCOMMANDS
from memhook.patterns import regex

NAMED_GONE = 2
NAMED_COMMITS = 2
NAME_CHARS = 60
CACHED = 1_024  # memories whose anchors are cached: extracting them takes longer than the check
MOST_CHECKS = 64  # of one memory
MOST_ALIKE = 4  # paths of one name that are looked for on the disk: of more than these, one is taken to exist

_SYMBOL = regex(r"[A-Za-z_]\w+")
_WORD = regex(r"[A-Za-z]\w{2,}")
_KIND = "class|enum|function|interface|method|module|protocol|record|struct|trait|type"
_CALLED = regex(rf"(?i:\b(?:{_KIND})) `(\w+)`|`(\w+)`[ -](?:{_KIND})\b")
_RUN = regex(r"(?:make|just|(?:npm|pnpm|yarn) run|pnpm) ([A-Za-z_][\w:./-]*)(?!\S)")
_ERROR = regex(r"\b\w+(?:Error|Exception)\b")


@dataclass(frozen=True, slots=True)
class Repository:
    """The index of one repository.

    `paths` has the tracked files and their folders, including those whose deletion is not committed. `by_name` maps a
    last part to its paths, sorted by `read_backwards`. `unseen` has the paths that a sparse checkout leaves out.
    `changes` maps each path in the history to the times of its commits, oldest first; `once_by_name` has these paths
    like `by_name`; `moves` maps the former path of a renamed file or folder to the present one.
    `targets` has the targets of make and just and the scripts of npm of all files; `%` in a target is any name.
    `lost` maps a memory to the symbols and targets that the files had when it was written and no longer have.
    `elsewhere` has the paths, symbols and targets that only the default branch has.
    """

    paths: frozenset[str] = frozenset()
    by_name: Mapping[str, Sequence[str]] = field(default_factory=dict)
    changes: Mapping[str, Sequence[int]] = field(default_factory=dict)
    moves: Mapping[str, str] = field(default_factory=dict)
    once_by_name: Mapping[str, Sequence[str]] = field(default_factory=dict)
    targets: frozenset[str] = frozenset()
    lost: Mapping[str, frozenset[str]] = field(default_factory=dict)
    elsewhere: frozenset[str] = frozenset()
    unseen: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Findings:
    """The differences between a memory and the repository.

    `gone` has the names that no longer exist; `moved` maps the name of a moved file or folder to its present path.
    `commits` maps a file's name to the number of commits that changed it since. The memory names `files` files.
    """

    gone: tuple[str, ...] = ()
    moved: Mapping[str, str] = field(default_factory=dict)
    commits: Mapping[str, int] = field(default_factory=dict)
    files: int = 0
    is_all_gone: bool = False
    """Whether the memory is of no use any more: see `_is_all_gone`."""


class _State(Enum):
    THERE = auto()
    DELETED = auto()
    """Deleted in the work tree, perhaps by mistake, but in no commit."""
    GONE = auto()
    UNKNOWN = auto()


@dataclass(frozen=True, slots=True)
class _Check:
    """The state of something that a memory names; for a file or folder, its path, commit times and new path."""

    name: str
    state: _State
    path: str = ""
    times: Sequence[int] = ()
    moved_to: str = ""

    def since(self, written: int) -> _Check:
        """Drop what was true when the memory was written: earlier commits, and a file deleted before."""
        is_known = self.state is _State.GONE and bool(self.times) and self.times[-1] < written
        times = self.times[bisect_right(self.times, written) :]
        return replace(self, times=times, state=_State.UNKNOWN if is_known else self.state)


def findings(memory: Memory, repository: Repository, exists: Callable[[str], bool]) -> Findings:
    """Compare a memory with the repository; `exists` returns whether a path is in the work tree, tracked or not."""
    written = int(memory.updated.timestamp())
    lost = repository.lost.get(memory.id, frozenset())
    found = chain.from_iterable(_checks(anchor, repository, lost, exists) for anchor in _anchors(memory))
    checks = [one.since(written) for one in islice(found, MOST_CHECKS)]
    unique: dict[str, _Check] = {}
    for check in checks:
        unique.setdefault(check.path or check.name, check)
    known = [one for one in unique.values() if one.state is not _State.UNKNOWN]
    return Findings(
        tuple(one.name for one in known if one.state is not _State.THERE),
        {one.name: one.moved_to for one in known if one.moved_to},
        {one.name: len(one.times) for one in known if one.times},
        sum(bool(one.path) for one in unique.values()),
        _is_all_gone(memory, checks),
    )


def is_forgettable(memory: Memory, repository: Repository, exists: Callable[[str], bool]) -> bool:
    """Return whether all that the memory names was deleted, on the default branch as well as on this one."""
    elsewhere = repository.elsewhere
    lost = {memory.id: repository.lost.get(memory.id, frozenset()) - elsewhere}
    found = findings(memory, replace(repository, lost=lost), lambda path: exists(path) or path in elsewhere)
    return found.is_all_gone


def clause(found: Findings) -> str:
    """Return the findings in a few words, "" if there are none."""
    names = [label(name.removesuffix("()"), NAME_CHARS) for name in found.gone[:NAMED_GONE]]
    more = f" and {len(found.gone) - NAMED_GONE} more" if len(found.gone) > NAMED_GONE else ""
    gone = f"{', '.join(names)}{more} {'is' if len(found.gone) == 1 else 'are'} gone" if names else ""
    places = [f"{label(old, NAME_CHARS)} is now {label(new, NAME_CHARS)}" for old, new in found.moved.items()]
    return "; ".join(filter(None, (gone, *places[:NAMED_GONE], _commits_since(found))))


def _commits_since(found: Findings) -> str:
    """Return the commits to the only file that the memory names, else those to each file that still exists."""
    if found.files == 1:
        return "".join(f"{_commits(count)} since" for count in found.commits.values())
    kept = [one for one in found.commits if one not in found.gone and one not in found.moved]
    listed = [f"{_commits(found.commits[one])} to {label(one, NAME_CHARS)}" for one in kept[:NAMED_COMMITS]]
    return f"{' and '.join(listed)} since" if listed else ""


def _commits(count: int) -> str:
    return f"{count} commit{'' if count == 1 else 's'}"


def _is_all_gone(memory: Memory, checks: Sequence[_Check]) -> bool:
    """Return whether commits removed everything that the memory names, and that includes a file or folder.

    Targets and symbols alone may have been renamed; an error code, a message or a tool cannot be checked and may still
    be true.
    """
    if not 0 < len(checks) < MOST_CHECKS or any(one.state is not _State.GONE for one in checks):
        return False
    names = [one.name for one in checks]
    return any(one.path for one in checks) and all(
        any(mention in name for name in names) for mention in _mentioned(titled(memory.title, memory.content))
    )


def former_names(path: str, repository: Repository) -> list[str]:
    """Return the paths that a file had before it was renamed."""
    return [old for old, new in repository.moves.items() if new == path]


def symbols_of(memory: Memory) -> frozenset[str]:
    """Return the identifiers whose presence in the files can be looked up."""
    return frozenset(name for one in _anchors(memory) if (name := _symbol(one)))


def words_of(memory: Memory) -> frozenset[str]:
    """Return the identifiers that look like any word, but are written as a call or described as a class or the like."""
    called = {one or other for one, other in _CALLED.findall(titled(memory.title, memory.content))}
    names = (one.removesuffix("()") for one in _anchors(memory) if one in called or one.endswith("()"))
    return frozenset(one for one in names if _WORD.fullmatch(one) and not is_distinctive(one))


def targets_of(memory: Memory) -> frozenset[str]:
    """Return the targets of make and just and the scripts of npm that the memory names."""
    return frozenset(run[1] for one in _anchors(memory) if (run := _RUN.match(one)))


def read_backwards(path: str) -> str:
    """Return the sort key of paths that puts those with the same ending next to each other."""
    return path[::-1]


def is_target(name: str, repository_targets: Collection[str]) -> bool:
    """Return whether one of the targets has this name, or is a pattern for it: `test-%`."""
    if name in repository_targets:
        return True
    patterns = (one.partition("%") for one in repository_targets if "%" in one)
    return any(name.startswith(start) and name.endswith(end) for start, _, end in patterns)


def _anchors(memory: Memory) -> Sequence[str]:
    return memory.anchors or _extracted(memory.title, memory.content)


_extracted = lru_cache(CACHED)(anchors_of)


@lru_cache(CACHED)
def _mentioned(text: str) -> tuple[str, ...]:
    """Return the names in plain words: tools that are called, types, files, errors."""
    found = mentions_of(text)
    commands = (one.split() for one in found.commands)
    tools = (tool for tool, *words in commands if words[0] in SUBCOMMANDS or any(word[:1] == "-" for word in words))
    return (*tools, *found.tools, *found.types, *found.members, *found.files, *_ERROR.findall(text))


def _symbol(anchor: str) -> str:
    """Return the identifier that the anchor is, without "()", or ""."""
    name = anchor.removesuffix("()")
    is_one = kind_of(anchor) is Kind.IDENTIFIER and _SYMBOL.fullmatch(name) and is_distinctive(name)
    return name if is_one else ""


def _checks(
    anchor: str, repository: Repository, lost: frozenset[str], exists: Callable[[str], bool]
) -> Iterator[_Check]:
    """Yield a check for each path, target or symbol in the anchor, at least one."""
    kind = kind_of(anchor)
    if kind in (Kind.PATH, Kind.FOLDER):
        yield _path_check(anchor, repository, exists)
    elif kind is Kind.COMMAND:
        yield from _command_checks(anchor, repository, lost, exists)
    else:
        is_lost = kind is Kind.IDENTIFIER and anchor.removesuffix("()") in lost
        yield _Check(anchor, _State.GONE if is_lost else _State.UNKNOWN)


def _path_check(name: str, repository: Repository, exists: Callable[[str], bool]) -> _Check:
    plain = name.strip("/").removeprefix("./")
    known = [plain] if plain in repository.paths else _paths_ending_in(plain, repository.by_name)
    there = known if len(known) > MOST_ALIKE else [one for one in known if one in repository.unseen or exists(one)]
    if there or exists(plain):
        times = repository.changes.get(there[0], ()) if len(there) == 1 else ()
        return _Check(name, _State.THERE, there[0] if len(there) == 1 else plain, times)
    once = known or _paths_ending_in(plain, repository.once_by_name)
    if not once:
        return _Check(name, _State.UNKNOWN, plain)
    now = {new for old in once[:MOST_ALIKE] if exists(new := repository.moves.get(old, old))}
    one = {*once, *now} if len(once) == 1 else ()
    times = sorted({time for path in one for time in repository.changes.get(path, ())})
    state = _State.THERE if now else _State.DELETED if known else _State.GONE
    return _Check(name, state, once[0], times, min(now) if len(now) == 1 else "")


def _command_checks(
    command: str, repository: Repository, lost: frozenset[str], exists: Callable[[str], bool]
) -> Iterator[_Check]:
    paths = [word for word in command.split() if "/" in word and kind_of(word) in (Kind.PATH, Kind.FOLDER)]
    yield from (_path_check(path, repository, exists) for path in paths)
    if run := _RUN.match(command):
        is_there = is_target(run[1], repository.targets)
        yield _Check(run[0], _State.THERE if is_there else _State.GONE if run[1] in lost else _State.UNKNOWN)
    elif not paths:
        yield _Check(command, _State.UNKNOWN)


def _paths_ending_in(path: str, by_name: Mapping[str, Sequence[str]]) -> list[str]:
    """Return paths that end in this one: no more than it takes to know that they are more than `MOST_ALIKE`."""
    found = by_name.get(path.rpartition("/")[2], ())

    def some_from(ending: str) -> Sequence[str]:
        at = bisect_left(found, ending, key=read_backwards)
        return found[at : at + MOST_ALIKE + 1]

    backwards = read_backwards(path)
    below = (one for one in some_from(f"{backwards}/") if one.endswith(f"/{path}"))
    return [*(one for one in some_from(backwards)[:1] if one == path), *below]
