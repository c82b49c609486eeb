from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

import numpy as np
import numpy.typing as npt

from memhook.store.embedding.vector_cache import CachedEmbedder
from tests.fake_embedder import HashEmbedder


class Counting(HashEmbedder):
    def __init__(self, identity: str = "hash-words") -> None:
        super().__init__(identity)
        self.asked: list[str] = []

    def embed_documents(self, texts: Sequence[str]) -> list[npt.NDArray[np.float32]]:
        self.asked += texts
        return super().embed_documents(texts)


@contextmanager
def cached(file: Path, embedder: HashEmbedder, largest: int = 100) -> Iterator[CachedEmbedder]:
    with closing(CachedEmbedder(embedder, file, largest)) as found:
        yield found


def test_a_text_is_embedded_once_for_each_model(tmp_path: Path) -> None:
    first, again, other = Counting(), Counting(), Counting("another")
    for embedder in (first, again, other):
        with cached(tmp_path / "c" / "vectors", embedder) as cache:
            vectors = cache.embed_documents(["one", "two", "one"])
            assert np.array_equal(vectors[0], embedder.embed_query("one"))
            assert np.array_equal(vectors[0], vectors[2])
    assert (set(first.asked), again.asked, set(other.asked)) == ({"one", "two"}, [], {"one", "two"})


def test_what_was_longest_unused_goes_first(tmp_path: Path) -> None:
    embedder = Counting()
    with cached(tmp_path / "vectors", embedder, largest=2) as cache:
        cache.embed_documents(["one"])
        cache.embed_documents(["two"])
        cache.embed_documents(["one"])
        cache.embed_documents(["three"])
        embedder.asked.clear()
        cache.embed_documents(["one", "three"])
        assert embedder.asked == []
        cache.embed_documents(["two"])
        assert embedder.asked == ["two"]


def test_the_file_is_private_and_one_that_is_no_cache_costs_only_time(tmp_path: Path) -> None:
    file = tmp_path / "vectors"
    with cached(file, Counting()) as cache:
        cache.embed_documents(["one"])
    assert file.stat().st_mode & 0o077 == 0
    file.write_bytes(b"not a database" * 100)
    embedder = Counting()
    with cached(file, embedder) as cache:
        assert len(cache.embed_documents(["one", "two"])) == 2
    assert embedder.asked == ["one", "two"]
    assert file.read_bytes().startswith(b"not a database")


def test_a_prompt_is_embedded_each_time_for_its_time_is_measured(tmp_path: Path) -> None:
    with cached(tmp_path / "vectors", Counting()) as cache:
        assert cache.embed_query("one") is not cache.embed_query("one")
        assert np.array_equal(cache.embed_query("two"), HashEmbedder().embed_query("two"))
