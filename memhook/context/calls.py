"""What other doors may ask of the daemon. Plain values in, plain values out, for they cross a socket."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from memhook.context import recall, remember, transfer, usage
from memhook.context.access import OWNER
from memhook.context.answer import Surroundings
from memhook.context.library import Library
from memhook.context.pauses import Pause
from memhook.context.records import record_of
from memhook.context.stages import Stages
from memhook.context.why import explained_prompt, explained_record
from memhook.core.memory import Memory, Origin, Sensitivity
from memhook.core.packing import PartLimit, utf16_units
from memhook.errors import InvalidInput, NotFound, StoreError
from memhook.paths import Paths
from memhook.settings import Settings
from memhook.store.filters import Filter
from memhook.store.ledger import Ledger
from memhook.store.project import Project

log = logging.getLogger("memhook")


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks, from where, and what answers."""

    library: Library
    settings: Settings
    project: Project
    ledger: Ledger | None
    paths: Paths
    pause: Pause | None = None

    @property
    def record(self) -> Ledger:
        """The ledger, for a call that is nothing without it."""
        if self.ledger is None:
            raise StoreError("The record of what was shown cannot be opened.", "Run: memhook doctor")
        return self.ledger


def remember_(caller: Caller, content: str, here: bool = True, **fields: Any) -> dict[str, Any]:
    """Store one memory: of the project asked from, if it is one and `here` says so, else global."""
    draft = remember.Draft(content=content, project=caller.project.id if here else "", **_typed(fields))
    stored = remember.remembered(caller.library, [draft], _now(), again=True)[0]
    assert stored.memory is not None  # noqa: S101  only an import can be refused
    if stored.outcome == "already there" and fields:
        changed = remember.edited(caller.library, stored.memory.id, _added(stored.memory, _typed(fields)), _now())
        return {"outcome": stored.outcome, "memory": record_of(changed)}
    return {"outcome": stored.outcome, "memory": record_of(stored.memory)}


def get(caller: Caller, references: Sequence[str], touch: bool = True) -> list[dict[str, Any]]:
    """The memories called so, whole; asking for them so marks them as accessed."""
    memories = remember.found(caller.library, references)
    if touch:
        try:
            with caller.library.store.writing():
                caller.library.store.touch([memory.id for memory in memories], _now())
        except StoreError as error:  # a store that can only be read is still read
            log.warning("not marked as accessed: %s", error.message)
    return [record_of(memory) for memory in memories]


def search(caller: Caller, query: str, limit: int = 10, **conditions: Any) -> list[dict[str, Any]]:
    """The best answers to a query, of whatever score, with their scores."""
    ranked = recall.for_search(caller.library, query, _filter(caller, **conditions), limit)
    return [{**record_of(one.memory), "score": round(one.score, 4), "score_parts": one.parts} for one in ranked]


def list_(caller: Caller, limit: int = 20, offset: int = 0, **conditions: Any) -> dict[str, Any]:
    """A page of memories, the last changed first, and how many there are."""
    allowed = _filter(caller, **conditions)
    memories = caller.library.store.newest(allowed, limit, offset)
    return {"memories": [record_of(memory) for memory in memories], "total": caller.library.store.count(allowed)}


def edit(caller: Caller, reference: str, **fields: Any) -> dict[str, Any]:
    return record_of(remember.edited(caller.library, reference, _typed(fields), _now()))


def forget(caller: Caller, references: Sequence[str]) -> list[dict[str, Any]]:
    return [record_of(memory) for memory in remember.forgotten(caller.library, references, _now())]


def mute(caller: Caller, references: Sequence[str], muted: bool = True) -> list[dict[str, Any]]:
    """Keep them and never bring them up, or no longer so. They count as changed neither way."""
    memories = remember.found(caller.library, references)
    with caller.library.store.writing():
        caller.library.store.set_muted([memory.id for memory in memories], muted)
    return [record_of(replace(memory, muted=muted)) for memory in memories]


def why(
    caller: Caller, prompt: str | None = None, session: str = "", shown: bool = False, part_units: int = 0
) -> dict[str, Any]:
    """The last event of the session or the project, or with `prompt`, what that would get now.

    With `shown`, the last event that got any text. `part_units` is what one part of a client's answer may hold, in
    UTF-16 units.
    """
    if prompt is not None:
        account = caller.record.shown(session, "") if session else {}
        around = Surroundings(caller.library, caller.settings, caller.project, account, _now(), Stages())
        part_limit = PartLimit(part_units, utf16_units) if part_units else None
        return explained_prompt(prompt, session, around, caller.pause, part_limit)
    last = caller.record.last_injection(session, caller.project.id, shown)
    if last is None:
        where = f"of the session {session}" if session else "in this project"
        raise NotFound(
            f"Nothing is recorded {where} yet.", 'See what a prompt would get: memhook why "how do we deploy?"'
        )
    earlier = None if last.text else caller.record.last_injection(session, caller.project.id, with_text=True)
    report = explained_record(last, caller.library, caller.settings)
    return {**report, "last_shown": earlier.at.isoformat() if earlier else None}


