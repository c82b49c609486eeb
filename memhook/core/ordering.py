"""Sort keys for memories: by relevance, by recency, or by both.

recency(age_days, half_life_days)      1 for now, falling towards 0
placed(relevance, recency, ordering)   the sort key, 0..1, larger first
"""

from __future__ import annotations

from enum import StrEnum


class Ordering(StrEnum):
    RELEVANCE = "relevance"
    RECENCY = "recency"
    BLEND = "relevance+recency"


# Judgement: an old memory of relevance 0.5 stays above a new one of relevance 0.1.
RELEVANCE_WEIGHT = 0.8
RECENCY_WEIGHT = 0.2


def placed(relevance: float, recency: float, ordering: Ordering) -> float:
    match ordering:
        case Ordering.RELEVANCE:
            return relevance
        case Ordering.RECENCY:
            return recency
        case Ordering.BLEND:
            return RELEVANCE_WEIGHT * relevance + RECENCY_WEIGHT * recency


def recency(age_days: float, half_life_days: float) -> float:
    """Return 1 for now, halved with each half-life; the future counts as now."""
    return float(0.5 ** (max(age_days, 0.0) / half_life_days))
