from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path

import pytest

from memhook.context.library import Library
from memhook.errors import EmbeddingError
from memhook.store.embedding import Embedder
from tests.fake_embedder import HashEmbedder

Open = Callable[..., Library]


@pytest.fixture
def open_library(tmp_path: Path) -> Open:
    """The library at one place, opened with the given model or with none."""

    def opened(embedder: Embedder | None = HashEmbedder()) -> Library:  # noqa: B008  it has no state
        loaded: Future[Embedder] = Future()
        if embedder is None:
            loaded.set_exception(EmbeddingError("The model is missing."))
        else:
            loaded.set_result(embedder)
        return Library(str(tmp_path / "store"), tmp_path / "backups", loaded)

    return opened


@pytest.fixture
def library(open_library: Open) -> Library:
    return open_library()
