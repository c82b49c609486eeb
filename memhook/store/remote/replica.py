"""A store elsewhere, read from a copy of it here: however slow or far it is, nobody waits for it to answer a prompt."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock, RLock
from typing import Any, TypeVar

import pyarrow as pa
import pyarrow.compute as pc

from memhook.core.memory import Memory
from memhook.errors import RemoteError, StoreError
from memhook.files.durable import made_folder
from memhook.store.embedding.encoder import ModelIdentity
from memhook.store.embedding.language_search import RowsOnDisk
from memhook.store.remote.origin import OriginStore
from memhook.store.remote.waiting import Unanswered, answer_of, in_thread
from memhook.store.table.filters import quoted
from memhook.store.table.memories import MemoryStore
from memhook.store.table.opening import answers, first_line, local_directory
from memhook.store.table.recovery import FOREIGN_ERRORS
from memhook.store.table.schema import Vector, stored_terms

log = logging.getLogger("memhook")

R = TypeVar("R")

SEEN, REFRESHED = "origin-version", "refreshed"
NOT_AT_THE_ORIGIN = ("accessed", "muted", "released", "quarantine")


class ReplicatedStore(MemoryStore):
    """Reading, indexes and vectors are here; what is written is written there, and then fetched.

    Of a store that is shared, what a user mutes or lets through stays here: it is nobody else's business.
    """

    def __init__(
        self,
        folder: Path,
        backups: Path,
        origin_uri: str,
        open_origin: Callable[[], OriginStore],
        *,
        shared: bool,
        options: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(str(folder), backups)
        self.origin_uri = origin_uri
        self._folder = folder
        self._open_origin = open_origin
        self._opened_origin: OriginStore | None = None
        self._options = options or {}
        self._shared = shared
        self._refreshing = RLock()
        self._starting_refresh = Lock()
        self._refresh: Future[int] | None = None
        self.problem = ""
        """Why the last attempt to refresh it failed."""
        self.late_news = ""
        """What became of a write after its caller had been told that it failed."""

    @property
    def refreshed(self) -> datetime | None:
        """When it was last what its origin was; None before the first time."""
        with suppress(ValueError):
            return datetime.fromisoformat(self.mark(REFRESHED))
        return None

    def refresh(self) -> int:
        """Fetch what has changed at the origin; how many rows that were. Raises StoreError when that cannot be done."""
        if local_directory(self.origin_uri) is not None:
            return self._refreshed_now()
        try:
            mine, others = self._next_refresh()
            while others is not None:  # it may have begun before what this caller wants to see
                self._waited_for(others)
                mine, others = self._next_refresh()
            return self._waited_for(mine)
        except Unanswered:
            self.problem = f"The shared store at {self.origin_uri} does not answer."
            raise RemoteError(self.problem, "Nothing was changed there. Try again when it can be reached.") from None

    def _next_refresh(self) -> tuple[Future[int], Future[int] | None]:
        """One begun now, or else the one under way: not more and more of them wait for a place that is silent."""
        with self._starting_refresh:
            if self._refresh is not None and not self._refresh.done():
                return self._refresh, self._refresh
            self._refresh = in_thread(self._refreshed_now, "memhook-fetch")
            return self._refresh, None

    def _waited_for(self, future: Future[R]) -> R:
        return answer_of(future, lambda: answers(self.origin_uri, self._options))

    def _refreshed_now(self) -> int:
        with self._refreshing:
            try:
                fetched = self._fetch(self._origin())
            except StoreError as error:
                self.problem = error.message
                raise
            self.problem = ""
            self._note(REFRESHED, datetime.now(UTC).isoformat())
            return fetched

    # Written there

    @contextmanager
    def writing(self) -> Iterator[None]:
        """On top of what is there by now."""
        self.refresh()
        with self._origin().writing():
            yield

    @contextmanager
    def annotating(self) -> Iterator[None]:
        with self._locked() if self._shared else self.writing():
            yield

    def add(self, memories: Sequence[Memory], vectors: Sequence[Vector | None], model: ModelIdentity) -> None:
        self._there(lambda origin: origin.add(memories, vectors, model))

    def replace(self, memories: Sequence[Memory], vectors: Sequence[Vector | None], model: ModelIdentity) -> None:
        self._there(lambda origin: origin.replace(memories, vectors, model))

    def forget(self, memories: Sequence[Memory], now: datetime) -> None:
        self._there(lambda origin: origin.forget(memories, now))

    def remove(self, ids: Sequence[str]) -> None:
        self._there(lambda origin: origin.remove(ids))

    def unforget(self, hashes: Sequence[str]) -> None:
        if self.with_content(hashes, forgotten=True):
            self._there(lambda origin: origin.unforget(hashes))

    def redact(self, ids: Sequence[str], now: datetime) -> None:
        self._there(lambda origin: origin.redact(ids, now))
        with self._locked():
            super().redact(ids, now)

    def purge(self, ids: Sequence[str]) -> None:
        self._there(lambda origin: origin.purge(ids))
        with self._locked():
            super().purge(ids)

    def rewrite(self, memories: Sequence[Memory]) -> None:
        self._there(lambda origin: origin.rewrite(memories))
        with self._locked():
            super().rewrite(memories)

    def set_successor(self, ids: Sequence[str], successor: str) -> None:
        if ids:
            self._there(lambda origin: origin.set_successor(ids, successor))

    def set_project(self, ids: Sequence[str], project: str) -> None:
        self._there(lambda origin: origin.set_project(ids, project))

    def put_back(self, rows: pa.Table) -> None:
        self._there(lambda origin: origin.put_back(rows))

    def set_muted(self, ids: Sequence[str], muted: bool) -> None:
        if self._shared:
            super().set_muted(ids, muted)
        else:
            self._there(lambda origin: origin.set_muted(ids, muted))

    def set_quarantine(self, memory: Memory) -> None:
        if self._shared:
            super().set_quarantine(memory)
        else:
            self._there(lambda origin: origin.set_quarantine(memory))

    def optimize(self) -> bool:
        done = super().optimize()
        if self._opened_origin is not None:
            try:
                done = self._opened_origin.optimize() or done
            except FOREIGN_ERRORS as error:  # somebody will write again, and look again
                log.info("%s was not compacted: %s", self.origin_uri, first_line(error))
        return done

    # How it works inside

    def _origin(self) -> OriginStore:
        if self._opened_origin is None:
            try:
                self._opened_origin = self._open_origin()
            except RemoteError:
                raise
            except StoreError as error:
                raise RemoteError(error.message, error.hint) from error
        return self._opened_origin

    def _there(self, write: Callable[[OriginStore], None]) -> None:
        origin = self._origin()
        if local_directory(self.origin_uri) is not None:
            write(origin)
        else:
            self._landed(write, origin)
        try:
            self.refresh()
        except StoreError as error:  # it is written; the next refresh will bring it
            log.warning("written, but not fetched back yet: %s", error.message)

    def _landed(self, write: Callable[[OriginStore], None], origin: OriginStore) -> None:
        """Raises RemoteError when the origin falls silent; what is on its way then may land, and that is reported."""
        writing = in_thread(lambda: write(origin), "memhook-write")
        try:
            self._waited_for(writing)
        except Unanswered:
            origin.give_up()
            self._opened_origin = None  # the next one starts afresh
            writing.add_done_callback(self._report_late)
            raise RemoteError(
                f"The shared store at {self.origin_uri} stopped answering while this was written.",
                "It is not tried again. If it has arrived, the next prompt says so; said twice, it is stored once.",
            ) from None

    def _report_late(self, writing: Future[None]) -> None:
        if writing.exception() is None:
            now = datetime.now(UTC).isoformat(timespec="seconds")
            self.late_news = f"What was not confirmed has arrived in the store at {self.origin_uri} ({now})."
            log.warning("%s", self.late_news)

    def _fetch(self, origin: OriginStore) -> int:
        with self._translating(origin):
            return self._fetched(origin)

    def _fetched(self, origin: OriginStore) -> int:
        version = origin.version  # before its rows are read: what comes meanwhile is fetched the next time
        seen = int(self.mark(SEEN) or 0)
        if version == seen and self.exists:
            return 0
        fetched = 0
        with self._locked():
            for rows in origin.changes_since(seen if seen <= version and self.exists else 0):
                self._absorb(rows, origin.model)
                fetched += len(rows)
            if self._current_table() is not None and self._table.count_rows() != origin.count_rows():
                self._drop(self._every_id() - origin.all_ids())
            self._sync()  # first: what counts as seen is never fetched again
            self._note(SEEN, str(version))
        return fetched

    @contextmanager
    def _translating(self, origin: OriginStore) -> Iterator[None]:
        """What LanceDB raises while both are used is as good as always about the one that is elsewhere."""
        try:
            yield
        except FOREIGN_ERRORS as error:
            raise origin.failure(error) from error

    def _absorb(self, rows: pa.Table, model: ModelIdentity) -> None:
        if not len(rows):
            return
        is_first = self._current_table() is None
        table = self._table_for(model)
        if self.model != model:  # the vectors here are of the model that is wanted here; the daemon makes these anew
            rows = _without_vectors(rows)
        rows = _with_own_terms(rows.select(table.schema.names).cast(table.schema))
        if self._shared:  # what others have let through, this user has not
            place = rows.schema.get_field_index("released")
            rows = rows.set_column(place, rows.schema.field(place), pa.array([""] * len(rows), pa.string()))
        if is_first:
            table.add(rows, on_bad_vectors="null")
        else:
            rows = self._with_what_is_ours(rows)
            merge = table.merge_insert("id").when_matched_update_all().when_not_matched_insert_all()
            merge.execute(rows, on_bad_vectors="null")
        self._discard_outdated(rows)
        self._counted.add(rows["terms"].to_pylist())
        self._unoptimized += 1 + len(rows) // 8

    def _discard_outdated(self, rows: pa.Table) -> None:
        """What the multilingual encoder made here of a text that was changed, forgotten or redacted there."""
        left = pc.or_(pc.is_valid(rows["forgotten"]), rows["redacted"])
        self.languages.discard(rows.filter(left)["id"].to_pylist())
        self.languages.discard_outdated(RowsOnDisk(rows))

    def _with_what_is_ours(self, rows: pa.Table) -> pa.Table:
        """What this user has noted of a memory outlives a change that somebody else makes to it."""
        if not self._shared:
            return rows
        where = f"id IN ({quoted(rows['id'].to_pylist())}) AND (muted OR accessed IS NOT NULL OR released <> '')"
        noted = self._table.search().where(where).select(["id", "content_hash", *NOT_AT_THE_ORIGIN]).to_arrow()
        ours = {row["id"]: row for row in noted.to_pylist()}
        return pa.Table.from_pylist([_noted(row, ours) for row in rows.to_pylist()], rows.schema) if ours else rows

    def _drop(self, ids: set[str]) -> None:
        """What was purged there leaves no file here either."""
        if ids:
            self._take_out(sorted(ids), None)

    def _every_id(self) -> set[str]:
        return set(self._table.search().select(["id"]).to_arrow()["id"].to_pylist())

    def _note(self, name: str, value: str) -> None:
        made_folder(self._folder)
        self.set_mark(name, value)


def _with_own_terms(rows: pa.Table) -> pa.Table:
    """Whoever wrote them may have another version of memhook, which reads other terms out of the same text."""
    described = rows.drop_columns(["vector", "terms"]).to_pylist()
    return rows.set_column(rows.schema.get_field_index("terms"), "terms", pa.array(map(stored_terms, described)))


def _without_vectors(rows: pa.Table) -> pa.Table:
    place = rows.schema.get_field_index("vector")
    return rows.set_column(place, rows.schema.field(place), pa.nulls(len(rows), rows.schema.field(place).type))


def _noted(row: dict[str, Any], ours: Mapping[str, dict[str, Any]]) -> dict[str, Any]:
    own = ours.get(row["id"])
    if own is None:
        return row
    row |= {"accessed": own["accessed"], "muted": own["muted"] or row["muted"]}
    says_the_same = own["content_hash"] == row["content_hash"] and own["released"]
    return row | {"released": own["released"], "quarantine": own["quarantine"]} if says_the_same else row
