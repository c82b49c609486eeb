"""Writing memories down, changing them and forgetting them."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Literal

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
from memhook.library.access import OWNER
from memhook.library.joined import Searchable
from memhook.library.library import Library
from memhook.screening.policy import fingerprint, judged, masked_fields
from memhook.store.table.expunge import redacted_hash
from memhook.store.table.filters import Filter
from memhook.store.table.memories import MemoryStore
from memhook.writing import succession

MAX_CONTENT = 1_000_000
MAX_LINE = 500
MAX_NAMES = 64
EDITED_FROM = "sha256:"
"""The alias that a memory keeps of each content it had."""

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
    quarantine: str = ""
    id: str = ""


@dataclass(frozen=True, slots=True)
class Stored:
    """A memory, and whether it is new."""

    memory: Memory | None
    outcome: Outcome


def remembered(
    library: Library, drafts: Sequence[Draft], now: datetime, again: bool = False, from_file: bool = False
) -> list[Stored]:
    """Store each draft that is not there yet, durably, before returning.

    With `again`, what was forgotten before comes back; else it stays forgotten when it comes from a file. What does is
    `checked` already.
    """
    writer = Origin.IMPORT if from_file else Origin.USER
    memories = [judged(_memory(draft if from_file else checked(draft), now), writer) for draft in drafts]
    store = library.store
    # A file may hold what is there already: embedding that would take longer than all the rest.
    new = _new_ones(store, memories, again) if from_file else memories
    vectors, model = library.vectors(new, reuse=from_file)
    ready = dict(zip((memory.id for memory in new), vectors, strict=True))
    with store.writing():
        results = _told_apart(store, memories, again, from_file)
        fresh = [index for index, result in enumerate(results) if result.outcome == "stored"]
        added = [memory for index in fresh if (memory := results[index].memory)]
        for memory in added:
            if not _is_imported(memory, from_file):  # a file may name what it does not bring along
                found(library, memory.supersedes)
        if added:
            store.add(added, [ready.get(memories[index].id) for index in fresh], model)
            library.vectors_may_lack(memories[index].id not in ready for index in fresh)
            store.unforget([memory.content_hash for memory in added])
            succession.mark(store, added)
    return results


def foreseen(library: Library, drafts: Sequence[Draft], now: datetime, again: bool = False) -> list[Stored]:
    """What storing these from a file would come to. Nothing is stored."""
    memories = [judged(_memory(draft, now), Origin.IMPORT) for draft in drafts]
    return _told_apart(library.store, memories, again, from_file=True)


def edited(
    library: Library,
    reference: str,
    changes: Mapping[str, Any],
    now: datetime,
    visible: Filter = OWNER,
    writer: Origin = Origin.USER,
) -> Memory:
    """The memory with these fields of a draft changed, under its old name; an error names only what is `visible`."""
    store = library.store
    foreseen = _changed(found(library, [reference])[0], changes, now, writer)
    vectors, model = library.vectors([foreseen])  # before the lock: it takes a while
    with store.writing():
        current = found(library, [reference])[0]  # it may have been changed or forgotten since
        changed = _changed(current, changes, now, writer)
        if (changed.title, changed.content, changed.tags) != (foreseen.title, foreseen.content, foreseen.tags):
            vectors, model = library.vectors([changed])
        _refuse_twin(store, changed, visible)
        found(library, [name for name in changed.supersedes if name not in current.supersedes])
        succession.refuse_circle(store, changed)
        store.replace([changed], vectors, model)
        succession.mark(store, [changed])
    return changed


def forgotten(library: Library, references: Sequence[str], now: datetime) -> list[Memory]:
    """Forget these; what one of them had replaced falls to its own successor, or counts again."""
    with library.store.writing():
        memories = found(library, references)
        library.store.forget(memories, now)
        succession.hand_over(library.store, memories)
    return memories


def found(library: Searchable, references: Sequence[str], allowed: Filter = OWNER) -> list[Memory]:
    """The memories called so, each by URN, id or alias; raises NotFound naming those that are not there."""
    names = [id_of(reference) for reference in references]
    memories = library.store.by_reference(names, allowed)
    known = {name for memory in memories for name in (memory.id, *memory.aliases)}
    missing = [reference for reference, name in zip(references, names, strict=True) if name not in known]
    if missing:
        raise NotFound(f"No memory is called {', '.join(missing)}.", "See: memhook list")
    return memories


def checked(draft: Draft) -> Draft:
    """The draft, tidied and without secrets; raises InvalidInput when it cannot be a memory."""
    return checked_for_secrets(draft)[0]


def checked_for_secrets(draft: Draft) -> tuple[Draft, tuple[str, ...]]:
    """The same, and the kinds of secrets that were in it."""
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
    texts = {
        "content": draft.content.encode("utf-8", "replace").decode(),  # a lone surrogate has no place on disk
        "title": _line(draft.title),
        "summary": _line(draft.summary),
        "namespace": _line(draft.namespace) or DEFAULT_NAMESPACE,
        "source": _line(draft.source),
        "project": draft.project,
        "tags": _names("tags", draft.tags),
        "related": _names("related", draft.related),
        "aliases": _names("aliases", draft.aliases),
    }
    supersedes = tuple(id_of(reference) for reference in _names("supersedes", draft.supersedes))
    masked, kinds = masked_fields(texts)
    return replace(draft, supersedes=supersedes, **masked), kinds


def _memory(draft: Draft, now: datetime) -> Memory:
    created = draft.created or now
    own_id = draft.id if is_id(draft.id) else id_from_bytes(secrets.token_bytes(ID_LENGTH))
    draft = _without_words(draft) if draft.redacted else draft
    return Memory(
        id=own_id,
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
        content_hash=redacted_hash(own_id) if draft.redacted else content_hash(draft.content),
        quarantine=draft.quarantine,
    )


def _without_words(draft: Draft) -> Draft:
    """What a redacted memory said is nowhere, so it does not come in by a file either."""
    return replace(draft, content="", title="", summary="", source="", tags=(), related=(), aliases=(), pinned=False)


def draft_of(memory: Memory) -> Draft:
    values = {name: getattr(memory, name) for name in Draft.__dataclass_fields__}
    return Draft(**values)


def _is_imported(memory: Memory, from_file: bool) -> bool:
    """An export brings memories of every origin."""
    return from_file or memory.origin is Origin.IMPORT


def _told_apart(store: MemoryStore, memories: Sequence[Memory], again: bool, from_file: bool) -> list[Stored]:
    """For each whether it is new, there already or was forgotten; a new one has an id that nothing else ever had."""
    hashes = [memory.content_hash for memory in memories]
    known = {(memory.project, memory.content_hash): memory for memory in store.with_content(hashes)}
    known |= (
        {
            (memory.project, alias.removeprefix(EDITED_FROM)): memory
            for memory in store.by_reference([EDITED_FROM + one for one in hashes], OWNER)
            for alias in memory.aliases
        }
        if any(_is_imported(memory, from_file) for memory in memories)
        else {}
    )
    gone = set() if again else {memory.content_hash for memory in store.with_content(hashes, forgotten=True)}
    taken = store.taken([name for memory in memories for name in (memory.id, *memory.aliases)])
    there = store.by_ids([memory.id for memory in memories if memory.id in taken])
    redacted = {key: one for key, one in there.items() if one.redacted}
    results = []
    for memory in memories:
        earlier = redacted.get(memory.id) or known.get((memory.project, memory.content_hash))
        if earlier is not None:
            results.append(Stored(earlier, "already there"))
        elif memory.content_hash in gone and _is_imported(memory, from_file):
            results.append(Stored(None, "forgotten before"))
        else:
            new = _with_free_names(memory, taken)
            taken |= {new.id, *new.aliases}
            known[new.project, new.content_hash] = new
            results.append(Stored(new, "stored"))
    return results


def _new_ones(store: MemoryStore, memories: Sequence[Memory], again: bool) -> list[Memory]:
    """Those of a file that are to be stored, as it looks before the lock is taken."""
    told = zip(memories, _told_apart(store, memories, again, from_file=True), strict=True)
    return [memory for memory, expected in told if expected.outcome == "stored"]


def _with_free_names(memory: Memory, taken: set[str]) -> Memory:
    """Another content under a name that is taken is another memory: nothing is lost, and nothing gets two meanings."""
    own_id = memory.id if memory.id not in taken else id_from_bytes(secrets.token_bytes(ID_LENGTH))
    return replace(memory, id=own_id, aliases=tuple(alias for alias in memory.aliases if alias not in taken))


def _changed(current: Memory, changes: Mapping[str, Any], now: datetime, writer: Origin) -> Memory:
    if current.redacted:
        raise InvalidInput(f"{current.urn} is redacted: there is nothing left of it to change.", "Remember it anew.")
    fields = dict(changes)
    if "content" in fields:
        # What was derived from the old content follows the new one.
        if current.title == derived_title(current.content):
            fields.setdefault("title", "")
        if current.summary == derived_summary(current.content):
            fields.setdefault("summary", "")
    draft = checked(replace(draft_of(current), **fields))
    changed = replace(_memory(draft, now), id=current.id, created=current.created, updated=now)
    aliases = current.aliases
    if changed.content_hash != current.content_hash:
        # Importing the old text again must not bring it back beside the new.
        aliases = tuple(dict.fromkeys((*aliases, EDITED_FROM + current.content_hash)))
    changed = replace(changed, aliases=aliases, superseded_by=current.superseded_by, released=current.released)
    says_the_same = fingerprint(changed) == fingerprint(current)
    return judged(changed) if says_the_same else judged(replace(changed, quarantine=""), writer)


def _refuse_twin(store: MemoryStore, changed: Memory, visible: Filter) -> None:
    others = store.with_content([changed.content_hash])
    twin = next((one for one in others if one.project == changed.project and one.id != changed.id), None)
    if twin is not None and store.by_reference([twin.id], visible):
        raise InvalidInput(f"{twin.urn} has the same content already.", f"See: memhook get {twin.urn}")
    if twin is not None:
        raise InvalidInput("The same content is remembered already.")


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
