from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from memhook.answering.recall import for_search
from memhook.core.memory import Draft
from memhook.errors import EmbeddingError
from memhook.library.library import Library, Renewal
from memhook.store.embedding.encoder import DEFAULT_MODEL, Embedder
from memhook.store.memories import own_store
from memhook.store.table import changes
from memhook.store.table.filters import Filter
from memhook.writing.remember import remembered
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

    library = Library(own_store(str(tmp_path / "store"), tmp_path / "backups"), "nonesuch", load)
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
    assert library.store.vectors.missing() == []
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


class Interrupted(HashEmbedder):
    """Goes away after so many texts; keeps account of those it has read."""

    def __init__(self, after: int) -> None:
        super().__init__("interrupted")
        self.left = after
        self.read: list[str] = []

    def embed_documents(self, texts: Sequence[str]) -> list[npt.NDArray[np.float32]]:
        self.left -= len(texts)
        if self.left < 0:
            raise EmbeddingError("The machine was switched off.")
        self.read += texts
        return super().embed_documents(texts)


def test_new_vectors_that_were_interrupted_go_on_where_they_stopped(open_library: Open) -> None:
    remembered(open_library(USUAL), [Draft(f"note {number}") for number in range(100)], NOW)
    first, second = Interrupted(after=70), Interrupted(after=100)
    with pytest.raises(EmbeddingError):
        open_library(first, USUAL).renew_vectors()
    library = open_library(second, USUAL)
    assert library.store.model == USUAL.model
    assert library.renew_vectors() == 100
    assert library.store.model == second.model
    assert (len(first.read), len(second.read)) == (64, 36)
    assert library.store.vectors.missing() == []
    assert not library.store.vectors.renewed.exists()


@pytest.fixture
def half_renewed(open_library: Open) -> Library:
    remembered(open_library(USUAL), [Draft(f"note {number}") for number in range(100)], NOW)
    library = open_library(Interrupted(after=70), USUAL)
    with pytest.raises(EmbeddingError):
        library.renew_vectors()
    assert library.store.vectors.renewed.exists()
    return library


def test_vectors_that_wait_for_others_go_when_a_memory_is_purged(half_renewed: Library) -> None:
    with half_renewed.store.writing():
        half_renewed.store.write(changes.purge, half_renewed.store.ids()[:1])
    assert not half_renewed.store.vectors.renewed.exists()


def test_vectors_of_a_model_that_is_no_longer_wanted_do_not_stay(half_renewed: Library, open_library: Open) -> None:
    open_library(USUAL).renew_vectors()
    assert not half_renewed.store.vectors.renewed.exists()
