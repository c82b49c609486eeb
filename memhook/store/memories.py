"""The memories: one LanceDB table, searched by meaning and by words."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from functools import update_wrapper
from pathlib import Path
from threading import Lock
from typing import Any, Concatenate, ParamSpec, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from lancedb.index import FTS, Bitmap, BTree, IvfFlat, LabelList
from lancedb.query import MatchQuery

from memhook.core.memory import Memory
from memhook.errors import StoreError
from memhook.store.embedding import ModelIdentity
from memhook.store.filters import Filter, quoted, timestamp
from memhook.store.locking import exclusive, sync_files
from memhook.store.opening import TABLE, back_up, connected, first_line, local_directory, migrated, opened_table
from memhook.store.schema import (
    MEMORY_COLUMNS,
    NO_MODEL,
    SCHEMA_VERSION,
    Vector,
    memory_of,
    model_of,
    row_of,
    searchable_terms,
    table_schema,
    version_of,
)
from memhook.store.snapshot import LARGEST, Candidate, Snapshot, candidates, stored_vectors
from memhook.store.term_statistics import TermStatistics

log = logging.getLogger("memhook")

WRITE_LOCK = ".write.lock"
LOCK_SECONDS = 30.0
ANY = Filter()
QUERY_TERMS = 64  # a pasted log has thousands; the rarest carry what it is about, and each costs time
OPTIMIZE_AFTER = 64  # writes, or eight times as many rows
CANDIDATE_COLUMNS = ("id", "content_hash", "created", "terms", "vector")
VECTOR_INDEX_FROM = 5_000
ROWS_IN_PARTITION = 256
MIN_PROBES = 20  # with a quarter of the partitions: .99 of the 50 nearest on 10,000 memories
KEEP_OLD_VERSIONS = timedelta(hours=1)  # a reader elsewhere may still be on one

_FULL_TEXT = FTS(
    base_tokenizer="whitespace",
    lower_case=False,
    stem=False,
    remove_stop_words=False,
    ascii_folding=False,
    max_token_length=None,
)
_INDEXES: dict[str, Any] = {
    "terms": _FULL_TEXT,
    "id": BTree(),
    "content_hash": BTree(),
    "expires": BTree(),
    "created": BTree(),
    "project": Bitmap(),
    "namespace": Bitmap(),
    "sensitivity": Bitmap(),
    "pinned": Bitmap(),
    "redacted": Bitmap(),
    "muted": Bitmap(),
    "superseded_by": Bitmap(),
    "forgotten": BTree(),
    "tags": LabelList(),
    "aliases": LabelList(),
}

P = ParamSpec("P")
R = TypeVar("R")


def _translated(method: Callable[Concatenate[MemoryStore, P], R]) -> Callable[Concatenate[MemoryStore, P], R]:
    """LanceDB's own exceptions leave this module as StoreError."""

    def call(self: MemoryStore, /, *args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return method(self, *args, **kwargs)
        except (RuntimeError, ValueError, OSError, pa.ArrowException) as error:
            log.exception("%s on the store failed", method.__name__)
            raise StoreError(
                f"The store at {self.uri} could not be used: {first_line(error)}",
                "Run: memhook doctor",
            ) from error

    return update_wrapper(call, method)


class MemoryStore:
    """Owns the table. Reads see every finished write, also those of other processes."""

    def __init__(self, uri: str, backups: Path) -> None:
        self.uri = uri
        self._backups = backups
        self._directory = local_directory(uri)
        self._searching = ThreadPoolExecutor(max_workers=8, thread_name_prefix="memhook-search")
        self._database = connected(uri)
        self._table: Any = None
        self._snapshot: Snapshot | None = None
        self._reach: dict[tuple[Filter, int], tuple[int, npt.NDArray[np.intp], Snapshot | None]] = {}
        self._looking = Lock()
        self._rows_seen = 0
        self._unoptimized = self._unindexed_rows() // 8
        self.statistics = TermStatistics(self._all_terms)

    @property
    def model(self) -> ModelIdentity:
        """The model that made the vectors."""
        return NO_MODEL if self._current_table() is None else model_of(self._table.schema)

    @property
    def exists(self) -> bool:
        """Whether anything was ever stored."""
        return self._current_table() is not None

    # Reading

    @_translated
    def candidates(
        self, vector_of_query: Callable[[], Vector | None], terms: Sequence[str], allowed: Filter, limit: int
    ) -> tuple[list[Candidate], int]:
        """The `limit` nearest by vector and the `limit` best by words, by id; and out of how many they are.

        The words are searched for while the vector is still being made.
        """
        if self._current_table() is None:
            return [], 0
        where = allowed.sql()
        searched = self._searching.submit(self._within_reach, allowed, where)
        by_words = self._searching.submit(self._matching, terms, where, limit) if terms else None
        vector = vector_of_query()
        count, places, snapshot = searched.result()
        found: dict[str, Candidate] = {}
        if by_words is not None:
            found |= {one.id: one for one in _candidates(by_words.result(), vector)}
        if vector is not None and snapshot is not None:
            found |= {one.id: one for one in snapshot.nearest(vector, places, limit)}
        elif vector is not None:
            found |= {one.id: one for one in _candidates(self._nearest(vector, where, limit), vector)}
        return [found[key] for key in sorted(found)], count

    @_translated
    def by_ids(self, ids: Sequence[str], allowed: Filter = ANY) -> dict[str, Memory]:
        """The memories that have these ids, by id, as far as they are allowed."""
        if self._current_table() is None or not ids:
            return {}
        return {memory.id: memory for memory in self._rows(f"{allowed.sql()} AND id IN ({quoted(ids)})")}

    @_translated
    def by_reference(self, references: Sequence[str], allowed: Filter) -> list[Memory]:
        """The memories with these ids or aliases, in the order asked for."""
        if self._current_table() is None or not references:
            return []
        wanted = quoted(references)
        rows = self._rows(f"({allowed.sql()}) AND (id IN ({wanted}) OR array_has_any(aliases, [{wanted}]))")
        memories = list(rows)
        by_name = {alias: memory for memory in memories for alias in memory.aliases}
        by_name |= {memory.id: memory for memory in memories}  # an id is never another's alias
        return list(dict.fromkeys(by_name[name] for name in references if name in by_name))

    @_translated
    def with_content(self, hashes: Sequence[str], forgotten: bool = False) -> list[Memory]:
        """The memories with this content, of any project; with `forgotten`, what is left of forgotten ones."""
        if self._current_table() is None or not hashes:
            return []
        state = "forgotten IS NOT NULL" if forgotten else "forgotten IS NULL"
        return list(self._rows(f"content_hash IN ({quoted(hashes)}) AND {state}"))

    @_translated
    def taken(self, names: Sequence[str]) -> set[str]:
        """Those of the names that are, or were, an id or an alias of a memory."""
        if self._current_table() is None or not names:
            return set()
        where = f"id IN ({quoted(names)}) OR array_has_any(aliases, [{quoted(names)}])"
        rows = self._table.search().where(where).select(["id", "aliases"]).to_arrow().to_pylist()
        return {name for row in rows for name in (row["id"], *row["aliases"])} & set(names)

    @_translated
    def superseding(self, names: Sequence[str]) -> list[Memory]:
        """The memories that say they supersede one of these."""
        if self._current_table() is None or not names:
            return []
        return list(self._rows(f"forgotten IS NULL AND array_has_any(supersedes, [{quoted(names)}])"))

    @_translated
    def superseded_by(self, successor: str) -> list[Memory]:
        return [] if self._current_table() is None else list(self._rows(f"superseded_by = {quoted([successor])}"))

    @_translated
    def newest(
        self, allowed: Filter, limit: int, offset: int = 0, after: tuple[datetime, str] | None = None
    ) -> list[Memory]:
        """A page of memories, the last changed first; with `after`, behind the one changed then that has this id."""
        if self._current_table() is None:
            return []
        keys = self._table.search().where(allowed.sql()).select(["id", "updated"]).to_arrow().to_pylist()
        keys.sort(key=lambda row: row["id"])
        keys.sort(key=lambda row: row["updated"], reverse=True)
        if after is not None:
            keys = [row for row in keys if (after[0], row["id"]) > (row["updated"], after[1])]
        page = [row["id"] for row in keys[offset : offset + limit]]
        return self._in_order(page)

    @_translated
    def count(self, allowed: Filter | None = None) -> int:
        return 0 if self._current_table() is None else int(self._table.count_rows((allowed or Filter()).sql()))

    @_translated
    def counted_by(self, column: str) -> dict[str, int]:
        if self._current_table() is None:
            return {}
        values = self._table.search().where(Filter().sql()).select([column]).to_arrow()[column]
        return {pair["values"]: pair["counts"] for pair in values.value_counts().to_pylist()}

    @_translated
    def ids(self, allowed: Filter | None = None) -> list[str]:
        """In order."""
        if self._current_table() is None:
            return []
        condition = (allowed or Filter()).sql()
        return sorted(self._table.search().where(condition).select(["id"]).to_arrow()["id"].to_pylist())

    def everything(self, batch: int = 256) -> Iterator[list[Memory]]:
        """All memories in the order of their ids, a batch at a time."""
        ids = self.ids()
        for start in range(0, len(ids), batch):
            yield self._in_order(ids[start : start + batch])

    @_translated
    def after(self, last_id: str, limit: int) -> list[Memory]:
        """Memories in the order of their ids, those behind `last_id`."""
        ids = [key for key in self.ids() if key > last_id][:limit]
        return self.by_reference(ids, Filter())

    @_translated
    def without_vector(self) -> list[Memory]:
        if self._current_table() is None:
            return []
        return list(self._rows("vector IS NULL AND redacted = false AND forgotten IS NULL"))

    # Writing: each inside `writing`, so that what was read to decide on it still holds

    @contextmanager
    def writing(self) -> Iterator[None]:
        """The right to write, held by one at a time; on leaving, what was written is on disk."""
        if self._directory is None:
            yield
            return
        _private_store_directory(self._directory)
        with exclusive(self._directory / WRITE_LOCK, LOCK_SECONDS):
            started = time.time_ns() - 50_000_000  # file systems keep coarser times than the clock
            yield
            sync_files(self._directory / f"{TABLE}.lance", started)

    @_translated
    def add(self, memories: Sequence[Memory], vectors: Sequence[Vector | None], model: ModelIdentity) -> None:
        """Store new memories."""
        table = self._table_for(model)
        table.add(self._data(memories, vectors, model), on_bad_vectors="null")
        self.statistics.add(searchable_terms(memory) for memory in memories)
        self._unoptimized += 1 + len(memories) // 8

    @_translated
    def replace(self, memories: Sequence[Memory], vectors: Sequence[Vector | None], model: ModelIdentity) -> None:
        """Store these in place of those with the same ids, in one step."""
        merge = self._table_for(model).merge_insert("id").when_matched_update_all()
        merge.execute(self._data(memories, vectors, model), on_bad_vectors="null")
        self._unoptimized += 1

    @_translated
    def forget(self, memories: Sequence[Memory], now: datetime) -> None:
        """Keep only what is needed to recognise these if they are imported again."""
        emptied: dict[str, Any] = dict.fromkeys(("title", "content", "summary", "source", "terms", "namespace"), "")
        emptied |= {"tags": [], "related": [], "supersedes": [], "vector": None, "forgotten": now}
        where = f"id IN ({quoted(memory.id for memory in memories)})"
        rows = self._table.search().where(where).limit(len(memories)).to_arrow().to_pylist()
        self._merge([row | emptied for row in rows])
        self._unoptimized += OPTIMIZE_AFTER  # what is forgotten should not stay in old files for long

    @_translated
    def unforget(self, hashes: Sequence[str]) -> None:
        if self._current_table() is not None and hashes:
            self._table.delete(f"forgotten IS NOT NULL AND content_hash IN ({quoted(hashes)})")

    @_translated
    def touch(self, ids: Sequence[str], now: datetime) -> None:
        """Mark as accessed."""
        if self._current_table() is not None and ids:
            self._table.update(where=f"id IN ({quoted(ids)})", values_sql={"accessed": timestamp(now)})
            self._unoptimized += 1

    @_translated
    def set_successor(self, ids: Sequence[str], successor: str) -> None:
        if self._current_table() is not None and ids:
            self._table.update(where=f"id IN ({quoted(ids)})", values={"superseded_by": successor})

    @_translated
    def set_muted(self, ids: Sequence[str], muted: bool) -> None:
        if self._current_table() is not None and ids:
            self._table.update(where=f"id IN ({quoted(ids)})", values={"muted": muted})
            self._unoptimized += 1

    @_translated
    def set_vectors(self, memories: Sequence[Memory], vectors: Sequence[Vector], model: ModelIdentity) -> None:
        """Vectors for memories that had none; one that was changed since it was read waits for its own."""
        with self.writing():
            current = {memory.id: memory for memory in self.without_vector()}
            pairs = [(m, v) for m, v in zip(memories, vectors, strict=True) if current.get(m.id) == m]
            if pairs:
                self.replace([memory for memory, _ in pairs], [vector for _, vector in pairs], model)

    @_translated
    def replace_vectors(self, embedded: Callable[[Sequence[Memory]], Sequence[Vector]], model: ModelIdentity) -> None:
        """Every vector made anew by `model`, in one step: nobody ever sees vectors of two models side by side."""
        if self._current_table() is None:
            return
        rows = self._table.to_arrow().to_pylist()
        alive = [row for row in rows if row["forgotten"] is None and not row["redacted"]]
        vectors = embedded([memory_of(row) for row in alive])
        for row in rows:
            row["vector"] = None
        for row, vector in zip(alive, vectors, strict=True):
            row["vector"] = list(vector)
        self._table = self._overwritten(rows, model)

    @_translated
    def optimize(self) -> bool:
        """Bring the indexes up to date and drop old versions, when enough was written to pay for it."""
        if self._current_table() is None or (self._unoptimized < OPTIMIZE_AFTER and not self._missing_indexes()):
            return False
        with self.writing():
            self._table.optimize(cleanup_older_than=KEEP_OLD_VERSIONS)
            for column, config in self._missing_indexes().items():
                self._table.create_index(column, config=config)
        self._unoptimized = 0
        return True

    # How it works inside

    def _current_table(self) -> Any:
        """The table, looked for again while there is none: another process may have made it."""
        if self._table is None:
            self._database = self._database or connected(self.uri)
            self._table = self._opened()
        return self._table

    def _in_order(self, ids: Sequence[str]) -> list[Memory]:
        memories = self.by_ids(ids)
        return [memories[key] for key in ids if key in memories]

    def _opened(self) -> Any:
        """The table in today's shape; None when nothing was ever stored."""
        table = opened_table(self._database, self.uri, self._backups)
        if table is None or version_of(table.schema) == SCHEMA_VERSION:
            return table
        with self.writing():
            back_up(self.uri, self._backups, version_of(table.schema))
            rows, model = migrated(table)
            return self._overwritten(rows, model)

    def _table_for(self, model: ModelIdentity) -> Any:
        """The table to write to, created at the first memory."""
        if self._current_table() is None:
            self._database = self._database or connected(self.uri, create=True)
            self._table = _indexed(self._database.create_table(TABLE, schema=table_schema(model)))
        return self._table

    def _overwritten(self, rows: list[dict[str, Any]], model: ModelIdentity) -> Any:
        """The table with these rows and no others, put in place of the old one in one step."""
        data = pa.Table.from_pylist(rows, schema=table_schema(model))
        return _indexed(
            self._database.create_table(TABLE, data=data, schema=data.schema, mode="overwrite", on_bad_vectors="null")
        )

    def _data(self, memories: Sequence[Memory], vectors: Sequence[Vector | None], model: ModelIdentity) -> pa.Table:
        if self.model != model:  # another process re-embedded meanwhile: its vectors and these do not mix
            vectors = [None] * len(memories)
        rows = [row_of(memory, vector) for memory, vector in zip(memories, vectors, strict=True)]
        return pa.Table.from_pylist(rows, schema=self._table.schema)

    def _merge(self, rows: list[dict[str, Any]]) -> None:
        data = pa.Table.from_pylist(rows, schema=self._table.schema)
        self._table.merge_insert("id").when_matched_update_all().execute(data, on_bad_vectors="null")
        self._unoptimized += 1

    def _missing_indexes(self) -> dict[str, Any]:
        """What a kill left out, and the vectors' once looking at each takes longer than a prompt should wait."""
        wanted = dict(_INDEXES)
        rows = self._table.count_rows()
        if rows >= VECTOR_INDEX_FROM and self.model != NO_MODEL:
            wanted["vector"] = IvfFlat(distance_type="dot", num_partitions=rows // ROWS_IN_PARTITION)
        there = {column for index in self._table.list_indices() for column in index.columns}
        return {column: config for column, config in wanted.items() if column not in there}

    def _nearest(self, vector: Vector, where: str, limit: int) -> pa.Table:
        query = self._table.search(np.asarray(vector, dtype=np.float32), vector_column_name="vector")
        probes = max(MIN_PROBES, self._rows_seen // ROWS_IN_PARTITION // 4)
        query = query.distance_type("dot").nprobes(probes).where(where, prefilter=True)
        return query.select([*CANDIDATE_COLUMNS, "_distance"]).limit(limit).to_arrow()

    def _within_reach(self, allowed: Filter, where: str) -> tuple[int, npt.NDArray[np.intp], Snapshot | None]:
        """How many memories `allowed` lets through and where they stand, asked anew when the table has changed.

        What expires meanwhile is found out when the memories themselves are fetched.
        """
        version = int(self._table.version)
        key = (replace(allowed, alive_at=None), version)
        with self._looking:
            if key not in self._reach:
                self._rows_seen = int(self._table.count_rows())
                ids = self.ids(allowed) if self._rows_seen <= LARGEST else []
                snapshot = self._snapshot_of(version) if self._rows_seen <= LARGEST else None
                places = snapshot.places(ids) if snapshot else np.zeros(0, dtype=np.intp)
                count = len(ids) if snapshot else int(self._table.count_rows(where))
                # One project's: the next prompt is likely its too.
                self._reach = {key: (count, places, snapshot)}
            return self._reach[key]

    def _snapshot_of(self, version: int) -> Snapshot:
        if self._snapshot is None or self._snapshot.version != version:
            query = self._table.search().where("forgotten IS NULL AND vector IS NOT NULL")
            self._snapshot = Snapshot(version, query.select(list(CANDIDATE_COLUMNS)).to_arrow())
        return self._snapshot

    def _matching(self, terms: Sequence[str], where: str, limit: int) -> pa.Table:
        words = " ".join(self.statistics.rarest(terms, QUERY_TERMS))
        query = self._table.search(MatchQuery(words, "terms"), query_type="fts").where(where, prefilter=True)
        return query.select([*CANDIDATE_COLUMNS, "_score"]).limit(limit).to_arrow()

    def _rows(self, where: str) -> Iterator[Memory]:
        table = self._table.search().where(where).select(list(MEMORY_COLUMNS)).to_arrow()
        return (memory_of(row) for row in table.to_pylist())

    def _unindexed_rows(self) -> int:
        statistics = None if self._current_table() is None else self._table.index_stats("terms_idx")
        return 0 if statistics is None else int(statistics.num_unindexed_rows)

    @_translated
    def _all_terms(self, limit: int) -> list[str]:
        if self._current_table() is None:
            return []
        query = self._table.search().where(Filter().sql()).select(["terms"]).limit(limit)
        texts: list[str] = query.to_arrow()["terms"].to_pylist()
        return texts


def _candidates(found: pa.Table, vector: Vector | None) -> Iterator[Candidate]:
    return candidates(found.drop_columns(["vector"]), _cosines(found, vector))


def _cosines(found: pa.Table, vector: Vector | None) -> list[float | None]:
    """The exact cosines: an approximate index or a lexical hit brings none or a rounded one."""
    if vector is None:
        return [None] * len(found)
    exact = iter((stored_vectors(found) @ np.asarray(vector, dtype=np.float32)).tolist())
    present = found["vector"].combine_chunks().is_valid().to_pylist()
    return [next(exact) if there else None for there in present]


def _indexed(table: Any) -> Any:
    for column, config in _INDEXES.items():
        table.create_index(column, config=config)
    return table


def _private_store_directory(directory: Path) -> None:
    try:
        directory.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        raise StoreError(
            f"The store's folder {directory} cannot be made ({error.strerror}).",
            "Check the permissions and the room on the disk, or set store.uri.",
        ) from error
