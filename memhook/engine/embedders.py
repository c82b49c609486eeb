"""Embedding models, each loaded once, in the background: importing this module is quick, the engine's takes longer."""

from __future__ import annotations

import logging
import time
from collections.abc import Set
from concurrent.futures import Future
from contextlib import suppress
from functools import partial
from pathlib import Path
from threading import Lock

from memhook.errors import EmbeddingError, MemhookError, SettingsError
from memhook.paths import Paths
from memhook.settings import load_settings
from memhook.store.embedding.encoder import Embedder, load_embedder
from memhook.store.remote.waiting import in_thread

log = logging.getLogger("memhook")

RETRY_SECONDS = 300.0


class Embedders:
    """By the name of the model."""

    def __init__(self, paths: Paths) -> None:
        self._paths = paths
        self._lock = Lock()
        self._loading: dict[str, tuple[Future[Embedder], float]] = {}

    def load_configured(self) -> None:
        """Begin with the model of the user's settings, if they can be read."""
        with suppress(SettingsError):
            self.of(load_settings(self._paths.config_file).usable().embedding.model)

    def of(self, model: str) -> Future[Embedder]:
        """The embedder; after a failure it is tried again later."""
        with self._lock:
            loading, since = self._loading.get(model, (None, 0.0))
            failed = loading is not None and loading.done() and loading.exception() is not None
            if loading is None or (failed and time.monotonic() - since > RETRY_SECONDS):
                loading = loading_embedder(model, self._paths.models)
                self._loading[model] = (loading, time.monotonic())
            return loading

    def keep_only(self, models: Set[str]) -> None:
        """Free the others: each takes a hundred megabytes and more."""
        with self._lock:
            for name in self.names - models:
                del self._loading[name]

    @property
    def names(self) -> Set[str]:
        return self._loading.keys()

    @property
    def loaded(self) -> list[Embedder]:
        with self._lock:
            loading = [one for one, _ in self._loading.values()]
        return [one.result() for one in loading if one.done() and one.exception() is None]


def loading_embedder(model: str, models: Path) -> Future[Embedder]:
    """The model, being loaded beside whatever else goes on."""
    return in_thread(partial(_loaded, model, models), "memhook-model")


def _loaded(model: str, models: Path) -> Embedder:
    try:
        return load_embedder(model, models)
    except MemhookError as error:
        log.warning("the model %s is not used: %s %s", model, error.message, error.hint)
        raise
    except Exception as error:
        log.exception("the embedding model failed to load")
        raise EmbeddingError(f"The embedding model {model} failed to load: {error}") from error
