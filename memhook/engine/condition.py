"""Operations for `status` and `doctor`."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from memhook.engine.caller import Caller
from memhook.engine.captures import supplied
from memhook.engine.projects import earlier_project
from memhook.library.library import Library
from memhook.store.embedding import multilingual
from memhook.store.ledger import Injection
from memhook.store.table.filters import Filter


def status(caller: Caller) -> dict[str, Any]:
    caller.library.quarantine_suspects()
    store = caller.library.store
    renewal = caller.library.renewal
    return {
        "project": caller.project.id,
        "project_name": caller.project.name,
        "earlier_project": earlier_project(caller),
        "store": store.uri,
        "memories": store.count(),
        "by_project": store.counted_by("project"),
        "quarantined": store.count(Filter(quarantined=True)),
        "model": store.model.id,
        "configured_model": caller.settings.embedding.model,
        "embedding_problem": caller.library.embedding_problem,
        "by_meaning": caller.library.query_vector("status") is not None,
        "languages": _languages(caller),
        "renewal": None if renewal is None else {"done": renewal.done, "total": renewal.total},
        "max_tokens": caller.settings.max_tokens,
        "supply": supplied(caller),
        "ledger": str(caller.accounts.ledger.path) if caller.accounts.ledger else "",
        "shared": [_replica_state(library, caller.now) for library in caller.open_shared()],
        "replica": _replica_state(caller.library, caller.now) if store.replica else None,
        "used": _used(caller),
        "last_runs": [_run(one) for one in caller.accounts.last_runs()],
    }


def _run(event: Injection) -> dict[str, Any]:
    named = {name: getattr(event, name) for name in ("client", "event", "outcome")}
    return {"at": event.at.isoformat(), **named, "milliseconds": event.milliseconds.get("total", 0.0)}


def _used(caller: Caller) -> dict[str, int]:
    """Return how often memories were shown and used so far, and the tokens of the last week."""
    week = caller.now - timedelta(days=7)
    usage = caller.accounts.usage().values()
    events = caller.accounts.events(week)
    return {
        "shown": sum(one.shown for one in usage),
        "used": sum(one.used for one in usage),
        "tokens_of_week": sum(one.tokens for one in events),
    }


def _languages(caller: Caller) -> dict[str, Any]:
    """Return whether the personal store uses the encoder for other languages, and how many memories it embedded."""
    languages, store = caller.library.languages, caller.library.store
    return {
        "setting": languages.mode,
        "model": multilingual.ID,
        "in_use": languages.is_in_use,
        "problem": languages.problem,
        "read": store.vectors.languages.count(),
    }


def _replica_state(library: Library, now: datetime) -> dict[str, Any]:
    """Return the state and age of the local copy of a remote store."""
    replica = library.store.replica
    assert replica is not None  # noqa: S101  every shared store has one
    refreshed = replica.refreshed
    return {
        "name": library.name,
        "uri": replica.origin_uri,
        "memories": library.store.count(),
        "refreshed": refreshed.isoformat() if refreshed else None,
        "age_seconds": round((now - refreshed).total_seconds(), 1) if refreshed else None,
        "problem": replica.problem,
    }


def refresh(caller: Caller) -> list[dict[str, Any]]:
    """Fetch the changes of each remote store now; return the state of each."""
    remote = [one for one in (caller.library, *caller.open_shared()) if one.store.replica]
    for library in remote:
        library.refresh()
    return [_replica_state(library, caller.now) for library in remote]


def health(caller: Caller) -> dict[str, Any]:
    """Check the store, row by row, and the ledger, for `doctor`; return their state."""
    report = caller.library.store.health()
    model = caller.library.wanted_model
    return {
        **report,
        "model_sha256": model.sha256 if model else "",
        "ledger_problem": caller.accounts.problem(),
        "last_runs": {event: at.isoformat() for event, at in caller.accounts.last_by_event().items()},
    }
