"""Dates and durations as typed: 2026-02-14, 2026-02-14T09:30+01:00, 30d, 12h, 2w."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

from memhook.errors import InvalidInput
from memhook.patterns import regex

_DURATION = regex(r"([0-9]+)\s?(m|h|d|w)", re.IGNORECASE)
# fromisoformat alone accepts digits of any length as a date.
_DATE = regex(r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[T ][0-9:.]{2,15}(?:Z|[+-][0-9:]{2,8})?)?")
_ALLOWED = "Give a date (2026-02-14, 2026-02-14T09:30) or a duration (12h, 30d, 2w)."
_UNITS = {"m": timedelta(minutes=1), "h": timedelta(hours=1), "d": timedelta(days=1), "w": timedelta(weeks=1)}


def moment_ahead(text: str, now: datetime) -> datetime:
    """Parse a time; a duration counts forward from `now`."""
    return _moment(text, now, 1)


def moment_back(text: str, now: datetime) -> datetime:
    """Parse a time; a duration counts back from `now`."""
    return _moment(text, now, -1)


def duration(text: str) -> timedelta | None:
    """Parse `30m`, `12h`, `30d` or `2w`; return None for anything else, and the longest there is for a longer one."""
    found = _DURATION.fullmatch(text.strip())
    try:
        return int(found[1]) * _UNITS[found[2].lower()] if found else None
    except (OverflowError, ValueError):  # the latter for thousands of digits
        return timedelta.max


def _date(text: str) -> datetime:
    if not _DATE.fullmatch(text):
        raise ValueError
    return datetime.fromisoformat(text)


def _moment(text: str, now: datetime, direction: int) -> datetime:
    try:
        span = duration(text)
        moment = _date(text.strip()) if span is None else now + direction * span
        # Without a zone it is UTC, the same on every machine, as in an import.
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except ValueError:
        raise InvalidInput(f"{text!r} is not a date or a duration.", _ALLOWED) from None
    except OverflowError:
        raise InvalidInput(f"{text!r} is too far away: dates go from the year 1 to 9999.", _ALLOWED) from None
