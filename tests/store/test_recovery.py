"""Files cut short, as a power failure leaves them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from memhook.errors import StoreError
from memhook.store import memories
from memhook.store.filters import Filter
from memhook.store.memories import MemoryStore
from memhook.store.recovery import looks_whole, salvaged
from tests.store.test_memories import MODEL, Open, add, axis, matching, memory


@pytest.fixture
def table(store: MemoryStore, tmp_path: Path) -> Path:
    """The folder of a store of twenty memories, the last written in steps of their own."""
    add(store, *(memory(number, f"note {number} about replicas") for number in range(16)))
    for number in range(16, 20):
        add(store, memory(number, f"note {number} about replicas"))
    return tmp_path / "store/memories.lance"


def newest(folder: Path, pattern: str) -> Path:
    return max(folder.glob(pattern), key=lambda path: path.stat().st_mtime_ns)


def cut(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


@pytest.mark.parametrize("pattern", ["_versions/*.manifest", "data/*.lance"])
def test_when_the_newest_file_was_cut_the_last_good_version_opens_and_says_so(
    table: Path,
    tmp_path: Path,
    open_store: Open,
    pattern: str,
) -> None:
    cut(newest(table, pattern))
    opened = open_store()
    assert opened.count() == 19
    assert "newest files of the store were damaged" in opened.mended
    assert "1 change earlier" in opened.mended
    kept = [path.name for path in (tmp_path / "backups").glob("damaged-*/*.manifest")]
    assert len(kept) == 1
    assert matching(opened, "replicas about note 3")


def test_after_going_back_it_is_written_to_and_opened_as_ever(table: Path, open_store: Open) -> None:
    cut(newest(table, "data/*.lance"))
    add(open_store(), memory(30, "written after the damage"))
    again = open_store()
    assert again.mended == ""
    assert again.count() == 20


def test_a_deletion_file_that_was_cut_is_gone_back_behind(table: Path, store: MemoryStore, open_store: Open) -> None:
    with store.writing():
        store.forget([memory(3, "note 3 about replicas")], memory(0, "").created)
    cut(newest(table, "_deletions/*.arrow"))
    assert open_store().count() == 20


def test_an_index_that_was_cut_is_built_again_and_costs_no_memory(
    table: Path, store: MemoryStore, open_store: Open
) -> None:
    store._unoptimized = 1000
    store.optimize()
    live = {index.index_uuid for index in store._table.list_indices() if index.columns == ["terms"]}
    for path in table.glob("_indices/*/*.lance"):
        if path.parent.name in live:
            cut(path)
    opened = open_store()
    assert "indexes of the store were built again" in opened.mended
    assert (opened.count(), len(matching(opened, "replicas"))) == (20, 20)
    assert looks_whole(table)


def test_an_old_file_that_was_cut_is_not_gone_back_behind_but_named(
    table: Path, store: MemoryStore, open_store: Open
) -> None:
    for number in range(100, 120):
        add(store, memory(number, f"note {number}"))
    cut(max(table.glob("data/*.lance"), key=lambda path: path.stat().st_size))
    opened = open_store()
    with pytest.raises(StoreError) as refused:
        list(opened.everything())
    assert opened.mended == ""
    assert "is damaged" in refused.value.message
    assert "memhook restore --from-damaged" in refused.value.hint


def test_no_readable_memory_is_given_up_for_an_older_version(table: Path, store: MemoryStore, open_store: Open) -> None:
    add(store, memory(100, "written after what will be cut"))
    cut(max(table.glob("data/*.lance"), key=lambda path: path.stat().st_size))
    before = sorted(path.name for path in table.glob("_versions/*.manifest"))
    opened = open_store()
    with pytest.raises(StoreError) as refused:
        list(opened.everything())
    assert "memhook restore --from-damaged" in refused.value.hint
    assert sorted(path.name for path in table.glob("_versions/*.manifest")) == before
    assert "written after what will be cut" in [row["content"] for row in salvaged(store._table).rows]


def test_after_many_single_writes_the_store_is_about_as_large_as_if_written_at_once(
    store: MemoryStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memories, "MANY_VERSIONS", 40)
    monkeypatch.setattr(memories, "KEPT_VERSIONS", 1)  # on a store this small the others outweigh it
    monkeypatch.setattr(memories, "KEPT_SECONDS", 0.001)
    texts = [f"note {number} " + "about replicas " * 40 for number in range(80)]
    for number, text in enumerate(texts):
        add(store, memory(number, text))
        store.optimize()
    monkeypatch.setattr(memories, "SETTLED_SECONDS", -1.0)
    assert store.optimize()
    assert not store.optimize()
    at_once = MemoryStore(str(tmp_path / "at-once"), tmp_path / "backups")
    add(at_once, *(memory(number, text) for number, text in enumerate(texts)))
    assert int(store._table.stats()["fragment_stats"]["num_fragments"]) < 8
    assert size(tmp_path / "store") < 3 * size(tmp_path / "at-once")


def test_the_last_versions_are_kept_to_go_back_to(table: Path, store: MemoryStore) -> None:
    store._unoptimized = 1000
    assert store.optimize()
    assert len(list(table.glob("_versions/*.manifest"))) >= memories.KEPT_VERSIONS


def size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def test_what_is_readable_of_a_damaged_table_is_read_and_the_rest_counted(table: Path, store: MemoryStore) -> None:
    cut(max(table.glob("data/*.lance"), key=lambda path: path.stat().st_size))
    found = salvaged(store._table)
    assert sorted(row["content"] for row in found.rows) == [f"note {number} about replicas" for number in range(16, 20)]
    assert found.unreadable == 16


def test_nothing_of_a_whole_table_is_unreadable(table: Path, store: MemoryStore) -> None:
    store.touch(["m00000000003"], memory(0, "").created)
    found = salvaged(store._table)
    assert (len(found.rows), found.unreadable) == (20, 0)
    assert store.count(Filter()) == 20


def test_a_whole_table_looks_so_also_while_it_grows(table: Path, store: MemoryStore) -> None:
    assert looks_whole(table)
    with store.writing():
        store.replace([memory(3, "another text")], [axis(3)], MODEL)
    store._unoptimized = 1000
    store.optimize()
    assert looks_whole(table)
