"""A table with its in-memory cache and the vectors for other languages, kept consistent by every write."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from datetime import datetime
from pathlib import Path
from typing import Concatenate, ParamSpec

import pyarrow as pa

from memhook.core.actions import Action
from memhook.core.anchor_index import Match
from memhook.core.memory import Memory
from memhook.errors import StoreError
from memhook.files import durable
from memhook.store.cache.anchor_cache import AnchorCache
from memhook.store.cache.cache import Cache, Reach
from memhook.store.cache.snapshot import remove_file
from memhook.store.cache.words import CountedTerms, TermStatistics
from memhook.store.embedding import language_vectors
from memhook.store.embedding.encoder import ModelIdentity
from memhook.store.embedding.language_vectors import LanguageVectors
from memhook.store.table import recovery
from memhook.store.table.changes import Target
from memhook.store.table.disk_search import DiskSearch
from memhook.store.table.expunge import rewritten
from memhook.store.table.filters import ANY, Filter, quoted
from memhook.store.table.indexes import SIZES, Sizes
from memhook.store.table.maintenance import OPTIMIZE_AFTER, Maintenance, compact, sweep
from memhook.store.table.opening import SNAPSHOT
from memhook.store.table.own import OwnTable
from memhook.store.table.schema import Row, only_chunk

P = ParamSpec("P")

RENEWED_VECTORS = ".renewed-vectors"
READERS_SECONDS = 5.0  # how long deleting old files waits for queries in progress


class CachedTable:
    """Owns the data derived from the table. Changes (`table.changes`) go through it, not to the table directly."""

    def __init__(self, uri: str, backups: Path, sizes: Sizes = SIZES) -> None:
        self.table = OwnTable(uri, backups)
        self.directory, self._folder = self.table.place
        self.disk = DiskSearch(self.table, sizes)
        self.maintenance = Maintenance(self.table, sizes, self._rearranging)
        self.cache: Cache | None = None
        self.sizes = sizes
        self.languages = LanguageVectors(self.directory / language_vectors.FILE)
        self._snapshot = self.directory / SNAPSHOT
        self.renewed_vectors = self.directory / RENEWED_VECTORS
        """The file that collects the vectors of a new model until all of them are computed."""
        self._counted = CountedTerms(self._all_terms)
        self._anchors = AnchorCache()
        if not self._snapshot.exists():
            self.open_table()

    @property
    def model(self) -> ModelIdentity:
        whole = self.cache.whole if self.cache else None
        return whole[0].model if whole else self.table.model

    @property
    def statistics(self) -> TermStatistics:
        """How common each term is in the store; while a snapshot is being renewed, as of the previous one."""
        latest = self.cache.latest if self.cache else None
        return (latest.words if latest else self._counted).statistics

    def keep_in_memory(self) -> None:
        """Load the cache, for a resident process: a small store is answered from memory and kept current."""
        if self.cache is None:
            self.cache = Cache(self.table, self.sizes)
            if recovery.looks_whole(self._folder) and self.cache.restore():
                return  # the first caller that needs the table opens it
        self.cache.renew()
        self.statistics  # noqa: B018  counted now, not when the first answer waits for it
        self.cache.save()
        self.cache.read_titles()

    def unmap(self) -> None:
        """Release the mapped pages of the snapshot's file."""
        if self.cache is not None:
            self.cache.unmap()

    def open_table(self) -> None:
        """Open the table itself; if that fails, drop the cache, so that nothing is answered from it, and raise."""
        try:
            self.maintenance.count_unindexed()
        except StoreError:
            if self.cache is not None:
                self.cache.drop()
            raise

    @property
    def exists(self) -> bool:
        """Whether anything was ever stored; a loaded cache proves it without opening the table."""
        return bool(self.cache and self.cache.whole) or self.table.exists

    def reach(self, allowed: Filter) -> Reach | None:
        """Return the cached places of the rows that `allowed` lets through; None unless all of them are cached."""
        return self.cache.reach(allowed) if self.cache else None

    def split(self, allowed: Filter) -> tuple[Reach, Filter | None]:
        """Return the cached places of the rows that `allowed` lets through, and a filter for those on disk, if any."""
        in_memory, on_disk = self.cache.split(allowed) if self.cache else ([], allowed)
        return in_memory, on_disk if on_disk is not None and self.exists else None

    def by_ids(self, ids: Sequence[str], allowed: Filter = ANY) -> dict[str, Memory]:
        in_memory, on_disk = self.split(allowed) if ids else ([], None)
        found = {key: one for part, places in in_memory for key, one in part.memories(ids, places).items()}
        if on_disk is not None and (others := [key for key in ids if key not in found]):
            found |= self.disk.memories(others, on_disk)
        return found

    def last_used(self, ids: Sequence[str], allowed: Filter) -> dict[str, datetime]:
        """Return when these were last accessed, else changed; `allowed` is the filter that they were found with."""
        in_memory, on_disk = self.split(allowed) if ids else ([], None)
        found = {key: moment for part, places in in_memory for key, moment in part.last_used(ids, places).items()}
        if on_disk is not None and (others := [key for key in ids if key not in found]):
            found |= self.disk.last_used(others)
        return found

    def anchored(self, action: Action, allowed: Filter) -> list[Match]:
        """Return the memories whose anchors the tool call touches, as of the last cached state."""
        return self._anchors.matches(action, allowed, self.reach(allowed))

    def mark(self, name: str) -> str:
        """Return the mark of this name from the store's folder, which copies include; empty if there is none."""
        try:
            return (self.directory / f".{name}").read_text(encoding="utf-8").strip()
        except (OSError, ValueError):
            return ""

    def set_mark(self, name: str, value: str) -> None:
        durable.write(durable.made_folder(self.directory) / f".{name}", f"{value}\n".encode())

    def close(self) -> None:
        self.maintenance.upkeep.stop()
        self.languages.drop()
        self.table.close()

    def writing(self) -> AbstractContextManager[None]:
        """The right to write, held by one at a time; on leaving, what was written is on disk."""
        return self.table.locked()

    annotating = writing

    def write(self, change: Callable[Concatenate[Target, P], None], /, *args: P.args, **kwargs: P.kwargs) -> None:
        with self.table.translating("writing to"):
            change(self, *args, **kwargs)

    # Changes

    def append(self, data: pa.Table) -> None:
        with self._adding(data):
            self.table.append(data)
        self._counted.add(data["terms"].to_pylist())

    def merge(self, data: pa.Table) -> None:
        self.table.merge(data)
        self._discard(data["id"].to_pylist(), is_urgent=data["forgotten"].null_count < len(data))

    def absorb(self, data: pa.Table, *, are_first: bool) -> None:
        """Upsert rows copied from another store; with `are_first`, append them to the empty table."""
        if are_first:
            self.table.append(data)
        else:
            self.table.merge(data, insert=True)
        self._counted.add(data["terms"].to_pylist())

    def remove(self, ids: Sequence[str]) -> None:
        if ids:
            self.table.remove(ids)
            self._discard(ids, is_urgent=True)

    def remove_forgotten(self, ids: Sequence[str]) -> None:
        with self._adding():
            self.table.remove_forgotten(ids)

    def expunge(self, ids: Sequence[str], left: Callable[[Row], Row] | None) -> None:
        """Rewrite all rows to new files; delete the old ones once the new are on disk and no query reads the old."""
        table = self.table
        self.maintenance.upkeep.stop()
        remove_file(self._snapshot)
        self.renewed_vectors.unlink(missing_ok=True)
        kept = [left(row) for row in table.rows(f"id IN ({quoted(ids)})").to_pylist()] if left else []
        table.overwrite(rewritten(table.handle, ids, kept))
        self.languages.discard(ids)
        compact(table.handle)
        table.sync()  # before the readers have to wait
        with table.readers.alone(READERS_SECONDS):
            sweep(table.handle, table.sync, is_ours_alone=table.directory is not None)
            if self.cache is not None:
                self.cache.drop()
            self._anchors.drop()
        self._counted = CountedTerms(self._all_terms)

    def put_back(self, rows: pa.Table) -> None:
        self.table.put_back(rows)
        self.languages.keep_only(rows["id"].to_pylist())

    def _discard(self, ids: Sequence[str], *, is_urgent: bool) -> None:
        """Delete what was derived from these memories, and old files that still have them, soon."""
        self.languages.discard(ids)
        self.table.unoptimized += OPTIMIZE_AFTER if is_urgent else 0

    def _adding(self, rows: pa.Table | None = None) -> AbstractContextManager[None]:
        """Nothing but these rows, of what can be seen, is written meanwhile."""
        return nullcontext() if self.cache is None else self.cache.adding(rows, self.table.model)

    def _rearranging(self) -> AbstractContextManager[None]:
        """No memory is changed meanwhile, only how they lie on disk."""
        return nullcontext() if self.cache is None else self.cache.rearranging()

    def _all_terms(self, limit: int) -> pa.Array:
        with self.table.reading("counting the terms of"):
            return only_chunk(self.table.rows(ANY.sql(), ["terms"], limit), "terms")
