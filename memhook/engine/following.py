"""Followed files, which memories were imported from: a change of a file updates its memories.

If a section or a file is deleted, its memories expire; they become current again once it is back.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from memhook.core.memory import Origin
from memhook.engine.caller import Caller
from memhook.errors import MemhookError
from memhook.files.locking import exclusive
from memhook.library.access import OWNER
from memhook.library.library import Library
from memhook.paths import write_private
from memhook.store.project import Project
from memhook.supply.host_memories import Kept, Start, is_in_memory_folder, kept_from, stamp_of
from memhook.writing import transfer
from memhook.writing.remember import edited

log = logging.getLogger("memhook")

LOCK_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Followed:
    """A file with its assistant and project, the names of its memories, and its time and size when it was read."""

    path: str
    assistant: str
    project: str
    root: str
    loaded_by: Sequence[str]
    names: Sequence[str]
    stamp: Sequence[int] | None = None

    @property
    def start(self) -> Start:
        project = Project(self.project, Path(self.root) if self.root else None)
        return Start(self.assistant, Path(self.path), project, frozenset(self.loaded_by))


def follow(caller: Caller, files: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Follow these files from now on."""
    with exclusive(caller.paths.followed.with_suffix(".lock"), LOCK_SECONDS):
        known = {one.path: one for one in _read(caller.paths.followed)}
        known |= {one["path"]: Followed(**one) for one in files}
        _write(caller.paths.followed, known.values())
    return {"followed": len(known)}


class Following:
    """The register of followed files, read again when it has changed."""

    def __init__(self, register: Path, home: Path) -> None:
        self._register = register
        self._home = home
        self._seen: Sequence[int] | None = None
        self._followed: list[Followed] = []

    def keep_up(self, library: Library, now: datetime) -> None:
        """Update the memories of changed files; of an unchanged file only the time and size are read."""
        if not self._changed():
            return
        with exclusive(self._register.with_suffix(".lock"), LOCK_SECONDS):
            changed = self._changed()
            known = {one.path: one for one in self._followed}
            for one in changed:
                known |= {new.path: new for new in self._refreshed(one, library, now)}
            _write(self._register, known.values())

    def _changed(self) -> list[Followed]:
        stamp = stamp_of(self._register)
        if stamp != self._seen:
            self._followed, self._seen = _read(self._register), stamp
        return [one for one in (*self._followed, *self._new_notes()) if stamp_of(Path(one.path)) != one.stamp]

    def _new_notes(self) -> Iterator[Followed]:
        """Yield new notes in the folders where assistants keep their memories."""
        known = {one.path for one in self._followed}
        folders = {str(Path(one.path).parent): one for one in self._followed if is_in_memory_folder(Path(one.path))}
        for folder, one in folders.items():
            for path in sorted(Path(folder).glob("*.md")):
                if str(path) not in known:
                    yield replace(one, path=str(path), names=(), stamp=None)

    def _refreshed(self, one: Followed, library: Library, now: datetime) -> list[Followed]:
        """Store what the file says now, retire what it no longer says; return it, and files it newly refers to."""
        stamp = stamp_of(Path(one.path))
        # A pull may change a file of a clone: it must not import files of the home that the user did not confirm.
        read = [Followed(**kept.as_followed()) for kept in _stored(one, library, now, self._home)] if stamp else []
        names = {name for new in read if new.path == one.path for name in new.names}
        _retire(library, [name for name in one.names if name not in names], one.project, now)
        kept = list(dict.fromkeys((*one.names, *sorted(names))))
        return [*(new for new in read if new.path != one.path), replace(one, names=kept, stamp=stamp)]


def _stored(one: Followed, library: Library, now: datetime, home: Path) -> list[Kept]:
    found = kept_from([one.start], home, into_home=False)
    records = [entry.record for kept in found for entry in kept.entries if entry.record]
    lines = [(number, json.dumps({**record, "expires": None})) for number, record in enumerate(records)]
    imported = transfer.imported(library, lines, "", now, transfer.Mode(update=True))
    log.info("%s has changed: %s", one.path, imported.outcomes)
    return found


def _retire(library: Library, names: Sequence[str], project: str, now: datetime) -> None:
    for memory in library.store.by_reference(names, OWNER) if names else ():
        if memory.project == project and (memory.expires is None or memory.expires > now):
            edited(library, memory.id, {"expires": now}, now, writer=Origin.IMPORT)


def _read(register: Path) -> list[Followed]:
    try:
        return [Followed(**one) for one in json.loads(register.read_bytes())["files"]]
    except FileNotFoundError:
        return []
    except (OSError, ValueError, KeyError, TypeError, RecursionError, MemhookError) as error:
        log.warning("%s cannot be read (%s): no file is followed", register, error)
        return []


def _write(register: Path, followed: Iterable[Followed]) -> None:
    write_private(register, json.dumps({"files": [asdict(one) for one in followed]}, indent=1))
