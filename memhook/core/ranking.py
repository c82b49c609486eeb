"""Rank candidates by the evidence for each.

embedded_text(...), indexed_text(...)  the text of a memory to embed, and to analyse into terms
embedded_prompt(prompt)                the text of a prompt to embed
term_weights(...), attainable(...)     the weight of each term of a prompt, and of the best ones together
odds_by_terms(...)                     the evidence by terms, for a prompt that no model understands
ranked(...)                            the candidates, best first, each with its evidence and the parts of it
placed(...), recency(...)              the sort key by relevance, by recency or by both

The evidence is the sum of four parts: the cosine of the embeddings, the share of the prompt's weight that the memory's
terms carry, the share of its title's weight that the prompt carries, and a gain from a relevant memory of the same
hour. It gives the order only; `grading` decides from other signals whether to show anything, because shared words help
to find a memory and mislead that decision.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from enum import StrEnum

from memhook.core.memory import titled

# Chosen on four development sets: commit messages against work items, titles against notes, questions against chat
# turns and against facts. LEXICAL_WEIGHT, EVEN and EVEN_PER_DECADE were also fitted on three and tested on the fourth;
# the others were compared on all four at once, or are marked as judgement.

# BM25's saturation and length terms. Lengths are compared with LENGTH_FLOOR added: between memories of 10 and of 20
# terms the difference means nothing (the usual b = 0.75 costs 3 points of recall@10 on chat turns), between 100 and
# 500 it does.
SATURATION = 0.8
LENGTH_SHARE = 0.9
LENGTH_FLOOR = 50.0

# Weights are computed as if there were this many more documents, else every word of a store of ten counts as common.
# Judgement.
PRIOR_DOCUMENTS = 100.0

# A prompt's attainable evidence is that of its heaviest terms: no memory repeats all of a long bug report.
# Between 12 and all of them recall is the same; judgement.
ATTAINABLE_TERMS = 24

# Evidence is counted in log odds. It is even at cosine + 0.3 * lexical = 0.65 + 0.06 * log10(memories searched): the
# best of many unrelated memories is nearer than the best of few. With .2 to .45 for the terms recall is the same.
SLOPE = 14.0
LEXICAL_WEIGHT = 0.3
EVEN = 0.65
EVEN_PER_DECADE = 0.06

# A prompt with nearly all words of a title is about that title: the share of the title's weight, squared, so that half
# a title counts little, and with this much added to the title's weight, because a word or two prove nothing. Gains one
# point of recall@10 on work items and a third on facts, costs nothing on chat turns and notes; between .15 and .3, and
# 4 and 16, it is the same.
TITLE_WEIGHT = 0.2
TITLE_PRIOR = 8.0

# The same without embeddings.
LEXICAL_ONLY_SLOPE = 9.7
LEXICAL_ONLY_EVEN = 0.18
LEXICAL_ONLY_EVEN_PER_DECADE = 0.1

# The embedding model is an English one: its cosine between unrelated Russian or Chinese texts is .65 to .8. There the
# terms decide and the cosine contributes little. Judgement, from two dozen prompts in four languages.
FOREIGN_SLOPE = 5.0
FOREIGN_EVEN = 0.72

# With the multilingual encoder. A prompt in another language is ranked almost by its cosine alone: between texts of one
# foreign language the English model's is always high. For an English prompt, whose memory may be in either language,
# both models count together or the English one alone, whichever gives more. Fitted as log odds over all pairs of six
# projects, on the scale of SLOPE.
FOREIGN_PROMPT = (13.6, 2.0, 2.0, 4.2)  # multilingual cosine, cosine, lexical, constant
ENGLISH_PROMPT = (10.4, 10.4, 4.2, 0.1)

# The time to embed a prompt grows with its length. Only the beginning and the end of a long one are embedded: the
# question often follows the log. On commit messages 400 characters find as much as 1,600, and 300 a little less.
PROMPT_CHARS = 401
PROMPT_HEAD_CHARS = 250
PROMPT_TAIL_CHARS = 149

# The gain from the best memory of the same hour, as a share of that one's log odds above even. The chat sets give a
# whole conversation one timestamp, so there the gain is largest.
COMPANION_SHARE = 0.4
_HOUR = len("2026-02-14T09")

# Not strftime, which follows the locale.
_MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A memory that the store proposes, `written` at an ISO time, to the hour or finer.

    `cosine` is None where there is no embedding; `multilingual` is the cosine by the encoder for other languages, None
    where that is not in use.
    """

    id: str
    cosine: float | None
    terms: Sequence[str]
    written: str = ""
    title_terms: Sequence[str] = ()
    multilingual: float | None = None
    content_hash: str = ""
    title: str = ""


