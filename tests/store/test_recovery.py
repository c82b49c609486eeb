"""Files cut short, as a power failure leaves them."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

import pytest

from memhook.errors import DamagedStore, StoreError
from memhook.store.memories import MemoryStore, own_store
from memhook.store.table import changes, checksums, maintenance, recovery
from memhook.store.table import table as table_module
from memhook.store.table.filters import Filter
from memhook.store.table.lance import lancedb
from memhook.store.table.manifest import manifests, version_in
from memhook.store.table.recovery import looks_whole, salvaged
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


def flip(path: Path, bit: int) -> None:
    content = bytearray(path.read_bytes())
    content[bit // 8] ^= 1 << bit % 8
    path.write_bytes(content)


def without_checksums(table: Path) -> None:
    """As an older memhook left it, or a power cut before the last write was acknowledged."""
    shutil.rmtree(table / checksums.FOLDER)


@pytest.mark.parametrize("pattern", ["_versions/*.manifest", "data/*.lance"])
def test_when_the_newest_file_was_cut_the_last_good_version_opens_and_says_so(
    table: Path,
    tmp_path: Path,
    open_store: Open,
    pattern: str,
) -> None:
    without_checksums(table)
    cut(newest(table, pattern))
    opened = open_store()
    assert opened.count() == 19
    assert "newest files of the store were damaged" in opened.repaired
    assert "1 change earlier" in opened.repaired
    kept = [path.name for path in (tmp_path / "backups").glob("damaged-*/memories.lance/_versions/*.manifest")]
    assert len(kept) == 1
    assert matching(opened, "replicas about note 3")


def test_any_flipped_bit_of_the_newest_manifest_costs_nothing(table: Path, tmp_path: Path, open_store: Open) -> None:
    manifest = manifests(table)[0]
    whole = manifest.read_bytes()
    for bit in range(5, 8 * len(whole), 8 * len(whole) // 12):
        flip(manifest, bit)
        opened = open_store()
        assert opened.count() == 20
        assert "replaced by a copy: nothing is missing" in opened.repaired
        assert manifest.read_bytes() == whole
    kept = list((tmp_path / "backups").glob("damaged-*/memories.lance/_versions/*.manifest"))
    assert len(kept) >= 12
    assert all(path.read_bytes() != whole for path in kept)


def test_without_checksums_no_flipped_bit_of_the_newest_manifest_keeps_the_store_from_opening(
    table: Path, open_store: Open
) -> None:
    without_checksums(table)
    manifest = manifests(table)[0]
    whole = manifest.read_bytes()
    counts = set()
    for bit in range(3, 8 * len(whole), 8 * len(whole) // 24):
        shutil.rmtree(table / checksums.FOLDER, ignore_errors=True)
        manifest.write_bytes(whole)
        flip(manifest, bit)
        try:
            rows = open_store().all_rows()
        except StoreError:  # what failed is read to its end by whoever opens it next
            rows = open_store().all_rows()
        assert rows is not None
        counts.add(len(rows))
    assert counts <= {19, 20}


def test_what_is_written_after_going_back_does_not_meet_the_damaged_version(table: Path, open_store: Open) -> None:
    manifest = manifests(table)[0]
    cut(manifest)
    cut(table / checksums.FOLDER / "_versions" / manifest.name)
    add(open_store(), memory(30, "written after the damage"))
    again = open_store()
    assert (again.repaired, again.count()) == ("", 20)
    assert looks_whole(table)


def test_a_flipped_bit_in_a_text_costs_that_memory_and_is_told(table: Path, tmp_path: Path, open_store: Open) -> None:
    (file,) = (path for path in table.glob("data/*.lance") if b"note 7 about replicas" in path.read_bytes())
    flip(file, 8 * file.read_bytes().rindex(b"note 7 about replicas") + 1)
    opened = open_store()
    texts = [one.content for one in opened.after("", 100_000)]
    assert set(texts) <= {f"note {number} about replicas" for number in range(20)}
    assert len(texts) >= 19
    assert "Files of the store were damaged" in opened.repaired
    assert len(list((tmp_path / "backups").glob(f"damaged-*/memories.lance/data/{file.name}"))) == 1
    assert open_store().repaired == ""


def test_what_was_forgotten_stays_so_when_a_file_is_damaged(table: Path, store: MemoryStore, open_store: Open) -> None:
    with store.writing():
        store.write(changes.forget, [memory(3, "note 3 about replicas")], memory(0, "").created)
    cut(max(table.glob("data/*.lance"), key=lambda path: path.stat().st_size))
    assert "note 3 about replicas" not in str(open_store().all_rows())


def test_a_damaged_list_of_checksums_accuses_no_file(table: Path, open_store: Open) -> None:
    listed = table / checksums.FOLDER / "checksums"
    whole = listed.read_bytes()
    for bit in range(3, 8 * len(whole), 8 * len(whole) // 40):
        listed.write_bytes(whole)
        flip(listed, bit)
        assert looks_whole(table)
    assert open_store().repaired == ""


def test_a_store_that_cannot_be_repaired_where_it_is_says_so(table: Path, open_store: Open) -> None:
    for part in ("data", f"{checksums.FOLDER}/_versions", "_versions"):
        for path in (table / part).iterdir():
            cut(path)
    with pytest.raises(DamagedStore, match="is damaged") as refused:
        open_store()
    assert "memhook restore" in refused.value.hint


def test_without_a_temporary_folder_a_damaged_store_is_left_alone_and_a_sound_one_opens(
    table: Path, tmp_path: Path, open_store: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "missing"))
    table_module._SUSPECTED.add(table)
    assert open_store().count() == 20
    without_checksums(table)
    cut(newest(table, "_versions/*.manifest"))
    before = {path: path.read_bytes() for path in table.rglob("*") if path.is_file()}
    with pytest.raises(StoreError, match="no temporary folder"):
        open_store()
    assert {path: path.read_bytes() for path in table.rglob("*") if path.is_file()} == before
    monkeypatch.undo()
    assert open_store().count() == 19


def test_after_going_back_it_is_written_to_and_opened_as_ever(table: Path, open_store: Open) -> None:
    without_checksums(table)
    cut(newest(table, "data/*.lance"))
    add(open_store(), memory(30, "written after the damage"))
    again = open_store()
    assert again.repaired == ""
    assert again.count() == 20


def test_a_deletion_file_that_was_cut_is_replaced_by_its_copy(
    table: Path, store: MemoryStore, open_store: Open
) -> None:
    with store.writing():
        store.write(changes.forget, [memory(3, "note 3 about replicas")], memory(0, "").created)
    cut(newest(table, "_deletions/*.arrow"))
    opened = open_store()
    assert opened.count() == 19
    assert "replaced by a copy" in opened.repaired


def test_a_deletion_file_that_was_cut_and_has_no_copy_is_gone_back_behind(
    table: Path, store: MemoryStore, open_store: Open
) -> None:
    with store.writing():
        store.write(changes.forget, [memory(3, "note 3 about replicas")], memory(0, "").created)
    without_checksums(table)
    cut(newest(table, "_deletions/*.arrow"))
    assert open_store().count() == 20


def test_an_index_that_was_cut_is_built_again_and_costs_no_memory(
    table: Path, store: MemoryStore, open_store: Open
) -> None:
    store._here.table.unoptimized = 1000
    store.optimize()
    live = {index.index_uuid for index in store._here.table.handle.list_indices() if index.columns == ["terms"]}
    for path in table.glob("_indices/*/*.lance"):
        if path.parent.name in live:
            cut(path)
    opened = open_store()
    assert "indexes of the store were built again" in opened.repaired
    assert (opened.count(), len(matching(opened, "replicas"))) == (20, 20)
    assert looks_whole(table)


@pytest.mark.parametrize("further", range(2))
def test_an_old_file_that_was_cut_costs_its_rows_alone(
    table: Path, store: MemoryStore, open_store: Open, further: int
) -> None:
    for number in range(further * (recovery.FURTHEST_BACK + 2)):
        add(store, memory(200 + number, f"later {number}"))
    add(store, memory(100, "written after what will be cut"))
    cut(max(table.glob("data/*.lance"), key=lambda path: path.stat().st_size))
    if further:
        without_checksums(table)
    opened = open_store()
    assert "16 of" in opened.repaired
    assert "are missing" in opened.repaired
    texts = [one.content for one in opened.after("", 100_000)]
    assert "written after what will be cut" in texts
    assert len(texts) == 5 + further * (recovery.FURTHEST_BACK + 2)
    assert len(matching(opened, "replicas")) == 4


def test_after_many_single_writes_the_store_is_about_as_large_as_if_written_at_once(
    store: MemoryStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(maintenance, "MANY_VERSIONS", 40)
    monkeypatch.setattr(maintenance, "KEPT_VERSIONS", 1)  # on a store this small the others outweigh it
    monkeypatch.setattr(maintenance, "KEPT_SECONDS", 0.001)
    texts = [f"note {number} " + "about replicas " * 40 for number in range(80)]
    for number, text in enumerate(texts):
        add(store, memory(number, text))
        store.optimize()
    monkeypatch.setattr(maintenance, "SETTLED_SECONDS", -1.0)
    store.optimize()
    assert not store.optimize()
    at_once = own_store(str(tmp_path / "at-once"), tmp_path / "backups")
    add(at_once, *(memory(number, text) for number, text in enumerate(texts)))
    assert int(store._here.table.handle.stats()["fragment_stats"]["num_fragments"]) < 8
    assert size(tmp_path / "store") < 3 * size(tmp_path / "at-once")


def test_the_last_versions_are_kept_to_go_back_to(
    table: Path, store: MemoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(maintenance, "KEPT_VERSIONS", 4)
    before = sorted(table.glob("_versions/*.manifest"), key=lambda path: path.stat().st_mtime_ns)
    store._here.table.unoptimized = 1000
    assert store.optimize()
    assert set(before[-4:]) <= set(table.glob("_versions/*.manifest"))


def size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def test_what_is_readable_of_a_damaged_table_is_read_and_the_rest_counted(table: Path, store: MemoryStore) -> None:
    cut(max(table.glob("data/*.lance"), key=lambda path: path.stat().st_size))
    found = salvaged(table)
    assert sorted(found.rows["content"].to_pylist()) == [f"note {number} about replicas" for number in range(16, 20)]
    assert found.unreadable == 16


def test_nothing_of_a_whole_table_is_unreadable(table: Path, store: MemoryStore) -> None:
    store.touch(["m00000000003"], memory(0, "").created)
    found = salvaged(table)
    assert (len(found.rows), found.unreadable) == (20, 0)
    assert store.count(Filter()) == 20


def test_a_whole_table_looks_so_also_while_it_grows(table: Path, store: MemoryStore) -> None:
    assert looks_whole(table)
    with store.writing():
        store.write(changes.replace, [memory(3, "another text")], [axis(3)], MODEL)
    store._here.table.unoptimized = 1000
    store.optimize()
    assert looks_whole(table)


def test_a_damaged_index_is_set_aside_before_it_is_built_again(table: Path, tmp_path: Path, open_store: Open) -> None:
    live = {index.index_uuid for index in open_store()._here.table.handle.list_indices()}
    file = next(path for path in sorted(table.glob("_indices/*/*.lance")) if path.parent.name in live)
    flip(file, 100)
    damaged = file.read_bytes()
    opened = open_store()
    assert "indexes of the store were built again" in opened.repaired
    (kept,) = (tmp_path / "backups").glob(f"damaged-*/memories.lance/_indices/*/{file.name}")
    assert kept.read_bytes() == damaged
    assert opened.count() == 20


@pytest.mark.parametrize("lost", ["folder", "file"])
def test_an_index_that_a_power_cut_lost_is_built_again(table: Path, tmp_path: Path, lost: str) -> None:
    """LanceDB lists it in the manifest, and fails on the first query that would use it."""
    handle = lancedb().connect(table.parent).open_table(table.stem)
    handle.create_index("id", config=lancedb().index.BTree())
    checksums.record(table)
    (name,) = [f"_indices/{index.index_uuid}" for index in handle.list_indices() if index.columns == ["id"]]
    assert f"{name}/page_lookup.lance" in version_in(manifests(table)[0]).index_files
    if lost == "folder":
        shutil.rmtree(table / name)
    else:
        (table / name / "page_lookup.lance").unlink()
    store = own_store(str(tmp_path / "store"), tmp_path / "backups")
    assert len(store.after("", 100)) == 20
    assert len(store.by_ids([one.id for one in store.after("", 100)])) == 20
    assert "built again" in store.repaired
    assert own_store(str(tmp_path / "store"), tmp_path / "backups").repaired == ""
