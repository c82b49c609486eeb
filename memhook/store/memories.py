"""The memories of one store: found by meaning, words and name, and written locally or, for a replica, at its origin."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from functools import cache, update_wrapper
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from memhook.core.actions import Action
from memhook.core.anchor_index import Match
from memhook.core.memory import ID_LENGTH, Memory
from memhook.core.ranking import Candidate
from memhook.store.cache.cached_table import CachedTable
from memhook.store.cache.words import TermStatistics, worth_looking_up
from memhook.store.embedding.encoder import ModelIdentity, Vector
from memhook.store.remote.replica import Replica
from memhook.store.table.changes import Target
from memhook.store.table.filters import ANY, Filter, quoted, timestamp
from memhook.store.table.indexes import SIZES, Sizes
from memhook.store.vectors import Vectors

QUERY_TERMS = 64  # a pasted log has thousands; the rarest identify its subject, and each costs time
ROWS_A_NAME = 8  # are read in the time that looking up one more name takes
DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"
_ALL = len(DIGITS) ** ID_LENGTH
_AHEAD = 2  # times as many ids as wanted should lie in a range: ids are spread almost evenly

P = ParamSpec("P")
R = TypeVar("R")


def _reading(method: Callable[Concatenate[MemoryStore, P], R]) -> Callable[Concatenate[MemoryStore, P], R]:
    """Wrap a method that reads: no file is deleted meanwhile, and LanceDB's exceptions are translated."""

    def call(self: MemoryStore, /, *args: P.args, **kwargs: P.kwargs) -> R:
        with self._table.reading("reading"):
            return method(self, *args, **kwargs)

    return update_wrapper(call, method)


