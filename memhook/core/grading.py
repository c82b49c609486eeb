"""How sure memhook is: whether anything found bears on the prompt, and how likely each memory does.

answer_to(prompt, ranked, calibration)   the chance that something bears on it, and a score for each candidate
Answer.worth_showing(level, most)        what of it is shown
grade_of(chance, level)                  sure, unsure or far, by the edges of a level
nearness_needed(edge, chance, ...)       how near a memory would have to be for an edge to be reached

Two questions, answered from different signs. Which memory is best is told by vectors and words together (`ranking`).
Whether to speak is told by how near the nearest memory is, corrected for the size of the store and the length of the
prompt, and by what kind of request the prompt is: renaming, sorting and explaining seldom need what was learned
before, deploying, debugging and deciding often do, and an acknowledgement never does. These last signs are directions
in the embedding model's space, so they know no words. All weights are fitted by scripts/calibrate, one set for each
embedding model, and tried on sets of prompts that were left out of the fit.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from operator import mul

from memhook.core.ranking import Scored


class Grade(StrEnum):
    """How sure memhook is that it has something to say."""

    SURE = "sure"
    UNSURE = "unsure"
    FAR = "far"


class Level(StrEnum):
    """How sure memhook must be before it speaks: the setting `hooks.relevance`."""

    STRICT = "strict"
    BALANCED = "balanced"
    EAGER = "eager"


@dataclass(frozen=True, slots=True)
class Edges:
    """The chances that something bears on the prompt from which on an answer is unsure, and sure."""

    unsure: float
    sure: float


# What they mean was measured on five projects, each left out of the fit in turn: the guide has the table.
EDGES = {
    Level.STRICT: Edges(unsure=0.5, sure=0.8),
    Level.BALANCED: Edges(unsure=0.25, sure=0.6),
    Level.EAGER: Edges(unsure=0.12, sure=0.4),
}
MOST_UNSURE = 3
FLOOR = 0.05  # beside the best comes what has at least this score: one in twenty is worth a preview


@dataclass(frozen=True, slots=True)
class Calibration:
    """What the figures of one embedding model mean for an English prompt, in log odds.

    `request` is the direction in the model's space that tells kinds of requests apart, `talk` the one that tells small
    talk from requests, with `talk_constant`; both are empty where none was fitted.
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


@dataclass(frozen=True, slots=True)
class Prompt:
    """What is known of a prompt: its vector, how many distinct terms it has, among how many memories was searched."""

    vector: Sequence[float] | None
    terms: int
    searched: int
    is_english: bool = True


@dataclass(frozen=True, slots=True)
class Graded:
    """A candidate with the chance that it bears on the prompt."""

    id: str
    score: float
    evidence: Scored


@dataclass(frozen=True, slots=True)
class Answer:
    """The chance that something bears on the prompt, and the candidates with theirs, best first.

    `request` is what the kind of request contributes, in log odds, and `talk` what small talk takes away.
    """

    chance: float = 0.0
    candidates: tuple[Graded, ...] = ()
    request: float = 0.0
    talk: float = 0.0

    @property
    def is_small_talk(self) -> bool:
        """Whether the prompt lies among small talk by its meaning."""
        return self.talk < 0.0

    def worth_showing(self, level: Level, most: int) -> tuple[Graded, ...]:
        """The best of the candidates: up to `most` where memhook is sure, three where it is unsure, none where far.

        How many depends on each one's own score: none is dropped because another is surer.
        """
        grade = grade_of(self.chance, level)
        if grade is Grade.FAR or not self.candidates:
            return ()
        best, *others = self.candidates
        likely = (best, *(one for one in others if one.score >= FLOOR))
        return likely[: most if grade is Grade.SURE else min(most, MOST_UNSURE)]

    def worth_naming(self, level: Level, most: int) -> tuple[tuple[Graded, ...], tuple[Graded, ...]]:
        """What is worth showing and, for somebody who asked, the few next that may bear on the query as well."""
        shown = self.worth_showing(level, most)
        if self.chance < EDGES[Level.EAGER].unsure:
            return shown, ()
        next_ones = self.candidates[len(shown) : len(shown) + MOST_WEAK]
        return shown, tuple(one for one in next_ones if one.score >= WEAK_FLOOR)


# For somebody who asked, the few next are named that may bear on the query as well: of the answers that are missed,
# four in five are among the first four.
MOST_WEAK = 5
WEAK_FLOOR = 0.002

# What small talk takes away, for each log odds of being that. Of 150 phrases that were not fitted .97 to .99 get
# nothing by this; a request as short as one is still answered where a memory is near ("release it", "who is on call").
# Between 1.5 and 3 a point of the one is traded for a point of the other.
TALK_WEIGHT = 2.0

# Without vectors the best share of the prompt's weight decides: an even chance at .18 for one memory, .1 more for each
# ten times as many.
LEXICAL_SLOPE = 9.7
LEXICAL_EVEN = 0.18
LEXICAL_DECADE = 0.1

