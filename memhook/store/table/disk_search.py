"""Searching the table itself, through its indexes: what is not in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pyarrow as pa

from memhook.core.ranking import Candidate
from memhook.store.embedding.encoder import Vector
from memhook.store.table.candidates import FACTS, candidates, stored_vectors
from memhook.store.table.filters import Filter
from memhook.store.table.indexes import ROWS_IN_PARTITION
from memhook.store.table.lance import lancedb
from memhook.store.table.sizes import Sizes

COLUMNS = (*FACTS, "vector")
MIN_PROBES = 20
PROBED = 20  # every 20th partition: .98 of the ten nearest of a million


class DiskSearch:
    """By words and by vector at the same time, each on a thread of its own."""

    def __init__(self, sizes: Sizes) -> None:
        self._sizes = sizes
        self._searching = ThreadPoolExecutor(max_workers=8, thread_name_prefix="memhook-search")

    def candidates(
        self,
        table: Any,
        vector_of_query: Callable[[], Vector | None],
        words: Sequence[str],
        allowed: Filter,
        limit: int,
    ) -> tuple[list[Candidate], int]:
        """The words are searched for while the vector is still being made."""
        where = allowed.sql()
        searched = self._searching.submit(table.count_rows, where)
        by_words = self._searching.submit(_matching, table, words, where, limit) if words else None
        vector = vector_of_query()
        found: dict[str, Candidate] = {}
        if vector is not None:
            is_few = int(searched.result()) <= self._sizes.exact
            found |= {one.id: one for one in with_cosines(_nearest(table, vector, where, limit, is_few), vector)}
        if by_words is not None:
            found |= {one.id: one for one in with_cosines(by_words.result(), vector)}
        return [found[key] for key in sorted(found)], int(searched.result())


def _nearest(table: Any, vector: Vector, where: str, limit: int, is_few: bool) -> pa.Table:
    """Few are compared one by one: which partitions theirs are in no index knows."""
    query = table.search(np.asarray(vector, dtype=np.float32), vector_column_name="vector")
    query = query.distance_type("dot").where(where, prefilter=True)
    query = query.bypass_vector_index() if is_few else query.nprobes(_probes(int(table.count_rows())))
    return query.select([*COLUMNS, "_distance"]).limit(limit).to_arrow()


def _probes(rows: int) -> int:
    return max(MIN_PROBES, rows // ROWS_IN_PARTITION // PROBED)


def _matching(table: Any, words: Sequence[str], where: str, limit: int) -> pa.Table:
    query = table.search(lancedb().query.MatchQuery(" ".join(words), "terms"), query_type="fts").where(
        where, prefilter=True
    )
    return query.select([*COLUMNS, "_score"]).limit(limit).to_arrow()


def with_cosines(found: pa.Table, vector: Vector | None) -> Iterator[Candidate]:
    return candidates(found.select(FACTS), _cosines(found, vector))


def _cosines(found: pa.Table, vector: Vector | None) -> list[float | None]:
    """The exact cosines: an approximate index or a lexical hit brings none or a rounded one."""
    if vector is None:
        return [None] * len(found)
    exact = iter((stored_vectors(found) @ np.asarray(vector, dtype=np.float32)).tolist())
    present = found["vector"].combine_chunks().is_valid().to_pylist()
    return [next(exact) if there else None for there in present]