class MemoryStore:
    """Reads from the local table, which is a copy of the origin if there is a `replica`."""

    def __init__(self, here: CachedTable, replica: Replica | None = None) -> None:
        self.replica = replica
        self.vectors = Vectors(here)
        self._here = here
        self._table = here.table
        self._writer = replica or here
        self._disk = here.disk
        self.uri = here.table.uri
        self.keep_in_memory = here.keep_in_memory
        self.unmap = here.unmap
        self.open_table = here.open_table
        self.health = here.maintenance.health
        self.mark = here.mark
        self.close = here.close

    @property
    def repaired(self) -> str:
        """The repair made when the store was opened; empty for none."""
        return self._table.repaired

    @property
    def model(self) -> ModelIdentity:
        """The model that computed the vectors."""
        return self._here.model

    @property
    def exists(self) -> bool:
        """Whether anything was ever stored."""
        return self._here.exists

    @property
    def is_deleted(self) -> bool:
        """Whether its folder was deleted since it was opened."""
        return self._table.is_deleted

    @property
    def statistics(self) -> TermStatistics:
        """How common each term is in the store."""
        return self._here.statistics

    def optimize(self) -> bool:
        """Bring the indexes up to date and delete old versions, when enough was written to pay for it."""
        with self._table.translating("optimizing"):
            done = self._here.maintenance.optimize()
        return (self.replica is not None and self.replica.optimize_origin()) or done

    def set_mark(self, name: str, value: str) -> None:
        with self._table.translating("marking"):
            self._here.set_mark(name, value)

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
        """Return the memories nearest by vector and best by words, sorted by id, and how many were searched.

        The cache returns the best `limit` by both together and a few by either, LanceDB the best `limit` by each. With
        `multilingual`, the query's vector by that encoder, those nearest to it are included.
        """
        in_memory, on_disk = self._here.split(allowed)
        languages = self._here.languages
        if not languages.is_in_use:
            multilingual = None
        by_vector = cache(vector_of_query)
        found: list[Candidate] = []
        searched = sum(len(places) for _, places in in_memory)
        if on_disk is not None:
            counted = self.statistics
            words = worth_looking_up(terms, counted.frequencies, counted.documents, QUERY_TERMS) if terms else []
            found, there = self._disk.candidates(by_vector, words, on_disk, limit)
            searched += there
            if multilingual is not None:
                query, is_few = (multilingual, by_vector()), there <= self._here.sizes.exact
                found = self.vectors.with_languages(found, query, on_disk, is_few)
        for part, places in in_memory:
            others = None if multilingual is None else languages.cosines(multilingual, part)
            found += part.candidates(by_vector(), terms, places, limit, others)
        return sorted(found, key=lambda one: one.id), searched

    @_reading
    def anchored(self, action: Action, allowed: Filter) -> list[Match]:
        """Return the memories whose anchors a tool call touches, the best first; none unless the store was cached."""
        return self._here.anchored(action, allowed) if self._table.exists else []

    @_reading
    def by_ids(self, ids: Sequence[str], allowed: Filter = ANY) -> dict[str, Memory]:
        """Return the allowed memories with these ids, by id."""
        return self._here.by_ids(ids, allowed)

    @_reading
    def last_used(self, ids: Sequence[str], allowed: Filter = ANY) -> dict[str, datetime]:
        """Return when the memories with these ids, found with this filter, were last accessed, else changed, by id."""
        return self._here.last_used(ids, allowed)

    @_reading
    def by_reference(self, references: Sequence[str], allowed: Filter) -> list[Memory]:
        """The memories with these ids or aliases, in the order asked for."""
        if not references or not self._table.exists:
            return []
        if (in_memory := self._here.reach(allowed)) is not None:
            by_id = {key: one for part, places in in_memory for key, one in part.memories(references, places).items()}
            if all(name in by_id for name in references):  # else one may be an alias
                return list(dict.fromkeys(by_id[name] for name in references))
        memories = list(self._table.memories(f"({allowed.sql()}) AND ({_called(references)})"))
        by_name = {alias: memory for memory in memories for alias in memory.aliases}
        by_name |= {memory.id: memory for memory in memories}  # an id is never another's alias
        return list(dict.fromkeys(by_name[name] for name in references if name in by_name))

    @_reading
    def find(self, field: str, values: Sequence[str], *, forgotten: bool | None = False) -> list[Memory]:
        """Return the memories with one of these values in a field, of any project; `name` means id and aliases.

        With `forgotten`, return the remains of forgotten ones; with None, both. It counts first: mostly there is no
        match, and selecting all fields takes LanceDB five times as long.
        """
        where = _CONDITIONS[field](values) if values else ""
        return list(self._table.memories(where, forgotten)) if where and self._table.count(where) else []

    @_reading
    def knows(self, /, **values: Sequence[str]) -> bool:
        """Whether `find` would find any in one of these fields, forgotten or not: one query instead of several."""
        where = " OR ".join(_CONDITIONS[field](some) for field, some in values.items() if some)
        return bool(where) and self._table.count(where) > 0

    @_reading
    def taken(self, names: Sequence[str]) -> set[str]:
        """Return the names that are, or were, an id or an alias of a memory."""
        in_memory = (self._here.reach(ANY) if names else None) or []
        found = {key for part, places in in_memory for key in part.reached(names, places)}
        if others := [name for name in names if name not in found]:  # forgotten, an alias, or new
            where = _called(others) if len(others) * ROWS_A_NAME < self._table.count() else None
            rows = self._table.rows(where or "", ["id", "aliases"]) if self._table.count(where) else None
            pairs = [] if rows is None else zip(rows["id"].to_pylist(), rows["aliases"].to_pylist(), strict=True)
            found |= {name for key, aliases in pairs for name in (key, *aliases)}.intersection(others)
        return found

    @_reading
    def newest(
        self, allowed: Filter, limit: int, offset: int = 0, after: tuple[datetime, str] | None = None
    ) -> list[Memory]:
        """Return a page of memories, the last updated first; `after` is the update time and id of the one before it."""
        if after is None and (in_memory := self._here.reach(allowed)) is not None:
            found = [one for part, places in in_memory for one in part.newest(places, offset + limit)]
            found.sort(key=lambda one: one[1])
            found.sort(key=lambda one: one[0], reverse=True)
            return self._in_order([key for _, key in found[offset : offset + limit]], allowed)
        where = allowed.sql()
        if after is not None:
            moment, last = timestamp(after[0]), quoted([after[1]])
            where += f" AND (updated < {moment} OR (updated = {moment} AND id > {last}))"
        return self._table.newest_by("updated", where, limit, offset)

    @_reading
    def sorted_by(self, column: str, allowed: Filter, limit: int, offset: int = 0) -> list[Memory]:
        """Return a page of memories, the newest first by a column of times, or sorted by title."""
        if column != "title":
            return self._table.newest_by(column, allowed.sql(), limit, offset)
        keys = self._table.rows(allowed.sql(), ["id", "title"])
        if not len(keys):
            return []  # pyarrow below 26 cannot select from an empty table
        keys = pa.table({"id": keys["id"], "title": pc.utf8_lower(keys["title"])})
        places = pc.select_k_unstable(keys, offset + limit, [("title", "ascending"), ("id", "ascending")])
        return self._in_order(keys["id"].take(places[offset:]).to_pylist(), allowed)

    @_reading
    def count(self, allowed: Filter | None = None) -> int:
        if allowed is None and (in_memory := self._here.reach(ANY)) is not None:
            return sum(len(places) for _, places in in_memory)
        return self._table.count((allowed or ANY).sql())

    @_reading
    def counts(self, columns: Sequence[str]) -> dict[str, dict[str, int]]:
        """Count the memories by value of each column; each value of a list counts."""
        rows = self._table.rows(ANY.sql(), columns)
        return {name: _counted(rows[name]) for name in columns}

    def counted_by(self, column: str) -> dict[str, int]:
        return self.counts([column])[column]

    @_reading
    def columns(self, names: Sequence[str]) -> dict[str, list[Any]]:
        """The values of these columns, of every memory."""
        rows = self._table.rows(ANY.sql(), names)
        return {name: rows[name].to_pylist() for name in names}

    @_reading
    def ids(self, allowed: Filter | None = None) -> list[str]:
        """Return the ids in order."""
        return sorted(self._table.ids((allowed or ANY).sql()))

    @_reading
    def after(self, last_id: str, limit: int) -> list[Memory]:
        """Return memories sorted by id, starting after `last_id`."""
        if not self._table.exists:
            return []
        return self._in_order(ids_after(last_id, limit, self._table.count(), self._ids_between))

    @_reading
    def all_rows(self) -> pa.Table | None:
        """Return all rows of one version, with the remains of forgotten memories; None if nothing was ever stored."""
        return self._table.handle.to_arrow() if self._table.exists else None

    # Writing: each change inside `writing`, so that it is based on the current state

    def writing(self) -> AbstractContextManager[None]:
        """Lock the store for changes, and sync them to disk on exit; a replica is refreshed first."""
        return self._writer.writing()

    def annotating(self) -> AbstractContextManager[None]:
        """Lock the store for the user's own annotations: memories muted or released."""
        return self._writer.annotating()

    def write(self, change: Callable[Concatenate[Target, P], None], /, *args: P.args, **kwargs: P.kwargs) -> None:
        """Make one of the changes that `table.changes` lists."""
        self._writer.write(change, *args, **kwargs)

    def touch(self, ids: Sequence[str], now: datetime) -> None:
        """Mark these as accessed, in the local table only."""
        if ids and self._table.exists:
            with self._table.translating("marking as accessed in"), self._table.locked():
                self._table.handle.update(where=f"id IN ({quoted(ids)})", values_sql={"accessed": timestamp(now)})
            self._table.unoptimized += 1

    def _in_order(self, ids: Sequence[str], allowed: Filter = ANY) -> list[Memory]:
        memories = self.by_ids(ids, allowed)
        return [memories[key] for key in ids if key in memories]

    def _ids_between(self, low: str, high: str) -> list[str]:
        """Return the ids above `low` up to `high`, or to the end if `high` is empty."""
        where = f"forgotten IS NULL AND id > {quoted([low])}" + (f" AND id <= {quoted([high])}" if high else "")
        return sorted(self._table.ids(where))


