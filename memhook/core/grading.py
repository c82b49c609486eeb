"""Estimate the chance that anything found is relevant to the prompt, and that each memory is.

answer_to(prompt, ranked, calibration)   the chance that something is relevant, and a score for each candidate
Verdict.worth_showing(level, most)        the candidates to show
grade_of(chance, level)                  sure, unsure or far, by the thresholds of a level
nearness_needed(edge, chance, ...)       the cosine at which a threshold would be reached
reasons_withheld(offered, answer)        why captured memories are not shown beside the others

`ranking` decides which memory is best, from vectors and terms. This module decides whether to show any, from the
cosine of the nearest memory, corrected for the size of the store and the length of the prompt, and from the kind of
request: renaming, sorting and explaining seldom need earlier knowledge, deploying, debugging and deciding often do, and
an acknowledgement never does. The kinds are directions in the embedding model's space, not word lists. All weights are
fitted by scripts/calibrate, one set per embedding model, and tested on prompts left out of the fit.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from operator import mul

from memhook.core.memory import Memory, Origin, sessions_of
from memhook.core.ranking import Scored, odds_by_terms


class Grade(StrEnum):
    """Confidence that an answer is relevant."""

    SURE = "sure"
    UNSURE = "unsure"
    FAR = "far"


class Strictness(StrEnum):
    """Confidence required before memhook shows anything: the setting `hooks.relevance`."""

    STRICT = "strict"
    BALANCED = "balanced"
    EAGER = "eager"


@dataclass(frozen=True, slots=True)
class Edges:
    """The lowest chance at which an answer is unsure, and sure."""

    unsure: float
    sure: float


# Measured on five projects, each left out of the fit in turn: the guide has the table.
EDGES = {
    Strictness.STRICT: Edges(unsure=0.5, sure=0.8),
    Strictness.BALANCED: Edges(unsure=0.25, sure=0.6),
    Strictness.EAGER: Edges(unsure=0.12, sure=0.4),
}
MOST_UNSURE = 3
# The lowest score shown beside the best. At .03 instead of .05, one more prompt in twenty gets its memory, at the cost
# of one more preview with every answer; below .03, many previews are added and few memories found.
FLOOR = 0.03


@dataclass(frozen=True, slots=True)
class Calibration:
    """The weights of one embedding model for a prompt in a language it was trained for, in log odds.

    `request` is the direction in the model's space that separates kinds of requests, `talk` (with `talk_constant`) the
    one that separates small talk from requests, `chore` (with `chore_constant`) the one that separates housekeeping
    ("commit and push") from work on a subject; all are empty if not fitted.
    """

    constant: float
    nearest: float
    best: float
    lexical: float
    decade: float
    length: float
    request: tuple[float, ...] = ()
    talk: tuple[float, ...] = ()
    talk_constant: float = 0.0
    chore: tuple[float, ...] = ()
    chore_constant: float = 0.0


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt: its vector, its number of distinct terms, and the number of memories searched.

    If `is_multilingual`, the vector is the multilingual encoder's, and so must be the calibration.
    """

    vector: Sequence[float] | None
    terms: int
    searched: int
    is_english: bool = True
    is_multilingual: bool = False
    is_question: bool = False

    @property
    def is_understood(self) -> bool:
        """Whether the calibration's model was trained for the prompt's language."""
        return self.is_english or self.is_multilingual


@dataclass(frozen=True, slots=True)
class Graded:
    """A candidate with the chance that it is relevant to the prompt."""

    id: str
    score: float
    evidence: Scored