@dataclass(frozen=True, slots=True)
class Scored:
    """The evidence for one candidate, in log odds, and its parts.

    The cosine, the share of the prompt's weight found, the gain from a companion in log odds, the share of the title's
    weight in the prompt, and the multilingual encoder's cosine.
    """

    id: str
    evidence: float
    dense: float | None
    lexical: float
    companion: float = 0.0
    title: float = 0.0
    multilingual: float | None = None


def embedded_text(title: str, content: str, created: str = "", tags: Iterable[str] = ()) -> str:
    """Return the text of a memory to embed. `created` is an ISO date or time, or empty.

    The date in words makes a memory findable by its day; before the text it would weaken short memories.
    """
    notes = ", ".join(part for part in (*tags, _date_in_words(created)) if part)
    return f"{titled(title, content)} ({notes})" if notes else titled(title, content)


def embedded_prompt(prompt: str) -> str:
    """Return the text of a prompt to embed; its terms always come from all of it."""
    if len(prompt) <= PROMPT_CHARS:
        return prompt
    return f"{prompt[:PROMPT_HEAD_CHARS]}\n{prompt[-PROMPT_TAIL_CHARS:]}"


def indexed_text(title: str, content: str, created: str = "", tags: Iterable[str] = ()) -> str:
    """Return the text of a memory to analyse into terms: everything, the date in words included."""
    return "\n".join(part for part in (titled(title, content), " ".join(tags), _date_in_words(created)) if part)


def term_weights(prompt_terms: Iterable[str], df: Mapping[str, int], documents: int) -> dict[str, float]:
    """Return the inverse document frequency of each distinct term in this store."""
    return {term: _weight(df.get(term, 0), documents) for term in dict.fromkeys(prompt_terms)}


def attainable(weights: Mapping[str, float]) -> float:
    """Return the largest weight that a memory can be expected to match."""
    return sum(sorted(weights.values(), reverse=True)[:ATTAINABLE_TERMS])


def ranked(
    prompt_terms: Sequence[str],
    candidates: Sequence[Candidate],
    df: Mapping[str, int],
    documents: int,
    average_length: float,
    searched: int | None = None,
    *,
    is_english: bool = True,
) -> list[Scored]:
    """Return the candidates, best first; ties are sorted by id.

    `df` counts the documents with a term among `documents`, which average `average_length` terms. `searched` is the
    number of memories that could have been candidates (one project's, say); by default `documents`. `is_english` is
    about the prompt.
    """
    weights = term_weights(prompt_terms, df, documents)
    most = attainable(weights)
    decades = math.log10(max(documents if searched is None else searched, 1))
    lexical = [_lexical(weights, most, candidate.terms, average_length) for candidate in candidates]
    in_titles = term_weights((term for one in candidates for term in one.title_terms), df, documents)
    titles = [_title_share(weights, candidate.title_terms, in_titles) for candidate in candidates]
    alone = [
        _evidence(candidate, share, title, decades, is_english=is_english)
        for candidate, share, title in zip(candidates, lexical, titles, strict=True)
    ]
    gains = _companion_gains(candidates, alone)
    results = [
        Scored(candidate.id, odds + gain, candidate.cosine, share, gain, title, candidate.multilingual)
        for candidate, odds, share, title, gain in zip(candidates, alone, lexical, titles, gains, strict=True)
    ]
    return sorted(results, key=lambda result: (-result.evidence, result.id))


def _weight(holding: int, documents: int) -> float:
    return math.log((documents + PRIOR_DOCUMENTS) / (min(holding, documents) + 1.0))


