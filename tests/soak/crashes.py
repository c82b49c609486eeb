"""What a power cut may leave of recorded changes to files: a disk that has what was synced, and of the rest anything.

A file's content is on disk once the file was synced, its name once the folder was. Before, a write may be missing or be
there in part, and names may come and go in any order: that is what POSIX allows, and file systems differ in how much
of it they do.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from tests.soak.recording import Change

Files = dict[str, bytes | None]
"""By their paths; None is a folder."""


@dataclass(eq=False, slots=True)
class _Node:
    is_folder: bool
    content: bytes = b""
    on_disk: bytes = b""
    unsynced: list[tuple[int, bytes | None]] = field(default_factory=list)  # None: cut there, or filled with zeros
    names: dict[str, _Node] = field(default_factory=dict)
    names_on_disk: dict[str, _Node] = field(default_factory=dict)


_Entry = tuple[_Node, str, _Node | None]


@dataclass(eq=False, slots=True)
class _Naming:
    """Names that are set or taken away in one step."""

    entries: list[_Entry]
    removes: bool


class Disk:
    """The files as a running system sees them, and what of them would survive."""

    def __init__(self) -> None:
        self._root = _Node(is_folder=True)
        self._unsynced: list[_Naming] = []

    def apply(self, change: Change) -> None:
        folder, name = self._place(change.path)
        node = folder.names.get(name) if name else folder
        if change.kind == "sync":
            self._sync(node) if change.path else self._sync_all()
        elif change.kind == "rename":
            there, new = self._place(change.other)
            self._name([(folder, name, None), (there, new, node)])
        elif change.kind == "link":
            self._name([(*self._place(change.other), node)])
        elif change.kind in ("unlink", "rmdir"):
            self._name([(folder, name, None)], removes=True)
        elif change.kind == "mkdir" or (change.kind == "create" and node is None):
            self._name([(folder, name, _Node(is_folder=change.kind == "mkdir"))])
        elif node is not None and change.kind == "write":
            _write(node, change.offset, change.data)
        elif node is not None and (change.kind == "truncate" or not change.offset):  # opened, and empty afterwards
            _write(node, change.offset, None)

    def after_power_cut(self, kept: Callable[[_Naming], bool], content: Callable[[_Node], bytes]) -> Files:
        """With those changes of names that `kept` lets through, and of each file what `content` says."""
        names: dict[_Node, dict[str, _Node | None]] = {}
        for naming in self._unsynced:
            if kept(naming):
                for folder, name, node in naming.entries:
                    names.setdefault(folder, {})[name] = node
        return dict(self._below(self._root, "", names, content))

    @property
    def has_unsynced_names(self) -> bool:
        return bool(self._unsynced)

    def _below(
        self,
        folder: _Node,
        path: str,
        names: dict[_Node, dict[str, _Node | None]],
        content: Callable[[_Node], bytes],
    ) -> Iterator[tuple[str, bytes | None]]:
        for name, node in (folder.names_on_disk | names.get(folder, {})).items():
            if node is None:
                continue
            yield f"{path}{name}", None if node.is_folder else content(node)
            if node.is_folder:
                yield from self._below(node, f"{path}{name}/", names, content)

    def _place(self, path: str) -> tuple[_Node, str]:
        *folders, name = path.split("/")
        node = self._root
        for one in folders:
            node = node.names[one]
        return node, name

    def _name(self, entries: list[_Entry], removes: bool = False) -> None:
        for folder, name, node in entries:
            if node is None:
                folder.names.pop(name, None)
            else:
                folder.names[name] = node
        self._unsynced.append(_Naming(entries, removes))

    def _sync(self, node: _Node | None) -> None:
        if node is None:
            return
        node.on_disk = node.content
        node.unsynced.clear()
        for naming in [one for one in self._unsynced if any(folder is node for folder, _, _ in one.entries)]:
            self._persist(naming)

    def _sync_all(self) -> None:
        def all_below(node: _Node) -> Iterator[_Node]:
            yield node
            for one in node.names.values():
                yield from all_below(one)

        for node in all_below(self._root):
            self._sync(node)

    def _persist(self, naming: _Naming) -> None:
        """What an earlier change gave the same names is settled by it."""
        place = self._unsynced.index(naming)
        for folder, name, node in naming.entries:
            if node is None:
                folder.names_on_disk.pop(name, None)
            else:
                folder.names_on_disk[name] = node
            for earlier in self._unsynced[:place]:
                earlier.entries = [one for one in earlier.entries if one[0] is not folder or one[1] != name]
        del self._unsynced[place]
        self._unsynced = [one for one in self._unsynced if one.entries]


def _write(node: _Node, offset: int, data: bytes | None) -> None:
    node.content = _written(node.content, offset, data)
    node.unsynced.append((offset, data))


def _written(content: bytes, offset: int, data: bytes | None) -> bytes:
    start = content[:offset].ljust(offset, b"\0")
    return start if data is None else start + data + content[offset + len(data) :]


# The ways a power cut may go


def _synced(node: _Node) -> bytes:
    return node.on_disk


def _all(node: _Node) -> bytes:
    return node.content


def _torn(chance: random.Random, node: _Node) -> bytes:
    """Some of the writes, the last of them in part."""
    content = node.on_disk
    for offset, data in node.unsynced[: chance.randint(0, len(node.unsynced))]:
        content = _written(content, offset, data)
    if len(content) > len(node.on_disk) and chance.random() < 0.7:
        content = content[: chance.randint(len(node.on_disk), len(content))]
    return content


def _nothing_unsynced(disk: Disk, chance: random.Random) -> Files:
    return disk.after_power_cut(lambda naming: False, _synced)


def _everything(disk: Disk, chance: random.Random) -> Files:
    return disk.after_power_cut(lambda naming: True, _all)


def _names_without_content(disk: Disk, chance: random.Random) -> Files:
    return disk.after_power_cut(lambda naming: True, _synced)


def _deletions_alone(disk: Disk, chance: random.Random) -> Files:
    return disk.after_power_cut(lambda naming: naming.removes, _synced)


def _torn_writes(disk: Disk, chance: random.Random) -> Files:
    return disk.after_power_cut(lambda naming: True, partial(_torn, chance))


def _any_names(disk: Disk, chance: random.Random) -> Files:
    part = chance.random()
    return disk.after_power_cut(lambda naming: chance.random() < part, partial(_torn, chance))


def _names_in_order(disk: Disk, chance: random.Random) -> Files:
    """Up to a point, as a file system with a journal has them; content as with names that are not in order."""
    left = [chance.randint(0, 12)]

    def kept(naming: object) -> bool:
        left[0] -= 1
        return left[0] >= 0

    contents: list[Callable[[_Node], bytes]] = [_synced, _all, partial(_torn, chance)]
    return disk.after_power_cut(kept, chance.choice(contents))


WAYS: dict[str, Callable[[Disk, random.Random], Files]] = {
    "nothing unsynced": _nothing_unsynced,
    "everything": _everything,
    "names without content": _names_without_content,
    "deletions alone": _deletions_alone,
    "torn writes": _torn_writes,
    "any of the names": _any_names,
    "names in order": _names_in_order,
}


# Points to look at


@dataclass(frozen=True, slots=True)
class Point:
    """The files after one power cut. `said` is what the command had said until then."""

    step: int
    during: str
    way: str
    said: tuple[str, ...]
    files: Files


def points(changes: Sequence[Change], wanted: int, seed: int) -> Iterator[Point]:
    """So many different ones, if there are, about equally many during each of the operations the command names."""
    chance = random.Random(seed)
    chosen = _chosen(changes, wanted, chance)
    disk, during = Disk(), ""
    said: tuple[str, ...] = ()
    seen: set[int] = set()
    for step, change in enumerate(changes):
        if change.kind == "mark":
            said = (*said, *change.data.decode().splitlines())
            during = json.loads(said[-1])["during"]
        else:
            disk.apply(change)
        for way in chosen.get(step, ()):
            files = WAYS[way](disk, chance)
            key = hash((said, frozenset(files.items())))
            if key not in seen:
                seen.add(key)
                yield Point(step, during, way, said, files)


def _chosen(changes: Sequence[Change], wanted: int, chance: random.Random) -> dict[int, list[str]]:
    by_operation: dict[str, list[int]] = {}
    during = ""
    for step, change in enumerate(changes):
        if change.kind == "mark":
            during = json.loads(change.data.decode().splitlines()[-1])["during"]
        by_operation.setdefault(during, []).append(step)
    chosen: dict[int, list[str]] = {}
    left = wanted
    for done, steps in enumerate(sorted(by_operation.values(), key=len)):
        share = min(len(steps) * len(WAYS), -(-left // (len(by_operation) - done)))  # few here are more elsewhere
        left -= share
        for step, way in _sampled(steps, changes, share, chance):
            chosen.setdefault(step, []).append(way)
    return chosen


def _sampled(
    steps: Sequence[int], changes: Sequence[Change], count: int, chance: random.Random
) -> list[tuple[int, str]]:
    """Half of them where something old is being deleted, as far as it is: there most can go wrong."""
    risky = [(step, way) for step in steps if _deletes(changes[step]) for way in WAYS]
    others = [(step, way) for step in steps if not _deletes(changes[step]) for way in WAYS]
    of_risky = min(len(risky), max(count // 2, count - len(others)))
    return chance.sample(risky, of_risky) + chance.sample(others, count - of_risky)


def _deletes(change: Change) -> bool:
    """Not what LanceDB makes under another name first."""
    return change.kind == "unlink" and "#" not in change.path and "/.tmp" not in change.path


def laid_out(files: Files, folder: Path) -> Path:
    folder.mkdir(mode=0o700)
    for path, content in files.items():  # a folder comes before what is in it
        if content is None:
            (folder / path).mkdir(mode=0o700)
        else:
            (folder / path).write_bytes(content)
    return folder
