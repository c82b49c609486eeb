"""Cursors: where the next page of one particular question starts. Opaque to whoever carries them."""

from __future__ import annotations

import base64
import hashlib
import json
from typing import Any

from memhook.errors import InvalidInput

_NO_CURSOR = InvalidInput("The cursor does not belong to this question.", "Ask for the first page, without a cursor.")


def cursor(question: Any, place: list[Any]) -> str:
    """`place` for the next page of `question`, a JSON value."""
    text = json.dumps([_mark(question), *place], separators=(",", ":"))
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def place_of(text: str, question: Any, length: int) -> list[Any]:
    """The `length` values a cursor of this question was made of; raises InvalidInput for any other cursor."""
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
