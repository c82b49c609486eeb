"""The recorded sessions on this machine, or below folders that the user names, and how far each was read."""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memhook.assistants.assistant import Assistant, Where
from memhook.assistants.known import KNOWN
from memhook.assistants.reading import UNREADABLE, About, Recording
from memhook.core.terms import STOP_WORDS, terms
from memhook.paths import write_private
from memhook.store.project import Project, remote_identity
from memhook.supply.source import Record

HEAD_BYTES = 1 << 16
SUFFIXES = (".jsonl", ".json", ".db")
TEMPORARY = ("/tmp", "/var/tmp", "/private/tmp", "/var/folders", "/private/var/folders")  # noqa: S108  none is used
A_LINK = "a link"
NO_SESSION = "no session of an assistant that memhook knows"
MOST_ORDERS = 500
"""Per project; the oldest are dropped."""
SAME = 0.6
FEWEST_TERMS = 3

Signature = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Found:
    assistant: str
    recording: Recording


def found(where: Where, places: Sequence[Path] = ()) -> tuple[list[Found], list[str]]:
    """Return the assistants' recordings, or those in `places`, the newest first; and why other files were skipped."""
    files = _named(places) if places else _kept(where)
    skipped: list[str] = []
    every = [one for assistant, path, root in files for one in _in(assistant, path, root, skipped)]
    return sorted(every, key=lambda one: one.recording.modified, reverse=True), skipped


Candidate = tuple[Assistant | None, Path, Path]
"""A file, its assistant if that is known, and the folder below which it was found."""


def _kept(where: Where) -> Iterator[Candidate]:
    for assistant in KNOWN.values():
        yield from ((assistant, path, assistant.session_root(where)) for path in assistant.session_files(where))


def _named(places: Iterable[Path]) -> Iterator[Candidate]:
    for place in places:
        if not place.is_dir():
            yield None, place, place.parent
        for at, _, names in os.walk(place):  # which follows no links to folders
            yield from ((None, Path(at, name), place) for name in sorted(names) if name.endswith(SUFFIXES))


def _in(assistant: Assistant | None, path: Path, root: Path, skipped: list[str]) -> Iterator[Found]:
    try:
        is_link = path.resolve() != root.resolve() / path.relative_to(root)
        assistant = None if is_link else assistant or _writer_of(path)
    except (OSError, RuntimeError):
        skipped.append(UNREADABLE)
        return
    if assistant is None:
        skipped.append(A_LINK if is_link else NO_SESSION)
    else:
        yield from (Found(assistant.name, one) for one in assistant.session_format.recordings(path))


def _writer_of(path: Path) -> Assistant | None:
    if not path.is_file():  # a pipe would never end
        return None
    with path.open("rb") as file:
        head = file.read(HEAD_BYTES).decode("utf-8", "replace")
    return next((one for one in KNOWN.values() if one.session_format.recognises(head)), None)


def project_for(about: About, project_of: Callable[[str], Project]) -> str:
    """Return the project of the directory; if deleted, by the recorded remote, the repository around it or its path."""
    directory = Path(about.directory)
    if not directory.is_absolute():
        return remote_identity(about.remote)
    if _is_there(directory):
        return project_of(about.directory).id
    if remote := remote_identity(about.remote):
        return remote
    around = project_of(str(next(one for one in directory.parents if _is_there(one))))
    if around.root and _is_there(around.root / ".git"):
        return around.id
    return "" if any(map(directory.is_relative_to, TEMPORARY)) else about.directory


def _is_there(directory: Path) -> bool:
    return os.path.isdir(directory)  # noqa: PTH112  Path.is_dir raises below a folder that may not be entered


class Bookmarks:
    """A file that records how far each session was read, to continue from there, and the user's orders in it.

    Only a signature of an order is stored, which does not contain its words. A file that cannot be read counts as
    empty: everything is read again, and duplicates are stored once.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        known = _read(file)
        self._turns: dict[str, tuple[str, int]] = known[0]
        self._orders: dict[str, list[tuple[str, Signature]]] = known[1]

    def is_read(self, recording: Recording) -> bool:
        return self._turns.get(recording.key, ("", 0))[0] == recording.stamp

    def turns(self, recording: Recording) -> int:
        return self._turns.get(recording.key, ("", 0))[1]

    def put(self, recording: Recording, turns: int) -> None:
        self._turns[recording.key] = (recording.stamp, turns)

    def recurring(self, order: Record) -> Record | None:
        """Return the order if another session had it too, else None; it is recorded in either case."""
        own, mark = order["session"].rpartition("#")[0], _signature(order["quote"])
        known = self._orders.setdefault(order["project"], [])
        same = [session for session, other in known if _is_same_order(mark, other)]
        if own not in same:
            known.append((own, mark))
            del known[:-MOST_ORDERS]
        return order if any(session != own for session in same) else None

    def save(self) -> None:
        write_private(self._file, json.dumps({"read": self._turns, "orders": self._orders}) + "\n")


def _read(file: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    try:
        known = json.loads(file.read_text(encoding="utf-8"))
        read = {str(key): (str(stamp), int(turns)) for key, (stamp, turns) in known["read"].items()}
        orders = {
            str(project): [(str(session), tuple(map(int, mark))) for session, mark in some]
            for project, some in known["orders"].items()
        }
    except (OSError, ValueError, TypeError, AttributeError, KeyError, RecursionError):
        return {}, {}
    return read, orders


def _signature(sentence: str) -> Signature:
    """Return hashes of the order's terms, without its words: enough to recognise it when repeated."""
    return tuple(sorted({zlib.crc32(term.encode()) for term in terms(sentence) if term not in STOP_WORDS}))


def _is_same_order(one: Signature, other: Signature) -> bool:
    common, all_of_them = len({*one} & {*other}), len({*one} | {*other})
    return common >= FEWEST_TERMS and common >= SAME * all_of_them
