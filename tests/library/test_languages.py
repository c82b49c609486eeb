from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from memhook.answering.recall import for_search
from memhook.core.memory import Draft
from memhook.errors import EmbeddingError
from memhook.library import languages as languages_module
from memhook.library.joined import joined
from memhook.library.library import Library
from memhook.settings import Languages as Mode
from memhook.store.embedding import multilingual
from memhook.store.embedding.encoder import Embedder
from memhook.store.memories import own_store
from memhook.store.table.filters import Filter
from memhook.writing.remember import edited, remembered
from tests.fake_embedder import HashEmbedder
from tests.fake_encoder import Dictionary

NOW = datetime(2026, 3, 1, tzinfo=UTC)
HERE = Filter(projects=("p", ""))
ENGLISH = Draft("The migration of the users table is slow", project="p")
GERMAN = Draft("Der Keks in der Sitzung ist zu alt und wird nicht erneuert", project="p")
ASKED_IN_GERMAN = "warum ist der Umzug der Tabelle so langsam?"
ASKED_IN_ENGLISH = "why is the cookie too old?"


class Loader:
    """Gives each model when it is asked for, and remembers what was."""

    def __init__(self, encoder: Dictionary | None) -> None:
        self.asked: list[str] = []
        self.pending: Future[Embedder] | None = None
        self._encoder = encoder

    def __call__(self, name: str) -> Future[Embedder]:
        self.asked.append(name)
        loaded: Future[Embedder] = Future()
        if name != multilingual.ID:
            loaded.set_result(HashEmbedder())
        elif self.pending is not None:
            return self.pending
        elif self._encoder is not None:
            loaded.set_result(self._encoder)
        else:
            loaded.set_exception(EmbeddingError("The encoder is missing.", "Install it."))
        return loaded

    @property
    def is_asked_for_others(self) -> bool:
        return multilingual.ID in self.asked


@pytest.fixture
def encoder() -> Dictionary:
    return Dictionary()


@pytest.fixture
def loader(encoder: Dictionary) -> Loader:
    return Loader(encoder)


Open = Callable[..., Library]


@pytest.fixture
def opened(tmp_path: Path, loader: Loader) -> Open:
    def open_(mode: Mode = "auto", load: Loader = loader, name: str = "") -> Library:
        store = own_store(str(tmp_path / f"store{name}"), tmp_path / "backups")
        library = Library(store, HashEmbedder().model.id, load, name)
        library.languages.want(mode)
        return library

    return open_


def cosines(library: Library, query: str, allowed: Filter = HERE) -> dict[str, float | None]:
    """By content."""
    vector = library.multilingual_vector(query, allowed)
    found, _ = library.store.candidates(lambda: library.query_vector(query), (), allowed, 50, vector)
    memories = library.store.by_ids([one.id for one in found])
    return {memories[one.id].content: one.multilingual for one in found}


def test_an_english_prompt_to_english_memories_costs_nothing(opened: Open, loader: Loader) -> None:
    library = opened()
    remembered(library, [ENGLISH], NOW)
    library.languages.look()
    library.languages.keep_up()
    assert cosines(library, ASKED_IN_ENGLISH) == {ENGLISH.content: None}
    assert not loader.is_asked_for_others
    assert library.models_in_use == {"hash-words"}


def test_the_first_prompt_in_another_language_finds_what_it_means(opened: Open) -> None:
    library = opened()
    remembered(library, [ENGLISH], NOW)
    assert cosines(library, ASKED_IN_GERMAN)[ENGLISH.content] == pytest.approx(1.0, abs=0.01)
    assert library.languages.is_in_use
    assert library.models_in_use == {"hash-words", multilingual.ID}


def test_a_memory_in_another_language_is_found_by_an_english_prompt(opened: Open, loader: Loader) -> None:
    library = opened()
    remembered(library, [GERMAN], NOW)
    assert loader.is_asked_for_others  # while it is stored, so that the prompt need not wait
    assert cosines(library, ASKED_IN_ENGLISH)[GERMAN.content] == pytest.approx(1.0, abs=0.05)


