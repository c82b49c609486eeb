"""Aliases of projects: a small file beside the store, so that a merge applies to every later session."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from memhook.errors import InvalidInput
from memhook.files.locking import exclusive
from memhook.paths import Paths, private_directory, shell_word, write_private
from memhook.store.project import Project

log = logging.getLogger("memhook")

LOCK_SECONDS = 5.0
_UNREADABLE = (ValueError, AttributeError, TypeError, KeyError, RecursionError)


class ProjectAliases:
    """The aliases in the file, which is read again only when its time or inode has changed."""

    def __init__(self, paths: Paths) -> None:
        self._file = paths.data / "projects.json"
        self._lock = paths.state / "projects.lock"
        self._stamp: tuple[int, int] | None = None
        self._known: Mapping[str, str] = {}

    def resolved(self, project: Project) -> Project:
        """Return the project that this one is an alias of, usually itself."""
        target = self.all().get(project.id)
        return project if target is None else replace(project, id=target, name=name_of(target))

    def all(self) -> Mapping[str, str]:
        """Return the target of each alias, by id."""
        try:
            status = self._file.stat()
        except OSError:
            return {}
        stamp = (status.st_mtime_ns, status.st_ino)
        if stamp != self._stamp:
            self._known, self._stamp = _read(self._file), stamp
        return self._known

    def merge(self, source: str, target: str) -> None:
        """Make `source`, and all aliases of it, aliases of `target`."""
        with exclusive(private_directory(self._lock.parent) / self._lock.name, LOCK_SECONDS):
            known = _read(self._file)
            if known.get(target, target) == source:
                raise InvalidInput(
                    f"{target} counts as {source} already.", f"Run: memhook projects split {shell_word(target)}"
                )
            known = {one: target if other == source else other for one, other in known.items() if one != target}
            self._write({**known, source: target})

    def split(self, source: str) -> str:
        """Make `source` a project of its own again; return what it was an alias of, or ""."""
        with exclusive(private_directory(self._lock.parent) / self._lock.name, LOCK_SECONDS):
            known = _read(self._file)
            target = known.pop(source, "")
            if target:
                self._write(known)
        return target

    def put_back(self, text: str) -> None:
        """Replace all aliases by those that `aliases_text` wrote."""
        try:
            known = _parsed(text)
        except _UNREADABLE as error:
            raise InvalidInput("The merged projects in the backup cannot be read.", "They stay as they are.") from error
        with exclusive(private_directory(self._lock.parent) / self._lock.name, LOCK_SECONDS):
            if known != _read(self._file):
                self._write(known)

    def _write(self, known: Mapping[str, str]) -> None:
        write_private(self._file, aliases_text(known))


def aliases_text(known: Mapping[str, str]) -> str:
    return json.dumps({"aliases": dict(sorted(known.items()))}, indent=2) + "\n"


def name_of(project: str) -> str:
    """The name of a project: the last part of its id, which is a remote or a path."""
    return project.rstrip("/").rpartition("/")[2] or project


def _read(file: Path) -> dict[str, str]:
    try:
        return _parsed(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, *_UNREADABLE) as error:
        log.warning("%s cannot be read (%s); every project counts as itself", file, error)
        return {}


def _parsed(text: str) -> dict[str, str]:
    return {str(one): str(other) for one, other in json.loads(text)["aliases"].items() if one != other}
