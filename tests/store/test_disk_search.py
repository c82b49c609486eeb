"""Searching on disk: whether a filter is asked before or after the ranking, it lets the same through."""

from __future__ import annotations

from collections.abc import Collection
from datetime import timedelta
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from memhook.core.terms import terms
from memhook.store.memories import MemoryStore
from memhook.store.table import changes, disk_search
from memhook.store.table.filters import Filter
from memhook.store.table.indexes import Sizes
from tests.store.test_memories import MODEL, NOW, Open, add, memory

HIDDEN = 40  # of the memories nearest to the first one
QUESTION = terms("note about the ledger")
ROWS = 600
VECTORS = np.random.default_rng(5).standard_normal((ROWS, MODEL.dimensions)).astype(np.float32)
VECTORS /= np.linalg.norm(VECTORS, axis=1, keepdims=True)
NEAREST = np.argsort(-VECTORS @ VECTORS[0]).tolist()


def reason_to_hide(number: int) -> dict[str, object]:
    place = NEAREST.index(number)
    if place < HIDDEN:
        return {"muted": True}
    if place < HIDDEN + 3:
        return {"quarantine": "commands"}
    return {"expires": NOW} if place < HIDDEN + 6 else {}


@pytest.fixture
def on_disk(open_store: Open) -> MemoryStore:
    """Of the nearest ones some are muted, the next are in quarantine or have expired."""
    store = open_store(Sizes(held=100, exact=50))
    memories = [memory(one, f"note {one} about the ledger", **reason_to_hide(one)) for one in range(ROWS)]
    with store.writing():
        store.write(changes.add, memories, list(VECTORS), MODEL)
    return store


def found(store: MemoryStore, allowed: Filter, words: list[str] = QUESTION) -> tuple[set[str], int]:
    candidates, searched = store.candidates(lambda: VECTORS[0], words, allowed, 10)
    return {one.id for one in candidates}, searched


def ids(numbers: list[int]) -> set[str]:
    return {f"m{number:011d}" for number in numbers}


@pytest.mark.parametrize(
    "allowed",
    [
        Filter(),
        Filter(quarantined=False),
        Filter(alive_at=NOW + timedelta(seconds=1)),
        Filter(muted=False, quarantined=False, alive_at=NOW + timedelta(seconds=1)),
    ],
)
def test_a_filter_asked_after_the_ranking_gives_what_it_gives_before_it(
    on_disk: MemoryStore, allowed: Filter, monkeypatch: pytest.MonkeyPatch
) -> None:
    after = found(on_disk, allowed, [])
    monkeypatch.setattr(disk_search, "WIDE", 0)
    assert found(on_disk, allowed, []) == after
    assert len(after[0]) == 10


def test_the_best_that_may_be_seen_are_found_behind_many_that_may_not(on_disk: MemoryStore) -> None:
    seen, _ = found(on_disk, Filter(muted=False))
    assert ids(NEAREST[HIDDEN : HIDDEN + 10]) <= seen
    assert not ids(NEAREST[:HIDDEN]) & seen


@pytest.mark.parametrize("hidden", [False, True])
def test_rows_beyond_the_best_are_read_only_where_some_of_those_do_not_match(
    on_disk: MemoryStore, monkeypatch: pytest.MonkeyPatch, hidden: bool
) -> None:
    asked: list[int] = []
    real = on_disk._disk._those_matching

    def those_matching(rows: Collection[int], scope: Any) -> pa.Table:
        asked.extend(rows)
        return real(rows, scope)

    monkeypatch.setattr(on_disk._disk, "_those_matching", those_matching)
    allowed = Filter(except_ids=tuple(sorted(ids(NEAREST[:3])))) if hidden else Filter()
    seen, _ = found(on_disk, allowed, [])
    assert seen == ids(NEAREST[3:13] if hidden else NEAREST[:10])
    assert len(asked) == len(set(asked))
    assert (len(asked) > 10) is hidden


