"""Cursors: the start of the next page of one query, opaque to clients."""

from __future__ import annotations

import base64
import hashlib
import json
from typing import Any

from memhook.errors import InvalidInput

_NO_CURSOR = InvalidInput("The cursor does not belong to this query.", "Request the first page, without a cursor.")


def cursor(question: Any, place: list[Any]) -> str:
    """Encode `place`, the start of the next page of `question`, a JSON value."""
    text = json.dumps([_mark(question), *place], separators=(",", ":"))
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def place_of(text: str, question: Any, length: int) -> list[Any]:
    """Decode the `length` values in a cursor of this question; raise InvalidInput for any other cursor."""
    try:
        padded = text + "=" * (-len(text) % 4)
        mark, *place = json.loads(base64.urlsafe_b64decode(padded.encode("ascii", "replace")))
    except (ValueError, TypeError, RecursionError):
        raise _NO_CURSOR from None
    if mark != _mark(question) or len(place) != length:
        raise _NO_CURSOR
    return list(place)


def _mark(question: Any) -> str:
    return hashlib.sha256(json.dumps(question, sort_keys=True).encode()).hexdigest()[:12]
