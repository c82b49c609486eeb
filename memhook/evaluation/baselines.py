"""Simple methods to compare memhook with: they show whole memories, without a frame.

vectors_top_5      the five nearest by vector, for every prompt
rrf_top_5          the five best by vectors and BM25 together, for every prompt
two_nearest        at most two by vector, above the threshold at which they are silent as often as memhook
everything_once    every memory, as a file that is read at the start of a session: its tokens are paid once
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from memhook.core.memory import Memory
from memhook.core.tokens import estimated_tokens
from memhook.evaluation.metrics import ADVERSARIAL, GoldQuery, Judgement, carried, served
from memhook.evaluation.plain_search import Ranking
from memhook.evaluation.stores import Shelf, plain_text

TOP = 5
NEAREST = 2
FIGURES = ("spoken", "found", "carried", "precision", "silent", "tokens_answerable", "tokens_unanswerable")


@dataclass(frozen=True, slots=True)
class Simple:
    """The results of BM25, vectors and their fusion for one prompt, and the cost of all memories in reach."""

    question: GoldQuery
    rankings: Mapping[str, Ranking]
    memories: Mapping[str, Memory]
    in_reach: int
    tokens_of_all: int


def simple_answer(question: GoldQuery, project: str, shelf: Shelf) -> Simple | None:
    if shelf.plain is None:
        return None
    vector = shelf.embedder.embed_query(question.prompt) if shelf.embedder else None
    rankings = shelf.plain.rankings(question.prompt, vector, project)
    costs = [cost for place in {"", project} for cost in shelf.plain_tokens.get(place, ())]
    return Simple(question, rankings, shelf.by_id, len(costs), sum(costs))


def compared(answers: Sequence[Simple], silent: float | None) -> dict[str, dict[str, Any]]:
    """Return the figures of each usable method; memhook is `silent` on this share of the unanswerable prompts."""
    methods: dict[str, Callable[[Simple], Judgement]] = {"everything_once": _everything}
    extra: dict[str, dict[str, float]] = {}
    if answers and "vectors" in answers[0].rankings:
        threshold = _threshold(answers, silent)
        methods |= {
            "vectors_top_5": lambda one: _whole(one, list(one.rankings["vectors"])[:TOP]),
            "rrf_top_5": lambda one: _whole(one, list(one.rankings["rrf"])[:TOP]),
            "two_nearest": lambda one: _whole(one, _nearest(one, threshold)),
        }
        extra["two_nearest"] = {"threshold": round(threshold, 4)}
    figures = {name: served((one.question, shown(one)) for one in answers) for name, shown in methods.items()}
    return {name: {key: one[key] for key in FIGURES} | extra.get(name, {}) for name, one in figures.items()}


def _whole(answer: Simple, ids: Sequence[str]) -> Judgement:
    text = "".join(plain_text(answer.memories[key]) for key in ids)
    named = len({one.id for one in answer.question.gold} & set(ids))
    return _judgement(answer.question, estimated_tokens(text) if ids else 0, named, len(ids), text)


def _everything(answer: Simple) -> Judgement:
    question = answer.question
    return _judgement(question, answer.tokens_of_all, len(question.gold), answer.in_reach, question.needs)


def _judgement(question: GoldQuery, tokens: int, named: int, shown: int, text: str) -> Judgement:
    if not question.is_answerable:
        return Judgement(tokens, False)
    precision = named / shown if shown else None
    return Judgement(tokens, False, precision=precision, found=int(named > 0), carried=carried(question, text))


def _nearest(answer: Simple, threshold: float) -> list[str]:
    return [key for key, cosine in list(answer.rankings["vectors"].items())[:NEAREST] if cosine >= threshold]


def _threshold(answers: Sequence[Simple], silent: float | None) -> float:
    """Return the lowest threshold that is silent on this share of the unanswerable prompts."""
    others = (one for one in answers if not one.question.is_answerable and one.question.kind != ADVERSARIAL)
    tops = sorted(max(one.rankings["vectors"].values(), default=0.0) for one in others)
    if not tops or silent is None:
        return 0.0
    below = round(silent * len(tops))
    return tops[below] if below < len(tops) else math.nextafter(tops[-1], math.inf)