@dataclass(frozen=True, slots=True)
class Verdict:
    """The chance that something is relevant to the prompt, and the candidates with their own, best first.

    `request` is the contribution of the kind of request, in log odds, `talk` the deduction for small talk, and `chore`
    the log odds of housekeeping: by the multilingual encoder if `is_multilingual`.
    """

    chance: float = 0.0
    candidates: tuple[Graded, ...] = ()
    request: float = 0.0
    talk: float = 0.0
    chore: float = 0.0
    is_multilingual: bool = False

    @property
    def is_chore(self) -> bool:
        """Whether the prompt asks for housekeeping ("commit and push"), for which captured memories are no help."""
        return self.chore > 0.0

    @property
    def is_small_talk(self) -> bool:
        """Whether the prompt is small talk by its meaning."""
        return self.talk < 0.0

    def worth_showing(self, level: Strictness, most: int) -> tuple[Graded, ...]:
        """Return the best candidates: up to `most` if sure, three if unsure, none if far.

        Each is judged by its own score: none is dropped because another scores higher.
        """
        grade = grade_of(self.chance, level)
        if grade is Grade.FAR or not self.candidates:
            return ()
        best, *others = self.candidates
        likely = (best, *(one for one in others if one.score >= FLOOR))
        return likely[: most if grade is Grade.SURE else min(most, MOST_UNSURE)]

    def supported_by(self, other: Verdict) -> Verdict:
        """Return the verdict of both models, with the mean of their log odds, if the other one is sure and surer.

        Each model alone is wrong too often if prompt and memory differ in language. Unless it is sure, the other one
        also finds memories for prompts to which none is relevant.
        """
        if other.chance < max(self.chance, EDGES[Strictness.BALANCED].sure):
            return self
        odds = (_log_odds(self.chance) + _log_odds(other.chance)) / 2
        return replace(other, chance=_probability(odds))

    def worth_naming(self, level: Strictness, most: int) -> tuple[tuple[Graded, ...], tuple[Graded, ...]]:
        """Return the candidates worth showing, and the next few that may be relevant as well."""
        shown = self.worth_showing(level, most)
        if self.chance < EDGES[Strictness.EAGER].unsure:
            return shown, ()
        next_ones = self.candidates[len(shown) : len(shown) + MOST_WEAK]
        return shown, tuple(one for one in next_ones if one.score >= WEAK_FLOOR)


# An explicit search also lists the next few candidates: four in five of the missed answers are among the first four.
MOST_WEAK = 8
WEAK_FLOOR = 0.0005

# The deduction per log odds of small talk above the margin. Of 60 phrases outside the fit, asked of six stores, .997
# get nothing; a short request is still answered if a memory is near ("release it", "who is on call"). Without the
# margin, short titles of notes ("Sleep For A Duration") are taken for small talk; from .9 on, small talk is answered.
TALK_WEIGHT = 2.0
TALK_MARGIN = 0.5
# A question with all its words in one memory is no small talk ("metres or feet?"). The question mark is required, else
# "number two" and "the second one please" would count as questions.
MANY_TERMS, ALL_TERMS = 2, 0.95

# The largest store of the fit has 2,553 memories. Beyond it, the full correction for the size was too strong: from 400
# to 17,100 short notes, the share of prompts still answered fell from 1 to .86, while silence on other projects'
# prompts rose from .70 to .89; with half the correction they are .92 and .79.
FITTED_DECADES = 3.4
BEYOND_FITTED = 0.5

# The score of a candidate, from the chance of the answer and how much less evidence it has than the best: fitted on the
# ten best candidates of 1,500 prompts. In a larger store more of them come near the best. A candidate that is likely by
# itself is not dropped beside a better one: at a chance of .7 alone it is just worth a preview.
SCORE_CONSTANT = -0.7
SCORE_CHANCE = 0.61
SCORE_NOT_BEST = -1.25
SCORE_ALONE = -2.75
SCORE_MULTILINGUAL = -1.5  # by the multilingual encoder's cosines more of the others come near the best
LESS_EVIDENCE, LESS_EVIDENCE_DECADE, LESS_EVIDENCE_LEAST = 2.7, -0.5, 0.8


def grade_of(chance: float, level: Strictness) -> Grade:
    edges = EDGES[level]
    if chance < edges.unsure:
        return Grade.FAR
    return Grade.SURE if chance >= edges.sure else Grade.UNSURE


def nearness_needed(edge: float, chance: float, nearest: float, best: float, calibration: Calibration) -> float:
    """Return the cosine at which a memory, otherwise like the best one, lifts a prompt's `chance` to `edge`.

    `nearest` and `best` are the cosines of the nearest and of the best memory.
    """
    lack = _log_odds(edge) - _log_odds(chance)
    weighted = calibration.nearest * nearest + calibration.best * best
    return (lack + weighted) / (calibration.nearest + calibration.best)


