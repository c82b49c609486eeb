from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest

from memhook.engine import engine as engine_module
from memhook.engine.engine import Engine
from memhook.paths import user_paths
from memhook.store.embedding.encoder import Embedder
from tests.fake_embedder import HashEmbedder


class Counting(HashEmbedder):
    """Says how often it was asked."""

    asked = 0

    def embed_query(self, text: str) -> Any:
        self.asked += 1
        return super().embed_query(text)


@pytest.fixture
def embedder() -> Counting:
    return Counting()


def engine_with(embedder: Embedder, monkeypatch: pytest.MonkeyPatch) -> Engine:
    loaded: Future[Embedder] = Future()
    loaded.set_result(embedder)
    monkeypatch.setattr(engine_module, "loading_embedder", lambda *_: loaded)
    return Engine(user_paths())


@pytest.fixture
def engine(home: Path, embedder: Counting, monkeypatch: pytest.MonkeyPatch) -> Engine:
    return engine_with(embedder, monkeypatch)


Call = Callable[..., Any]


@pytest.fixture
def call(engine: Engine, tmp_path: Path) -> Call:
    """The engine as a door sees it."""
    directory = tmp_path / "work"
    directory.mkdir()
    return lambda method, **params: engine.call(method, params, str(directory), {})