def test_what_is_stored_while_the_store_is_looked_at_counts(opened: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    """Housekeeping looks at a new store while the first import embeds what it will store."""
    library = opened()
    embedded = library._embedded.vectors

    def looked_at(*texts: Any) -> Any:
        library.languages.look()
        return embedded(*texts)

    monkeypatch.setattr(library._embedded, "vectors", looked_at)
    remembered(library, [GERMAN], NOW)
    assert cosines(library, ASKED_IN_ENGLISH)[GERMAN.content] == pytest.approx(1.0, abs=0.05)


def test_whether_it_bears_on_an_english_prompt_is_judged_by_both_models(opened: Open) -> None:
    library, english_alone = opened(), opened("english")
    remembered(library, [GERMAN], NOW)
    (by_both,) = for_search(library, ASKED_IN_ENGLISH, HERE, 1)
    (by_one,) = for_search(english_alone, ASKED_IN_ENGLISH, HERE, 1)
    assert by_both.score > 2 * by_one.score


def test_what_is_in_the_store_is_known_after_a_restart(opened: Open, tmp_path: Path, encoder: Dictionary) -> None:
    remembered(opened(), [GERMAN], NOW)
    again = Loader(encoder)
    library = opened(load=again)
    library.languages.look()
    assert again.is_asked_for_others


def test_that_prompts_came_in_another_language_is_known_after_a_restart(opened: Open, encoder: Dictionary) -> None:
    library = opened()
    remembered(library, [ENGLISH], NOW)
    cosines(library, ASKED_IN_GERMAN)
    again = Loader(encoder)
    opened(load=again).languages.look()
    assert again.is_asked_for_others


def test_another_projects_languages_do_not_matter(opened: Open, loader: Loader) -> None:
    library = opened()
    remembered(library, [ENGLISH, Draft(GERMAN.content, project="q")], NOW)
    loader.asked.clear()
    assert library.multilingual_vector(ASKED_IN_ENGLISH, HERE) is None
    assert library.multilingual_vector(ASKED_IN_ENGLISH, Filter(projects=("q", ""))) is not None
    assert library.multilingual_vector(ASKED_IN_ENGLISH, Filter()) is not None


def test_one_in_thousands_does_not_make_a_project_foreign(opened: Open, loader: Loader) -> None:
    library = opened()
    library.languages._known.count([("p", "The tests of this module are slow")] * 2000)
    library.languages._known.count([("p", GERMAN.content)] * 3)
    assert library.multilingual_vector(ASKED_IN_ENGLISH, HERE) is None
    library.languages._known.count([("p", GERMAN.content)] * 2)
    assert library.multilingual_vector(ASKED_IN_ENGLISH, HERE) is not None


def test_english_means_never_and_all_means_always(opened: Open, loader: Loader) -> None:
    never = opened("english")
    remembered(never, [GERMAN, ENGLISH], NOW)
    never.languages.look()
    never.languages.keep_up()
    assert set(cosines(never, ASKED_IN_GERMAN).values()) == {None}
    assert not loader.is_asked_for_others
    always = opened("all")
    assert always.languages.keep_up() == 2
    assert None not in cosines(always, ASKED_IN_ENGLISH).values()
    assert always.languages.is_in_use


def test_a_large_store_is_read_in_the_background_and_goes_on_where_it_stopped(
    opened: Open, encoder: Dictionary, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(languages_module, "AT_ONCE", 10)
    library = opened()
    remembered(library, [Draft(f"The table {number} is slow", project="p") for number in range(40)], NOW)
    assert set(cosines(library, ASKED_IN_GERMAN).values()) == {None}
    monkeypatch.setattr(encoder, "embed_documents", failing_after(20, encoder))
    with pytest.raises(RuntimeError):
        library.languages.keep_up()
    read_before = library.store.vectors.languages.count()
    assert 0 < read_before < 40
    monkeypatch.undo()
    again = opened()
    cosines(again, ASKED_IN_GERMAN)  # which asks for this project
    again.languages.keep_up()
    assert again.store.vectors.languages.count() == 40
    assert None not in cosines(again, ASKED_IN_GERMAN).values()
    assert len(encoder.read) < 40 + languages_module.TOGETHER, "only what was not stored yet is read again"


def failing_after(number: int, encoder: Dictionary) -> Callable[[Sequence[str]], list[npt.NDArray[np.float32]]]:
    plain, left = encoder.embed_documents, [number]

    def embed(texts: Sequence[str]) -> list[npt.NDArray[np.float32]]:
        left[0] -= len(texts)
        if left[0] < 0:
            raise RuntimeError("killed")
        return plain(texts)

    return embed


def test_a_prompt_does_not_wait_long_for_the_encoder_and_the_next_not_at_all(
    opened: Open, loader: Loader, encoder: Dictionary, monkeypatch: pytest.MonkeyPatch
) -> None:
    loader.pending = Future()
    library = opened()
    remembered(library, [ENGLISH], NOW)
    waits: list[float | None] = []
    plain = loader.pending.result

    def result(timeout: float | None = None) -> Embedder:
        waits.append(timeout)
        return plain(0 if timeout else timeout)

    monkeypatch.setattr(loader.pending, "result", result)
    assert cosines(library, ASKED_IN_GERMAN) == {ENGLISH.content: None}
    assert cosines(library, ASKED_IN_GERMAN) == {ENGLISH.content: None}
    assert waits == [languages_module.AT_ONCE_SECONDS, 0]
    loader.pending.set_result(encoder)
    assert cosines(library, ASKED_IN_GERMAN)[ENGLISH.content] == pytest.approx(1.0, abs=0.01)


def test_without_the_encoder_search_goes_on_and_the_reason_is_told(opened: Open) -> None:
    library = opened(load=Loader(None))
    remembered(library, [ENGLISH, GERMAN], NOW)
    assert set(cosines(library, ASKED_IN_GERMAN)) == {ENGLISH.content, GERMAN.content}
    library.languages.keep_up()
    assert library.languages.problem == "The encoder is missing. Install it."


def test_a_changed_memory_is_read_again_before_the_next_answer(opened: Open, encoder: Dictionary) -> None:
    library = opened()
    stored = remembered(library, [GERMAN], NOW)[0].memory
    assert stored is not None
    cosines(library, ASKED_IN_ENGLISH)
    edited(library, stored.urn, {"content": "Die Tabelle ist langsam und wird nicht kleiner"}, NOW)
    found = cosines(library, "the slow table")
    assert found["Die Tabelle ist langsam und wird nicht kleiner"] == pytest.approx(1.0, abs=0.05)
    assert len(encoder.read) == 2


def test_after_a_while_without_use_nothing_of_it_is_kept_in_memory(
    opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    library = opened()
    remembered(library, [GERMAN], NOW)
    cosines(library, ASKED_IN_ENGLISH)
    library.languages.keep_up()
    assert multilingual.ID in library.models_in_use
    monkeypatch.setattr(languages_module, "UNUSED_SECONDS", 0.0)
    library.languages.keep_up()
    assert multilingual.ID not in library.models_in_use
    assert not library.store.vectors.languages.is_in_use
    monkeypatch.undo()
    assert cosines(library, ASKED_IN_ENGLISH)[GERMAN.content] is not None


def test_housekeeping_does_not_count_as_use(opened: Open, loader: Loader) -> None:
    library = opened()
    remembered(library, [GERMAN], NOW)
    used = library.languages._last_use
    for _ in range(3):
        library.languages.look_again()
        library.languages._is_looked_at = True
        library.languages.keep_up()
    assert library.languages._last_use == used


def test_a_shared_store_in_another_language_is_searched_beside_an_english_one(opened: Open) -> None:
    mine, theirs = opened(), opened(name="team")
    remembered(mine, [ENGLISH], NOW)
    remembered(theirs, [GERMAN], NOW)
    both = joined([mine, theirs])
    vector = both.multilingual_vector(ASKED_IN_ENGLISH, HERE)
    found, _ = both.store.candidates(lambda: None, (), HERE, 50, vector)
    memories = both.store.by_ids([one.id for one in found])
    assert {memories[one.id].content for one in found if one.multilingual is not None} == {GERMAN.content}


def test_many_prompts_at_once_are_all_answered(opened: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(languages_module, "AT_ONCE_SECONDS", 300.0)
    library = opened()
    remembered(library, [Draft(f"The table {number} is slow", project="p") for number in range(30)], NOW)
    library.store.keep_in_memory()
    answers: list[int] = []
    threads = [
        threading.Thread(target=lambda: answers.append(len(cosines(library, ASKED_IN_GERMAN)))) for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(answers) == 8
    assert library.store.vectors.languages.count() == 30
