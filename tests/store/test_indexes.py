"""Indexes come and grow by themselves, survive a kill, and never decide what is found."""

from __future__ import annotations

import fcntl
import os
import signal
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from memhook.core.terms import terms
from memhook.store.memories import MemoryStore
from memhook.store.table import changes, indexes
from memhook.store.table.filters import Filter
from memhook.store.table.indexes import Sizes
from memhook.store.table.lance import lancedb
from memhook.store.table.maintenance import BUSY, LOCK, Upkeep, main, stop_any
from tests.store.test_memories import MODEL, Open, add, axis, contents, memory

SMALL = Sizes(held=100, scanned=100, exact=300, apart=10_000)


@pytest.fixture(autouse=True)
def small_partitions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(indexes, "ROWS_IN_PARTITION", 100)


def kept_indexes(folder: Path) -> dict[str, Any]:
    listed = lancedb().connect(folder / "store").open_table("memories").list_indices()
    return {index.name: index for index in listed}


def many(store: MemoryStore, first: int, count: int) -> None:
    add(store, *(memory(number, f"note {number}") for number in range(first, first + count)))


def test_a_store_that_grows_gets_a_vector_index_and_new_memories_are_found_beside_it(
    open_store: Open, tmp_path: Path
) -> None:
    store = open_store(SMALL)
    many(store, 0, 600)
    assert store.optimize()
    assert "vector_in_6" in kept_indexes(tmp_path)
    add(store, memory(1000, "after the index"))
    found, searched = store.candidates(lambda: axis(0), ["after"], Filter(), 5)
    assert searched == 601
    assert {"note 0", "note 384", "after the index"} <= set(contents(store, [o for o in found if o.cosine == 1.0]))


def test_a_small_store_has_an_index_on_its_words_alone_and_gets_the_others_as_it_grows(
    open_store: Open, tmp_path: Path
) -> None:
    store = open_store(SMALL)
    many(store, 0, 100)
    assert not store.optimize()
    assert {index.index_type for index in kept_indexes(tmp_path).values()} == {"FTS"}
    many(store, 100, 1)
    assert store.optimize()
    assert {index.columns[0] for index in kept_indexes(tmp_path).values()} == set(indexes.INDEXES)


def test_few_vectors_need_no_index(open_store: Open, tmp_path: Path) -> None:
    store = open_store(Sizes(exact=600))
    many(store, 0, 600)
    assert store.optimize()
    assert not any(name.startswith("vector") for name in kept_indexes(tmp_path))


def test_indexes_are_extended_over_what_came_later(open_store: Open, tmp_path: Path) -> None:
    store = open_store(SMALL)
    many(store, 0, 600)
    store.optimize()
    many(store, 600, 600)
    assert kept_indexes(tmp_path)["terms_idx"].num_unindexed_rows == 600
    assert store.optimize()
    assert {index.num_unindexed_rows for index in kept_indexes(tmp_path).values()} == {0}


def test_an_index_that_the_store_has_outgrown_is_made_anew(open_store: Open, tmp_path: Path) -> None:
    store = open_store(SMALL)
    many(store, 0, 400)
    store.optimize()
    assert "vector_in_4" in kept_indexes(tmp_path)
    many(store, 400, 1_300)
    assert store.optimize()
    assert [name for name in kept_indexes(tmp_path) if name.startswith("vector")] == ["vector_in_17"]


def test_an_index_of_an_older_memhook_gives_way(open_store: Open, tmp_path: Path) -> None:
    store = open_store(SMALL)
    many(store, 0, 400)
    store._here.table.handle.create_index(
        "vector", config=lancedb().index.IvfFlat(distance_type="dot", num_partitions=2)
    )
    assert store.optimize()
    assert [name for name in kept_indexes(tmp_path) if name.startswith("vector")] == ["vector_in_4"]


def test_an_index_that_would_list_nearly_every_row_is_dropped(open_store: Open, tmp_path: Path) -> None:
    store = open_store(SMALL)
    many(store, 0, 101)
    store._here.table.handle.create_index("muted", config=lancedb().index.Bitmap())
    assert store.optimize()
    assert {index.columns[0] for index in kept_indexes(tmp_path).values()} == set(indexes.INDEXES)


