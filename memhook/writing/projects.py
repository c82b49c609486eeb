"""List projects, and move memories between them. Memories keep their URNs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from memhook.core.memory import Memory, Sensitivity, title_key
from memhook.library.library import Library
from memhook.store.memories import MemoryStore
from memhook.store.project_aliases import name_of
from memhook.store.table import changes
from memhook.store.table.filters import Filter
from memhook.writing import succession
from memhook.writing.twins import Twins


def known_projects(
    store: MemoryStore, last_used: Mapping[str, str], aliases: Mapping[str, str], here: str
) -> dict[str, Any]:
    """Return every project with memories or recorded sessions, those with most memories first."""
    counts = store.counted_by("project")
    ids = {*counts, *last_used, *aliases.values(), here} - {"", *aliases}
    projects = [
        {
            "id": one,
            "name": name_of(one),
            "memories": counts.get(one, 0),
            "last_used": last_used.get(one),
            "here": one == here,
            "exists": Path(one).is_dir() if one.startswith("/") else None,
            "also": sorted(other for other, target in aliases.items() if target == one),
        }
        for one in sorted(ids, key=lambda one: (-counts.get(one, 0), one))
    ]
    return {"projects": projects, "global": counts.get("", 0)}


def of_project(store: MemoryStore, project: str) -> list[Memory]:
    return store.by_reference(store.ids(Filter(projects=(project,))), Filter())


def moved(library: Library, memories: Iterable[Memory], target: str) -> dict[str, int]:
    """Move memories into the project `target`; merge those whose content it has already, under both names."""
    store = library.store
    with store.writing():
        wanted = [
            one for one in store.by_reference([memory.id for memory in memories], Filter()) if one.project != target
        ]
        there = store.find("content_hash", [one.content_hash for one in wanted])
        twins = Twins.of(one for one in there if one.project == target)
        moving: list[Memory] = []
        folding: list[tuple[Memory, Memory]] = []
        for memory in wanted:
            if twin := twins.twin(memory):
                folding.append((memory, twin))
                twins.replace(twin, _as_one(memory, twin))
            else:
                moving.append(memory)
                twins.add(memory)
        store.write(changes.update, [memory.id for memory in moving], project=target)
        _fold(library, folding, target)
    return {"moved": len(moving), "folded": len(folding)}


def _fold(library: Library, pairs: Sequence[tuple[Memory, Memory]], target: str) -> None:
    store = library.store
    kept: dict[str, Memory] = {}
    for memory, twin in pairs:
        kept[twin.id] = _as_one(memory, kept.get(twin.id, replace(twin, project=target)))
        succession.set_heir(store, memory, twin.id)
    if kept:
        vectors, model = library.vectors(list(kept.values()))
        store.write(changes.replace, list(kept.values()), vectors, model)
        store.write(changes.remove, [memory.id for memory, _ in pairs])


def _as_one(memory: Memory, twin: Memory) -> Memory:
    """Return `twin` with the tags and names of `memory` too, the title of either, and the stricter sensitivity."""
    levels = list(Sensitivity)
    return replace(
        twin,
        title=twin.title if title_key(twin) or not title_key(memory) else memory.title,
        tags=tuple(dict.fromkeys((*twin.tags, *memory.tags))),
        aliases=tuple(dict.fromkeys((*twin.aliases, memory.id, *memory.aliases))),
        pinned=twin.pinned or memory.pinned,
        sensitivity=max(twin.sensitivity, memory.sensitivity, key=levels.index),
    )
