"""The stores that the settings name, personal and shared, each opened once."""

from __future__ import annotations

import hashlib
import logging
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass

from memhook.errors import NotFound, StoreError
from memhook.library.library import Library
from memhook.paths import Paths, refuse_foreign
from memhook.settings import Embedding, Settings, Store
from memhook.store.embedding.encoder import Embedder
from memhook.store.memories import MemoryStore, own_store, replicated_store
from memhook.store.table.opening import local_directory

log = logging.getLogger("memhook")

REFRESH_SECONDS = 60.0  # of a remote personal store
OF_THE_ENVIRONMENT = "the environment"  # no shared store can have this name

Key = tuple[str, bool, str, tuple[tuple[str, str], ...]]


@dataclass(slots=True)
class _Open:
    library: Library
    refresh_seconds: float
    refresh_at: float = 0.0  # by the monotonic clock; 0 is at once


class OpenedLibraries:
    """The open libraries. A shared store that cannot be opened is left out, so that the personal one still works."""

    def __init__(self, paths: Paths, load: Callable[[str], Future[Embedder]]) -> None:
        self._paths = paths
        self._load = load
        self._opening = threading.Lock()
        self._open: dict[Key, _Open] = {}

    def personal(self, settings: Settings) -> Library:
        """Return the personal library. Raises StoreError when it cannot be opened; the next call tries again."""
        return self._library(_own_name(settings), settings.store, REFRESH_SECONDS, settings.embedding)

    def shared(self, settings: Settings) -> list[Library]:
        return [library for name in settings.stores if (library := self._if_possible(name, settings))]

    def named(self, name: str, settings: Settings) -> Library:
        """Return the shared library of this name; raise NotFound, which lists the existing ones."""
        store = settings.stores.get(name)
        if store is None or not store.uri:
            there = ", ".join(name for name, one in settings.stores.items() if one.uri)
            hint = f"There are: {there}." if there else f"Name its place: memhook config set stores.{name}.uri LOCATION"
            raise NotFound(f"No shared store is called {name}.", hint)
        return self._library(name, store, store.refresh_seconds, settings.embedding)

    def all(self) -> list[Library]:
        with self._opening:
            return [one.library for one in self._open.values()]

    def is_open(self, settings: Settings) -> Library | None:
        """Return the personal library, if it is open already."""
        found = self._open.get(_key(_own_name(settings), settings.store))
        return found.library if found else None

    def close_all(self) -> None:
        """Close all libraries; each is opened again on its next use."""
        with self._opening:
            self._open.clear()

    def close_deleted(self) -> None:
        with self._opening:
            for key in [key for key, one in self._open.items() if one.library.store.is_deleted]:
                log.info("the store at %s was deleted", key[2] or self._paths.store)
                del self._open[key]

    def refresh_due_ones(self) -> None:
        """Refresh each in a thread of its own: one that cannot be reached is slow to fail."""
        now = time.monotonic()
        with self._opening:
            due = [one for one in self._open.values() if one.refresh_at <= now]
            for one in due:
                one.refresh_at = now + one.refresh_seconds
        for one in due:
            threading.Thread(target=one.library.refresh, name="memhook-refresh", daemon=True).start()

    def _if_possible(self, name: str, settings: Settings) -> Library | None:
        try:
            return self.named(name, settings)
        except (StoreError, NotFound) as error:
            log.warning("%s %s", error.message, error.hint)
            return None

    def _library(self, name: str, store: Store, refresh_seconds: float, embedding: Embedding) -> Library:
        with self._opening:
            found = self._open.get(_key(name, store))
            if found is None:
                opened = store_at(store.uri, store.options, self._paths, name, foreign=store.foreign)
                library = Library(opened, embedding.model, self._load, name, foreign=store.foreign)
                found = _Open(library, refresh_seconds)
                self._open[_key(name, store)] = found
            found.refresh_seconds = refresh_seconds
            found.library.want(embedding.model)
            found.library.languages.want(embedding.languages)
            return found.library


def store_at(
    uri: str, options: Mapping[str, str], paths: Paths, name: str = "", *, foreign: bool = False
) -> MemoryStore:
    """Return the store at that URI: directly if it is the user's own folder, else through a local replica."""
    refuse_foreign(paths.data)
    if not uri:
        refuse_foreign(paths.store)
        return own_store(str(paths.store), paths.backups)
    if name in ("", OF_THE_ENVIRONMENT) and local_directory(uri) is not None:
        return own_store(uri, paths.backups)
    # Options may point the same URI elsewhere: memories from there must not end up in the user's own replica.
    place = f"{uri} {sorted(options.items())}" if foreign else uri
    replica = paths.replicas / hashlib.sha256(place.encode()).hexdigest()[:16]
    return replicated_store(replica, paths.backups, uri, options, shared=bool(name))


def _key(name: str, store: Store) -> Key:
    return name, store.foreign, store.uri, tuple(sorted(store.options.items()))


def _own_name(settings: Settings) -> str:
    """Return the name of the default store: empty, or OF_THE_ENVIRONMENT if it is foreign."""
    return OF_THE_ENVIRONMENT if settings.store.foreign else ""
