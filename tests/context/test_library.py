from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

from memhook.context.library import Library
from memhook.context.recall import for_search
from memhook.context.remember import Draft, remembered
from memhook.store.filters import Filter
from tests.fake_embedder import HashEmbedder

NOW = datetime(2026, 3, 1, tzinfo=UTC)
Open = Callable[..., Library]


OTHER = HashEmbedder("another-model")


def test_without_a_model_words_alone_are_searched_and_the_reason_is_told(open_library: Open) -> None:
    library = open_library(None)
    remembered(library, [Draft("the cache is warmed by a cron job")], NOW)
    found = for_search(library, "cron cache", Filter(), 5)
    assert [one.memory.title for one in found] == ["the cache is warmed by a cron job"]
    assert "dense" not in found[0].parts
    assert "missing" in library.embedding_problem


def test_memories_stored_without_a_model_get_their_vectors_when_it_is_there(open_library: Open) -> None:
    remembered(open_library(None), [Draft("the cache is warmed by a cron job")], NOW)
    library = open_library()
    assert library.query_vector("cron") is None
    assert library.renew_vectors() == 1
    assert library.store.model == HashEmbedder().model
    assert "dense" in for_search(library, "cron cache", Filter(), 5)[0].parts


def test_vectors_of_another_model_are_not_compared_but_made_anew(open_library: Open) -> None:
    remembered(open_library(), [Draft("the cache is warmed by a cron job")], NOW)
    library = open_library(OTHER)
    assert library.query_vector("cron") is None
    assert "dense" not in for_search(library, "cron cache", Filter(), 5)[0].parts
    remembered(library, [Draft("written while the vectors are of the old model")], NOW)
    assert library.renew_vectors() == 2
    assert library.store.model == OTHER.model
    assert library.store.without_vector() == []
    assert library.renew_vectors() == 0