def stats(caller: Caller, days: int | None = None, here: bool = False) -> dict[str, Any]:
    """What memhook cost and was good for, in the last `days` or as long as it is recorded."""
    return usage.usage(caller.library.store, caller.record, _now(), days, caller.project.id if here else None)


def import_lines(
    caller: Caller, lines: Sequence[Sequence[Any]], here: bool = False, again: bool = False
) -> dict[str, Any]:
    """Lines of a JSONL file with their numbers. Without a project of their own they become global, or of this one."""
    numbered = [(int(number), str(text)) for number, text in lines]
    result = transfer.imported(caller.library, numbered, caller.project.id if here else "", _now(), again)
    return {"outcomes": result.outcomes, "bad": result.bad}


def export_page(caller: Caller, after: str = "", limit: int = 500) -> list[dict[str, Any]]:
    """Records in the order of their ids, those behind `after`."""
    return [record_of(memory) for memory in caller.library.store.after(after, limit)]


def status(caller: Caller) -> dict[str, Any]:
    store = caller.library.store
    renewal = caller.library.renewal
    return {
        "project": caller.project.id,
        "project_name": caller.project.name,
        "store": store.uri,
        "memories": store.count(),
        "by_project": store.counted_by("project"),
        "model": store.model.id,
        "configured_model": caller.settings.embedding.model,
        "embedding_problem": caller.library.embedding_problem,
        "by_meaning": caller.library.query_vector("status") is not None,
        "renewal": None if renewal is None else {"done": renewal.done, "total": renewal.total},
        "max_tokens": caller.settings.max_tokens,
        "ledger": str(caller.ledger.path) if caller.ledger else "",
    }


CALLS: Mapping[str, Callable[..., Any]] = {
    "remember": remember_,
    "get": get,
    "search": search,
    "list": list_,
    "edit": edit,
    "forget": forget,
    "mute": mute,
    "why": why,
    "stats": stats,
    "import_lines": import_lines,
    "export_page": export_page,
    "status": status,
}


def _filter(
    caller: Caller,
    here: bool = False,
    namespaces: Sequence[str] = (),
    tags: Sequence[str] = (),
    since: str = "",
    before: str = "",
) -> Filter:
    if not any((here, namespaces, tags, since, before)):
        return OWNER
    return Filter(
        projects=tuple(dict.fromkeys(("", caller.project.id))) if here else (),
        namespaces=tuple(namespaces),
        tags=tuple(tags),
        since=_moment(since),
        before=_moment(before),
    )


def _typed(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Fields of a draft as they came over the wire, in the types a draft has."""
    typed: dict[str, Any] = {}
    for name, value in fields.items():
        if name not in remember.Draft.__dataclass_fields__:
            raise InvalidInput(f"A memory has no field {name!r}.")
        if name in ("tags", "related", "supersedes", "aliases"):
            typed[name] = tuple(value)
        elif name in ("created", "updated", "accessed", "expires"):
            typed[name] = _moment(value)
        elif name == "sensitivity":
            typed[name] = _sensitivity(value)
        elif name == "origin":
            typed[name] = Origin(value)
        else:
            typed[name] = value
    return typed


def _added(memory: Memory, fields: Mapping[str, Any]) -> dict[str, Any]:
    """What was said anew about a memory that is there already: names are added to its own, the rest replaces."""
    names = ("tags", "related", "supersedes", "aliases")
    return {
        name: tuple(dict.fromkeys((*getattr(memory, name), *value))) if name in names else value
        for name, value in fields.items()
        if name not in ("created", "updated", "origin", "id")
    }


def _sensitivity(value: str) -> Sensitivity:
    try:
        return Sensitivity(value)
    except ValueError:
        allowed = ", ".join(Sensitivity)
        raise InvalidInput(f"sensitivity = {value!r} is not possible.", f"It is one of: {allowed}.") from None


def _moment(value: str) -> datetime | None:
    return datetime.fromisoformat(value) if value else None


def _now() -> datetime:
    return datetime.now(UTC)
