"""The functions behind the operations on memories, as `catalogue` lists them. Plain values in, plain values out."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from memhook.answering import explore, recall
from memhook.answering import inject as injection
from memhook.answering.explore import anchors_shown, record_of
from memhook.answering.pack import bundle, ordered, ordering_of
from memhook.core.memory import Draft, Memory, Origin, Sensitivity, Trait, id_of, names_with
from memhook.core.ranking import Ordering
from memhook.core.tokens import estimated_tokens
from memhook.engine import catalogue
from memhook.engine.caller import Caller
from memhook.engine.scopes import Scope, narrowed
from memhook.errors import AccessDenied, InvalidInput, NotFound, RemoteError, StoreError
from memhook.library.access import OWNER, enriching, in_reach, named_ones
from memhook.paths import shell_word
from memhook.screening.policy import judged, let_through, masked_fields
from memhook.store.table import changes
from memhook.store.table.filters import Filter
from memhook.writing import expunge, remember, transfer, twins
from memhook.writing.captured import forget_repeated
from memhook.writing.closeness import Neighbours, neighbours, superseding
from memhook.writing.moments import moment_ahead, moment_back
from memhook.writing.sharing import holder, refuse_shared_ones, shared_copy

log = logging.getLogger("memhook")

PACK_TOKENS = 2000
SHOWN_LATELY = timedelta(days=1)  # a memory fetched so soon after it was shown is used: sessions seldom last longer


def remember_(
    caller: Caller, content: str, here: bool = True, client: str = "", in_session: str = "", **fields: Any
) -> dict[str, Any]:
    """Store one memory: of the caller's project if there is one and `here` is true, else global.

    `close_to` has memories of the same project with nearly the same text, `may_supersede` older ones with another value
    for the same; `masked` has the kinds of secrets masked.
    """
    given = typed(fields, caller.now)
    if given.get("origin") == Origin.AGENT and not given.get("session"):
        given["session"] = _session_here(caller, client, in_session)
    masked = list(masked_fields({"content": content, **given})[1])
    remember.found(caller.library, given.get("supersedes", ()), caller.rights.visible)
    home = {"namespace": caller.rights.home, "project": caller.project.id if here else ""}
    draft = Draft(content=content, **{**home, **given})
    stored = remember.remembered(caller.library, [draft], caller.now, again=True, visible=caller.rights.visible)[0]
    assert stored.memory is not None  # noqa: S101  only an import can be refused
    if stored.outcome == "already there":
        record, near = _remembered_again(caller, stored.memory, given), Neighbours()
    else:
        forget_repeated(caller.library, stored.memory, caller.now)
        record, near = record_of(stored.memory), _compared(caller, stored.memory)
    return {"outcome": stored.outcome, "memory": record, **_named_near(caller, near), "masked": masked}


def _remembered_again(caller: Caller, memory: Memory, given: Mapping[str, Any]) -> dict[str, Any]:
    """Add the given fields to a memory that was stored already; return its record.

    That of a quarantined memory, which the caller may not see, has neither name nor title.
    """
    if not caller.library.store.by_reference([memory.id], caller.rights.visible):
        return {"urn": "", "title": ""}
    if changes := _added(memory, given):
        _refuse_opening(caller, memory, changes)
        memory = _edited(caller, memory.id, changes)
    return record_of(memory)


def _session_here(caller: Caller, client: str, session: str) -> str:
    """Return the current turn of this session, or of the last one of the client in the project, as a place."""
    last = caller.accounts.last_injection(session, caller.project.id, client=client)
    if last is None or not last.session:
        return ""
    return f"{last.client}/{last.session}#{caller.accounts.turn_of(last.session)}"


def get(caller: Caller, references: Sequence[str], touch: bool = True) -> list[dict[str, Any]]:
    """Return whole memories by reference; unless `touch` is false, those shown lately count as used and accessed."""
    memories = [judged(one) for one in remember.found(caller.all, references, caller.rights.visible)]
    _refuse_suspects(caller, memories)
    if touch:
        try:
            names, lately = [memory.id for memory in memories], caller.now - SHOWN_LATELY
            fetched = caller.accounts.mark_used(names, caller.now, since=lately)
            caller.all.touch([memory for memory in memories if memory.id in fetched], caller.now)
        except StoreError as error:  # a read-only store still answers
            log.warning("not marked as accessed: %s", error.message)
    return [record | anchors_shown(one) for one, record in zip(memories, _records(caller, memories), strict=True)]


def search(
    caller: Caller, query: str, limit: int = 10, cursor: str = "", ordering: str = Ordering.BLEND, **conditions: Any
) -> dict[str, Any]:
    """Return a page of the best memories for a query with their scores, however low."""
    if not query.strip():
        raise InvalidInput("The query is empty.", 'Give words to look for: memhook search "deploy"; or: memhook list')
    order = ordering_of(ordering)
    asked = {"query": query, "ordering": order, **conditions}
    question = explore.Question(asked, partial(_filter, caller, **conditions), limit, cursor)
    half_life = caller.settings.pack.half_life_days
    ranked, following = explore.search_page(caller.all, query, question, order, half_life, caller.now)
    records = _records(caller, [one.memory for one in ranked])
    scores = ({"score": one.score, "score_parts": one.parts} for one in ranked)
    results = [{**record, **score} for record, score in zip(records, scores, strict=True)]
    return {"results": results, "next_cursor": following}


def list_(caller: Caller, limit: int = 20, offset: int = 0, cursor: str = "", **conditions: Any) -> dict[str, Any]:
    """Return a page of memories, the last changed first, and the number of all."""
    question = explore.Question(conditions, partial(_filter, caller, **conditions), limit, cursor)
    store = caller.all.store
    is_about_quarantine = bool(conditions.get("quarantined"))
    if is_about_quarantine:
        caller.library.quarantine_suspects()
    memories, following = explore.list_page(store, question, caller.now, offset)
    fit = memories if is_about_quarantine else caller.all.fit_to_show(memories)
    return {
        "memories": _records(caller, fit),
        "total": store.count(_filter(caller, caller.now, **conditions)),
        "next_cursor": following,
    }


def inject(
    caller: Caller,
    query: str = "",
    hits: Sequence[Any] | None = None,
    max_tokens: int | None = None,
    namespaces: Sequence[str] = (),
    include_restricted: bool = False,
) -> dict[str, Any]:
    """Return finished text for a prompt: memories relevant to `query`, or exactly those of `hits`."""
    budget = caller.settings.max_tokens if max_tokens is None else max_tokens
    if budget < 1:
        raise InvalidInput(f"max_tokens must be at least 1, not {budget}.", "Give 1 or more.")
    open_to_caller = caller.rights.within(namespaces)
    doubts = caller.doubts_in(caller.project)
    weights: Mapping[str, float] | None = None
    if hits is not None:
        allowed = named_ones(open_to_caller, caller.now, include_restricted)
        found = injection.named(caller.all, injection.hits_of(hits), allowed, doubts)
    elif query.strip():
        surfacing = narrowed(open_to_caller, caller.settings.namespaces)
        allowed = enriching(caller.project.id, surfacing, caller.now, include_restricted)
        relevant, weak, weights = recall.for_enrichment(caller.all, query, allowed, caller.settings.hooks.relevance)
        found = injection.found(relevant, weak, doubts)
    else:
        raise InvalidInput("There is nothing to inject.", "Give a query, or hits: memories by id with their scores.")
    block = injection.enrichment(found, query, budget, weights)
    return _block(block.text, block.memories, block.note) | {"unknown": list(block.unknown)}


def pack(
    caller: Caller, topic: str, budget_tokens: int = PACK_TOKENS, ordering: str = Ordering.BLEND
) -> dict[str, Any]:
    """Return as many whole memories about a topic as fit; none if the store cannot be read."""
    if not topic.strip():
        raise InvalidInput("There is nothing to pack.", "Give a topic.")
    order = ordering_of(ordering)
    surfacing = narrowed(caller.rights.within(()), caller.settings.namespaces)
    allowed = enriching(caller.project.id, surfacing, caller.now)
    try:
        relevant, weak = recall.for_topic(caller.all, topic, allowed, caller.settings.hooks.relevance)
    except StoreError as error:
        log.warning("nothing packed: %s", error.message)
        return _block("", note=error.message)
    ranked = ordered([*relevant, *weak], order, caller.settings.pack.half_life_days, caller.now)
    weighed = caller.doubts_in(caller.project).remarked(ranked)
    memories, sure = [one.memory for one in weighed.ranked], {one.memory.id for one in relevant}
    packed = bundle(topic, memories, budget_tokens, weighed.remarks, sure)
    return _block(packed.text, packed.memories, packed.note)


def _block(text: str, memories: Sequence[Memory] = (), note: str = "") -> dict[str, Any]:
    urns = [memory.urn for memory in memories]
    return {"text": text, "tokens": estimated_tokens(text), "memories": urns, "note": note}


def edit(caller: Caller, reference: str, **fields: Any) -> dict[str, Any]:
    check_home(caller, [reference])
    changes = typed(fields, caller.now)
    current = remember.found(caller.library, [reference], caller.rights.visible)[0]
    _refuse_opening(caller, current, changes)
    remember.found(caller.library, changes.get("supersedes", ()), caller.rights.visible)
    masked = list(masked_fields(changes)[1])
    changed = _edited(caller, reference, changes)
    near = _compared(caller, changed) if not {"title", "content"}.isdisjoint(changes) else Neighbours()
    shared_in = _shared_in(caller, [changed.id])
    return {**record_of(changed), **_named_near(caller, near), "masked": masked, "shared_in": shared_in}


def forget(caller: Caller, references: Sequence[str]) -> list[dict[str, Any]]:
    check_home(caller, references)
    remember.found(caller.library, references, caller.rights.visible)
    memories = remember.forgotten(caller.library, references, caller.now)
    return [{**record_of(memory), "shared_in": _shared_in(caller, [memory.id])} for memory in memories]


def redact(caller: Caller, references: Sequence[str]) -> dict[str, Any]:
    """Empty memories in everything memhook wrote; their URNs stay."""
    check_home(caller, references)
    return _expunged(caller, expunge.redacted(_holdings(caller), references, caller.now))


def purge(caller: Caller, references: Sequence[str]) -> dict[str, Any]:
    """Delete memories from everything memhook wrote."""
    check_home(caller, references)
    return _expunged(caller, expunge.purged(_holdings(caller), references))


def _holdings(caller: Caller) -> expunge.Holdings:
    return expunge.Holdings(caller.library, caller.accounts.ledger, caller.paths)


def _expunged(caller: Caller, done: dict[str, Any]) -> dict[str, Any]:
    return {**done, "shared_in": _shared_in(caller, list(map(id_of, done["memories"])))}


def _shared_in(caller: Caller, ids: Sequence[str]) -> list[str]:
    """Return the other shared stores that still have one of these memories; for the owner, who may see them all."""
    others = (library for library in caller.open_shared() if library is not caller.library)
    return [one.name for one in others if caller.rights.is_owner and one.store.by_reference(ids, OWNER)]


def mute(caller: Caller, references: Sequence[str], muted: bool = True) -> list[dict[str, Any]]:
    """Mute memories, or unmute them. They do not count as changed."""
    library = holder([caller.library, *caller.open_shared()], references)
    memories = remember.found(library, references)
    with library.store.annotating():
        library.store.write(changes.mute, [memory.id for memory in memories], muted)
    return [record_of(replace(memory, muted=muted)) for memory in memories]


def release(caller: Caller, references: Sequence[str], released: bool = True) -> list[dict[str, Any]]:
    """Let quarantined memories come up as long as their text does not change, or take that back."""
    library = holder([caller.library, *caller.open_shared()], references)
    if not library.keeps_releases:
        raise InvalidInput(
            "An environment variable names this store, so its memories are screened each time.",
            f"If it is yours: memhook config set store.uri {shell_word(library.store.uri)}",
        )
    library.quarantine_suspects()
    done = []
    with library.store.annotating():
        for memory in remember.found(library, references):
            done.append(let_through(memory) if released else judged(replace(memory, released="")))
            library.store.write(changes.set_quarantine, done[-1])
    return [record_of(memory) for memory in done]


def share(caller: Caller, references: Sequence[str], target: str) -> list[dict[str, Any]]:
    """Copy memories into a shared store; they keep their URNs."""
    library = next((one for one in caller.open_shared() if one.name == target), None)
    if library is None:
        raise NotFound(f"No shared store is called {target}.", f"memhook config set stores.{target}.uri LOCATION")
    memories = [judged(one) for one in remember.found(caller.all, references)]
    copies = [shared_copy(memory, library, caller.now) for memory in memories]
    return [{"outcome": outcome, "memory": record_of(replace(copy, store=target))} for copy, outcome in copies]


def import_lines(
    caller: Caller,
    lines: Sequence[Sequence[Any]],
    here: bool = False,
    again: bool = False,
    update: bool = False,
    dry_run: bool = False,
) -> dict[str, Any]:
    """Store the lines of a JSONL file, given with their numbers.

    A line without a project becomes global; with `here`, it belongs to the caller's project. A dry run returns
    `entries`, each with its line, outcome, title, remarks and two lists of keys: an entry repeats one of an earlier
    call if one of its first keys is among the second keys of that one.
    """
    numbered = [(int(number), str(text)) for number, text in lines]
    mode = transfer.Mode(again, update, dry_run)
    result = transfer.imported(caller.library, numbered, caller.project.id if here else "", caller.now, mode)
    noticed = [_noticed(entry, caller) for entry in result.entries]
    return {
        "outcomes": result.outcomes,
        "entries": list(map(_foreseen, result.entries, noticed)) if dry_run else [],
        "bad": result.bad,
        **{name: sum(name in one for one in noticed) for name in ("masked", "quarantined", "global")},
    }


def _noticed(entry: transfer.Entry, caller: Caller) -> list[str]:
    facts = {
        "masked": entry.is_masked,
        "quarantined": entry.is_quarantined,
        "global": entry.is_global and bool(caller.project.id),
    }
    return [name for name, is_so in facts.items() if is_so]


def _foreseen(entry: transfer.Entry, noticed: Sequence[str]) -> list[Any]:
    facts = [entry.line, entry.outcome, entry.title, noticed]
    if (memory := entry.memory) is None:
        return [*facts, [], []]
    in_project = partial(twins.short_key, memory.project)
    filed = twins.filed_under(memory, memory.content_hash)
    return [*facts, list(map(in_project, twins.looked_up(memory))), list(map(in_project, filed))]


def export_page(caller: Caller, after: str = "", limit: int = 500) -> list[dict[str, Any]]:
    """Return the records with ids after `after`, in order. A store that is not copied yet raises RemoteError."""
    if missing := caller.library.first_copy(catalogue.FIRST_COPY_SECONDS):
        raise RemoteError(missing, "Nothing was exported. Try again when it is there.")
    return [record_of(memory) for memory in caller.library.store.after(after, limit)]


def _filter(
    caller: Caller,
    now: datetime,
    here: bool = False,
    project: str = "",
    namespaces: Sequence[str] = (),
    tags: Sequence[str] = (),
    since: str = "",
    before: str = "",
    quarantined: bool = False,
) -> Filter:
    """Return a filter for the memories that the caller may see and that meet these conditions."""
    if quarantined and not caller.rights.is_owner:
        raise AccessDenied("Only the owner may see the quarantine.", "Run: memhook list --quarantined")
    return replace(
        caller.rights.visible,
        projects=projects_named(caller, "here" if here else project),
        namespaces=caller.rights.within(namespaces),
        tags=tuple(tags),
        since=moment_back(since, now) if since else None,
        before=moment_back(before, now) if before else None,
        quarantined=quarantined,
    )


def projects_named(caller: Caller, project: str) -> tuple[str, ...]:
    """Return the projects of a filter: for "here" the caller's and the global memories, for "" all."""
    if project == "here":
        return in_reach(caller.project.id).projects
    return ("",) if project == "global" else (project,) if project else ()


