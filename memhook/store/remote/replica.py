"""A remote store, read from a local copy: however slow the origin is, no prompt waits for it."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from typing import Any, Concatenate, ParamSpec, TypeVar

import pyarrow as pa
import pyarrow.compute as pc

from memhook.errors import RemoteError, StoreError
from memhook.store.cache.cached_table import CachedTable
from memhook.store.embedding.encoder import ModelIdentity
from memhook.store.remote.origin import Origin
from memhook.store.table.changes import ANNOTATING, EXPUNGING, Target
from memhook.store.table.filters import quoted
from memhook.store.table.opening import answers, local_directory
from memhook.store.table.recovery import FOREIGN_ERRORS, first_line
from memhook.store.table.schema import stored_terms
from memhook.store.vectors import RowsOnDisk

log = logging.getLogger("memhook")

P = ParamSpec("P")
R = TypeVar("R")

SEEN, REFRESHED = "origin-version", "refreshed"
NOT_AT_THE_ORIGIN = ("accessed", "muted", "released", "quarantine")
SILENT_SECONDS = 9.0  # after which an origin that does not answer is given up; an error must be reported within 15
LOOK_SECONDS = 1.0
PROBE_SECONDS = 4.0


class Unanswered(Exception):
    """The origin does not respond."""


class Replica:
    """Reads from a local table, writes to the origin, and fetches the changes from there.

    For a shared store, what a user mutes or releases is stored only locally: it concerns nobody else.
    """

    def __init__(self, here: CachedTable, origin_uri: str, options: Mapping[str, str], *, shared: bool) -> None:
        self.origin_uri = origin_uri
        self._here = here
        self._table = here.table
        self._opened_origin: Origin | None = None
        self._options = options
        self._shared = shared
        self._refreshing = threading.RLock()
        self._starting_refresh = threading.Lock()
        self._refresh: Future[int] | None = None
        self.problem = ""
        """Why the last attempt to refresh it failed."""
        self.late_news = ""
        """The outcome of a write whose failure had been reported to its caller."""

    @property
    def refreshed(self) -> datetime | None:
        """The time of the last successful refresh; None before the first."""
        with suppress(ValueError):
            return datetime.fromisoformat(self._here.mark(REFRESHED))
        return None

    def refresh(self) -> int:
        """Fetch the changes from the origin and return the number of rows. Raises StoreError when that fails."""
        if local_directory(self.origin_uri) is not None:
            return self._refreshed_now()
        try:
            while True:
                fetching, is_new = self._next_refresh()
                fetched = self._waited_for(fetching)
                if is_new:  # a running refresh may have begun before the change that this caller needs
                    return fetched
        except Unanswered:
            self.problem = f"The shared store at {self.origin_uri} does not answer."
            raise RemoteError(self.problem, "Nothing was changed there. Try again when it can be reached.") from None

    def _next_refresh(self) -> tuple[Future[int], bool]:
        """Return the running refresh or a new one, and whether it is new: they must not pile up at a silent origin."""
        with self._starting_refresh:
            is_new = self._refresh is None or self._refresh.done()
            if self._refresh is None or is_new:
                self._refresh = in_thread(self._refreshed_now, "memhook-fetch")
            return self._refresh, is_new

    def _waited_for(self, future: Future[R]) -> R:
        return answer_of(future, lambda: answers(self.origin_uri, self._options))

    def _refreshed_now(self) -> int:
        with self._refreshing:
            try:
                fetched = self._fetched(self.origin)
            except StoreError as error:
                self.problem = error.message
                raise
            except FOREIGN_ERRORS as error:  # an error of LanceDB nearly always comes from the origin
                failure = self.origin.failure(error)
                self.problem = failure.message
                raise failure from error
            self.problem = ""
            self._here.set_mark(REFRESHED, datetime.now(UTC).isoformat())
            return fetched

    # Writing to the origin

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Refresh first, so that changes are based on the current state of the origin."""
        self.refresh()
        with self.origin.writing():
            yield

    @contextmanager
    def annotating(self) -> Iterator[None]:
        with self._table.locked() if self._shared else self.writing():
            yield

    def write(self, change: Callable[Concatenate[Target, P], None], /, *args: P.args, **kwargs: P.kwargs) -> None:
        if self._shared and change in ANNOTATING:
            self._here.write(change, *args, **kwargs)
            return
        self._there(lambda origin: origin.write(change, *args, **kwargs))
        if change in EXPUNGING:
            with self._here.writing():
                self._here.write(change, *args, **kwargs)

    def optimize_origin(self) -> bool:
        """Compact the origin if it is due and this process has written to it; return whether it was done."""
        try:
            return self._opened_origin is not None and self._opened_origin.optimize()
        except FOREIGN_ERRORS as error:  # the next writer checks again
            log.info("%s was not compacted: %s", self.origin_uri, first_line(error))
            return False

    @property
    def origin(self) -> Origin:
        if self._opened_origin is None:
            try:
                self._opened_origin = Origin(self.origin_uri, self._table.backups, self._options)
            except RemoteError:
                raise
            except StoreError as error:
                raise RemoteError(error.message, error.hint) from error
        return self._opened_origin

    def _there(self, write: Callable[[Origin], None]) -> None:
        origin = self.origin
        if local_directory(self.origin_uri) is not None:
            write(origin)
        else:
            self._landed(write, origin)
        try:
            self.refresh()
        except StoreError as error:  # the write succeeded; the next refresh fetches it
            log.warning("written, but not fetched back yet: %s", error.message)

    def _landed(self, write: Callable[[Origin], None], origin: Origin) -> None:
        """Write in a thread; raise RemoteError when the origin stops responding, and report a write that lands late."""
        writing = in_thread(lambda: write(origin), "memhook-write")
        try:
            self._waited_for(writing)
        except Unanswered:
            origin.give_up()
            self._opened_origin = None  # the next write connects again
            writing.add_done_callback(self._report_late)
            raise RemoteError(
                f"The shared store at {self.origin_uri} stopped answering while this was written.",
                "It is not retried. If it arrived, the next prompt reports it; duplicates are stored once.",
            ) from None

    def _report_late(self, writing: Future[None]) -> None:
        if writing.exception() is None:
            now = datetime.now(UTC).isoformat(timespec="seconds")
            self.late_news = f"What was not confirmed has arrived in the store at {self.origin_uri} ({now})."
            log.warning("%s", self.late_news)

    def _fetched(self, origin: Origin) -> int:
        version = origin.version  # read before the rows: rows written meanwhile are fetched the next time
        seen, there = int(self._here.mark(SEEN) or 0), self._table.exists
        if version == seen and there:
            return 0
        fetched = 0
        with self._table.locked():
            for rows in origin.changes_since(seen if seen <= version and there else 0):
                self._absorb(rows, origin.model)
                fetched += len(rows)
            if self._table.count() != origin.count() and self._table.exists:
                purged = set(self._table.ids()) - set(origin.ids())
                if purged:
                    self._here.expunge(sorted(purged), None)
            self._table.sync()  # before the mark: rows of a version marked as seen are never fetched again
            self._here.set_mark(SEEN, str(version))
        return fetched

    def _absorb(self, rows: pa.Table, model: ModelIdentity) -> None:
        if not len(rows):
            return
        are_first = not self._table.exists
        self._table.ensure(model)
        if self._here.model != model:  # local vectors are of the local model; the daemon computes them
            rows = _with(rows, "vector", [None] * len(rows))
        rows = _with_columns_of(self._table.handle.schema, rows)
        # The writer may run another version of memhook, which extracts other terms from the same text.
        rows = _with(rows, "terms", map(stored_terms, rows.drop_columns(["vector", "terms"]).to_pylist()))
        if self._shared:  # a release by another user does not apply to this one
            rows = _with(rows, "released", [""] * len(rows))
        rows = rows if are_first else self._with_what_is_ours(rows)
        self._here.absorb(rows, are_first=are_first)
        self._discard_outdated(rows)

    def _discard_outdated(self, rows: pa.Table) -> None:
        """Discard multilingual vectors of texts that were changed, forgotten or redacted at the origin."""
        left = pc.or_(pc.is_valid(rows["forgotten"]), rows["redacted"])
        self._here.languages.discard(rows.filter(left)["id"].to_pylist())
        self._here.languages.discard_outdated(RowsOnDisk(rows))

    def _with_what_is_ours(self, rows: pa.Table) -> pa.Table:
        """Return the rows with this user's local annotations, which survive changes by others."""
        if not self._shared:
            return rows
        where = f"id IN ({quoted(rows['id'].to_pylist())}) AND (muted OR accessed IS NOT NULL OR released <> '')"
        noted = self._table.rows(where, ["id", "content_hash", *NOT_AT_THE_ORIGIN])
        ours = {row["id"]: row for row in noted.to_pylist()}
        return pa.Table.from_pylist([_noted(row, ours) for row in rows.to_pylist()], rows.schema) if ours else rows


