"""Going through a million ids in their order, a page at a time, without listing them all for each page."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from memhook.core.memory import ID_LENGTH

DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"
_ALL = len(DIGITS) ** ID_LENGTH
_AHEAD = 2  # times as many as wanted should lie in a range: ids are spread evenly, or nearly so


def ids_after(last: str, limit: int, rows: int, between: Callable[[str, str], list[str]]) -> list[str]:
    """The first `limit` ids behind `last`; `between` gives those in a range, its end included, "" standing for none."""
    step = _AHEAD * limit * _ALL // max(1, rows)
    found: list[str] = []
    while len(found) < limit:
        end = _place(last) + step
        high = _id_at(end) if end < _ALL else ""
        found += between(last, high)
        if not high:
            break
        last, step = high, 2 * step  # nearly empty here: ids that came from elsewhere may lie close together
    return found[:limit]


def _place(key: str) -> int:
    """Where it lies among all ids; what is none lies before those that sort behind it."""
    digits = "".join(character if character in DIGITS else DIGITS[0] for character in key[:ID_LENGTH])
    return int(digits.ljust(ID_LENGTH, DIGITS[0]), len(DIGITS))


def _id_at(place: int) -> str:
    return np.base_repr(place, len(DIGITS)).lower().rjust(ID_LENGTH, DIGITS[0])
