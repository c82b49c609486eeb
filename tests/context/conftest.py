from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path

import pytest

from memhook.context.library import Library
from memhook.errors import EmbeddingError
from memhook.store.embedding import Embedder
from memhook.store.memories import MemoryStore
from tests.fake_embedder import HashEmbedder

Open = Callable[..., Library]


@pytest.fixture
def open_library(tmp_path: Path) -> Open:
    """The library at one place, opened with these models at hand, the first of them wanted."""

    def opened(*embedders: Embedder) -> Library:
        by_name = {embedder.model.id: embedder for embedder in embedders}

        def load(name: str) -> Future[Embedder]:
            loaded: Future[Embedder] = Future()
            if name in by_name:
                loaded.set_result(by_name[name])
            else:
                loaded.set_exception(EmbeddingError(f"The model {name} is missing."))
            return loaded

        return Library(MemoryStore(str(tmp_path / "store"), tmp_path / "backups"), next(iter(by_name), "none"), load)

    return opened


@pytest.fixture
def library(open_library: Open) -> Library:
    return open_library(HashEmbedder())