def test_what_a_kill_left_out_the_next_process_makes(open_store: Open, tmp_path: Path) -> None:
    store = open_store(SMALL)
    many(store, 0, 400)
    store.optimize()
    store._here.table.handle.drop_index("vector_in_4")
    store._here.table.handle.drop_index("project_idx")
    reopened = open_store(SMALL)
    assert contents(reopened, reopened.candidates(lambda: axis(7), [], Filter(), 400)[0])  # meanwhile, too
    assert reopened.optimize()
    assert {"vector_in_4", "project_idx"} <= set(kept_indexes(tmp_path))


def test_a_large_store_is_kept_by_a_process_of_its_own(open_store: Open, tmp_path: Path) -> None:
    store = open_store(Sizes(held=100, scanned=100, exact=300, apart=350))
    many(store, 0, 400)
    assert store.optimize()
    assert store._here.maintenance.upkeep is not None
    store._here.maintenance.upkeep.wait()
    assert not store.optimize()
    made = kept_indexes(tmp_path)
    assert "vector_in_1" in made  # in partitions of the usual size
    assert {index.num_unindexed_rows for index in made.values()} == {0}
    assert not (tmp_path / "store" / LOCK).exists()


def test_memories_are_stored_while_the_indexes_are_kept(open_store: Open) -> None:
    store = open_store(Sizes(held=100, scanned=100, exact=300, apart=350))
    many(store, 0, 400)
    assert store.optimize()
    for number in range(500, 520):
        add(store, memory(number, f"meanwhile {number}"))
    assert store._here.maintenance.upkeep is not None
    store._here.maintenance.upkeep.wait()
    assert store.count() == 420
    found, _ = store.candidates(lambda: None, terms("meanwhile"), Filter(), 50)
    assert len(found) == 20


def test_a_killed_upkeep_is_done_again_by_the_next_process(open_store: Open, tmp_path: Path) -> None:
    sizes = Sizes(held=100, scanned=100, exact=300, apart=350)
    store = open_store(sizes)
    many(store, 0, 400)
    assert store.optimize()
    assert store._here.maintenance.upkeep is not None
    assert store._here.maintenance.upkeep._process is not None
    os.kill(store._here.maintenance.upkeep._process.pid, signal.SIGKILL)
    store._here.maintenance.upkeep.wait()
    assert not store._here.maintenance.upkeep.finished()
    reopened = open_store(sizes)
    assert reopened.optimize()
    assert reopened._here.maintenance.upkeep is not None
    reopened._here.maintenance.upkeep.wait()
    assert reopened._here.maintenance.upkeep.finished()
    assert "vector_in_1" in kept_indexes(tmp_path)


def test_nobody_keeps_the_same_store_twice_at_once_and_who_purges_ends_it(
    open_store: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "nice", lambda _: 0)
    store = open_store(Sizes(held=100, scanned=100, exact=300, apart=350))
    many(store, 0, 400)
    assert store.optimize()
    store.write(changes.purge, ["m00000000001"])
    assert store._here.maintenance.upkeep is not None
    assert not store._here.maintenance.upkeep.is_running
    assert store.count() == 399
    stop_any(tmp_path / "store")  # there is none any more
    assert Upkeep(tmp_path / "store", SMALL).may_begin()


def test_projects_of_a_large_store_are_searched_as_exactly_as_a_small_one(open_store: Open) -> None:
    chance = np.random.default_rng(3)
    vectors = chance.standard_normal((1_200, MODEL.dimensions)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    projects = [f"project{number % 7}" if number % 10 else "" for number in range(1_200)]
    store = open_store(Sizes(held=100, part=100, exact=300))  # neither it nor its projects are held
    with store.writing():
        memories = [memory(number, f"note {number}", project=projects[number]) for number in range(1_200)]
        store.write(changes.add, memories, list(vectors), MODEL)
    store.optimize()
    allowed = Filter(projects=("", "project3"))
    places = [number for number, project in enumerate(projects) if project in allowed.projects]
    for asked in vectors[:20]:
        nearest = sorted(places, key=lambda number: -float(vectors[number] @ asked))[:10]
        found, searched = store.candidates(asked.copy, [], allowed, 10)
        assert searched == len(places)
        assert {one.id for one in found} == {memories[number].id for number in nearest}


def test_the_process_leaves_at_once_where_another_is_at_work(
    store: MemoryStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "nice", lambda _: 0)
    many(store, 0, 3)
    with (tmp_path / "store" / LOCK).open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        assert main(tmp_path / "store", timedelta(seconds=10), SMALL) == BUSY
