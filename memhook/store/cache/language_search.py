"""Searching by the multilingual encoder what is not in memory: its vectors are in a file, the memories in the table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import pyarrow as pa

from memhook.core.ranking import Candidate
from memhook.store.cache.snapshot import BY_LANGUAGE
from memhook.store.embedding.encoder import Vector
from memhook.store.embedding.language_vectors import LanguageVectors, stamp
from memhook.store.table.candidates import known_cosines
from memhook.store.table.disk_search import COLUMNS, with_cosines
from memhook.store.table.filters import Filter, quoted
from memhook.store.table.lance import query_of, read


class RowsOnDisk:
    """Which memories there are, and of which text each is."""

    def __init__(self, found: pa.Table) -> None:
        self.ids: list[str] = found["id"].to_pylist()
        self._contents = found["content_hash"].to_pylist()
        self._updated = found["updated"].cast(pa.int64()).to_pylist()

    def stamps(self) -> Iterator[tuple[str, str]]:
        return zip(self.ids, map(stamp, self._contents, self._updated), strict=True)


def rows_on_disk(table: Any, condition: str) -> RowsOnDisk:
    return RowsOnDisk(read(query_of(table).where(condition).select(["id", "content_hash", "updated"])))


def with_languages(
    table: Any,
    vectors: LanguageVectors,
    found: Sequence[Candidate],
    query: tuple[Vector, Vector | None],
    allowed: Filter,
    is_few: bool,
) -> list[Candidate]:
    """`found` with their multilingual cosines, and of few memories also the nearest by these.

    `query` is its vector by the multilingual encoder, and by the other. Of many memories the others are not read: an
    index of this encoder's would take gigabytes, and a project that is in memory has no need of it.
    """
    by_id = {one.id: one for one in found}
    condition = allowed.sql() if is_few else f"id IN ({quoted(by_id)})"
    rows = rows_on_disk(table, condition)
    cosines = vectors.cosines(query[0], rows)
    known = {key: cosine for key, cosine in zip(rows.ids, known_cosines(cosines), strict=True) if cosine is not None}
    nearest = sorted(known, key=lambda key: (-known[key], key))[:BY_LANGUAGE]
    if missing := [key for key in nearest if key not in by_id]:
        more = read(query_of(table).where(f"id IN ({quoted(missing)})").select(list(COLUMNS)))
        by_id |= {one.id: one for one in with_cosines(more, query[1])}
    return [replace(by_id[key], multilingual=known.get(key)) for key in sorted(by_id)]
