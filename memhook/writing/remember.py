"""Store, edit and forget memories."""

from __future__ import annotations

import secrets
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Literal

from memhook.core.anchors import anchors_of
from memhook.core.memory import (
    DEFAULT_NAMESPACE,
    FIELDS,
    ID_LENGTH,
    Draft,
    Memory,
    Origin,
    Trait,
    are_two,
    content_hash,
    derived_summary,
    derived_title,
    id_from_bytes,
    id_of,
    is_id,
    names_with,
    renewed_summary,
)
from memhook.errors import InvalidInput, NotFound
from memhook.library.access import OWNER
from memhook.library.joined import Searchable
from memhook.library.library import Library
from memhook.screening.policy import fingerprint, judged, masked_fields, sorted_out
from memhook.store.memories import MemoryStore
from memhook.store.table import changes as table_changes
from memhook.store.table.expunge import redacted_hash
from memhook.store.table.filters import Filter
from memhook.turns import stand_aside
from memhook.writing import succession
from memhook.writing.revision import refuse_changed
from memhook.writing.twins import EDITED_FROM, Twins, earlier_names, titled_hash

MAX_CONTENT = 1_000_000
MAX_LINE = 500
MAX_NAMES = 64

Outcome = Literal["stored", "already there", "forgotten before"]


_IMPORTED = names_with(Trait.IMPORTED)
_EMPTY = {one.name: one.default for one in FIELDS if Trait.KEPT_WHEN_REDACTED not in one.traits}
del _EMPTY["redacted"]


@dataclass(frozen=True, slots=True)
class Stored:
    memory: Memory | None
    outcome: Outcome


def remembered(
    library: Library,
    drafts: Sequence[Draft],
    now: datetime,
    again: bool = False,
    from_file: bool = False,
    visible: Filter = OWNER,
) -> list[Stored]:
    """Store each draft that is new, durably, before returning.

    With `again`, forgotten memories are restored; otherwise those from a file stay forgotten. Drafts from a file are
    already `checked`. A memory with the same text that is not `visible` is ignored: "already there" would reveal it.
    """
    writer = Origin.IMPORT if from_file else Origin.USER
    memories = [_read(draft if from_file else checked(draft), now, writer) for draft in drafts]
    store = library.store
    # A file may contain memories that are already stored: embedding them would take longest.
    new = _new_ones(store, memories, again) if from_file else memories
    vectors, model = library.vectors(new, reuse=from_file)
    ready = dict(zip((memory.id for memory in new), vectors, strict=True))
    with store.writing():
        results = _compared(store, memories, again, from_file, visible)
        fresh = [index for index, result in enumerate(results) if result.outcome == "stored"]
        added = [memory for index in fresh if (memory := results[index].memory)]
        for memory in added:
            if not _is_imported(memory, from_file):  # a file may name memories that it does not contain
                found(library, memory.supersedes)
        if added:
            traces = _traces_of(store, added)  # before the new rows would be found as well
            store.write(table_changes.add, added, [ready.get(memories[index].id) for index in fresh], model)
            library.vectors_may_lack(memories[index].id not in ready for index in fresh)
            if traces:
                store.write(table_changes.unforget, traces)
            if any(draft.id or draft.aliases or draft.supersedes for draft in drafts):
                succession.mark(store, added)  # others have new names: none can refer to them yet
    for memory in added:  # screened now, so that no prompt has to wait for it
        stand_aside()
        sorted_out([memory])
    return results


def _read(draft: Draft, now: datetime, writer: Origin) -> Memory:
    stand_aside()
    return judged(memory_from(draft, now), writer)


def foreseen(library: Library, drafts: Sequence[Draft], now: datetime, again: bool = False) -> list[Stored]:
    """Return the outcome of storing these from a file, without storing them."""
    memories = [_read(draft, now, Origin.IMPORT) for draft in drafts]
    return _compared(library.store, memories, again, from_file=True)


def edited(
    library: Library,
    reference: str,
    changes: Mapping[str, Any],
    now: datetime,
    visible: Filter = OWNER,
    writer: Origin = Origin.USER,
) -> Memory:
    """Change these fields of a memory, which keeps its URN; errors mention only `visible` memories."""
    return edited_together(library, {reference: changes}, now, visible, writer)[0]


def edited_together(
    library: Library,
    changes: Mapping[str, Mapping[str, Any]],
    now: datetime,
    visible: Filter = OWNER,
    writer: Origin = Origin.USER,
    versions: Mapping[str, str] = {},
) -> list[Memory]:
    """Change memories by reference, all or none; raise Conflict for one that has changed since its version."""
    store = library.store

    def current() -> list[Memory]:
        return [found(library, [reference])[0] for reference in changes]

    def changed_from(memories: Sequence[Memory]) -> list[Memory]:
        pairs = zip(memories, changes.values(), strict=True)
        return [_changed(memory, fields, now, writer) for memory, fields in pairs]

    foreseen = changed_from(current())
    vectors, model = library.vectors(foreseen)  # before the lock: it takes a while
    with store.writing():
        before = current()  # they may have been changed or forgotten since
        refuse_changed(before, versions)
        changed = changed_from(before)
        if list(map(_embedded, changed)) != list(map(_embedded, foreseen)):
            vectors, model = library.vectors(changed)
        for old, new in zip(before, changed, strict=True):
            _refuse_twin(store, old, new, visible)
            found(library, [name for name in new.supersedes if name not in old.supersedes])
            succession.refuse_circle(store, new)
        store.write(table_changes.replace, changed, vectors, model)
        succession.mark(store, changed)
    return changed


