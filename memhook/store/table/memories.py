"""The memories: one LanceDB table, searched by meaning and by words."""

from __future__ import annotations

import logging
import os
import tempfile
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from datetime import datetime, timedelta
from functools import cache, partial, update_wrapper
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeVar

import pyarrow as pa
import pyarrow.compute as pc

from memhook.core.memory import Memory
from memhook.errors import DamagedStore, StoreError
from memhook.files import durable
from memhook.files.locking import exclusive, remove_lock
from memhook.store.cache.cache import Held, Reach, can_be_held
from memhook.store.cache.snapshot import (
    COLUMNS,
    Candidate,
    Snapshot,
    only_chunk,
    stored_vectors,
)
from memhook.store.cache.word_index import WordIndex
from memhook.store.embedding import language_vectors
from memhook.store.embedding.encoder import ModelIdentity
from memhook.store.embedding.language_search import rows_on_disk, with_languages
from memhook.store.embedding.language_vectors import LanguageVectors
from memhook.store.table import checksums, recovery
from memhook.store.table.compaction import compact, sweep
from memhook.store.table.disk_search import DiskSearch
from memhook.store.table.expunge import emptied, rewritten
from memhook.store.table.filters import Filter, quoted, timestamp
from memhook.store.table.id_pages import ids_after
from memhook.store.table.indexes import INDEXES, indexed, missing, unindexed_rows
from memhook.store.table.markers import mark_of, set_mark
from memhook.store.table.opening import (
    TABLE,
    back_up,
    connected,
    damage_hint,
    first_line,
    local_directory,
    mended,
    migrated,
    migrated_rows,
    opened_table,
)
from memhook.store.table.read_gate import Gate
from memhook.store.table.recovery import FOREIGN_ERRORS
from memhook.store.table.schema import (
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
from memhook.store.table.sizes import SIZES, Sizes
from memhook.store.table.term_statistics import TermStatistics, worth_looking_up
from memhook.store.table.upkeep import Upkeep, keep_up

log = logging.getLogger("memhook")

WRITE_LOCK = ".write.lock"
READ_CHARS = 300  # enough to tell a language
RENEWED_VECTORS = ".renewed-vectors"
NEW_TABLE = ".new-table-"
LOCK_SECONDS = 30.0
ANY = Filter()
QUERY_TERMS = 64  # a pasted log has thousands; the rarest carry what it is about, and each costs time
OPTIMIZE_AFTER = 64  # writes, or eight times as many rows
ROWS_FOR_A_WRITE = 4_000  # of a large store every index is written anew, however little was added
STREAM_SECONDS = 10.0
SETTLED_AFTER, SETTLED_SECONDS = 8, 60.0  # fewer writes do when none has come for a while
MANY_VERSIONS = 128  # each names all files of its own
KEPT_VERSIONS = 16  # to go back to when the newest is damaged
KEPT_WHEN_SETTLED = 4  # what was written a minute ago is on disk, and old versions are whole copies
KEPT_SECONDS = 10.0  # a reader elsewhere may still be on an old one
READERS_SECONDS = 5.0  # how long old files are kept for those who read them just now

_SUSPECTED: set[Path] = set()
"""Tables that failed when they were used: whoever opens one of them next reads all of it."""

P = ParamSpec("P")
R = TypeVar("R")


def _translated(method: Callable[Concatenate[MemoryStore, P], R]) -> Callable[Concatenate[MemoryStore, P], R]:
    """LanceDB's own exceptions leave this module as StoreError."""

    def call(self: MemoryStore, /, *args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return method(self, *args, **kwargs)
        except BaseException as error:
            if not isinstance(error, FOREIGN_ERRORS) and not recovery.is_panic(error):
                raise
            log.exception("%s on the store failed", method.__name__)
            raise self.failure(error) from error

    return update_wrapper(call, method)


def _reading(method: Callable[Concatenate[MemoryStore, P], R]) -> Callable[Concatenate[MemoryStore, P], R]:
    """The same, and no file goes away meanwhile."""
    translated = _translated(method)

    def call(self: MemoryStore, /, *args: P.args, **kwargs: P.kwargs) -> R:
        with self.readers.passing():
            return translated(self, *args, **kwargs)

    return update_wrapper(call, method)


def _landing(method: Callable[Concatenate[MemoryStore, P], R]) -> Callable[Concatenate[MemoryStore, P], R]:
    """The same for a write, which a store that others write to as well tries until it lands."""

    def call(self: MemoryStore, /, *args: P.args, **kwargs: P.kwargs) -> R:
        return self._until_it_lands(partial(method, self, *args, **kwargs))

    return _translated(update_wrapper(call, method))


class MemoryStore:
    """Owns the table. Reads see every finished write, also those of other processes."""

    def __init__(self, uri: str, backups: Path, sizes: Sizes = SIZES, options: Mapping[str, str] | None = None) -> None:
        self.uri = uri
        self._backups = backups
        self._options = options or {}
        self._directory = local_directory(uri)
        self._table_folder = None if self._directory is None else self._directory / f"{TABLE}.lance"
        self._database = connected(uri, self._options)
        self._table: Any = None
        self._held: Held | None = None
        self._sizes = sizes
        self._disk = DiskSearch(sizes)
        self._upkeep = Upkeep(self._directory, sizes) if self._directory else None
        self._synced = durable.Synced(self._directory / f"{TABLE}.lance") if self._directory else None
        self.languages = LanguageVectors((self._directory or self._backups) / language_vectors.FILE)
        self.readers = Gate()
        self.mended = ""
        self._being_optimized = 0
        self._last_write = time.monotonic()
        self._unoptimized = self._unindexed_rows() // 8
        self._counted = TermStatistics(self._all_terms)

    @property
    def model(self) -> ModelIdentity:
        """The model that made the vectors."""
        if self._held and (whole := self._held.whole):
            return whole[0].model
        return NO_MODEL if self._current_table() is None else model_of(self._table.schema)

    @property
    def exists(self) -> bool:
        """Whether anything was ever stored."""
        return self._current_table() is not None

    @property
    def is_deleted(self) -> bool:
        """Whether its folder was taken away since it was opened."""
        return self._directory is not None and self._table is not None and not self._directory.exists()

    @property
    def renewed_vectors(self) -> Path:
        """Where vectors of another model wait until all of them are made."""
        return (self._directory or self._backups) / RENEWED_VECTORS

    def close(self) -> None:
        """Leave no lock file behind."""
        if self._upkeep is not None:
            self._upkeep.stop()
        self.languages.drop()
        if self._directory is not None:
            remove_lock(self._directory / WRITE_LOCK)

    @property
    def statistics(self) -> TermStatistics | WordIndex:
        """How common each term is here; while a snapshot is being renewed, as it was before."""
        latest = self._held.latest if self._held else None
        return latest.words if latest else self._counted

    def keep_in_memory(self) -> None:
        """For a process that stays: answer from memory as long as the store is small, and keep up with its changes."""
        if self._held is None and self._directory is not None:
            table = self._directory / f"{TABLE}.lance"
            self._held = Held(table, self._read_into_memory, self._ids_among, self._sizes)
        if self._held is not None:
            self._held.renew()
            self.statistics.documents  # noqa: B018  counted now, not when the first answer waits for it

    def mark(self, name: str) -> str:
        """What was noted under this name; nothing is, in a store that is not a folder."""
        return mark_of(self._directory, name) if self._directory else ""

    @_translated
    def set_mark(self, name: str, value: str) -> None:
        if self._directory is not None:
            set_mark(self._directory, name, value)

    # Reading

    @_reading
    def candidates(
        self,
        vector_of_query: Callable[[], Vector | None],
        terms: Sequence[str],
        allowed: Filter,
        limit: int,
        multilingual: Vector | None = None,
    ) -> tuple[list[Candidate], int]:
        """The memories nearest by vector and best by words, in the order of their ids; and out of how many they are.

        From memory the best `limit` by both together and a few by either, from LanceDB the best `limit` by each. With
        the query's vector by the multilingual encoder, also those nearest to that.
        """
        if self._current_table() is None:
            return [], 0
        if not self.languages.is_in_use:
            multilingual = None
        held = self._reach(allowed)
        if held is None:
            words = self._worth_looking_up(terms) if terms else []
            by_vector = cache(vector_of_query)
            found, searched = self._disk.candidates(self._table, by_vector, words, allowed, limit)
            if multilingual is not None:
                query, is_few = (multilingual, by_vector()), searched <= self._sizes.exact
                found = with_languages(self._table, self.languages, found, query, allowed, is_few)
            return found, searched
        vector = vector_of_query()
        found = []
        for part, places in held:
            others = None if multilingual is None else self.languages.cosines(multilingual, part)
            found += part.candidates(vector, terms, places, limit, others)
        return sorted(found, key=lambda one: one.id), sum(len(places) for _, places in held)

    @_reading
    def by_ids(self, ids: Sequence[str], allowed: Filter = ANY) -> dict[str, Memory]:
        """The memories that have these ids, by id, as far as they are allowed."""
        if self._current_table() is None or not ids:
            return {}
        if (held := self._reach(allowed)) is not None:
            return {key: one for part, places in held for key, one in part.memories(ids, places).items()}
        return {memory.id: memory for memory in self._rows(f"{allowed.sql()} AND id IN ({quoted(ids)})")}

    @_reading
    def by_reference(self, references: Sequence[str], allowed: Filter) -> list[Memory]:
        """The memories with these ids or aliases, in the order asked for."""
        if self._current_table() is None or not references:
            return []
        if (held := self._reach(allowed)) is not None:
            by_id = {key: one for part, places in held for key, one in part.memories(references, places).items()}
            if all(name in by_id for name in references):  # else one may be an alias
                return list(dict.fromkeys(by_id[name] for name in references))
        wanted = quoted(references)
        rows = self._rows(f"({allowed.sql()}) AND (id IN ({wanted}) OR array_has_any(aliases, [{wanted}]))")
        memories = list(rows)
        by_name = {alias: memory for memory in memories for alias in memory.aliases}
        by_name |= {memory.id: memory for memory in memories}  # an id is never another's alias
        return list(dict.fromkeys(by_name[name] for name in references if name in by_name))

    @_reading
    def with_content(self, hashes: Sequence[str], forgotten: bool = False) -> list[Memory]:
        """The memories with this content, of any project; with `forgotten`, what is left of forgotten ones."""
        if self._current_table() is None or not hashes:
            return []
        return list(self._rows(f"content_hash IN ({quoted(hashes)})", forgotten))

    @_reading
    def vectors_of_content(self, hashes: Sequence[str]) -> list[tuple[Memory, Vector]]:
        """The memories with this content that have a vector, with it."""
        if self._current_table() is None or not hashes:
            return []
        where = f"content_hash IN ({quoted(hashes)})"
        rows = self._table.search().where(where).select([*MEMORY_COLUMNS, "forgotten", "vector"]).to_arrow()
        rows = rows.filter(pc.and_(pc.is_null(rows["forgotten"]), pc.is_valid(rows["vector"])))
        return list(zip(map(memory_of, rows.to_pylist()), stored_vectors(rows), strict=True))

    @_reading
    def taken(self, names: Sequence[str]) -> set[str]:
        """Those of the names that are, or were, an id or an alias of a memory."""
        if self._current_table() is None or not names:
            return set()
        where = f"id IN ({quoted(names)}) OR array_has_any(aliases, [{quoted(names)}])"
        rows = self._table.search().where(where).select(["id", "aliases"]).to_arrow().to_pylist()
        return {name for row in rows for name in (row["id"], *row["aliases"])} & set(names)

    @_reading
    def forgotten_ones(self, names: Sequence[str]) -> list[Memory]:
        """What is left of the forgotten memories with these ids or aliases."""
        if self._current_table() is None or not names:
            return []
        wanted = quoted(names)
        return list(self._rows(f"id IN ({wanted}) OR array_has_any(aliases, [{wanted}])", forgotten=True))

    @_reading
    def superseding(self, names: Sequence[str]) -> list[Memory]:
        """The memories that say they supersede one of these."""
        if self._current_table() is None or not names:
            return []
        return list(self._rows(f"array_has_any(supersedes, [{quoted(names)}])", forgotten=False))

    @_reading
    def superseded_by(self, successors: Sequence[str]) -> list[Memory]:
        if self._current_table() is None or not successors:
            return []
        return list(self._rows(f"superseded_by IN ({quoted(successors)})"))

    @_reading
    def newest(
        self, allowed: Filter, limit: int, offset: int = 0, after: tuple[datetime, str] | None = None
    ) -> list[Memory]:
        """A page of memories, the last changed first; with `after`, behind the one changed then that has this id."""
        if self._current_table() is None:
            return []
        keys = self._table.search().where(allowed.sql()).select(["id", "updated"]).to_arrow()
        if after is not None:
            moment = pa.scalar(after[0], keys.schema.field("updated").type)
            at_once = pc.and_(pc.equal(keys["updated"], moment), pc.greater(keys["id"], after[1]))
            keys = keys.filter(pc.or_(pc.less(keys["updated"], moment), at_once))
        if not len(keys):
            return []  # pyarrow below 26 cannot choose from nothing
        order = pc.select_k_unstable(keys, offset + limit, [("updated", "descending"), ("id", "ascending")])
        return self._in_order(keys["id"].take(order[offset:]).to_pylist(), allowed)

    @_reading
    def count(self, allowed: Filter | None = None) -> int:
        return 0 if self._current_table() is None else int(self._table.count_rows((allowed or Filter()).sql()))

    @_reading
    def counted_by(self, column: str) -> dict[str, int]:
        if self._current_table() is None:
            return {}
        values = self._table.search().where(Filter().sql()).select([column]).to_arrow()[column]
        return {pair["values"]: pair["counts"] for pair in values.value_counts().to_pylist()}

    @_reading
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

    @_reading
    def after(self, last_id: str, limit: int) -> list[Memory]:
        """Memories in the order of their ids, those behind `last_id`."""
        if self._current_table() is None:
            return []
        ids = ids_after(last_id, limit, int(self._table.count_rows()), self._ids_between)
        return self._in_order(ids)

    @_reading
    def all_rows(self) -> pa.Table | None:
        """The table as it is, of one version, with what is left of forgotten memories; None before the first."""
        return None if self._current_table() is None else self._table.to_arrow()

    def health(self) -> dict[str, Any]:
        """How the table is, every row of it read."""
        table = self._current_table()
        report: dict[str, Any] = {"damage": "", "missing_indexes": [], "fragments": 0, "versions": 0}
        if table is None:
            return report
        try:
            if self._table_folder is not None and (damaged := recovery.damaged_files(self._table_folder)):
                _SUSPECTED.add(self._table_folder)
                names = ", ".join(sorted(path.name for path in damaged)[:3])
                raise ValueError(f"{len(damaged)} of its files are damaged ({names})")
            table.to_arrow()
            report["missing_indexes"] = [column for column in self._missing_indexes() if column in INDEXES]
            report["fragments"] = int(table.stats()["fragment_stats"]["num_fragments"])
        except FOREIGN_ERRORS as error:
            report["damage"] = f"the store is damaged: {first_line(error)}"
        return report | {"versions": len(self._versions_on_disk())}

    @_reading
    def without_language_vector(self, allowed: Filter) -> list[str]:
        """The ids of these memories that the multilingual encoder has not read yet."""
        if self._current_table() is None:
            return []
        if (held := self._reach(allowed)) is not None:
            reached = ((set(places.tolist()), part) for part, places in held)
            return [key for wanted, part in reached for key in self._lacking(part, wanted)]
        return self.languages.lacking(rows_on_disk(self._table, allowed.sql()))

    def _lacking(self, part: Snapshot, wanted: Collection[int]) -> list[str]:
        return [key for key in self.languages.lacking(part) if part.place(key) in wanted]

    def add_language_vectors(self, memories: Sequence[Memory], vectors: Sequence[Vector]) -> None:
        """Without a lock, so that a prompt may do it: what was taken out meanwhile is discarded after it was added."""
        self.languages.add(memories, vectors)
        there = self.by_ids([memory.id for memory in memories])
        self.languages.discard([memory.id for memory in memories if memory.id not in there])

    @_reading
    def texts(self, limit: int) -> list[tuple[str, str]]:
        """Of so many memories the project and how title and content begin."""
        if self._current_table() is None:
            return []
        rows = self._table.search().where(Filter(redacted=False).sql()).select(["project", "title", "content"])
        return [
            (row["project"], f"{row['title']}\n{row['content'][:READ_CHARS]}")
            for batch in rows.limit(limit).to_batches()
            for row in batch.to_pylist()
        ]

    @_reading
    def without_vector(self) -> list[Memory]:
        if self._current_table() is None:
            return []
        return list(self._rows("vector IS NULL AND redacted = false AND forgotten IS NULL"))

    # Writing: each inside `writing`, so that what was read to decide on it still holds

    @contextmanager
    def writing(self) -> Iterator[None]:
        """The right to write, held by one at a time; on leaving, what was written is on disk."""
        with self._locked():
            yield

    @contextmanager
    def annotating(self) -> Iterator[None]:
        """The right to note what is the user's own business: what to mute, what to let through."""
        with self.writing():
            yield

    @contextmanager
    def _locked(self) -> Iterator[None]:
        if self._directory is None:
            yield
            return
        _private_store_directory(self._directory)
        with exclusive(self._directory / WRITE_LOCK, LOCK_SECONDS):
            try:
                yield
            finally:  # also where a later step failed: the next write builds on what an earlier one has committed
                self._sync()
            self._last_write = time.monotonic()
            self._record_checksums()

    def _sync(self) -> None:
        """Force to disk what was written: LanceDB renames its files into place without fsync."""
        if self._synced is not None:
            self._synced.sync()

    def _record_checksums(self) -> None:
        """What was written is on disk, whether this succeeds or not."""
        if self._table_folder is not None and self._table_folder.exists():
            try:
                checksums.record(self._table_folder)
            except OSError as error:
                log.warning("the checksums of the store were not written: %s", error)

    @_landing
    def add(self, memories: Sequence[Memory], vectors: Sequence[Vector | None], model: ModelIdentity) -> None:
        """Store new memories."""
        table = self._table_for(model)
        data = self._data(memories, vectors, model)
        with self._adding(data):
            self._append(table, data)
        self._counted.add(searchable_terms(memory) for memory in memories)
        self._unoptimized += 1 + len(memories) // 8

    @_landing
    def replace(self, memories: Sequence[Memory], vectors: Sequence[Vector | None], model: ModelIdentity) -> None:
        """Store these in place of those with the same ids, in one step."""
        self._replace(memories, vectors, model)
        self.languages.discard([memory.id for memory in memories])

    def _replace(self, memories: Sequence[Memory], vectors: Sequence[Vector | None], model: ModelIdentity) -> None:
        merge = self._table_for(model).merge_insert("id").when_matched_update_all()
        merge.execute(self._data(memories, vectors, model), on_bad_vectors="null")
        self._unoptimized += 1

    @_landing
    def forget(self, memories: Sequence[Memory], now: datetime) -> None:
        """Keep only what is needed to recognise these if they are imported again."""
        emptied: dict[str, Any] = dict.fromkeys(("title", "content", "summary", "source", "terms", "namespace"), "")
        emptied |= {"tags": [], "related": [], "supersedes": [], "vector": None, "forgotten": now}
        where = f"id IN ({quoted(memory.id for memory in memories)})"
        rows = self._table.search().where(where).limit(len(memories)).to_arrow().to_pylist()
        self._merge([row | emptied for row in rows])
        self.languages.discard([row["id"] for row in rows])
        self._unoptimized += OPTIMIZE_AFTER  # what is forgotten should not stay in old files for long

    @_landing
    def remove(self, ids: Sequence[str]) -> None:
        """As if these had never been stored."""
        if self._current_table() is not None and ids:
            self._table.delete(f"id IN ({quoted(ids)})")
            self.languages.discard(ids)
            self._unoptimized += OPTIMIZE_AFTER

    @_landing
    def unforget(self, hashes: Sequence[str]) -> None:
        if self.with_content(hashes, forgotten=True):  # deleting nothing would take ten times as long, and a version
            with self._adding():
                self._table.delete(f"forgotten IS NOT NULL AND content_hash IN ({quoted(hashes)})")

    def redact(self, ids: Sequence[str], now: datetime) -> None:
        """Keep of these their places alone, and no file that holds more."""
        self._expunge(ids, lambda row: emptied(row) | {"updated": now})

    def purge(self, ids: Sequence[str]) -> None:
        """Keep nothing of these, forgotten or not, and no file that holds anything of them."""
        self._expunge(ids, None)

    def rewrite(self, memories: Sequence[Memory]) -> None:
        """These in place of those with the same ids, without a vector, and no file that holds what they said before."""
        by_id = {memory.id: memory for memory in memories}
        self._expunge(list(by_id), lambda row: row_of(by_id[row["id"]], None))

    @_translated
    def touch(self, ids: Sequence[str], now: datetime) -> None:
        """Mark as accessed."""
        if self._current_table() is not None and ids:
            with self._locked():
                self._table.update(where=f"id IN ({quoted(ids)})", values_sql={"accessed": timestamp(now)})
            self._unoptimized += 1

    @_landing
    def set_successor(self, ids: Sequence[str], successor: str) -> None:
        if self._current_table() is not None and ids:
            self._table.update(where=f"id IN ({quoted(ids)})", values={"superseded_by": successor})

    @_landing
    def set_project(self, ids: Sequence[str], project: str) -> None:
        if self._current_table() is not None and ids:
            self._table.update(where=f"id IN ({quoted(ids)})", values={"project": project})
            self._unoptimized += 1

    @_landing
    def set_muted(self, ids: Sequence[str], muted: bool) -> None:
        if self._current_table() is not None and ids:
            self._table.update(where=f"id IN ({quoted(ids)})", values={"muted": muted})
            self._unoptimized += 1

    @_landing
    def set_quarantine(self, memory: Memory) -> None:
        """As this memory says, unless its content has changed since."""
        if self._current_table() is not None:
            where = f"id = {quoted([memory.id])} AND content_hash = {quoted([memory.content_hash])}"
            self._table.update(where=where, values={"quarantine": memory.quarantine, "released": memory.released})
            self._unoptimized += 1

    @_translated
    def set_vectors(self, memories: Sequence[Memory], vectors: Sequence[Vector], model: ModelIdentity) -> None:
        """Vectors for memories that had none; one that was changed since it was read waits for its own."""
        with self._locked():
            current = {memory.id: memory for memory in self.without_vector()}
            pairs = [(m, v) for m, v in zip(memories, vectors, strict=True) if current.get(m.id) == m]
            if pairs:
                self._replace([memory for memory, _ in pairs], [vector for _, vector in pairs], model)

    @_translated
    def replace_vectors(self, embedded: Callable[[Sequence[Memory]], Sequence[Vector]], model: ModelIdentity) -> None:
        """Every vector made anew by `model`, in one step: nobody ever sees vectors of two models side by side."""
        if self._current_table() is None:
            return
        schema = self._schema(model)

        def renewed() -> Iterator[pa.RecordBatch]:
            for batch in self._table.search().to_batches():
                yield from pa.Table.from_pylist(_with_vectors(batch.to_pylist(), embedded), schema=schema).to_batches()

        with self._locked():
            self._table = self._overwritten(pa.RecordBatchReader.from_batches(schema, renewed()))

    @_translated
    def put_back(self, rows: pa.Table) -> None:
        """These rows and no others, in one step; of an older schema, in today's shape."""
        table = self._table_of(*migrated_rows(rows))
        self._table_for(model_of(table.schema))
        self._table = self._overwritten(table)
        self.languages.keep_only(rows["id"].to_pylist())

    @_translated
    def optimize(self) -> bool:
        """Bring the indexes up to date and drop old versions, when enough was written to pay for it."""
        if self._current_table() is None:
            return False
        if self._upkeep is not None and self._upkeep.finished():
            self._unoptimized = max(0, self._unoptimized - self._being_optimized)
        is_settled = time.monotonic() - self._last_write > SETTLED_SECONDS
        rows = self._table.count_rows()
        is_large = rows > self._sizes.apart
        is_quiet = is_settled and not is_large
        is_littered = len(self._versions_on_disk()) > (2 * KEPT_WHEN_SETTLED if is_quiet else MANY_VERSIONS)
        enough = SETTLED_AFTER if is_quiet else max(OPTIMIZE_AFTER, rows // ROWS_FOR_A_WRITE)
        if self._unoptimized < enough and not (is_littered and not is_large) and not self._missing_indexes():
            return False
        if self._upkeep is not None and is_large:
            return self._optimize_apart(self._upkeep, self._age_to_keep(is_settled))
        with self._locked():
            keep_up(self._table, self._age_to_keep(is_settled), self._sizes, self._sync)
        self._unoptimized = 0
        return True

    def _optimize_apart(self, upkeep: Upkeep, keep: timedelta) -> bool:
        """Not while more is coming in, unless that is a twentieth of the store: it would be slow to find."""
        is_streaming = time.monotonic() - self._last_write < STREAM_SECONDS
        is_much = 8 * self._unoptimized > self._table.count_rows() // 20
        if not upkeep.may_begin() or (is_streaming and not is_much):
            return False
        self._being_optimized = self._unoptimized
        upkeep.begin(keep)
        return True

    # How it works inside

    def _until_it_lands(self, write: Callable[[], R]) -> R:
        """The lock keeps other writers away."""
        return write()

    def failure(self, error: BaseException) -> StoreError:
        """What to tell of it, with the way out where there is one."""
        table = self._table_folder
        is_damaged = table is not None and table.exists() and bool(recovery.damaged_files(table))
        if table is not None:
            _SUSPECTED.add(table)
        what = "is damaged" if is_damaged else "could not be used"
        hint = damage_hint(self._backups) if is_damaged else "Run: memhook doctor"
        return StoreError(f"The store at {self.uri} {what}: {first_line(error)}", hint)

    @_translated
    def _current_table(self) -> Any:
        """The table, looked for again while there is none: another process may have made it."""
        if self._table is None:
            self._database = self._database or connected(self.uri, self._options)
            self._table = self._opened()
        return self._table

    def _in_order(self, ids: Sequence[str], allowed: Filter = ANY) -> list[Memory]:
        memories = self.by_ids(ids, allowed)
        return [memories[key] for key in ids if key in memories]

    def _opened(self) -> Any:
        """The table in today's shape; None when nothing was ever stored."""
        self._mend()
        try:
            table = opened_table(self._database, self.uri, self._backups)
        except DamagedStore:
            if self._table_folder is None or self._table_folder in _SUSPECTED:
                raise
            _SUSPECTED.add(self._table_folder)
            self._mend()
            table = opened_table(self._database, self.uri, self._backups)
        if table is not None and self.mended:
            self._indexed(table)
        if table is None or version_of(table.schema) == SCHEMA_VERSION:
            return table
        with self._locked():
            table = opened_table(self._database, self.uri, self._backups)  # another process may have migrated it
            if version_of(table.schema) == SCHEMA_VERSION:
                return table
            back_up(self.uri, self._backups, version_of(table.schema))
            model = model_of(table.schema) if "vector" in table.schema.names else NO_MODEL
            return self._overwritten(migrated(table, self._schema(model)))

    def _mend(self) -> None:
        """Where anything looks damaged, or failed when it was last used. Raises when memories remain unreadable."""
        table = self._table_folder
        if table is None or not table.exists() or (recovery.looks_whole(table) and table not in _SUSPECTED):
            return
        try:
            with self._locked():  # what another process has just written looks whole by now
                self.mended = mended(self._database, self.uri, self._backups, self._overwrite)
        except StoreError:
            if not recovery.newest_reads(table):
                raise
        _SUSPECTED.discard(table)
        if self.mended:
            log.warning("%s", self.mended)

    def _overwrite(self, rows: pa.Table) -> None:
        self._overwritten(self._table_of(*migrated_rows(rows)))

    def _table_for(self, model: ModelIdentity) -> Any:
        """The table to write to, created at the first memory."""
        if self._current_table() is None:
            self._table = self._created(self._schema(model))
        return self._table

    def _created(self, schema: pa.Schema) -> Any:
        """An empty table with its indexes, made aside: a power cut leaves all of it or nothing, never a damaged one."""
        self._database = self._database or connected(self.uri, self._options, create=True)
        if self._directory is None or (self._directory / f"{TABLE}.lance").exists():
            return self._indexed(self._database.create_table(TABLE, schema=schema))
        for left_behind in self._directory.glob(f"{NEW_TABLE}*"):
            durable.delete(left_behind)
        with tempfile.TemporaryDirectory(prefix=NEW_TABLE, dir=self._directory) as aside:
            self._indexed(connected(aside, self._options).create_table(TABLE, schema=schema))
            made = Path(aside, f"{TABLE}.lance")
            durable.sync_tree(made)
            durable.moved(made, self._directory / made.name)
        return self._database.open_table(TABLE)

    def _schema(self, model: ModelIdentity) -> pa.Schema:
        return table_schema(model)

    def _table_of(self, rows: list[dict[str, Any]], model: ModelIdentity) -> pa.Table:
        return pa.Table.from_pylist(rows, schema=self._schema(model))

    def _overwritten(self, data: pa.Table | pa.RecordBatchReader) -> Any:
        """The table with these rows and no others, put in place of the old one in one step."""
        return self._indexed(
            self._database.create_table(TABLE, data=data, schema=data.schema, mode="overwrite", on_bad_vectors="null")
        )

    def _data(self, memories: Sequence[Memory], vectors: Sequence[Vector | None], model: ModelIdentity) -> pa.Table:
        if self.model != model:  # another process re-embedded meanwhile: its vectors and these do not mix
            vectors = [None] * len(memories)
        rows = [row_of(memory, vector) for memory, vector in zip(memories, vectors, strict=True)]
        return pa.Table.from_pylist(rows, schema=self._table.schema)

    def _append(self, table: Any, data: pa.Table) -> None:
        table.add(data, on_bad_vectors="null")

    def _merge(self, rows: list[dict[str, Any]]) -> None:
        data = pa.Table.from_pylist(rows, schema=self._table.schema)
        self._table.merge_insert("id").when_matched_update_all().execute(data, on_bad_vectors="null")
        self._unoptimized += 1

    @_landing
    def _expunge(self, ids: Sequence[str], left: Callable[[dict[str, Any]], dict[str, Any]] | None) -> None:
        """Leave of the rows with these ids what `left` makes of each, or nothing, in whatever file."""
        self._take_out(ids, left)

    def _take_out(self, ids: Sequence[str], left: Callable[[dict[str, Any]], dict[str, Any]] | None) -> None:
        if self._upkeep is not None:
            self._upkeep.stop()  # it may be writing these into new files
        self.renewed_vectors.unlink(missing_ok=True)
        rows = self._table.search().where(f"id IN ({quoted(ids)})").to_arrow().to_pylist()
        kept = [left(row) for row in rows] if left else []
        self._table = self._indexed(rewritten(self._database, self._table, ids, kept))
        self.languages.discard(ids)
        compact(self._table)
        self._sync()  # before the readers have to wait
        with self.readers.alone(READERS_SECONDS):
            sweep(self._table, self._sync, is_ours_alone=self._directory is not None)
            # What is kept in memory to answer faster.
            if self._held is not None:
                self._held.drop()
        self._counted = TermStatistics(self._all_terms)

    def _indexed(self, table: Any) -> Any:
        return indexed(table)

    @_translated
    def _unindexed_rows(self) -> int:
        return 0 if self._current_table() is None else unindexed_rows(self._table)

    def _missing_indexes(self) -> list[str]:
        return missing(self._table, self.model != NO_MODEL, self._sizes)

    def _versions_on_disk(self) -> list[float]:
        """When each was written, the newest first."""
        if self._directory is None:
            return []
        with os.scandir(self._directory / f"{TABLE}.lance/_versions") as versions:
            return sorted((version.stat().st_mtime for version in versions), reverse=True)

    def _age_to_keep(self, is_settled: bool) -> timedelta:
        kept = self._versions_on_disk()[: KEPT_WHEN_SETTLED if is_settled else KEPT_VERSIONS] or [
            0.0
        ]  # elsewhere than on disk: all of the last hour
        age = time.time() - kept[-1] if kept[-1] else 3600.0
        return timedelta(seconds=max(KEPT_SECONDS, age))

    @_reading
    def _read_into_memory(self, allowed: Filter) -> Snapshot | None:
        """These memories; None when there is no table, or when its indexes are the better way."""
        if self._current_table() is None or not can_be_held(self._table, allowed, self._sizes):
            return None
        rows = self._table.search().where(allowed.sql()).select(list(COLUMNS)).to_arrow()
        return Snapshot(rows, model_of(self._table.schema))

    def _worth_looking_up(self, terms: Sequence[str]) -> list[str]:
        counted = self.statistics
        return worth_looking_up(terms, counted.frequencies, counted.documents, QUERY_TERMS)

    def _reach(self, allowed: Filter) -> Reach | None:
        return self._held.reach(allowed) if self._held else None

    def _adding(self, rows: pa.Table | None = None) -> AbstractContextManager[None]:
        """Nothing but these rows, of what can be seen, is written meanwhile."""
        if self._held is None:
            return nullcontext()
        return self._held.adding(rows, model_of(self._table.schema))

    def _ids_among(self, allowed: Filter, few: Collection[str]) -> list[str]:
        """All that `allowed` lets through, or those of these few."""
        if not few:
            return self.ids(allowed)
        where = f"{allowed.sql()} AND id IN ({quoted(few)})"
        found: list[str] = self._table.search().where(where).select(["id"]).to_arrow()["id"].to_pylist()
        return found

    def _rows(self, where: str, forgotten: bool | None = None) -> Iterator[Memory]:
        """Whether they are forgotten is looked at here: of a million rows, an index says so only after 20 ms."""
        rows = self._table.search().where(where).select([*MEMORY_COLUMNS, "forgotten"]).to_arrow().to_pylist()
        return (memory_of(row) for row in rows if forgotten is None or (row["forgotten"] is not None) == forgotten)

    def _ids_between(self, low: str, high: str) -> list[str]:
        """Those behind `low`, up to `high`; without one, to the end."""
        where = f"forgotten IS NULL AND id > {quoted([low])}" + (f" AND id <= {quoted([high])}" if high else "")
        return sorted(self._table.search().where(where).select(["id"]).to_arrow()["id"].to_pylist())

    @_reading
    def _all_terms(self, limit: int) -> pa.Array:
        if self._current_table() is None:
            return pa.array([], pa.string())
        rows = self._table.search().where(Filter().sql()).select(["terms"]).limit(limit).to_arrow()
        return only_chunk(rows, "terms")


def _with_vectors(
    rows: list[dict[str, Any]], embedded: Callable[[Sequence[Memory]], Sequence[Vector]]
) -> list[dict[str, Any]]:
    """The rows with the vectors that `embedded` gives, and none where nothing is left to read."""
    alive = [row for row in rows if row["forgotten"] is None and not row["redacted"]]
    vectors = embedded([memory_of(row) for row in alive])
    fresh = {row["id"]: list(vector) for row, vector in zip(alive, vectors, strict=True)}
    return [row | {"vector": fresh.get(row["id"])} for row in rows]


def _private_store_directory(directory: Path) -> None:
    try:
        durable.made_folder(directory)
    except OSError as error:
        raise StoreError(
            f"The store's folder {directory} cannot be made ({error.strerror}).",
            "Check the permissions and the room on the disk, or set store.uri.",
        ) from error
