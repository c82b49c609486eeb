from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from memhook.store.memories import own_store
from memhook.store.table import changes
from memhook.store.table.filters import Filter
from tests.store.test_memories import MODEL, axis, memory


def test_a_filter_leaves_out_what_is_muted(tmp_path: Path) -> None:
    store = own_store(str(tmp_path / "store"), tmp_path / "backups")
    notes = [memory(1, "first"), memory(2, "second")]
    with store.writing():
        store.write(changes.add, notes, [axis(0), axis(1)], MODEL)
        store.write(changes.mute, [notes[0].id], True)
    assert store.ids() == [notes[0].id, notes[1].id]
    assert store.ids(Filter(muted=False)) == [notes[1].id]
    assert store.by_reference([notes[0].id], Filter()) == [replace(notes[0], muted=True)]
    with store.writing():
        store.write(changes.mute, [notes[0].id], False)
    assert store.count(Filter(muted=False)) == 2


def test_a_filter_tells_apart_what_is_quarantined(tmp_path: Path) -> None:
    store = own_store(str(tmp_path / "store"), tmp_path / "backups")
    notes = [memory(1, "first"), memory(2, "second")]
    with store.writing():
        store.write(changes.add, notes, [axis(0), axis(1)], MODEL)
        store.write(changes.set_quarantine, replace(notes[0], quarantine="forges a tool call"))
        store.write(
            changes.set_quarantine, replace(notes[1], content_hash="changed since", quarantine="forges a tool call")
        )
    assert store.ids(Filter(quarantined=True)) == [notes[0].id]
    assert store.ids(Filter(quarantined=False)) == [notes[1].id]
