"""LanceDB's own full-text and vector search and their rank fusion, to compare memhook's search with."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from memhook.store.embedding.encoder import Vector
from memhook.store.table.filters import quoted
from memhook.store.table.lance import lancedb

DEPTH = 50  # of each fused list
RANK_CONSTANT = 60  # of reciprocal rank fusion, as in the paper that proposed it

Ranking = dict[str, float]
"""Ids with their scores, best first."""


@dataclass(frozen=True, slots=True)
class Document:
    id: str
    project: str
    text: str
    vector: Vector | None


class PlainSearch:
    """One table with LanceDB's own English analyser (words, stemmed, no stop words); vectors are compared exactly."""

    def __init__(self, directory: Path, documents: Sequence[Document]) -> None:
        self._has_vectors = all(one.vector is not None for one in documents)
        rows: dict[str, Any] = {name: [getattr(one, name) for one in documents] for name in ("id", "project", "text")}
        if self._has_vectors:
            vectors = [np.asarray(one.vector, dtype=np.float32) for one in documents]
            rows["vector"] = pa.array(vectors, pa.list_(pa.float32(), len(vectors[0])))
        self._table = lancedb().connect(str(directory)).create_table("plain", pa.table(rows))
        self._table.create_index(
            "text", config=lancedb().index.FTS(language="English", stem=True, remove_stop_words=True)
        )

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
