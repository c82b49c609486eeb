"""Search the rows that are not in memory, through the table's indexes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from memhook.core.memory import Memory
from memhook.core.ranking import Candidate
from memhook.store.embedding.encoder import Vector
from memhook.store.table.filters import ANY, Filter, quoted
from memhook.store.table.indexes import ROWS_IN_PARTITION, Sizes
from memhook.store.table.lance import lancedb, query_of, read
from memhook.store.table.schema import (
    FACTS,
    MEMORY_COLUMNS,
    USES,
    candidates,
    last_used,
    memory_of,
    stored_vectors,
)
from memhook.store.table.table import ROW_ID, Table

COLUMNS = (*FACTS, "vector")
MIN_PROBES = 20
PROBED = 20  # every 20th partition: .98 of the ten nearest of a million
WIDE = 4  # projects with a fourth of the rows are filtered after the search: an index would list all their rows
SPARE = 2  # half as many more are requested, as some may be filtered out
SLACK = 4  # more are read at first where it is by chance how many belong to other projects
KEPT_COUNTS = 64
KEPT_ROWS = 1_000


@dataclass(frozen=True, slots=True)
class _Scope:
    """A search for the best `limit` of the rows that match `where`.

    Indexes evaluate `first`, a part of `where` or empty, at once; for the rest LanceDB would read eight columns of each
    row that matches `first`. So the rest is evaluated for the best `depth` rows only, unless it `is_exact`. Of `rows`,
    `searched` match `first`, or the part that would be `first` where it is empty.
    """

    where: str
    first: str
    limit: int
    searched: int
    rows: int
    version: int
    is_few: bool
    is_exact: bool = False

    @property
    def depth(self) -> int:
        """The number of best rows among which `limit` should match `where`."""
        return int((self.limit + self.limit // SPARE + 1) * self._share)

    @property
    def likely(self) -> int:
        """The number of best rows among which `limit` nearly always match, as few others than `first` ever fail."""
        return self.limit if self._share == 1 else int((self.limit + SLACK) * self._share)

    @property
    def _share(self) -> float:
        """Of how many rows one matches the part that indexes answer."""
        return 1 if self.first else max(1, self.rows / max(1, self.searched))

    def answer(self, query: Any, score: str) -> pa.Table:
        """Return the row ids of the best, or, if exact, the best rows themselves."""
        if self.is_exact:
            return read(query.where(self.where).select([*COLUMNS, score]).limit(self.limit))
        query = query.where(self.first) if self.first else query
        return read(query.select([ROW_ID, score]).limit(self.depth))


class DiskSearch:
    """Searches by words and by vector at the same time, in two threads."""

    def __init__(self, table: Table, sizes: Sizes) -> None:
        self._table = table
        self._sizes = sizes
        self._searching = ThreadPoolExecutor(max_workers=8, thread_name_prefix="memhook-search")
        self._counts: dict[tuple[int, str], int] = {}
        self._found: tuple[int, dict[str, int]] = 0, {}
        """A version of the table, and the row ids of the memories that the last searches found in it."""

    def candidates(
        self, vector_of_query: Callable[[], Vector | None], words: Sequence[str], allowed: Filter, limit: int
    ) -> tuple[list[Candidate], int]:
        """Return the best by each and the number of rows searched, which in a large table is the count by indexes."""
        scope = self._searching.submit(self._scope, allowed, limit)
        answers = self._answers(vector_of_query, words, scope.result)
        found = {one.id: one for rows in answers for one in with_cosines(rows, vector_of_query())}
        return [found[key] for key in sorted(found)], scope.result().searched

    def memories(self, ids: Sequence[str], allowed: Filter) -> dict[str, Memory]:
        return {row["id"]: memory_of(row) for row in self._rows(ids, allowed, MEMORY_COLUMNS).to_pylist()}

    def last_used(self, ids: Sequence[str]) -> dict[str, datetime]:
        return last_used(self._rows(ids, ANY, USES))

    def _rows(self, ids: Sequence[str], allowed: Filter, columns: Sequence[str]) -> pa.Table:
        """Return the rows with these ids, by row id if the last searches found them."""
        version, rows = self._found
        if version == self._version and rows.keys() >= set(ids):
            found = self._table.rows(f"{_one_of(rows[key] for key in ids)} AND {allowed.sql()}", [*columns, ROW_ID])
            if version == self._version:
                return found
        return self._table.rows(f"{allowed.sql()} AND id IN ({quoted(ids)})", columns)

    @property
    def _version(self) -> int:
        return int(self._table.handle.version)

    def _answers(
        self, vector_of_query: Callable[[], Vector | None], words: Sequence[str], scope: Callable[[], _Scope]
    ) -> list[pa.Table]:
        """Search by words while the vector is being computed, then by vector."""
        by_words = self._searching.submit(lambda: self._matching(words, scope())) if words else None
        vector = vector_of_query()
        answers = [] if vector is None else [self._nearest(vector, scope())]
        answers += [] if by_words is None else [by_words.result()]
        if scope().is_exact or not answers:
            return answers
        rows = self._best_rows([one[ROW_ID].to_pylist() for one in answers], scope())
        exact = replace(scope(), is_exact=True)
        return self._answers(vector_of_query, words, lambda: exact) if rows is None else [rows]

    def _scope(self, allowed: Filter, limit: int) -> _Scope:
        version, rows, first = self._version, self._table.count(), allowed.indexed_sql()
        counted = first if rows > self._sizes.exact else allowed.sql()
        searched = self._counted(version, counted) if counted else rows
        is_few = searched <= self._sizes.exact
        is_wide = not is_few and rows <= WIDE * searched
        return _Scope(allowed.sql(), "" if is_wide else first, limit, searched, rows, version, is_few)

    def _counted(self, version: int, condition: str) -> int:
        """Count the rows that match, once for each version of the table."""
        key = version, condition
        if key not in self._counts:
            kept = {one: count for one, count in self._counts.items() if one[0] == key[0]}
            self._counts = {**(kept if len(kept) < KEPT_COUNTS else {}), key: self._table.count(condition)}
        return self._counts[key]

    def _nearest(self, vector: Vector, scope: _Scope) -> pa.Table:
        """Search by vector. Few rows are compared one by one: no index knows which partitions they are in."""
        asked = np.asarray(vector, dtype=np.float32)
        query = query_of(self._table.handle).nearest_to(asked).column("vector").distance_type("dot")
        probes = max(MIN_PROBES, scope.rows // ROWS_IN_PARTITION // PROBED)
        return scope.answer(query.bypass_vector_index() if scope.is_few else query.nprobes(probes), "_distance")

    def _matching(self, words: Sequence[str], scope: _Scope) -> pa.Table:
        asked = lancedb().query.MatchQuery(" ".join(words), "terms")
        return scope.answer(query_of(self._table.handle).nearest_to_text(asked), "_score")

    def _best_rows(self, rankings: Sequence[Sequence[int]], scope: _Scope) -> pa.Table | None:
        """Return the best `limit` rows of each ranking that match `where`.

        None if some may be further down the ranking, or if a write may have reassigned the row ids. A row is read only
        if those before it do not suffice: LanceDB takes as long for each value of each row, wherever that is.
        """
        ends = [scope.likely] * len(rankings)
        asked = _firsts(rankings, ends)
        found = self._those_matching(asked, scope)
        while True:
            allowed = set(found[ROW_ID].to_pylist())
            best = [[row for row in one[:end] if row in allowed] for one, end in zip(rankings, ends, strict=True)]
            missing = [max(0, scope.limit - len(some)) for some in best]
            if not any(lacking and end < len(one) for lacking, end, one in zip(missing, ends, rankings, strict=True)):
                break
            ends = [end + 2 * lacking for end, lacking in zip(ends, missing, strict=True)]
            if more := _firsts(rankings, ends) - asked:
                asked |= more
                found = pa.concat_tables([found, self._those_matching(more, scope)])
        is_enough = all(not lacking or len(one) < scope.depth for lacking, one in zip(missing, rankings, strict=True))
        if not is_enough or self._version != scope.version:
            return None
        chosen = _firsts(best, [scope.limit] * len(best))
        found = found.filter(pc.is_in(found[ROW_ID], pa.array(chosen, found[ROW_ID].type)))
        self._note(scope.version, found)
        return found

    def _those_matching(self, rows: Collection[int], scope: _Scope) -> pa.Table:
        """Return those of these rows that match."""
        condition = f"{_one_of(sorted(rows))} AND {scope.where}" if rows else "false"
        return read(query_of(self._table.handle).where(condition).select([*COLUMNS, ROW_ID]))

    def _note(self, version: int, found: pa.Table) -> None:
        known = self._found[1] if self._found[0] == version and len(self._found[1]) < KEPT_ROWS else {}
        self._found = version, {**known, **dict(zip(found["id"].to_pylist(), found[ROW_ID].to_pylist(), strict=True))}


def _firsts(rankings: Sequence[Sequence[int]], ends: Sequence[int]) -> set[int]:
    return set[int]().union(*(one[:end] for one, end in zip(rankings, ends, strict=True)))


def _one_of(rows: Iterable[int]) -> str:
    """Return the condition on row ids; LanceDB fetches only these, but only if the row id is selected too."""
    return f"{ROW_ID} IN ({', '.join(map(str, rows))})"


def with_cosines(found: pa.Table, vector: Vector | None) -> Iterator[Candidate]:
    return candidates(found.select(FACTS), _cosines(found, vector))


def _cosines(found: pa.Table, vector: Vector | None) -> list[float | None]:
    """Return the exact cosines: an approximate index returns rounded ones, a lexical hit has none."""
    if vector is None:
        return [None] * len(found)
    exact = iter((stored_vectors(found) @ np.asarray(vector, dtype=np.float32)).tolist())
    present = found["vector"].combine_chunks().is_valid().to_pylist()
    return [next(exact) if there else None for there in present]
