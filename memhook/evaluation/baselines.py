"""Simple methods to compare memhook with: LanceDB's own search, and showing whole memories without a frame.

bm25, vectors, rrf  the rankings of LanceDB's full-text and vector search and of both together
vectors_top_5       the five nearest by vector, for every prompt
rrf_top_5           the five best by vectors and BM25 together, for every prompt
two_nearest         at most two by vector, above the threshold at which they are silent as often as memhook
everything_once     every memory, as a file that is read at the start of a session: its tokens are paid once
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from memhook.core.memory import Memory
from memhook.core.ranking import indexed_text
from memhook.core.tokens import estimated_tokens
from memhook.evaluation.metrics import ADVERSARIAL, GoldQuery, Judgement, carried, served
from memhook.store.embedding.encoder import Vector
from memhook.store.table.filters import quoted
from memhook.store.table.lance import lancedb

DEPTH = 50  # of each fused list
RANK_CONSTANT = 60  # of reciprocal rank fusion, as in the paper that proposed it
TOP = 5
NEAREST = 2
FIGURES = ("spoken", "found", "carried", "precision", "silent", "tokens_answerable", "tokens_unanswerable")

Ranking = dict[str, float]
"""Ids with their scores, best first."""


@dataclass(frozen=True, slots=True)
class Simple:
    """The results of BM25, vectors and their fusion for one prompt, and the cost of all memories in reach."""

    question: GoldQuery
    rankings: Mapping[str, Ranking]
    memories: Mapping[str, Memory]
    in_reach: int
    tokens_of_all: int


class PlainSearch:
    """One table with LanceDB's own English analyser (words, stemmed, no stop words); vectors are compared exactly."""

    def __init__(self, directory: Path, memories: Sequence[Memory], vectors: Sequence[Vector | None]) -> None:
        self._memories = {one.id: one for one in memories}
        self._tokens: dict[str, list[int]] = defaultdict(list)
        for one in memories:
            self._tokens[one.project].append(estimated_tokens(_plain_text(one)))
        rows: dict[str, Any] = {
            "id": list(self._memories),
            "project": [one.project for one in memories],
            "text": [indexed_text(one.title, one.content, one.created.isoformat(), one.tags) for one in memories],
        }
        self._has_vectors = all(vector is not None for vector in vectors)
        if self._has_vectors:
            arrays = [np.asarray(vector, dtype=np.float32) for vector in vectors]
            rows["vector"] = pa.array(arrays, pa.list_(pa.float32(), len(arrays[0])))
        self._table = lancedb().connect(str(directory)).create_table("plain", pa.table(rows))
        self._table.create_index(
            "text", config=lancedb().index.FTS(language="English", stem=True, remove_stop_words=True)
        )

    def answer(self, question: GoldQuery, vector: Vector | None, project: str) -> Simple:
        rankings = self.rankings(question.prompt, vector, project)
        costs = [cost for place in {"", project} for cost in self._tokens.get(place, ())]
        return Simple(question, rankings, self._memories, len(costs), sum(costs))

    def rankings(self, prompt: str, vector: Vector | None, project: str) -> dict[str, Ranking]:
        """Rank this project's and the global memories by BM25, by cosine and by both."""
        where = f"project IN ({quoted(('', project))})"
        words = self._table.search(lancedb().query.MatchQuery(prompt, "text"), query_type="fts")
        found = {"bm25": _ranking(words.where(where, prefilter=True), "_score")}
        if self._has_vectors and vector is not None:
            near = self._table.search(np.asarray(vector, dtype=np.float32), vector_column_name="vector")
            found["vectors"] = _ranking(near.distance_type("dot").where(where, prefilter=True), "_distance")
            found["rrf"] = fused(list(found.values()))
        return found


def fused(rankings: Sequence[Iterable[str]]) -> Ranking:
    """Rank by the sum of 1 / (60 + rank) over the rankings."""
    scores: dict[str, float] = defaultdict(float)
    for ranking in rankings:
        for rank, key in enumerate(ranking, start=1):
            scores[key] += 1 / (RANK_CONSTANT + rank)
    return _best_first(scores)


def _ranking(query: Any, by: str) -> Ranking:
    rows = query.select(["id", by]).limit(DEPTH).to_arrow().to_pylist()
    return _best_first({row["id"]: row[by] if by == "_score" else 1 - row[by] for row in rows})


def _best_first(scores: Mapping[str, float]) -> Ranking:
    return {key: scores[key] for key in sorted(scores, key=lambda key: (-scores[key], key))}


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
    text = "".join(_plain_text(answer.memories[key]) for key in ids)
    named = len({one.id for one in answer.question.gold} & set(ids))
    return _judgement(answer.question, estimated_tokens(text) if ids else 0, named, len(ids), text)


def _plain_text(memory: Memory) -> str:
    """Return a memory as a list item in a file of notes."""
    opens_with_title = memory.content.startswith(memory.title.removesuffix("…").rstrip())
    return f"- {memory.content}\n" if opens_with_title else f"- {memory.title}: {memory.content}\n"


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
