"""The indexes of the repositories that prompts come from, read in the background and kept in memory."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from threading import Lock

from memhook.core.memory import Memory
from memhook.core.staleness import Findings, Repository, findings, former_names, is_forgettable
from memhook.store.project import Project
from memhook.store.repository import repository_at, stamp

KEPT = 8  # repositories


class Repositories:
    """Indexes of repositories, renewed by housekeeping; without one there is no finding about a memory."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._seen: dict[Path, str] = {}
        self._indexes: dict[Path, tuple[tuple[int, ...], Repository]] = {}

    def check_for(self, project: Project) -> Callable[[Memory], Findings]:
        """Return the check of memories against the repository of this project; it takes microseconds."""
        root = project.root
        if root is None:
            return lambda _: Findings()
        with self._lock:
            self._seen.pop(root, None)
            self._seen[root] = project.id
            while len(self._seen) > KEPT:
                self._indexes.pop(next(iter(self._seen)), None)
                del self._seen[next(iter(self._seen))]
            index = self._indexes.get(root, ((), None))[1]
        return partial(_findings, index, root, project.id) if index else lambda _: Findings()

    def former_names(self, project: Project, path: str) -> list[str]:
        """Return the paths that this file of the project had before."""
        with self._lock:
            index = self._indexes.get(project.root, ((), None))[1] if project.root else None
        return former_names(path, index) if index else []

    def refresh(self, memories_of: Callable[[str], Sequence[Memory]]) -> list[Memory]:
        """Read the indexes that changed; return the memories whose anchors are all missing from their repository.

        An anchor that another checkout of the project has is not missing.
        """
        with self._lock:
            seen = dict(self._seen)
        stale: list[Memory] = []
        for root, project in seen.items():
            current = stamp(root)
            if self._indexes.get(root, ((),))[0] == current:
                continue
            memories = memories_of(project)
            index = repository_at(root, memories)
            if index is not None:
                with self._lock:
                    self._indexes[root] = (current, index)
                stale += [one for one in memories if _is_missing(index, root, one)]
        return [one for one in stale if not self.is_there(one)]

    def is_there(self, memory: Memory) -> bool:
        """Return whether some indexed checkout of the project still has something that the memory names."""
        with self._lock:
            roots = [root for root, project in self._seen.items() if project == memory.project]
            known = [(root, self._indexes[root][1]) for root in roots if root in self._indexes]
        return any(not _is_missing(index, root, memory) for root, index in known)


def _findings(index: Repository, root: Path, project: str, memory: Memory) -> Findings:
    """Return the findings about a memory; none about a global one, which may refer to any repository."""
    if memory.project != project:
        return Findings()
    return findings(memory, index, partial(_exists, str(root)))


def _is_missing(index: Repository, root: Path, memory: Memory) -> bool:
    return is_forgettable(memory, index, partial(_exists, str(root)))


def _exists(top: str, path: str) -> bool:
    return os.path.lexists(f"{top}/{path}")