def test_what_is_forgotten_is_not_found(on_disk: MemoryStore) -> None:
    forgotten = on_disk.by_ids(sorted(ids(NEAREST[:3])))
    with on_disk.writing():
        on_disk.write(changes.forget, list(forgotten.values()), NOW)
    seen, _ = found(on_disk, Filter())
    assert not set(forgotten) & seen
    assert ids(NEAREST[3:13]) <= seen


def test_what_indexes_know_is_asked_before_the_ranking(on_disk: MemoryStore) -> None:
    add(on_disk, memory(ROWS, "the mail server of the office", project="other"))
    seen, searched = found(on_disk, Filter(projects=("other",), muted=False), terms("office mail"))
    assert (seen, searched) == (ids([ROWS]), 1)
    assert found(on_disk, Filter(projects=("other",), captured=True), terms("office mail")) == (set(), 0)


def test_a_memory_is_found_and_counted_as_soon_as_it_is_stored(on_disk: MemoryStore) -> None:
    assert found(on_disk, Filter())[1] == ROWS
    add(on_disk, memory(ROWS, "the mail server of the office"))
    seen, searched = found(on_disk, Filter(), terms("office mail"))
    assert ids([ROWS]) <= seen
    assert searched == ROWS + 1


def test_rows_that_a_write_may_have_numbered_anew_are_searched_for_again(
    on_disk: MemoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = found(on_disk, Filter(), [])
    real, asked = on_disk._disk._nearest, list[pa.Table]()

    def nearest(vector: Any, scope: Any) -> pa.Table:
        asked.append(real(vector, scope))
        if len(asked) == 1:
            on_disk._table.delete("id = 'none'")  # a version more, between the ranking and the rows
        return asked[-1]

    monkeypatch.setattr(on_disk._disk, "_nearest", nearest)
    assert found(on_disk, Filter(), []) == expected
    assert len(asked) == 2


def test_few_words_that_match_less_than_was_asked_for_are_all_there_is(
    on_disk: MemoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    add(on_disk, memory(ROWS, "the mail server of the office"))
    asked: list[pa.Table] = []
    real = on_disk._disk._matching

    def matching(*given: Any) -> pa.Table:
        asked.append(real(*given))
        return asked[-1]

    monkeypatch.setattr(on_disk._disk, "_matching", matching)
    candidates, _ = on_disk.candidates(lambda: None, terms("office mail"), Filter(muted=False), 10)
    assert [one.id for one in candidates] == [f"m{ROWS:011d}"]
    assert len(asked) == 1  # the filter was not asked again before the ranking


def test_what_was_found_last_is_read_by_its_place_and_after_a_write_by_its_id(on_disk: MemoryStore) -> None:
    seen = sorted(found(on_disk, Filter(muted=False), [])[0])
    by_place = on_disk.by_ids(seen, Filter(muted=False))
    assert sorted(by_place) == seen
    assert on_disk.by_ids(seen, Filter(muted=True, pinned=True)) == {}  # the filter is asked all the same
    with on_disk.writing():
        on_disk.write(changes.forget, [by_place[seen[0]]], NOW)
    assert sorted(on_disk.by_ids(seen, Filter(muted=False))) == seen[1:]
    assert {key: one for key, one in by_place.items() if key != seen[0]} == on_disk.by_ids(seen[1:])


def test_it_is_known_without_the_rest_when_a_memory_was_last_used(on_disk: MemoryStore) -> None:
    seen = sorted(found(on_disk, Filter(muted=False), [])[0])
    on_disk.touch(seen[:1], NOW + timedelta(days=1))
    used = on_disk.last_used([*seen, "unknown"], Filter(muted=False))
    memories = on_disk.by_ids(seen)
    assert used == {key: memories[key].accessed or memories[key].updated for key in seen}
    assert used[seen[0]] == NOW + timedelta(days=1)


def test_in_a_table_without_rows_nothing_is_found(on_disk: MemoryStore) -> None:
    with on_disk.writing():
        on_disk.write(changes.remove, sorted(ids(list(range(ROWS)))))
    assert found(on_disk, Filter()) == (set(), 0)
    assert found(on_disk, Filter(muted=False)) == (set(), 0)
