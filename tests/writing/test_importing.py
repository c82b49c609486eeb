"""An import embeds what is new, once, whatever it was interrupted by."""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from memhook.core.memory import Draft
from memhook.core.terms import terms
from memhook.errors import EmbeddingError, StoreError
from memhook.library.library import EmbeddedOnce, Library
from memhook.store.table import schema
from memhook.writing import transfer
from memhook.writing.remember import forgotten, remembered
from memhook.writing.transfer import Mode, imported
from tests.conftest import Open
from tests.fake_embedder import HashEmbedder

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

NOW = datetime(2026, 3, 1, tzinfo=UTC)


class Counting(HashEmbedder):
    """Remembers every document it was asked for."""

    def __init__(self) -> None:
        super().__init__()
        self.read: list[str] = []

    def embed_documents(self, texts: Sequence[str]) -> list[npt.NDArray[np.float32]]:
        self.read += texts
        return super().embed_documents(texts)


@pytest.fixture
def embedder() -> Counting:
    return Counting()


@pytest.fixture
def library(open_library: Open, embedder: Counting) -> Library:
    return open_library(embedder)


def lines(*contents: str, project: str = "") -> list[tuple[int, str]]:
    day = "2026-01-05T10:00:00Z"
    records = ({"content": content, "project": project, "created": day} for content in contents)
    return [(number, json.dumps(record)) for number, record in enumerate(records, start=1)]


def test_what_a_file_says_twice_is_embedded_once(library: Library, embedder: Counting) -> None:
    result = imported(library, lines("deploys need a token", "replicas lag", "deploys need a token"), "", NOW)
    assert result.outcomes == {"stored": 2, "already there": 1}
    assert len(embedder.read) == 2


def test_what_is_there_is_not_embedded_again(library: Library, embedder: Counting) -> None:
    imported(library, lines("deploys need a token", "replicas lag"), "", NOW)
    embedder.read.clear()
    result = imported(library, lines("replicas lag", "caches go stale", "deploys need a token"), "", NOW)
    assert result.outcomes == {"stored": 1, "already there": 2}
    assert len(embedder.read) == 1


def test_an_import_that_was_killed_goes_on_where_it_stopped(open_library: Open) -> None:
    """A batch is stored or it is not: another process finds the first ones, and embeds the others."""
    texts = [f"note {number} about replicas" for number in range(30)]
    imported(open_library(Counting()), lines(*texts[:20]), "", NOW)
    again = Counting()
    library = open_library(again)
    assert imported(library, lines(*texts), "", NOW).outcomes == {"already there": 20, "stored": 10}
    assert len(again.read) == 10
    assert library.store.vectors.missing() == []


def test_what_another_project_knows_gives_its_vector(library: Library, embedder: Counting) -> None:
    imported(library, lines("deploys need a token", project="here"), "", NOW)
    embedder.read.clear()
    result = imported(library, lines("deploys need a token", project="there"), "", NOW)
    assert result.outcomes == {"stored": 1}
    assert embedder.read == []
    assert library.store.vectors.missing() == []


def test_what_was_forgotten_before_is_not_embedded(library: Library, embedder: Counting) -> None:
    stored = remembered(library, [Draft("deploys need a token")], NOW)[0].memory
    assert stored is not None
    forgotten(library, [stored.id], NOW)
    embedder.read.clear()
    assert imported(library, lines("deploys need a token"), "", NOW).outcomes == {"forgotten before": 1}
    assert embedder.read == []


class Held(Counting):
    """Embeds when it is let."""

    def __init__(self) -> None:
        super().__init__()
        self.asked, self.let = threading.Event(), threading.Event()

    def embed_documents(self, texts: Sequence[str]) -> list[npt.NDArray[np.float32]]:
        self.asked.set()
        self.let.wait()
        return super().embed_documents(texts)


def test_who_wants_what_is_being_embedded_waits_for_it() -> None:
    once, held = EmbeddedOnce(), Held()
    with ThreadPoolExecutor(2) as threads:
        first = threads.submit(once.vectors, held, ["one", "two"])
        held.asked.wait()
        second = threads.submit(once.vectors, held, ["two"])
        held.let.set()
        assert second.result()[0] is first.result()[1]
    assert held.read == ["one", "two"]


def test_a_text_whose_embedding_failed_may_be_asked_for_again() -> None:
    class Failing(Counting):
        def embed_documents(self, texts: Sequence[str]) -> list[npt.NDArray[np.float32]]:
            raise EmbeddingError("no")

    once, embedder = EmbeddedOnce(), Counting()
    with pytest.raises(EmbeddingError):
        once.vectors(Failing(), ["one"])
    assert len(once.vectors(embedder, ["one"])) == 1
    assert embedder.read == ["one"]


@pytest.mark.parametrize(
    ("error", "update"), [(IndexError, False), (RecursionError, True), (MemoryError, False), (OSError, True)]
)
def test_whatever_an_entry_sets_off_costs_that_entry_alone(
    library: Library, monkeypatch: pytest.MonkeyPatch, error: type[Exception], update: bool
) -> None:
    def failing(text: str) -> list[str]:
        if "hostile" in text:
            raise error("on this one")
        return terms(text)

    monkeypatch.setattr(schema, "terms", failing)
    given = lines(*("hostile" if number in (1, 7, 10) else "note" + f" {number}" for number in range(12)))
    given[10] = (11, json.dumps({"content": "also hostile"}))
    result = imported(library, given, "", NOW, Mode(update=update))
    assert result.outcomes == {"stored": 9}
    assert [number for number, _ in result.bad] == [2, 8, 11]
    assert all(reason for _, reason in result.bad)
    assert library.store.count() == 9


def test_a_line_that_cannot_be_read_for_any_reason_costs_itself_alone(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transfer, "is_id", lambda text: {"": False}[text])
    given = [(1, json.dumps({"content": "one", "id": "odd"})), (2, json.dumps({"content": "two"})), (3, "[" * 100_000)]
    result = imported(library, given, "", NOW)
    assert (result.outcomes, [number for number, _ in result.bad]) == ({"stored": 1}, [1, 3])
    assert "KeyError" in result.bad[0][1]


def test_a_store_that_takes_nothing_ends_the_import(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    attempts = []

    def failing(text: str) -> list[str]:
        attempts.append(text)
        raise OSError("no space left on device")

    monkeypatch.setattr(schema, "terms", failing)
    with pytest.raises(StoreError):
        imported(library, lines(*(f"note {number}" for number in range(100))), "", NOW)
    assert len(attempts) < 10
