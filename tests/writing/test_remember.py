from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import pytest

from memhook.answering.recall import for_search
from memhook.core.memory import Draft, Memory, Origin, is_id
from memhook.errors import InvalidInput, NotFound
from memhook.library.library import Library
from memhook.store.table.filters import Filter
from memhook.writing.remember import Stored, edited, forgotten, found, remembered

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


def stored(library: Library, content: str, **fields: object) -> Memory:
    result = remembered(library, [Draft(content, **fields)], NOW)[0]  # type: ignore[arg-type]
    assert result.memory is not None
    return result.memory


def titles(library: Library, query: str) -> list[str]:
    return [one.memory.title for one in for_search(library, query, Filter(), 5)]


def test_title_and_summary_are_derived_and_the_memory_gets_a_name(library: Library) -> None:
    memory = stored(library, "We use PostgreSQL here. It is backed up nightly.\nMore below.")
    assert is_id(memory.id)
    assert memory.title == "We use PostgreSQL here. It is backed up nightly."
    assert memory.summary == "We use PostgreSQL here."
    assert found(library, [memory.urn]) == found(library, [memory.id]) == [memory]


def test_the_same_content_in_one_project_is_one_memory(library: Library) -> None:
    first = remembered(library, [Draft("same", project="p"), Draft("same ", project="p")], NOW)
    again = remembered(library, [Draft("\nsame", project="p"), Draft("same", project="q")], NOW)
    assert [result.outcome for result in first + again] == ["stored", "already there", "already there", "stored"]
    assert first[0].memory == first[1].memory == again[0].memory
    assert library.store.count() == 2


def test_writers_at_the_same_time_lose_nothing_and_store_nothing_twice(library: Library) -> None:
    def write(number: int) -> list[Stored]:
        return remembered(library, [Draft(f"note {number // 2}")], NOW)

    with ThreadPoolExecutor(8) as writers:
        results = [result for results in writers.map(write, range(24)) for result in results]
    assert sorted(result.outcome for result in results) == ["already there"] * 12 + ["stored"] * 12
    assert library.store.count() == 12


@pytest.mark.parametrize(
    "draft",
    [
        Draft("  \n"),
        Draft("x" * 1_000_001),
        Draft("x", title="t" * 501),
        Draft("x", tags=tuple(f"tag{number}" for number in range(65))),
    ],
    ids=["empty", "too long", "long title", "many tags"],
)
def test_what_cannot_be_a_memory_is_refused_and_nothing_is_stored(library: Library, draft: Draft) -> None:
    with pytest.raises(InvalidInput):
        remembered(library, [Draft("fine"), draft], NOW)
    assert library.store.count() == 0


def test_lone_surrogates_are_stored_as_question_marks(library: Library) -> None:
    assert stored(library, "broken \ud800 text").content == "broken ? text"


def test_an_edit_keeps_the_name_and_is_found_by_its_new_words_only(library: Library) -> None:
    memory = stored(library, "the deploy runs on jenkins")
    changed = edited(library, memory.urn, {"content": "the deploy runs on buildkite"}, NOW + timedelta(days=1))
    assert (changed.id, changed.created, changed.updated) == (memory.id, NOW, NOW + timedelta(days=1))
    assert changed.title == "the deploy runs on buildkite"
    assert found(library, [memory.id]) == [changed]
    assert titles(library, "buildkite") == ["the deploy runs on buildkite"]
    assert library.store.candidates(lambda: None, ["jenkin"], Filter(), 5) == ([], 1)


def test_an_edit_may_not_make_a_second_memory_of_the_same_content(library: Library) -> None:
    stored(library, "first")
    second = stored(library, "second")
    with pytest.raises(InvalidInput, match="same content"):
        edited(library, second.id, {"content": "first"}, NOW)
    assert found(library, [second.id])[0].content == "second"


def test_what_was_forgotten_is_gone_and_does_not_come_back_by_import(library: Library) -> None:
    memory = stored(library, "the old secret handshake", tags=("handshake",))
    forgotten(library, [memory.urn], NOW)
    with pytest.raises(NotFound, match=memory.id):
        found(library, [memory.id])
    assert titles(library, "secret handshake") == []
    draft = Draft("the old secret handshake", origin=Origin.IMPORT)
    assert remembered(library, [draft], NOW)[0].outcome == "forgotten before"
    assert remembered(library, [draft], NOW, again=True)[0].outcome == "stored"
    assert titles(library, "secret handshake") == ["the old secret handshake"]


def test_the_user_may_remember_again_what_was_forgotten(library: Library) -> None:
    forgotten(library, [stored(library, "a thing").id], NOW)
    assert remembered(library, [Draft("a thing")], NOW)[0].outcome == "stored"


def test_a_superseded_memory_points_to_its_successor_until_that_is_forgotten(library: Library) -> None:
    old = stored(library, "we lint with TSLint")
    new = stored(library, "we lint with ESLint", supersedes=(old.urn,))
    assert found(library, [old.id])[0].superseded_by == new.id
    assert new.supersedes == (old.id,)
    forgotten(library, [new.id], NOW)
    assert found(library, [old.id])[0].superseded_by == ""


def test_an_edit_that_takes_back_a_succession_frees_the_old_memory(library: Library) -> None:
    old = stored(library, "we lint with TSLint")
    new = stored(library, "we lint with ESLint", supersedes=(old.id,))
    edited(library, new.id, {"supersedes": ()}, NOW)
    assert found(library, [old.id])[0].superseded_by == ""


def test_superseding_what_does_not_exist_stores_nothing(library: Library) -> None:
    with pytest.raises(NotFound):
        stored(library, "new", supersedes=("urn:memhook:zzzzzzzzzzzz",))
    assert library.store.count() == 0