def in_thread(work: Callable[[], R], name: str) -> Future[R]:
    """Run `work` in a thread and return its future. The exit of the process does not wait for the thread."""
    future: Future[R] = Future()

    def run() -> None:
        try:
            future.set_result(work())
        except BaseException as error:  # noqa: BLE001  whoever waits for the result gets it
            future.set_exception(error)

    threading.Thread(target=run, name=name, daemon=True).start()
    return future


def answer_of(future: Future[R], is_there: Callable[[], bool]) -> R:
    """Return the result of the future; raise Unanswered once the origin has been silent for SILENT_SECONDS.

    A call of LanceDB cannot be cancelled, and its own retries take minutes. So it runs in a thread, while a probe with
    short timeouts checks whether the origin responds at all: a slow one may take its time.
    """
    alive = time.monotonic()
    while not _is_done_within(future, LOOK_SECONDS):
        asked = time.monotonic()
        probe = in_thread(is_there, "memhook-probe")
        if _is_done_within(probe, PROBE_SECONDS) and probe.result():
            alive = asked
        elif time.monotonic() - alive > SILENT_SECONDS and not future.done():
            raise Unanswered
    return future.result()


def _is_done_within(future: Future[R], seconds: float) -> bool:
    with suppress(TimeoutError):
        future.exception(seconds)
    return future.done()


def _with_columns_of(schema: pa.Schema, rows: pa.Table) -> pa.Table:
    """Add the columns that a store of an older memhook lacks, empty, and cast the rows to the schema."""
    for field in schema:
        if field.name not in rows.schema.names:
            rows = rows.append_column(field, pa.nulls(len(rows), field.type))
    return rows.select(schema.names).cast(schema)


def _with(rows: pa.Table, name: str, values: Iterable[str | None]) -> pa.Table:
    """The rows with these values in one of their columns."""
    place = rows.schema.get_field_index(name)
    field = rows.schema.field(place)
    return rows.set_column(place, field, pa.array(values, field.type))


def _noted(row: dict[str, Any], ours: Mapping[str, dict[str, Any]]) -> dict[str, Any]:
    own = ours.get(row["id"])
    if own is None:
        return row
    row |= {"accessed": own["accessed"], "muted": own["muted"] or row["muted"]}
    says_the_same = own["content_hash"] == row["content_hash"] and own["released"]
    return row | {"released": own["released"], "quarantine": own["quarantine"]} if says_the_same else row
