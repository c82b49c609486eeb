"""The personal store and the shared ones, searched as one. The personal store takes precedence.

If it has an id, even of a memory that is muted, closed or forgotten there, the memory of that id in a shared store is
ignored.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import cache
from operator import attrgetter
from typing import Any, TypeVar

from memhook.core.actions import Action
from memhook.core.anchor_index import Match
from memhook.core.grading import Calibration
from memhook.core.memory import Memory, Origin
from memhook.core.ranking import Candidate
from memhook.core.spelling import Vocabulary
from memhook.library.library import Library
from memhook.store.cache.words import TermStatistics
from memhook.store.embedding.encoder import Vector
from memhook.store.memories import MemoryStore
from memhook.store.table.filters import ANY, Filter

_T = TypeVar("_T")
_id: Callable[[Any], str] = attrgetter("id")


class JoinedLibraries:
    """Several libraries, the personal one first."""

    def __init__(self, libraries: Sequence[Library]) -> None:
        self._libraries = tuple(libraries)
        self.store = _JoinedStore(self._libraries)

    @property
    def vocabulary(self) -> Vocabulary:
        return self._libraries[0].vocabulary

    def query_vector(self, text: str) -> Vector | None:
        return self._libraries[0].query_vector(text)

    def multilingual_vector(self, text: str, allowed: Filter) -> Vector | None:
        """Return the query's vector by the one multilingual encoder, comparable with the vectors of every store."""
        readers = [library.languages.reader(text, allowed) for library in self._libraries]
        return next((reader.embed_query(text) for reader in readers if reader is not None), None)

    @property
    def calibration(self) -> Calibration:
        return self._libraries[0].calibration

    def fit_to_show(self, memories: Sequence[Memory]) -> list[Memory]:
        """Return those that may be shown, in their order, each screened by its own library."""
        fit = {
            memory.id: memory
            for library in self._libraries
            for memory in library.fit_to_show([one for one in memories if one.store == library.name])
        }
        return [fit[memory.id] for memory in memories if memory.id in fit]

    def suspicion(self, key: str) -> str:
        return next(filter(None, (library.suspicion(key) for library in self._libraries)), "")

    def touch(self, memories: Sequence[Memory], now: datetime) -> None:
        for library in self._libraries:
            library.touch([one for one in memories if one.store == library.name], now)


def joined(libraries: Sequence[Library]) -> Searchable:
    """Return the libraries as one; the personal one alone needs no joining."""
    return JoinedLibraries(libraries) if any(library.name for library in libraries) else libraries[0]


