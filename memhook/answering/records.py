"""A memory as a plain record: for `--json`, exports and MCP."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from memhook.core.memory import Memory, Trait, names_with, plain
from memhook.screening.policy import shown_as

_RECORDED = names_with(Trait.RECORDED)
_MOMENTS = names_with(Trait.RECORDED, datetime)


def record_of(memory: Memory) -> dict[str, Any]:
    """Return the record, without secrets even if the memory was stored before they were screened."""
    memory = shown_as(memory)
    values = {name: plain(getattr(memory, name)) for name in _RECORDED}
    values |= {name: values[name].isoformat() for name in _MOMENTS if values[name] is not None}
    return {"id": memory.id, "urn": memory.urn, **values, "store": memory.store}
