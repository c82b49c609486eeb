from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import numpy.typing as npt

from memhook.context.library import Library, Renewal
from memhook.context.recall import for_search
from memhook.context.remember import Draft, remembered
from memhook.errors import EmbeddingError
from memhook.store.embedding import DEFAULT_MODEL, Embedder
from memhook.store.filters import Filter
from memhook.store.memories import MemoryStore
from tests.fake_embedder import HashEmbedder

NOW = datetime(2026, 3, 1, tzinfo=UTC)
Open = Callable[..., Library]


USUAL = HashEmbedder()
OTHER = HashEmbedder("another-model")
FACT = Draft("the cache is warmed by a cron job")


def has_vectors(library: Library) -> bool:
    return "dense" in for_search(library, "cron cache", Filter(), 5)[0].parts


def test_without_a_model_words_alone_are_searched_and_the_reason_is_told(open_library: Open) -> None:
    library = open_library()
    remembered(library, [FACT], NOW)
    assert [one.memory.content for one in for_search(library, "cron cache", Filter(), 5)] == [FACT.content]
    assert not has_vectors(library)
    assert "missing" in library.embedding_problem


def test_a_model_that_does_not_exist_leaves_an_empty_store_to_the_default_one(tmp_path: Path) -> None:
    default = HashEmbedder(DEFAULT_MODEL)

    def load(name: str) -> Future[Embedder]:
        loaded: Future[Embedder] = Future()
        if name == DEFAULT_MODEL:
            loaded.set_result(default)
        else:
            loaded.set_exception(EmbeddingError(f"No embedding model is called {name}."))
        return loaded

    library = Library(MemoryStore(str(tmp_path / "store"), tmp_path / "backups"), "nonesuch", load)
    remembered(library, [FACT], NOW)
    assert has_vectors(library)
    assert library.store.model == default.model
    assert "nonesuch" in library.embedding_problem


def test_memories_stored_without_a_model_get_their_vectors_when_it_is_there(open_library: Open) -> None:
    remembered(open_library(), [FACT], NOW)
    library = open_library(USUAL)
    assert not has_vectors(library)
    assert library.renew_vectors() == 1
    assert library.store.model == USUAL.model
    assert has_vectors(library)
    assert library.renew_vectors() == 0


def test_another_model_makes_every_vector_anew_while_the_old_ones_are_searched(open_library: Open) -> None:
    remembered(open_library(USUAL), [FACT], NOW)
    library = open_library(OTHER, USUAL)
    assert library.store.model == USUAL.model
    assert has_vectors(library)
    remembered(library, [Draft("written before the new vectors are complete")], NOW)
    assert library.store.model == USUAL.model
    assert library.renew_vectors() == 2
    assert library.store.model == OTHER.model
    assert library.store.without_vector() == []
    assert has_vectors(library)


def test_vectors_of_a_model_that_is_gone_are_not_compared_with_those_of_another(open_library: Open) -> None:
    remembered(open_library(USUAL), [FACT], NOW)
    library = open_library(OTHER)
    assert library.query_vector("cron") is None
    assert not has_vectors(library)
    library.renew_vectors()
    assert has_vectors(library)


def test_the_progress_of_new_vectors_can_be_watched(open_library: Open) -> None:
    remembered(open_library(USUAL), [Draft(f"note {number}") for number in range(100)], NOW)
    seen: list[Renewal | None] = []

    class Watched(HashEmbedder):
        def embed_documents(self, texts: Sequence[str]) -> list[npt.NDArray[np.float32]]:
            seen.append(library.renewal)
            return super().embed_documents(texts)

    library = open_library(Watched("watched"))
    library.renew_vectors()
    assert seen == [Renewal(0, 100), Renewal(64, 100)]
    assert library.renewal is None
