"""Versions of a memory: refuse a change that was made from an older one, and put a memory back as it was."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from memhook.core.memory import FIELDS, Memory, content_hash, plain
from memhook.errors import Conflict, InvalidInput
from memhook.library.library import Library
from memhook.store.embedding.encoder import ModelIdentity, Vector
from memhook.store.memories import MemoryStore
from memhook.store.table import changes
from memhook.writing import succession

VERSION_CHARS = 16


def version_of(memory: Memory) -> str:
    """Return a short text that differs when anything of a memory but its last access does."""
    written = json.dumps(plain_form(replace(memory, accessed=None, store="")), sort_keys=True)
    return hashlib.sha256(written.encode("utf-8", "surrogatepass")).hexdigest()[:VERSION_CHARS]


def plain_form(memory: Memory) -> dict[str, Any]:
    """Return all of a memory as plain values, to put it back later."""
    values = {one.name: plain(getattr(memory, one.name)) for one in FIELDS}
    return {name: value.isoformat() if isinstance(value, datetime) else value for name, value in values.items()}


def refuse_changed(memories: Sequence[Memory], versions: Mapping[str, str]) -> None:
    """Raise Conflict for memories that differ from the version given for them; those without one are not checked."""
    stale = [one for one in memories if versions.get(one.id, version_of(one)) != version_of(one)]
    if stale:
        names = ", ".join(one.urn for one in stale)
        raise Conflict(f"Changed meanwhile, by another page, command or assistant: {names}.", "Look at it again.")


def put_back(library: Library, forms: Sequence[Mapping[str, Any]], versions: Mapping[str, str]) -> list[Memory]:
    """Store memories as in `forms`, in place of their present rows or of the traces of forgotten ones.

    Raises Conflict for one that has changed since `versions`.
    """
    memories = [_memory(form) for form in forms]
    vectors, model = library.vectors(memories)
    store = library.store
    with store.writing():
        refuse_changed(list(store.by_ids([one.id for one in memories]).values()), versions)
        there = {one.id for one in store.find("name", [one.id for one in memories], forgotten=None)}
        write_pairs(store, list(zip(memories, vectors, strict=True)), model, there)
        succession.mark(store, memories)
    return memories


def write_pairs(
    store: MemoryStore, pairs: Sequence[tuple[Memory, Vector | None]], model: ModelIdentity, there: Collection[str]
) -> None:
    """Write memories with their vectors: those whose ids are `there` replace stored ones, the others are added."""
    for change, some in (
        (changes.add, [pair for pair in pairs if pair[0].id not in there]),
        (changes.replace, [pair for pair in pairs if pair[0].id in there]),
    ):
        if some:
            store.write(change, [memory for memory, _ in some], [vector for _, vector in some], model)


def _memory(form: Mapping[str, Any]) -> Memory:
    try:
        values = {one.name: one.read(_read(one.kind, form.get(one.name))) for one in FIELDS}
        return Memory(**values | {"content_hash": values["content_hash"] or content_hash(values["content"])})
    except (TypeError, ValueError) as error:
        raise InvalidInput(f"That is not a memory ({error}).") from error


def _read(kind: type, value: Any) -> Any:
    return datetime.fromisoformat(value) if kind is datetime and value else value