def _records(caller: Caller, memories: Sequence[Memory]) -> list[dict[str, Any]]:
    """Return the records without the names of predecessors and successors that the caller may not see."""
    names = {name for memory in memories for name in (*memory.supersedes, memory.superseded_by) if name}
    if caller.rights.is_owner or not names:
        return [record_of(memory) for memory in memories]
    seen = caller.all.store.by_reference(sorted(names), caller.rights.visible)
    open_names = {name for memory in seen for name in (memory.id, *memory.aliases)}
    return [
        record_of(
            replace(
                memory,
                supersedes=tuple(name for name in memory.supersedes if name in open_names),
                superseded_by=memory.superseded_by if memory.superseded_by in open_names else "",
            )
        )
        for memory in memories
    ]


def _compared(caller: Caller, memory: Memory) -> Neighbours:
    """Return the neighbours of a memory that is new or has a new text; put the outdated ones into the inbox."""
    if Scope.READ not in caller.rights.scopes:
        return Neighbours()
    near = neighbours(caller.library, memory, caller.rights.visible)
    caller.accounts.propose(superseding(memory, near), caller.now)
    return near


def _named_near(caller: Caller, near: Neighbours) -> dict[str, Any]:
    """Return the URNs and titles of the neighbours that may be shown."""
    groups = {"close_to": near.close, "may_supersede": near.outdated}
    return {
        name: [{"urn": one.urn, "title": one.title} for one in caller.library.fit_to_show(list(some))]
        for name, some in groups.items()
    }