# For a prompt in another language, where the multilingual encoder is in use: its cosine, the English model's nearest,
# and the terms. Fitted on 98 such prompts of six projects.
FOREIGN = Calibration(constant=-12.4, nearest=16.2, best=0.0, lexical=2.0, decade=-1.2, length=0.0)
FOREIGN_MULTILINGUAL = 12.3
# And where it is not: terms decide and the cosine only leans, for between unrelated Russian or Chinese texts the
# English model's is .65 to .8. Judgement, from two dozen prompts in four languages.
FOREIGN_SLOPE = 5.0
FOREIGN_EVEN = 0.72

# From the chance that something bears on the prompt to that of one candidate, by how much evidence it has less than
# the best: fitted on the ten best candidates of 1,500 prompts. In a larger store more of them come near the best. And
# by the chance that it would have alone, so that what is likely by itself is not dropped beside something surer: what
# has a chance of .7 alone is just worth a preview.
SCORE_CONSTANT = -0.7
SCORE_CHANCE = 0.61
SCORE_NOT_BEST = -1.25
SCORE_ALONE = -2.75
LESS_EVIDENCE, LESS_EVIDENCE_DECADE, LESS_EVIDENCE_LEAST = 2.7, -0.5, 0.8


def grade_of(chance: float, level: Level) -> Grade:
    edges = EDGES[level]
    if chance < edges.unsure:
        return Grade.FAR
    return Grade.SURE if chance >= edges.sure else Grade.UNSURE


def nearness_needed(edge: float, chance: float, nearest: float, best: float, calibration: Calibration) -> float:
    """The cosine at which a memory, otherwise like the best one, lifts an English prompt's `chance` to `edge`.

    `nearest` and `best` are the cosines of the nearest and of the best memory.
    """
    lack = _log_odds(edge) - _log_odds(chance)
    weighted = calibration.nearest * nearest + calibration.best * best
    return (lack + weighted) / (calibration.nearest + calibration.best)


def answer_to(prompt: Prompt, ranked: Sequence[Scored], calibration: Calibration) -> Answer:
    """The answer to `prompt` from the candidates, best first."""
    if not ranked:
        return Answer()
    vector = prompt.vector if prompt.is_english else None  # another language lies elsewhere in an English model's space
    request = _along(calibration.request, vector)
    talk = (
        max(0.0, _along(calibration.talk, vector) + calibration.talk_constant) if calibration.talk and vector else 0.0
    )
    if talk:
        calibration = replace(calibration, lexical=0.0)  # a memory that has the words of small talk is not about them
    around = request - TALK_WEIGHT * talk
    odds = _odds(prompt, ranked, calibration) + around
    slope = max(LESS_EVIDENCE_LEAST, LESS_EVIDENCE + LESS_EVIDENCE_DECADE * math.log10(max(prompt.searched, 1)))
    likely = SCORE_CONSTANT + SCORE_CHANCE * odds
    fitted = [likely]
    for one in ranked[1:]:
        beside = likely + SCORE_NOT_BEST + slope * (one.evidence - ranked[0].evidence)
        alone = SCORE_CONSTANT + SCORE_ALONE + SCORE_CHANCE * (_odds(prompt, [one], calibration) + around)
        fitted.append(min(fitted[-1], max(beside, alone)))  # never above a better one's
    candidates = tuple(
        Graded(one.id, _probability(log_odds), one) for one, log_odds in zip(ranked, fitted, strict=True)
    )
    return Answer(_probability(odds), candidates, request, -TALK_WEIGHT * talk)


def _odds(prompt: Prompt, ranked: Sequence[Scored], calibration: Calibration) -> float:
    best = ranked[0]
    decades = math.log10(max(prompt.searched, 1))
    nearest = max((one.dense for one in ranked if one.dense is not None), default=None)
    if nearest is None:
        lexical = max(one.lexical for one in ranked)
        return LEXICAL_SLOPE * (lexical - LEXICAL_EVEN - LEXICAL_DECADE * decades)
    if prompt.is_english:
        return _linear(calibration, nearest, best, decades, prompt.terms)
    if best.multilingual is not None:
        return _linear(FOREIGN, nearest, best, decades, prompt.terms) + FOREIGN_MULTILINGUAL * best.multilingual
    by_terms = LEXICAL_SLOPE * (best.lexical - LEXICAL_EVEN - LEXICAL_DECADE * decades)
    return by_terms + FOREIGN_SLOPE * (nearest - FOREIGN_EVEN)


def _linear(weights: Calibration, nearest: float, best: Scored, decades: float, terms: int) -> float:
    return (
        weights.constant
        + weights.nearest * nearest
        + weights.best * (nearest if best.dense is None else best.dense)
        + weights.lexical * best.lexical
        + weights.decade * decades
        + weights.length * math.log1p(terms)
    )


def _along(direction: Sequence[float], vector: Sequence[float] | None) -> float:
    return float(sum(map(mul, direction, vector))) if direction and vector is not None else 0.0


def _probability(log_odds: float) -> float:
    return 1.0 / (1.0 + math.exp(-max(-60.0, min(60.0, log_odds))))


def _log_odds(probability: float) -> float:
    """Of one that may have been rounded to 0 or 1."""
    inside = min(max(probability, 1e-6), 1.0 - 1e-6)
    return math.log(inside / (1.0 - inside))