class _JoinedStore:
    """The joined stores for one prompt or call: each id is looked up once in the personal store."""

    def __init__(self, libraries: tuple[Library, ...]) -> None:
        self._libraries = libraries
        self._is_own: dict[str, bool] = {}

    @property
    def statistics(self) -> TermStatistics:
        parts = [library.store.statistics for library in self._libraries]
        documents = sum(part.documents for part in parts)
        words = sum(part.average_length * part.documents for part in parts)
        frequencies = _Sum(tuple(part.frequencies for part in parts))
        return TermStatistics(frequencies, documents, words / documents if documents else 1.0)

    def candidates(
        self,
        vector_of_query: Callable[[], Vector | None],
        terms: Sequence[str],
        allowed: Filter,
        limit: int,
        multilingual: Vector | None = None,
    ) -> tuple[list[Candidate], int]:
        vector_once = cache(vector_of_query)
        found: dict[str, Candidate] = {}
        searched = 0
        for library in self._libraries:
            comparable = self._comparable(library, vector_once)
            some, among = library.store.candidates(comparable, terms, allowed, limit, multilingual)
            found = {**{one.id: one for one in self._answered_by(library, some, _id)}, **found}
            searched += among
        return [found[key] for key in sorted(found)], searched

    def anchored(self, action: Action, allowed: Filter) -> list[Match]:
        found: dict[str, Match] = {}
        for library in reversed(self._libraries):
            matches = library.store.anchored(action, allowed)
            found |= {one.memory: one for one in self._answered_by(library, matches, attrgetter("memory"))}
        return sorted(found.values(), key=lambda one: (-one.score, one.memory))

    def by_ids(self, ids: Sequence[str], allowed: Filter = ANY) -> dict[str, Memory]:
        return self._merged(lambda store, _: list(store.by_ids(ids, allowed).values()), len(ids))

    def last_used(self, ids: Sequence[str], allowed: Filter = ANY) -> dict[str, datetime]:
        found: dict[str, datetime] = {}
        for library in self._libraries:
            there = library.store.last_used(ids, allowed)
            found |= {key: there[key] for key in self._answered_by(library, list(there), str)}
        return found

    def by_reference(self, references: Sequence[str], allowed: Filter) -> list[Memory]:
        by_name: dict[str, Memory] = {}
        for library in self._libraries:
            missing = [name for name in references if name not in by_name]
            there = self._answered_by(library, library.store.by_reference(missing, allowed), _id)
            for memory in _from(library, there):
                by_name = {**dict.fromkeys((memory.id, *memory.aliases), memory), **by_name}
        return list(dict.fromkeys(by_name[name] for name in references if name in by_name))

    def newest(
        self, allowed: Filter, limit: int, offset: int = 0, after: tuple[datetime, str] | None = None
    ) -> list[Memory]:
        found = self._merged(lambda store, most: store.newest(allowed, most, 0, after), limit + offset).values()
        return sorted(found, key=attrgetter("updated"), reverse=True)[offset : offset + limit]

    def sorted_by(self, column: str, allowed: Filter, limit: int, offset: int = 0) -> list[Memory]:
        found = self._merged(lambda store, most: store.sorted_by(column, allowed, most), limit + offset).values()
        if column == "title":
            return sorted(found, key=lambda memory: memory.title.lower())[offset : offset + limit]
        return sorted(found, key=attrgetter(column), reverse=True)[offset : offset + limit]

    def _merged(self, answer: Callable[[MemoryStore, int], Sequence[Memory]], most: int) -> dict[str, Memory]:
        """Return the answers of all stores, sorted by id; for a page, each store is asked for the whole page."""
        found: dict[str, Memory] = {}
        for library in reversed(self._libraries):
            found |= {one.id: one for one in _from(library, self._page(library, answer, most))}
        return dict(sorted(found.items()))

    def _page(
        self, library: Library, answer: Callable[[MemoryStore, int], Sequence[Memory]], most: int
    ) -> list[Memory]:
        """Return up to `most` that the library answers for; request twice as many while the personal store has some."""
        asked = most
        while True:
            page = answer(library.store, asked)
            kept = self._answered_by(library, page, _id)
            if len(kept) >= most or len(page) < asked or len(kept) == len(page):
                return kept[:most]
            asked *= 2

    def _answered_by(self, library: Library, some: Sequence[_T], id_of: Callable[[_T], str]) -> list[_T]:
        """Return those that the library answers for: a shared one only for ids that the personal store never had."""
        personal = self._libraries[0]
        if library is personal:
            return list(some)
        if new := [key for one in some if (key := id_of(one)) not in self._is_own]:
            known = personal.store.taken(new)
            self._is_own |= {key: key in known for key in new}
        return [one for one in some if not self._is_own[id_of(one)]]

    def counts(self, columns: Sequence[str]) -> dict[str, dict[str, int]]:
        each = [library.store.counts(columns) for library in self._libraries]
        return {name: dict(sum((Counter(one[name]) for one in each), Counter[str]())) for name in columns}

    def count(self, allowed: Filter | None = None) -> int:
        if allowed is None:  # at each start, only whether there is any matters, and each store has that in memory
            return sum(library.store.count() for library in self._libraries)
        return len(self.ids(allowed))

    def ids(self, allowed: Filter | None = None) -> list[str]:
        each = (self._answered_by(library, library.store.ids(allowed), str) for library in self._libraries)
        return sorted({key for some in each for key in some})

    def _comparable(self, library: Library, vector: Callable[[], Vector | None]) -> Callable[[], Vector | None]:
        """Return no vector while a replica has the vectors of another model: then only its words are searched."""
        return vector if library.reads_like(self._libraries[0]) else lambda: None


class _Sum(Mapping[str, int]):
    """Sums computed on access: a prompt has some dozen terms, the stores have a hundred thousand."""

    def __init__(self, parts: tuple[Mapping[str, int], ...]) -> None:
        self._parts = parts

    def __getitem__(self, term: str) -> int:
        if total := sum(part.get(term, 0) for part in self._parts):
            return total
        raise KeyError(term)

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys(term for part in self._parts for term in part))

    def __len__(self) -> int:
        return sum(1 for _ in self)


def _from(library: Library, memories: Iterable[Memory]) -> Iterator[Memory]:
    """Set the store's name on each memory, and on those of a foreign store the origin `shared`."""
    named: dict[str, Any] = {"store": library.name} if library.name else {}
    if library.foreign:
        named["origin"] = Origin.SHARED
    if not library.keeps_releases:
        named["released"] = ""
    return (replace(memory, **named) for memory in memories) if named else iter(memories)


Searchable = Library | JoinedLibraries
"""A library, or several searched as one."""
ReadableStore = MemoryStore | _JoinedStore
