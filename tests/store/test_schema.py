from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import lancedb
import pyarrow as pa

from memhook.store.table.filters import Filter
from memhook.store.table.memories import MemoryStore
from memhook.store.table.schema import row_of, table_schema
from tests.store.test_memories import MODEL, NOW, axis, memory


def test_a_table_from_before_memories_could_be_muted_is_migrated_after_a_backup(tmp_path: Path) -> None:
    row = row_of(memory(1, "an early note", tags=("a",)), axis(3))
    forgotten = row_of(memory(2, ""), None) | {"forgotten": NOW}
    data = pa.Table.from_pylist([row, forgotten], schema=table_schema(MODEL, version=1)).drop_columns("muted")
    lancedb.connect(tmp_path / "store").create_table("memories", data=data, on_bad_vectors="null")

    store = MemoryStore(str(tmp_path / "store"), tmp_path / "backups")

    assert store.by_reference(["m00000000001"], Filter(muted=False)) == [memory(1, "an early note", tags=("a",))]
    assert store.count() == 1
    assert store.model == MODEL
    assert store.without_vector() == []
    (backup,) = (tmp_path / "backups").iterdir()
    assert "muted" not in lancedb.connect(backup).open_table("memories").schema.names


def test_a_filter_leaves_out_what_is_muted(tmp_path: Path) -> None:
    store = MemoryStore(str(tmp_path / "store"), tmp_path / "backups")
    notes = [memory(1, "first"), memory(2, "second")]
    with store.writing():
        store.add(notes, [axis(0), axis(1)], MODEL)
        store.set_muted([notes[0].id], True)
    assert store.ids() == [notes[0].id, notes[1].id]
    assert store.ids(Filter(muted=False)) == [notes[1].id]
    assert store.by_reference([notes[0].id], Filter()) == [replace(notes[0], muted=True)]
    with store.writing():
        store.set_muted([notes[0].id], False)
    assert store.count(Filter(muted=False)) == 2


def test_a_table_from_before_there_was_a_quarantine_is_migrated(tmp_path: Path) -> None:
    row = row_of(memory(1, "an early note"), axis(3))
    data = pa.Table.from_pylist([row], schema=table_schema(MODEL, version=2)).drop_columns(["quarantine", "released"])
    lancedb.connect(tmp_path / "store").create_table("memories", data=data, on_bad_vectors="null")

    store = MemoryStore(str(tmp_path / "store"), tmp_path / "backups")

    assert store.by_reference(["m00000000001"], Filter(quarantined=False)) == [memory(1, "an early note")]
    assert store.count(Filter(quarantined=True)) == 0


def test_a_filter_tells_apart_what_is_quarantined(tmp_path: Path) -> None:
    store = MemoryStore(str(tmp_path / "store"), tmp_path / "backups")
    notes = [memory(1, "first"), memory(2, "second")]
    with store.writing():
        store.add(notes, [axis(0), axis(1)], MODEL)
        store.set_quarantine(replace(notes[0], quarantine="forges a tool call"))
        store.set_quarantine(replace(notes[1], content_hash="changed since", quarantine="forges a tool call"))
    assert store.ids(Filter(quarantined=True)) == [notes[0].id]
    assert store.ids(Filter(quarantined=False)) == [notes[1].id]
