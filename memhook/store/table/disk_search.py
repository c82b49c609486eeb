"""Searching the table itself, through its indexes: what is not in memory."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

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
WIDE = 4  # a filter that lets every fourth row through is applied to what was found: before, it is asked of every row
KEPT_COUNTS = 64

Ranking = list[int]
"""Row ids, the best first. An outdated one names no row, or one that is then looked at like any other."""


@dataclass(frozen=True, slots=True)
class _Scope:
    """The rows for which `where` holds, `searched` of `rows`, and how many of them are wanted."""

    where: str
    limit: int
    searched: int
    rows: int
    is_few: bool
    is_narrow: bool

    @property
    def depth(self) -> int:
        """So many of the best of all rows should have `limit` for which `where` holds: twice as many spare ones."""
        spare = 0 if self.is_narrow else -(-2 * self.limit * (self.rows - self.searched) // self.searched)
        return self.limit + spare

    def ranking(self, query: Any) -> Ranking:
        query = query.where(self.where, prefilter=True) if self.is_narrow else query
        found: Ranking = query.limit(self.depth).to_arrow()["_rowid"].to_pylist()
        return found


class DiskSearch:
    """By words and by vector at the same time, each on a thread of its own."""

    def __init__(self, sizes: Sizes) -> None:
        self._sizes = sizes
        self._searching = ThreadPoolExecutor(max_workers=8, thread_name_prefix="memhook-search")
        self._counts: dict[tuple[int, str], int] = {}

    def candidates(
        self,
        table: Any,
        vector_of_query: Callable[[], Vector | None],
        words: Sequence[str],
        allowed: Filter,
        limit: int,
    ) -> tuple[list[Candidate], int]:
        scope = self._searching.submit(self._scope, table, allowed, limit)
        rows = self._rows(table, vector_of_query, words, scope.result)
        found = with_cosines(rows, vector_of_query()) if rows is not None else ()
        return sorted(found, key=attrgetter("id")), scope.result().searched

    def _rows(
        self,
        table: Any,
        vector_of_query: Callable[[], Vector | None],
        words: Sequence[str],
        scope: Callable[[], _Scope],
    ) -> pa.Table | None:
        """The words are searched for while the vector is still being made."""
        by_words = self._searching.submit(lambda: _matching(table, words, scope())) if words else None
        vector = vector_of_query()
        rankings = [] if vector is None else [_nearest(table, vector, scope())]
        rankings += [] if by_words is None else [by_words.result()]
        if not any(rankings):
            return None
        rows = _best_rows(table, rankings, scope())
        narrow = replace(scope(), is_narrow=True)
        return self._rows(table, vector_of_query, words, lambda: narrow) if rows is None else rows

    def _scope(self, table: Any, allowed: Filter, limit: int) -> _Scope:
        rows, searched = int(table.count_rows()), self._counted(table, allowed)
        is_few = searched <= self._sizes.exact
        return _Scope(allowed.sql(), limit, searched, rows, is_few, is_few or rows > WIDE * searched)

    def _counted(self, table: Any, allowed: Filter) -> int:
        """Once for each version of the table; what has expired is counted too, for the moment is another each time."""
        condition = replace(allowed, alive_at=None).sql()
        key = int(table.version), condition
        if key not in self._counts:
            kept = {one: count for one, count in self._counts.items() if one[0] == key[0]}
            self._counts = {**(kept if len(kept) < KEPT_COUNTS else {}), key: int(table.count_rows(condition))}
        return self._counts[key]


def _nearest(table: Any, vector: Vector, scope: _Scope) -> Ranking:
    """Few are compared one by one: which partitions theirs are in no index knows."""
    query = table.search(np.asarray(vector, dtype=np.float32), vector_column_name="vector").distance_type("dot")
    query = query.bypass_vector_index() if scope.is_few else query.nprobes(_probes(scope.rows))
    return scope.ranking(query.select(["_rowid", "_distance"]))


def _probes(rows: int) -> int:
    return max(MIN_PROBES, rows // ROWS_IN_PARTITION // PROBED)


def _matching(table: Any, words: Sequence[str], scope: _Scope) -> Ranking:
    query = table.search(lancedb().query.MatchQuery(" ".join(words), "terms"), query_type="fts")
    return scope.ranking(query.select(["_rowid", "_score"]))


def _best_rows(table: Any, rankings: Sequence[Ranking], scope: _Scope) -> pa.Table | None:
    """Of each ranking the best `limit` for which `where` holds; None if some may be further down than was looked."""
    found = _rows_at(table, set().union(*rankings), scope.where)
    allowed = set(found["_rowid"].to_pylist())
    best = [[row for row in one if row in allowed][: scope.limit] for one in rankings]
    is_enough = all(
        len(some) == scope.limit or len(one) < scope.depth for some, one in zip(best, rankings, strict=True)
    )
    if not is_enough and not scope.is_narrow:
        return None
    return found.filter(pc.is_in(found["_rowid"], pa.array(set().union(*best), found["_rowid"].type)))


def _rows_at(table: Any, rows: Collection[int], where: str) -> pa.Table:
    """LanceDB fetches these and then asks `where` of them alone. Without the row id in the answer it cannot plan it."""
    condition = f"_rowid IN ({', '.join(map(str, sorted(rows)))}) AND {where}"
    return table.search().where(condition).select([*COLUMNS, "_rowid"]).to_batches().read_all()


def with_cosines(found: pa.Table, vector: Vector | None) -> Iterator[Candidate]:
    return candidates(found.select(FACTS), _cosines(found, vector))


def _cosines(found: pa.Table, vector: Vector | None) -> list[float | None]:
    """The exact cosines: an approximate index or a lexical hit brings none or a rounded one."""
    if vector is None:
        return [None] * len(found)
    exact = iter((stored_vectors(found) @ np.asarray(vector, dtype=np.float32)).tolist())
    present = found["vector"].combine_chunks().is_valid().to_pylist()
    return [next(exact) if there else None for there in present]
