"""The vectors of a store: which are missing, making them again, and searching by those for other languages."""

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
    """Of one store. They are made where the store is read: of a replica, nothing of this is written to its origin."""

    def __init__(self, here: CachedTable) -> None:
        self._here = here
        self._table = here.table
        self.languages = here.languages
        self.renewed = here.renewed_vectors
        """Where vectors of another model wait until all of them are made."""

    def missing(self) -> list[Memory]:
        """The memories that have no vector."""
        with self._table.reading("reading"):
            return list(self._table.memories("vector IS NULL AND redacted = false AND forgotten IS NULL"))

    def of_content(self, hashes: Sequence[str]) -> list[tuple[Memory, Vector]]:
        """The memories with this content that have a vector, with it."""
        if not hashes or not self._table.exists:
            return []
        with self._table.reading("reading"):
            columns = [*MEMORY_COLUMNS, "forgotten", "vector"]
            rows = self._table.rows(f"content_hash IN ({quoted(hashes)})", columns)
        rows = rows.filter(pc.and_(pc.is_null(rows["forgotten"]), pc.is_valid(rows["vector"])))
        return list(zip(map(memory_of, rows.to_pylist()), stored_vectors(rows), strict=True))

    def set(self, memories: Sequence[Memory], vectors: Sequence[Vector], model: ModelIdentity) -> None:
        """Vectors for memories that had none; one that was changed since it was read waits for its own."""
        with self._table.translating("writing vectors to"), self._table.locked():
            current = {memory.id: memory for memory in self.missing()}
            pairs = [(m, v) for m, v in zip(memories, vectors, strict=True) if current.get(m.id) == m]
            if pairs and self._here.model == model:
                self._table.merge(self._table.data(row_of(memory, vector) for memory, vector in pairs))

    def replace(self, embedded: Callable[[Sequence[Memory]], Sequence[Vector]], model: ModelIdentity) -> None:
        """Replace every vector by one of `model`, in one step: nobody ever sees vectors of two models side by side."""
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
        """Of so many memories the project and how title and content begin."""
        with self._table.reading("reading"):
            rows = self._table.rows(Filter(redacted=False).sql(), ["project", "title", "content"], limit)
            return [(row["project"], f"{row['title']}\n{row['content'][:READ_CHARS]}") for row in rows.to_pylist()]

    def missing_for_languages(self, allowed: Filter) -> list[str]:
        """The ids of these memories that the multilingual encoder has not read yet."""
        with self._table.reading("reading"):
            if not self._table.exists:
                return []
            if (in_memory := self._here.reach(allowed)) is not None:
                lacking = ((self.languages.lacking(part), part, places) for part, places in in_memory)
                return [key for keys, part, places in lacking for key in part.reached(keys, places)]
            return self.languages.lacking(self._rows(allowed.sql()))

    def add_for_languages(self, memories: Sequence[Memory], vectors: Sequence[Vector]) -> None:
        """Without a lock, so that a prompt may do it: what was deleted meanwhile is discarded after it was added."""
        self.languages.add(memories, vectors)
        with self._table.reading("reading"):
            there = self._here.by_ids([memory.id for memory in memories])
        self.languages.discard([memory.id for memory in memories if memory.id not in there])

    def with_languages(
        self, found: Sequence[Candidate], query: tuple[Vector, Vector | None], allowed: Filter, is_few: bool
    ) -> list[Candidate]:
        """`found` on disk with their multilingual cosines, and of few memories also the nearest by these.

        `query` is its vector by the multilingual encoder, and by the other. Of many memories the others are not read:
        an index of this encoder's would take gigabytes, and a project that is in memory has no need of it.
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
    """For each the index of the nearest earlier one, if their cosine is at least so much."""
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
    """The rows with the vectors that `embedded` gives, and none where nothing is left to read."""
    alive = [row for row in rows if row["forgotten"] is None and not row["redacted"]]
    vectors = embedded([memory_of(row) for row in alive])
    fresh = {row["id"]: list(vector) for row, vector in zip(alive, vectors, strict=True)}
    return [row | {"vector": fresh.get(row["id"])} for row in rows]


class RowsOnDisk:
    """Which memories there are, and of which text each is."""

    def __init__(self, found: pa.Table) -> None:
        self.ids: list[str] = found["id"].to_pylist()
        self._contents = found["content_hash"].to_pylist()
        self._updated = found["updated"].cast(pa.int64()).to_pylist()

    def stamps(self) -> Iterator[tuple[str, str]]:
        return zip(self.ids, map(stamp, self._contents, self._updated), strict=True)
