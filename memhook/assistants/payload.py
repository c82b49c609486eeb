"""Reading a payload that others wrote: any field may be missing or of another kind."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Payload = Mapping[str, Any]


def text(payload: Payload, *keys: str) -> str:
    """The first of these fields that holds any text."""
    for key in keys:
        value = payload.get(key)
        if isinstance(value, str) and value:
            # A lone surrogate is valid JSON, but neither the ledger nor the model can take it.
            return value.encode("utf-8", "replace").decode()
    return ""