def own_store(uri: str, backups: Path, sizes: Sizes = SIZES) -> MemoryStore:
    """Return a local store without an origin."""
    return MemoryStore(CachedTable(uri, backups, sizes))


def replicated_store(
    folder: Path, backups: Path, origin_uri: str, options: Mapping[str, str], *, shared: bool
) -> MemoryStore:
    """Return a remote store, read from its copy in `folder`."""
    here = CachedTable(str(folder), backups)
    return MemoryStore(here, Replica(here, origin_uri, options, shared=shared))


def _counted(values: pa.ChunkedArray) -> dict[str, int]:
    values = pc.list_flatten(values) if pa.types.is_list(values.type) else values
    return {pair["values"]: pair["counts"] for pair in values.value_counts().to_pylist()}


def _called(names: Sequence[str]) -> str:
    return f"id IN ({quoted(names)}) OR array_has_any(aliases, [{quoted(names)}])"


_CONDITIONS: Mapping[str, Callable[[Sequence[str]], str]] = {
    "name": _called,
    "content_hash": lambda values: f"content_hash IN ({quoted(values)})",
    "supersedes": lambda values: f"array_has_any(supersedes, [{quoted(values)}])",
    "superseded_by": lambda values: f"superseded_by IN ({quoted(values)})",
}


def ids_after(last: str, limit: int, rows: int, between: Callable[[str, str], list[str]]) -> list[str]:
    """Return the first `limit` ids after `last`; `between` returns those of a range with its end, "" for no end."""
    step = _AHEAD * limit * _ALL // max(1, rows)
    found: list[str] = []
    while len(found) < limit:
        end = _place(last) + step
        high = _id_at(end) if end < _ALL else ""
        found += between(last, high)
        if not high:
            break
        last, step = high, 2 * step  # nearly empty here: imported ids may lie close together
    return found[:limit]


def _place(key: str) -> int:
    """Return the position of the key among all possible ids; characters that no id has count as the digit 0."""
    digits = "".join(character if character in DIGITS else DIGITS[0] for character in key[:ID_LENGTH])
    return int(digits.ljust(ID_LENGTH, DIGITS[0]), len(DIGITS))


def _id_at(place: int) -> str:
    return np.base_repr(place, len(DIGITS)).lower().rjust(ID_LENGTH, DIGITS[0])