def _lexical(weights: Mapping[str, float], most: float, terms: Sequence[str], average_length: float) -> float:
    """Return BM25 of the distinct prompt terms, as a share of the attainable weight."""
    if not most:
        return 0.0
    relative = (len(terms) + LENGTH_FLOOR) / (average_length + LENGTH_FLOOR)
    damping = SATURATION * (1.0 - LENGTH_SHARE + LENGTH_SHARE * relative)
    counts: dict[str, int] = {}
    for term in filter(weights.__contains__, terms):
        counts[term] = counts.get(term, 0) + 1
    evidence = sum(weights[term] * n * (1.0 + SATURATION) / (n + damping) for term, n in counts.items())
    return evidence / most


def _title_share(asked: Collection[str], title_terms: Sequence[str], weights: Mapping[str, float]) -> float:
    """Return the share of the title's weight that is in the prompt; `weights` has the terms of all titles."""
    distinct = dict.fromkeys(title_terms)
    matched = sum(weights[term] for term in distinct if term in asked)
    return matched / (sum(weights[term] for term in distinct) + TITLE_PRIOR)


def _evidence(candidate: Candidate, lexical: float, title: float, decades: float, *, is_english: bool) -> float:
    cosine, other = candidate.cosine, candidate.multilingual
    even = EVEN + EVEN_PER_DECADE * decades
    if cosine is None or not is_english:
        if other is None:
            return odds_by_terms(lexical, cosine, decades)
        return _together(FOREIGN_PROMPT, other, cosine or 0.0, lexical, even)
    alone = SLOPE * (cosine + LEXICAL_WEIGHT * lexical + TITLE_WEIGHT * title**2 - even)
    return alone if other is None else max(alone, _together(ENGLISH_PROMPT, other, cosine, lexical, even))


def odds_by_terms(lexical: float, cosine: float | None, decades: float) -> float:
    """Return the log odds for a prompt that no model understands: by terms, and a little by an English model's cosine.

    `decades` are those of the number of memories searched.
    """
    by_terms = LEXICAL_ONLY_SLOPE * (lexical - (LEXICAL_ONLY_EVEN + LEXICAL_ONLY_EVEN_PER_DECADE * decades))
    return by_terms if cosine is None else by_terms + FOREIGN_SLOPE * (cosine - FOREIGN_EVEN)


def _together(
    weights: tuple[float, float, float, float], multilingual: float, cosine: float, lexical: float, even: float
) -> float:
    evidence = weights[0] * multilingual + weights[1] * cosine + weights[2] * lexical + weights[3]
    return evidence - SLOPE * even


def _companion_gains(candidates: Sequence[Candidate], odds: Sequence[float]) -> list[float]:
    """Return each candidate's gain from the best of the others written within the same hour.

    Memories of one session belong together: this gains 3 points of recall@10 on chat turns and facts, 1 on work items.
    Only a companion above even contributes, so this never decides whether to show anything. A group of more than half
    of the candidates is an import and does not count.
    """
    sittings: dict[str, list[int]] = defaultdict(list)
    for index, candidate in enumerate(candidates):
        if len(candidate.written) >= _HOUR:
            sittings[candidate.written[:_HOUR]].append(index)
    gains = [0.0] * len(candidates)
    for sitting in sittings.values():
        if 1 < len(sitting) <= len(candidates) / 2:
            first, second = sorted(sitting, key=lambda index: -odds[index])[:2]
            for index in sitting:
                gains[index] = COMPANION_SHARE * max(0.0, odds[second if index == first else first])
    return gains


def _date_in_words(created: str) -> str:
    try:
        day = date.fromisoformat(created[:10])
    except ValueError:
        return ""
    return f"{day.day} {_MONTHS[day.month - 1]} {day.year}"


class Ordering(StrEnum):
    """The orders of memories that a caller may choose from."""

    RELEVANCE = "relevance"
    RECENCY = "recency"
    BLEND = "relevance+recency"


# Recency decides between memories of similar relevance: a new memory counts a quarter more than a very old one, so that
# a clear difference in relevance prevails. As a weighted sum (.8 and .2), every note of today came before all memories
# of low relevance: of 295 prompts, 235 had their memory among the first five, by relevance alone 272, this way 274.
RECENCY_GAIN = 0.25
INDISTINCT = 0.001  # relevance this far apart is noise


def placed(relevance: float, recency: float, ordering: Ordering) -> float:
    """Return the sort key of a memory, larger first."""
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
