"""The vectors of a store: finding missing ones, recomputing them, and searching by those for other languages."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from memhook.core.memory import Memory
from memhook.core.ranking import Candidate
from memhook.store.cache.cached_table import CachedTable
from memhook.store.cache.snapshot import BY_LANGUAGE
from memhook.store.embedding.encoder import ModelIdentity, Vector
from memhook.store.embedding.language_vectors import stamp
from memhook.store.table.disk_search import COLUMNS, with_cosines
from memhook.store.table.filters import Filter, quoted
from memhook.store.table.schema import MEMORY_COLUMNS, known_cosines, memory_of, row_of, stored_vectors, table_schema

READ_CHARS = 300  # enough to tell a language


class Vectors:
    """The vectors of one store. They are computed where the store is read: a replica writes none to its origin."""

    def __init__(self, here: CachedTable) -> None:
        self._here = here
        self._table = here.table
        self.languages = here.languages
        self.renewed = here.renewed_vectors
        """The file that collects the vectors of a new model until all of them are computed."""

    def missing(self) -> list[Memory]:
        """The memories that have no vector."""
        with self._table.reading("reading"):
            return list(self._table.memories("vector IS NULL AND redacted = false AND forgotten IS NULL"))

    def of_content(self, hashes: Sequence[str]) -> list[tuple[Memory, Vector]]:
        """Return the memories with this content that have a vector, with the vector."""
        if not hashes or not self._table.exists:
            return []
        with self._table.reading("reading"):
            columns = [*MEMORY_COLUMNS, "forgotten", "vector"]
            rows = self._table.rows(f"content_hash IN ({quoted(hashes)})", columns)
        rows = rows.filter(pc.and_(pc.is_null(rows["forgotten"]), pc.is_valid(rows["vector"])))
        return list(zip(map(memory_of, rows.to_pylist()), stored_vectors(rows), strict=True))

    def set(self, memories: Sequence[Memory], vectors: Sequence[Vector], model: ModelIdentity) -> None:
        """Store vectors of memories that had none; a memory that changed since it was read is skipped."""
        with self._table.translating("writing vectors to"), self._table.locked():
            current = {memory.id: memory for memory in self.missing()}
            pairs = [(m, v) for m, v in zip(memories, vectors, strict=True) if current.get(m.id) == m]
            if pairs and self._here.model == model:
                self._table.merge(self._table.data(row_of(memory, vector) for memory, vector in pairs))

    def replace(self, embedded: Callable[[Sequence[Memory]], Sequence[Vector]], model: ModelIdentity) -> None:
        """Replace every vector by one of `model`, in one step: no reader ever sees vectors of two models."""
        if not self._table.exists:
            return
        schema = table_schema(model)

        def renewed() -> Iterator[pa.RecordBatch]:
            for batch in self._table.handle.search().to_batches():
                yield from pa.Table.from_pylist(_with_vectors(batch.to_pylist(), embedded), schema=schema).to_batches()

        with self._table.translating("writing vectors to"), self._table.locked():
            self._table.overwrite(pa.RecordBatchReader.from_batches(schema, renewed()))

    # For other languages

    def texts(self, limit: int) -> list[tuple[str, str]]:
        """Return the project and the start of the text, title first, of at most `limit` memories."""
        with self._table.reading("reading"):
            rows = self._table.rows(Filter(redacted=False).sql(), ["project", "title", "content"], limit)
            return [(row["project"], f"{row['title']}\n{row['content'][:READ_CHARS]}") for row in rows.to_pylist()]

    def missing_for_languages(self, allowed: Filter) -> list[str]:
        """Return the ids of the allowed memories that have no multilingual vector yet."""
        with self._table.reading("reading"):
            if not self._table.exists:
                return []
            if (in_memory := self._here.reach(allowed)) is not None:
                lacking = ((self.languages.lacking(part), part, places) for part, places in in_memory)
                return [key for keys, part, places in lacking for key in part.reached(keys, places)]
            return self.languages.lacking(self._rows(allowed.sql()))

    def add_for_languages(self, memories: Sequence[Memory], vectors: Sequence[Vector]) -> None:
        """Add vectors without a lock, so that a prompt may do it, then discard those of memories deleted meanwhile."""
        self.languages.add(memories, vectors)
        with self._table.reading("reading"):
            there = self._here.by_ids([memory.id for memory in memories])
        self.languages.discard([memory.id for memory in memories if memory.id not in there])

    def with_languages(
        self, found: Sequence[Candidate], query: tuple[Vector, Vector | None], allowed: Filter, is_few: bool
    ) -> list[Candidate]:
        """Return `found` with their multilingual cosines, and if `is_few` also the nearest memories by these.

        `query` is its vector by the multilingual encoder, and by the other. With many memories, no others are compared:
        an index of these vectors would take gigabytes, and a cached project does not need it.
        """
        by_id = {one.id: one for one in found}
        rows = self._rows(allowed.sql() if is_few else f"id IN ({quoted(by_id)})")
        cosines = known_cosines(self.languages.cosines(query[0], rows))
        known = {key: cosine for key, cosine in zip(rows.ids, cosines, strict=True) if cosine is not None}
        nearest = sorted(known, key=lambda key: (-known[key], key))[:BY_LANGUAGE]
        if missing := [key for key in nearest if key not in by_id]:
            more = self._table.rows(f"id IN ({quoted(missing)})", COLUMNS)
            by_id |= {one.id: one for one in with_cosines(more, query[1])}
        return [replace(by_id[key], multilingual=known.get(key)) for key in sorted(by_id)]

    def _rows(self, where: str) -> RowsOnDisk:
        return RowsOnDisk(self._table.rows(where, ["id", "content_hash", "updated"]))


def earlier_twins(vectors: Sequence[Vector | None], at_least: float) -> list[int | None]:
    """Return for each the index of the nearest earlier one, or None if their cosine is below `at_least`."""
    twins: list[int | None] = [None] * len(vectors)
    places = [place for place, vector in enumerate(vectors) if vector is not None]
    if len(places) > 1:
        known = np.array([vectors[place] for place in places], dtype=np.float32)
        cosines = np.tril(known @ known.T, -1)
        for row, nearest in enumerate(cosines.argmax(axis=1).tolist()):
            if row and cosines[row, nearest] >= at_least:
                twins[places[row]] = places[nearest]
    return twins


def _with_vectors(
    rows: list[dict[str, Any]], embedded: Callable[[Sequence[Memory]], Sequence[Vector]]
) -> list[dict[str, Any]]:
    """Return the rows with vectors by `embedded`; forgotten and redacted rows get none."""
    alive = [row for row in rows if row["forgotten"] is None and not row["redacted"]]
    vectors = embedded([memory_of(row) for row in alive])
    fresh = {row["id"]: list(vector) for row, vector in zip(alive, vectors, strict=True)}
    return [row | {"vector": fresh.get(row["id"])} for row in rows]


class RowsOnDisk:
    """The ids of rows on disk, and the stamp of the text of each."""

    def __init__(self, found: pa.Table) -> None:
        self.ids: list[str] = found["id"].to_pylist()
        self._contents = found["content_hash"].to_pylist()
        self._updated = found["updated"].cast(pa.int64()).to_pylist()

    def stamps(self) -> Iterator[tuple[str, str]]:
        return zip(self.ids, map(stamp, self._contents, self._updated), strict=True)
