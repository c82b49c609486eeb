"""A memory as the plain record that leaves memhook: in `--json`, in an export, over MCP."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from memhook.core.memory import Memory, Trait, names_with, plain
from memhook.screening.policy import shown_as

_RECORDED = names_with(Trait.RECORDED)
_MOMENTS = names_with(Trait.RECORDED, datetime)


def record_of(memory: Memory) -> dict[str, Any]:
    """Without secrets, whenever it was stored."""
    memory = shown_as(memory)
    values = {name: plain(getattr(memory, name)) for name in _RECORDED}
    values |= {name: values[name].isoformat() for name in _MOMENTS if values[name] is not None}
    return {"id": memory.id, "urn": memory.urn, **values, "store": memory.store}
