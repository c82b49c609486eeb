"""Sort keys for memories: by relevance, by recency, or by both.

recency(age_days, half_life_days)      1 for now, falling towards 0
placed(relevance, recency, ordering)   the sort key, larger first
"""

from __future__ import annotations

from enum import StrEnum


class Ordering(StrEnum):
    RELEVANCE = "relevance"
    RECENCY = "recency"
    BLEND = "relevance+recency"


# Recency decides among about equals: a new memory counts a quarter more than a very old one, so that a clear difference
# in relevance always stands. As a share of the sum (.8 and .2) it put every note of today, relevant or not, above all
# that is faint: of 295 prompts 235 had their memory among the first five, by relevance alone 272, this way 274.
RECENCY_GAIN = 0.25
INDISTINCT = 0.001  # relevance this far apart is noise


def placed(relevance: float, recency: float, ordering: Ordering) -> float:
    match ordering:
        case Ordering.RELEVANCE:
            return relevance
        case Ordering.RECENCY:
            return recency
        case Ordering.BLEND:
            return (relevance + INDISTINCT) * (1.0 + RECENCY_GAIN * recency)


def recency(age_days: float, half_life_days: float) -> float:
    """Return 1 for now, halved with each half-life; the future counts as now."""
    return float(0.5 ** (max(age_days, 0.0) / half_life_days))