def forgotten(
    library: Library, references: Sequence[str], now: datetime, versions: Mapping[str, str] = {}
) -> list[Memory]:
    """Forget memories; what they superseded passes to their successors, or becomes current again.

    Raises Conflict for one that has changed since its version.
    """
    with library.store.writing():
        memories = found(library, references)
        refuse_changed(memories, versions)
        library.store.write(table_changes.forget, memories, now)
        succession.hand_over(library.store, memories)
    return memories


def found(library: Searchable, references: Sequence[str], allowed: Filter = OWNER) -> list[Memory]:
    """Return the memories by URN, id or alias; raise NotFound with the unknown ones."""
    memories = library.store.by_reference([id_of(reference) for reference in references], allowed)
    if missing := unnamed(references, memories):
        raise NotFound(f"No memory is called {', '.join(missing)}.", "See: memhook list")
    return memories


def unnamed(references: Sequence[str], memories: Iterable[Memory]) -> list[str]:
    """Return the references by which none of these memories is called."""
    names = {name for memory in memories for name in (memory.id, *memory.aliases)}
    return [reference for reference in references if id_of(reference) not in names]


def checked(draft: Draft) -> Draft:
    """Return the draft, normalized and without secrets; raise InvalidInput if it cannot be stored."""
    return checked_for_secrets(draft)[0]


def checked_for_secrets(draft: Draft) -> tuple[Draft, tuple[str, ...]]:
    """Return the checked draft, and the kinds of secrets that were in it."""
    if not draft.content.strip() and not draft.redacted:
        raise InvalidInput(
            "There is nothing to remember: the content is empty.", 'Run: memhook remember "what to keep"'
        )
    if len(draft.content) > MAX_CONTENT:
        raise InvalidInput(
            f"The content has {len(draft.content):,} characters, more than the {MAX_CONTENT:,} one memory may have.",
            "Split it into several memories.",
        )
    lines = [name for name in names_with(Trait.MASKED, str) if name not in ("content", "project")]
    for name in lines:
        _one_line_checked(name, getattr(draft, name), MAX_LINE)
    texts = {
        "content": draft.content.encode("utf-8", "replace").decode(),  # a lone surrogate has no place on disk
        **{name: _line(getattr(draft, name)) for name in lines},
        "project": draft.project,
        **{name: _names(name, getattr(draft, name)) for name in names_with(Trait.MASKED, tuple)},
    }
    texts["namespace"] = texts["namespace"] or DEFAULT_NAMESPACE
    supersedes = tuple(id_of(reference) for reference in _names("supersedes", draft.supersedes))
    masked, kinds = masked_fields(texts)
    return replace(draft, supersedes=supersedes, **masked), kinds


def memory_from(draft: Draft, now: datetime) -> Memory:
    created = draft.created or now
    own_id = draft.id if is_id(draft.id) else id_from_bytes(secrets.token_bytes(ID_LENGTH))
    # A redacted memory is emptied: a file must not bring its text back.
    draft = replace(draft, **_EMPTY) if draft.redacted else draft
    title = draft.title or derived_title(draft.content)
    values = _imported(draft) | {
        "id": own_id,
        "title": title,
        "summary": draft.summary or derived_summary(draft.content),
        "anchors": draft.anchors or anchors_of(title, draft.content),
        "created": created,
        "updated": draft.updated or created,
    }
    return Memory(**values, content_hash=redacted_hash(own_id) if draft.redacted else content_hash(draft.content))


def draft_of(memory: Memory) -> Draft:
    return Draft(**_imported(memory))


def _imported(draft: Draft) -> dict[str, Any]:
    """Return the fields that a draft may set, without those that memhook itself fills in."""
    return {name: getattr(draft, name) for name in _IMPORTED}


def _is_imported(memory: Memory, from_file: bool) -> bool:
    """Return whether the memory comes from a file: an export has memories of every origin."""
    return from_file or memory.origin is Origin.IMPORT