def check_home(caller: Caller, references: Sequence[str]) -> None:
    """Raise InvalidInput for a memory of a shared store that the call does not name: a change affects everybody."""
    if shared := caller.open_shared():
        refuse_shared_ones(caller.library, shared, references, caller.rights.visible)


def _edited(caller: Caller, reference: str, changes: Mapping[str, Any]) -> Memory:
    writer = Origin.USER if caller.rights.is_owner else Origin.AGENT
    return remember.edited(caller.library, reference, changes, caller.now, caller.rights.visible, writer)


def _refuse_suspects(caller: Caller, memories: Sequence[Memory]) -> None:
    """Raise NotFound for poisoned memories unless the caller is the owner, and have them quarantined."""
    hidden = [memory.urn for memory in memories if memory.quarantine]
    if hidden and not caller.rights.is_owner:
        caller.all.fit_to_show(memories)
        raise NotFound(f"No memory is called {', '.join(hidden)}.", "See: memhook list")


def _refuse_opening(caller: Caller, memory: Memory, changes: Mapping[str, Any]) -> None:
    """Raise AccessDenied for a lower sensitivity unless the caller is the owner: no assistant may be talked into it."""
    levels = list(Sensitivity)
    wanted = changes.get("sensitivity", memory.sensitivity)
    if not caller.rights.is_owner and levels.index(wanted) < levels.index(memory.sensitivity):
        raise AccessDenied(
            f"{memory.urn} is {memory.sensitivity}: only its owner may lower that.", "Run: memhook edit URN"
        )


