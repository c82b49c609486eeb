"""A memory as a plain record: for `--json`, exports and MCP."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from memhook.core.memory import Memory
from memhook.screening.policy import shown_as


def record_of(memory: Memory) -> dict[str, Any]:
    """Return the record, without secrets even if the memory was stored before they were screened."""
    memory = shown_as(memory)
    return {
        "id": memory.id,
        "urn": memory.urn,
        "title": memory.title,
        "content": memory.content,
        "summary": memory.summary,
        "namespace": memory.namespace,
        "tags": list(memory.tags),
        "related": list(memory.related),
        "source": memory.source,
        "project": memory.project,
        "sensitivity": memory.sensitivity.value,
        "pinned": memory.pinned,
        "redacted": memory.redacted,
        "muted": memory.muted,
        "origin": memory.origin.value,
        "created": memory.created.isoformat(),
        "updated": memory.updated.isoformat(),
        "accessed": _time(memory.accessed),
        "expires": _time(memory.expires),
        "supersedes": list(memory.supersedes),
        "superseded_by": memory.superseded_by,
        "aliases": list(memory.aliases),
        "quarantine": memory.quarantine,
        "store": memory.store,
    }


def _time(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat()