def _compared(
    store: MemoryStore, memories: Sequence[Memory], again: bool, from_file: bool, visible: Filter = OWNER
) -> list[Stored]:
    """Return for each memory whether it is new, already stored or forgotten before; a new one gets an unused id."""
    hashes = [memory.content_hash for memory in memories]
    names = [name for memory in memories for name in (memory.id, *memory.aliases)]
    imported = [memory for memory in memories if _is_imported(memory, from_file)]
    from_edited = [EDITED_FROM + one for memory in imported for one in {memory.content_hash, titled_hash(memory)}]
    known: defaultdict[str, Twins] = defaultdict(Twins)
    dropped, taken, redacted = Twins(), set[str](), dict[str, Memory]()
    if store.knows(content_hash=hashes, name=names + from_edited):
        for one in _seen(store, store.find("content_hash", hashes), visible):
            known[one.project].add(one)
        for one in store.find("name", from_edited):
            known[one.project].add_earlier(one)
        dropped = Twins() if again else Twins.of(store.find("content_hash", hashes, forgotten=True))
        taken = store.taken(names)
        there = store.by_ids([memory.id for memory in memories if memory.id in taken])
        redacted = {key: one for key, one in there.items() if one.redacted}
    results = []
    for memory in memories:
        earlier = redacted.get(memory.id) or known[memory.project].twin(memory)
        if earlier is not None:
            results.append(Stored(earlier, "already there"))
        elif _is_imported(memory, from_file) and dropped.twin(memory):
            results.append(Stored(None, "forgotten before"))
        else:
            new = _with_free_names(memory, taken)
            taken |= {new.id, *new.aliases}
            known[new.project].add(new)
            results.append(Stored(new, "stored"))
    return results


def _traces_of(store: MemoryStore, memories: Sequence[Memory]) -> list[str]:
    """Return the ids of the traces of these memories, if they were forgotten before."""
    traces = store.find("content_hash", [memory.content_hash for memory in memories], forgotten=True)
    added = Twins.of(memories if traces else ())
    return [one.id for one in traces if added.twin(one)]


def _new_ones(store: MemoryStore, memories: Sequence[Memory], again: bool) -> list[Memory]:
    """Return the memories of a file that are new, as seen before the lock is taken."""
    expected = _compared(store, memories, again, from_file=True)
    return [memory for memory, one in zip(memories, expected, strict=True) if one.outcome == "stored"]


def _with_free_names(memory: Memory, taken: set[str]) -> Memory:
    """Rename a memory whose name is in use: other content under the same name is another memory."""
    own_id = memory.id if memory.id not in taken else id_from_bytes(secrets.token_bytes(ID_LENGTH))
    free = tuple(one for one in memory.aliases if one not in taken or one.startswith(EDITED_FROM))
    return replace(memory, id=own_id, aliases=free)


def _changed(current: Memory, changes: Mapping[str, Any], now: datetime, writer: Origin) -> Memory:
    if current.redacted:
        raise InvalidInput(f"{current.urn} is redacted: there is nothing to change.", "Store it again.")
    fields = dict(changes)
    if current.origin is Origin.CAPTURED:  # the owner's change is a review; nobody else ends probation
        is_reviewed = writer is Origin.USER
        fields["expires"] = changes.get("expires") if is_reviewed else current.expires
        fields["origin"] = Origin.USER if is_reviewed else Origin.CAPTURED
    if "content" in fields:
        # What was derived from the old content follows the new one.
        if current.title == derived_title(current.content):
            fields.setdefault("title", "")
        if renewed_summary(current.summary, current.content) == derived_summary(current.content):
            fields.setdefault("summary", "")
    if {"title", "content"} & fields.keys() and current.anchors == anchors_of(current.title, current.content):
        fields.setdefault("anchors", ())
    draft = checked(replace(draft_of(current), **fields))
    changed = replace(memory_from(draft, now), id=current.id, created=current.created, updated=now)
    # Importing the old text again must not bring it back beside the new.
    aliases = tuple(dict.fromkeys((*current.aliases, *earlier_names(current, changed))))
    changed = replace(changed, aliases=aliases, superseded_by=current.superseded_by, released=current.released)
    is_same_text = fingerprint(changed) == fingerprint(current)
    return judged(changed) if is_same_text else judged(replace(changed, quarantine=""), writer)


def _embedded(memory: Memory) -> tuple[str, str, tuple[str, ...]]:
    return memory.title, memory.content, memory.tags


def _refuse_twin(store: MemoryStore, before: Memory, changed: Memory, visible: Filter) -> None:
    """Raise InvalidInput for a change that gives a memory the text of another; two that had it before stay."""
    others = _seen(store, store.find("content_hash", [changed.content_hash]), visible)
    same = (one for one in others if _is_same(one, changed) and not _is_same(one, before))
    twin = next((one for one in same if one.id != changed.id), None)
    if twin is not None and store.by_reference([twin.id], visible):
        raise InvalidInput(f"{twin.urn} has the same content already.", f"See: memhook get {twin.urn}")
    if twin is not None:
        raise InvalidInput("The same content is remembered already.")


def _is_same(one: Memory, other: Memory) -> bool:
    return (one.project, one.content_hash) == (other.project, other.content_hash) and not are_two(one, other)


def _seen(store: MemoryStore, memories: Sequence[Memory], visible: Filter) -> list[Memory]:
    """Return the memories that a caller may know of, quarantined ones too: else a repetition would be stored again."""
    if visible == OWNER or not memories:
        return list(memories)
    seen = store.by_ids([memory.id for memory in memories], replace(visible, quarantined=None))
    return [memory for memory in memories if memory.id in seen]


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