def typed(fields: Mapping[str, Any], now: datetime) -> dict[str, Any]:
    """Return the fields of a draft, which came over the wire as plain values, in their types."""
    typed: dict[str, Any] = {}
    for name, value in fields.items():
        if name not in names_with(Trait.IMPORTED) or name == "quarantine":
            raise InvalidInput(f"A memory has no field {name!r}.", "See the fields: memhook remember --help")
        if name == "redacted":
            raise InvalidInput("Redacting is more than a change: every copy is emptied.", "Run: memhook redact URN")
        if name in names_with(Trait.IMPORTED, tuple):
            typed[name] = tuple(value)
        elif name in names_with(Trait.IMPORTED, datetime):
            typed[name] = moment_ahead(value, now) if value else None
        elif name == "sensitivity":
            typed[name] = sensitivity_named(value)
        elif name == "origin":
            typed[name] = Origin(value)
        else:
            typed[name] = value
    return typed


def _added(memory: Memory, fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the changes to a memory that is remembered again: lists are extended, other fields replaced."""
    names = names_with(Trait.IMPORTED, tuple)
    return {
        name: tuple(dict.fromkeys((*getattr(memory, name), *value))) if name in names else value
        for name, value in fields.items()
        if name not in ("created", "updated", "origin", "id")
    }


def sensitivity_named(name: str) -> Sensitivity:
    try:
        return Sensitivity(name)
    except ValueError:
        raise InvalidInput(f"There is no sensitivity {name!r}.", f"It is one of: {', '.join(Sensitivity)}.") from None
