"""Writing memories down, changing them and forgetting them."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Literal

from memhook.context.access import OWNER
from memhook.context.library import Library
from memhook.core.memory import (
    DEFAULT_NAMESPACE,
    ID_LENGTH,
    Memory,
    Origin,
    Sensitivity,
    content_hash,
    derived_summary,
    derived_title,
    id_from_bytes,
    id_of,
    is_id,
)
from memhook.errors import InvalidInput, NotFound

MAX_CONTENT = 1_000_000
MAX_LINE = 500
MAX_NAMES = 64

Outcome = Literal["stored", "already there", "forgotten before"]


@dataclass(frozen=True, slots=True)
class Draft:
    """What is to be remembered, before it has a name. Empty fields are derived from the content."""

    content: str
    title: str = ""
    summary: str = ""
    namespace: str = DEFAULT_NAMESPACE
    tags: tuple[str, ...] = ()
    related: tuple[str, ...] = ()
    source: str = ""
    project: str = ""
    sensitivity: Sensitivity = Sensitivity.NORMAL
    pinned: bool = False
    redacted: bool = False
    muted: bool = False
    origin: Origin = Origin.USER
    created: datetime | None = None
    updated: datetime | None = None
    accessed: datetime | None = None
    expires: datetime | None = None
    supersedes: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    id: str = ""


@dataclass(frozen=True, slots=True)
class Stored:
    """A memory, and whether it is new."""

    memory: Memory | None
    outcome: Outcome


def remembered(library: Library, drafts: Sequence[Draft], now: datetime, again: bool = False) -> list[Stored]:
    """Store each draft that is not there yet, durably, before returning.

    With `again`, what was forgotten before comes back; else it stays forgotten when `origin` is an import.
    """
    memories = [_memory(checked(draft), now) for draft in drafts]
    vectors, model = library.vectors(memories)
    store = library.store
    with store.writing():
        hashes = [memory.content_hash for memory in memories]
        known = {(memory.project, memory.content_hash): memory for memory in store.with_content(hashes)}
        gone = set() if again else {memory.content_hash for memory in store.with_content(hashes, forgotten=True)}
        names = [name for memory in memories for name in (memory.id, *memory.aliases)]
        named = {name: memory for memory in store.by_reference(names, OWNER) for name in (memory.id, *memory.aliases)}
        results, fresh = [], []
        for index, memory in enumerate(memories):
            earlier = known.get((memory.project, memory.content_hash)) or _same_name(memory, named)
            if earlier is not None:
                results.append(Stored(earlier, "already there"))
            elif memory.content_hash in gone and memory.origin is Origin.IMPORT:
                results.append(Stored(None, "forgotten before"))
            else:
                results.append(Stored(memory, "stored"))
                known[memory.project, memory.content_hash] = memory
                named |= dict.fromkeys((memory.id, *memory.aliases), memory)
                fresh.append(index)
        _replace_superseded(library, [memories[index] for index in fresh])
        if fresh:
            store.unforget([memories[index].content_hash for index in fresh])
            store.add([memories[index] for index in fresh], [vectors[index] for index in fresh], model)
    return results


def edited(library: Library, reference: str, changes: Mapping[str, Any], now: datetime) -> Memory:
    """The memory with these fields of a draft changed, under its old name."""
    fields = dict(changes)
    current = found(library, [reference])[0]
    if "content" in fields:
        # What was derived from the old content follows the new one.
        if current.title == derived_title(current.content):
            fields.setdefault("title", "")
        if current.summary == derived_summary(current.content):
            fields.setdefault("summary", "")
    draft = checked(replace(_draft(current), **fields))
    changed = replace(_memory(draft, now), id=current.id, created=current.created, updated=now, aliases=current.aliases)
    changed = replace(changed, superseded_by=current.superseded_by)
    vectors, model = library.vectors([changed])
    with library.store.writing():
        others = library.store.with_content([changed.content_hash])
        twin = next((m for m in others if m.project == changed.project and m.id != changed.id), None)
        if twin is not None:
            raise InvalidInput(f"{twin.urn} has the same content already.", f"See: memhook get {twin.urn}")
        dropped = [old.id for old in library.store.superseded_by(changed.id) if old.id not in changed.supersedes]
        library.store.set_successor(dropped, "")
        _replace_superseded(library, [changed])
        library.store.replace([changed], vectors, model)
    return changed


def forgotten(library: Library, references: Sequence[str], now: datetime) -> list[Memory]:
    """Forget these; what one of them had replaced counts again."""
    memories = found(library, references)
    with library.store.writing():
        for memory in memories:
            library.store.set_successor([old.id for old in library.store.superseded_by(memory.id)], "")
        library.store.forget(memories, now)
    return memories


def found(library: Library, references: Sequence[str]) -> list[Memory]:
    """The memories called so, each by URN, id or alias; raises NotFound naming those that are not there."""
    names = [id_of(reference) for reference in references]
    memories = library.store.by_reference(names, OWNER)
    known = {name for memory in memories for name in (memory.id, *memory.aliases)}
    missing = [reference for reference, name in zip(references, names, strict=True) if name not in known]
    if missing:
        raise NotFound(f"No memory is called {', '.join(missing)}.", "See: memhook list")
    return memories


def checked(draft: Draft) -> Draft:
    """The draft, tidied; raises InvalidInput when it cannot be a memory."""
    if not draft.content.strip() and not draft.redacted:
        raise InvalidInput(
            "There is nothing to remember: the content is empty.", 'Say: memhook remember "what to keep"'
        )
    if len(draft.content) > MAX_CONTENT:
        raise InvalidInput(
            f"The content has {len(draft.content):,} characters, more than the {MAX_CONTENT:,} one memory may have.",
            "Split it into several memories.",
        )
    for name in ("title", "summary", "namespace", "source"):
        _one_line_checked(name, getattr(draft, name), MAX_LINE)
    return replace(
        draft,
        content=draft.content.encode("utf-8", "replace").decode(),  # a lone surrogate has no place on disk
        title=_line(draft.title),
        summary=_line(draft.summary),
        namespace=_line(draft.namespace) or DEFAULT_NAMESPACE,
        source=_line(draft.source),
        tags=_names("tags", draft.tags),
        related=_names("related", draft.related),
        supersedes=tuple(id_of(reference) for reference in _names("supersedes", draft.supersedes)),
        aliases=_names("aliases", draft.aliases),
    )


def _memory(draft: Draft, now: datetime) -> Memory:
    created = draft.created or now
    return Memory(
        id=draft.id if is_id(draft.id) else id_from_bytes(secrets.token_bytes(ID_LENGTH)),
        title=draft.title or derived_title(draft.content),
        content=draft.content,
        summary=draft.summary or derived_summary(draft.content),
        created=created,
        updated=draft.updated or created,
        namespace=draft.namespace,
        tags=draft.tags,
        related=draft.related,
        source=draft.source,
        project=draft.project,
        sensitivity=draft.sensitivity,
        pinned=draft.pinned,
        redacted=draft.redacted,
        muted=draft.muted,
        origin=draft.origin,
        accessed=draft.accessed,
        expires=draft.expires,
        supersedes=draft.supersedes,
        aliases=draft.aliases,
        content_hash=content_hash(draft.content),
    )


def _draft(memory: Memory) -> Draft:
    values = {name: getattr(memory, name) for name in Draft.__dataclass_fields__}
    return Draft(**values)


def _same_name(memory: Memory, named: dict[str, Memory]) -> Memory | None:
    """An earlier memory of this id, or one of the same project that came from elsewhere under the same one."""
    twins = (named[alias] for alias in memory.aliases if alias in named)
    return named.get(memory.id) or next((twin for twin in twins if twin.project == memory.project), None)


def _replace_superseded(library: Library, memories: Sequence[Memory]) -> None:
    """Mark what these supersede; raises NotFound before anything is written when one of those does not exist."""
    successors = {old.id: memory.id for memory in memories for old in found(library, memory.supersedes)}
    for old, successor in successors.items():
        library.store.set_successor([old], successor)


def _names(what: str, values: Sequence[str]) -> tuple[str, ...]:
    names = tuple(dict.fromkeys(name for value in values if (name := _line(value))))
    if len(names) > MAX_NAMES:
        raise InvalidInput(f"There are {len(names)} {what}, more than the {MAX_NAMES} a memory may have.")
    for name in names:
        _one_line_checked(what, name, MAX_LINE)
    return names


def _one_line_checked(what: str, value: str, limit: int) -> None:
    if len(value) > limit:
        raise InvalidInput(f"{what} has {len(value)} characters, more than {limit}.", "Put long text into the content.")


def _line(text: str) -> str:
    return " ".join(text.encode("utf-8", "replace").decode().split())