def answer_to(prompt: Prompt, ranked: Sequence[Scored], calibration: Calibration) -> Verdict:
    """Return the answer to `prompt` from the candidates, which are sorted best first."""
    if not ranked:
        return Verdict()
    vector = prompt.vector if prompt.is_understood else None
    request = _along(calibration.request, vector)
    is_answered = prompt.is_question and prompt.terms >= MANY_TERMS and ranked[0].lexical >= ALL_TERMS
    talk = 0.0 if is_answered else _talk(calibration, vector)
    # That a memory shares the words of small talk is no evidence.
    calibration = replace(calibration, lexical=calibration.lexical * max(0.0, 1.0 - talk))
    around = request - TALK_WEIGHT * talk
    odds = _odds(prompt, ranked, calibration) + around
    slope = max(LESS_EVIDENCE_LEAST, LESS_EVIDENCE + LESS_EVIDENCE_DECADE * math.log10(max(prompt.searched, 1)))
    likely = SCORE_CONSTANT + SCORE_CHANCE * odds
    deduction = SCORE_MULTILINGUAL if prompt.is_multilingual else 0.0
    fitted = [likely]
    for one in ranked[1:]:
        beside = likely + SCORE_NOT_BEST + slope * (one.evidence - ranked[0].evidence)
        alone = SCORE_CONSTANT + SCORE_ALONE + SCORE_CHANCE * (_odds(prompt, [one], calibration) + around)
        fitted.append(min(fitted[-1], max(beside, alone) + deduction))  # never above a better one's
    candidates = tuple(
        Graded(one.id, _probability(log_odds), one) for one, log_odds in zip(ranked, fitted, strict=True)
    )
    chore = _along(calibration.chore, vector) + calibration.chore_constant if calibration.chore and vector else 0.0
    return Verdict(_probability(odds), candidates, request, -TALK_WEIGHT * talk, chore, prompt.is_multilingual)


def _odds(prompt: Prompt, ranked: Sequence[Scored], calibration: Calibration) -> float:
    decades = _decades(prompt.searched)
    cosines = [one.multilingual if prompt.is_multilingual else one.dense for one in ranked]
    nearest = max((cosine for cosine in cosines if cosine is not None), default=None)
    if nearest is None:
        return odds_by_terms(max(one.lexical for one in ranked), None, decades)
    if not prompt.is_understood:
        return odds_by_terms(ranked[0].lexical, nearest, decades)
    return (
        calibration.constant
        + calibration.nearest * nearest
        + calibration.best * (nearest if cosines[0] is None else cosines[0])
        + calibration.lexical * ranked[0].lexical
        + calibration.decade * decades
        + calibration.length * math.log1p(prompt.terms)
    )


def _decades(searched: int) -> float:
    """Return the factors of ten in the number of memories searched, those beyond the fitted sizes at half."""
    decades = math.log10(max(searched, 1))
    return min(decades, FITTED_DECADES) + BEYOND_FITTED * max(0.0, decades - FITTED_DECADES)


def _talk(calibration: Calibration, vector: Sequence[float] | None) -> float:
    """Return the log odds of small talk above the margin, at least 0."""
    if not calibration.talk or vector is None:
        return 0.0
    return max(0.0, _along(calibration.talk, vector) + calibration.talk_constant - TALK_MARGIN)


def _along(direction: Sequence[float], vector: Sequence[float] | None) -> float:
    return float(sum(map(mul, direction, vector))) if direction and vector is not None else 0.0


def _probability(log_odds: float) -> float:
    return 1.0 / (1.0 + math.exp(-max(-60.0, min(60.0, log_odds))))


def _log_odds(probability: float) -> float:
    """Return the log odds; a probability rounded to 0 or 1 is accepted."""
    inside = min(max(probability, 1e-6), 1.0 - 1e-6)
    return math.log(inside / (1.0 - inside))


# Nobody has reviewed captured memories, so they come last, seldom, and only when near. Measured on 475 later prompts of
# four projects whose earlier sessions were captured: guide/supply.md has the table.
GATE = 0.75
"""The score from which on a captured memory is shown."""
RAISED_GATE = 0.65
"""The same for one that has earned trust."""
MOST_CAPTURED = 2

BELOW = "captured, below its gate"
ENOUGH = "captured, two shown already"
CHORE = "captured, and the prompt is housekeeping"


def gate_of(memory: Memory) -> float:
    """Return the score needed to show a memory, lower for one captured in two sessions or fetched whole by a model."""
    if memory.origin is not Origin.CAPTURED:
        return 0.0
    is_trusted_more = memory.accessed is not None or len(sessions_of(memory.aliases)) > 1
    return RAISED_GATE if is_trusted_more else GATE


def reasons_withheld(offered: Sequence[tuple[Memory, float]], answer: Verdict) -> list[str]:
    """Return for each captured memory, best first, the reason for not showing it, or "" if it is shown."""
    reasons: list[str] = []
    for memory, score in offered:
        if answer.is_chore or answer.is_small_talk:
            reasons.append(CHORE)
        elif score < gate_of(memory):
            reasons.append(BELOW)
        else:
            reasons.append(ENOUGH if reasons.count("") == MOST_CAPTURED else "")
    return reasons
