"""A store too large for memory is held by project, as right as one that is held whole."""

from __future__ import annotations

from typing import Any

import pytest

from memhook.core.terms import terms
from memhook.store.memories import MemoryStore
from memhook.store.table import changes
from memhook.store.table.filters import Filter
from memhook.store.table.indexes import Sizes
from tests.store.test_memories import Open, add, axis, memory
from tests.store.test_snapshot import whole

QUESTION = terms("note about the ledger")
HERE = Filter(projects=("", "here"))


@pytest.fixture
def large(open_store: Open) -> MemoryStore:
    """Global memories, and as many of two projects; more than are held together."""
    store = open_store(Sizes(held=20, part=50, parts=60))
    projects = ("", "here", "there")
    add(store, *(memory(one, f"note {one} about the ledger", project=projects[one % 3]) for one in range(45)))
    store.keep_in_memory()
    return store


def held(store: MemoryStore, allowed: Filter = HERE) -> MemoryStore:
    """The store once what is asked for was read."""
    assert store._here.cache is not None
    store._here.cache.renew_parts(allowed.projects)
    assert store._here.cache.reach(allowed) is not None
    return store


def answers(store: MemoryStore, allowed: Filter = HERE) -> tuple[list[tuple[str, float | None]], int]:
    found, searched = store.candidates(lambda: axis(1), QUESTION, allowed, 50)
    return [(one.id, one.cosine) for one in found], searched


def test_it_answers_from_memory_as_from_disk(large: MemoryStore) -> None:
    from_disk = answers(large)
    assert answers(held(large)) == from_disk
    assert from_disk[1] == 30


def test_only_the_project_that_is_not_in_memory_is_searched_on_disk(
    large: MemoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    from_disk = answers(large)
    assert large._here.cache is not None
    large._here.cache.renew_parts([""])
    searched: list[Filter] = []
    on_disk = large._disk.candidates

    def noted(vector: Any, words: Any, allowed: Filter, limit: int) -> Any:
        searched.append(allowed)
        return on_disk(vector, words, allowed, limit)

    monkeypatch.setattr(large._disk, "candidates", noted)
    assert answers(large) == from_disk
    assert [one.projects for one in searched] == [("here",)]
    both = ["m00000000000", "m00000000001"]  # of no project, and of this one
    assert list(large.by_ids(both, HERE)) == both


def test_at_the_threshold_it_is_held_whole_and_beyond_it_in_parts(open_store: Open) -> None:
    store = open_store(Sizes(held=20))
    add(store, *(memory(number, f"note {number} about the ledger", project="here") for number in range(20)))
    store.keep_in_memory()
    assert whole(store) is not None
    from_whole = answers(store)
    add(store, *(memory(number, f"note {number} about the ledger", project="there") for number in (20, 21)))
    store.keep_in_memory()
    assert whole(store) is None
    assert answers(held(store)) == from_whole


def test_a_memory_of_the_project_is_found_as_soon_as_it_is_stored(large: MemoryStore) -> None:
    held(large)
    add(large, memory(100, "a late note about the ledger", project="here"))
    assert "m00000000100" in {key for key, _ in answers(large)[0]}
    assert large.by_ids(["m00000000100"], HERE)


def test_what_is_stored_elsewhere_leaves_the_project_in_memory(large: MemoryStore) -> None:
    held(large)
    assert large._here.cache is not None
    before = large._here.cache._parts.current(HERE.projects)
    add(large, memory(100, "a note of another project", project="there"))
    assert large._here.cache._parts.current(HERE.projects) == before
    assert answers(large)[1] == 30


def test_what_another_process_does_is_noticed(large: MemoryStore, open_store: Open) -> None:
    held(large)
    other = open_store()
    with other.writing():
        other.write(changes.mute, ["m00000000001"], True)
    assert "m00000000001" not in {key for key, _ in answers(large, Filter(projects=("", "here"), muted=False))[0]}


def test_what_is_forgotten_is_gone_at_once(large: MemoryStore) -> None:
    held(large)
    with large.writing():
        large.write(changes.remove, ["m00000000001"])
    assert "m00000000001" not in {key for key, _ in answers(large)[0]}
    assert large.by_ids(["m00000000001"], HERE) == {}


def test_only_so_many_are_held_and_the_longest_unused_go_first(large: MemoryStore) -> None:
    add(large, *(memory(one, f"note {one} about the ledger", project="elsewhere") for one in range(100, 140)))
    held(large)
    assert large._here.cache is not None
    large._here.cache.renew_parts(["elsewhere"])
    assert set(large._here.cache._parts._kept) == {"here", "elsewhere"}


def test_a_project_that_is_too_large_is_searched_on_disk(open_store: Open) -> None:
    store = open_store(Sizes(held=20, part=25))
    add(store, *(memory(number, f"note {number} about the ledger", project="here") for number in range(30)))
    store.keep_in_memory()
    assert store._here.cache is not None
    store._here.cache.renew_parts(HERE.projects)
    assert store._here.cache.reach(HERE) is None
    assert answers(store)[1] == 30


def test_a_project_without_memories_is_held_too(large: MemoryStore) -> None:
    nowhere = Filter(projects=("", "nowhere"))
    assert answers(held(large, nowhere), nowhere)[1] == 15


def test_what_was_asked_before_is_ready_when_the_project_has_been_read(
    large: MemoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = answers(large)
    held(large)
    assert large._here.cache is not None
    monkeypatch.setattr(large._here.cache, "_ids", None)  # it would fail
    assert answers(large) == asked


def test_what_is_added_stays_in_memory_with_the_rest(large: MemoryStore, monkeypatch: pytest.MonkeyPatch) -> None:
    held(large)
    assert large._here.cache is not None
    monkeypatch.setattr(large._here.cache, "_read", None)  # it would fail
    for number in range(100, 105):
        add(large, memory(number, f"note {number} about the ledger", project="here"))
    assert large._here.cache.reach(HERE) is not None
    found, searched = answers(large)
    assert searched == 35
    assert {f"m00000000{number}" for number in range(100, 105)} <= {key for key, _ in found}
    assert set(large.by_ids(["m00000000001", "m00000000104"], HERE)) == {"m00000000001", "m00000000104"}


def test_what_is_added_and_may_not_be_seen_is_not(large: MemoryStore) -> None:
    held(large)
    add(large, memory(100, "a late note about the ledger", project="here", muted=True))
    assert answers(large, Filter(projects=("", "here"), muted=False))[1] == 30


def test_after_many_additions_a_project_is_read_anew(large: MemoryStore) -> None:
    held(large)
    for number in range(100, 135):
        add(large, memory(number, f"note {number} about the ledger", project="here"))
    assert large._here.cache is not None
    assert answers(large)[1] == 65
    parts = large._here.cache._parts.current(HERE.projects)
    assert parts is not None
    assert len(parts) == len(HERE.projects)
