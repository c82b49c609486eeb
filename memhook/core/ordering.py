"""In which order memories are offered: by relevance, by recency, or by both.

recency(age_days, half_life_days)      how fresh something is, 0..1
placed(relevance, recency, ordering)   the value to order by, 0..1, larger first
"""

from __future__ import annotations

from enum import StrEnum


class Ordering(StrEnum):
    """What counts when memories are put in order."""

    RELEVANCE = "relevance"
    RECENCY = "recency"
    BLEND = "relevance+recency"


# By judgement: what is relevant (0.5) and old stays above what is fresh and has little to do with it (0.1).
RELEVANCE_WEIGHT = 0.8
RECENCY_WEIGHT = 0.2


def placed(relevance: float, recency: float, ordering: Ordering) -> float:
    """The value to order by."""
    match ordering:
        case Ordering.RELEVANCE:
            return relevance
        case Ordering.RECENCY:
            return recency
        case Ordering.BLEND:
            return RELEVANCE_WEIGHT * relevance + RECENCY_WEIGHT * recency


def recency(age_days: float, half_life_days: float) -> float:
    """1 for now, a half after each half-life; the future counts as now."""
    return float(0.5 ** (max(age_days, 0.0) / half_life_days))
