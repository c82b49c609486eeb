"""After a start, a store is answered for from a file until LanceDB is there, if it is exactly what the table holds."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from memhook.core.terms import terms
from memhook.errors import StoreError
from memhook.store.cache import cache
from memhook.store.memories import MemoryStore
from memhook.store.table import changes
from memhook.store.table.filters import Filter
from memhook.store.table.opening import SNAPSHOT
from tests.store.test_memories import Open, add, axis, memory

PINNED = Filter(pinned=True)
OTHERS = Filter(pinned=False)


@pytest.fixture(autouse=True)
def settled_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "SETTLED_SECONDS", 0.0)


@pytest.fixture
def saved(store: MemoryStore, open_store: Open) -> Open:
    """Opens the store as the next process does: the file has been written, with what was asked of it."""
    add(store, *(memory(number, f"note {number} about the ledger", pinned=number % 2 == 0) for number in range(30)))
    store.keep_in_memory()
    asked(store)
    store.keep_in_memory()
    assert file_of(store).stat().st_mode & 0o777 == 0o600

    def opened() -> MemoryStore:
        again = open_store()
        again.keep_in_memory()
        return again

    return opened


def file_of(store: MemoryStore) -> Path:
    return Path(store.uri) / SNAPSHOT


def asked(store: MemoryStore) -> tuple[object, ...]:
    found, searched = store.candidates(lambda: axis(4), terms("ledger 7"), PINNED, 10)
    return found, searched, store.newest(PINNED, 5, 2), store.by_ids([one.id for one in found], PINNED), store.count()


def is_open(store: MemoryStore) -> bool:
    return store._table._handle is not None


def test_the_next_process_answers_the_same_without_opening_the_table(store: MemoryStore, saved: Open) -> None:
    again = saved()
    assert asked(again) == asked(store)
    assert (again.exists, again.model) == (True, store.model)
    assert not is_open(again)
    again.open_table()
    assert is_open(again)


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_the_process_that_wrote_it_answers_out_of_it_from_then_on(store: MemoryStore, saved: Open) -> None:
    before = asked(store)
    saved()
    assert str(file_of(store)) in Path("/proc/self/maps").read_text(encoding="utf-8")
    assert asked(store) == before
    store.unmap()
    assert asked(store) == before
    add(store, memory(90, "one more about the ledger"))
    assert "m00000000090" in store.by_ids(["m00000000090"])


def test_what_was_not_asked_before_is_decided_by_the_table(store: MemoryStore, saved: Open) -> None:
    again = saved()
    assert again.newest(OTHERS, 100) == store.newest(OTHERS, 100)
    assert is_open(again)


def test_a_snapshot_of_another_state_is_not_used(store: MemoryStore, saved: Open) -> None:
    add(store, memory(90, "one more about the ledger", pinned=True))
    again = saved()
    assert "m00000000090" in again.by_ids(["m00000000090"], PINNED)
    assert again.count() == 31
    assert is_open(again)


def test_a_stale_snapshot_is_deleted_and_written_again(store: MemoryStore, saved: Open) -> None:
    before = file_of(store).read_bytes()
    add(store, memory(90, "one more about the ledger", pinned=True))
    asked(store)
    store.keep_in_memory()
    assert file_of(store).read_bytes() != before
    again = saved()
    assert again.newest(PINNED, 1)[0].id == "m00000000090"
    assert not is_open(again)


def replace(file: Path, content: bytes) -> None:
    """As a new file: the store that wrote the old one has it mapped."""
    file.unlink()
    file.write_bytes(content)


@pytest.mark.parametrize("at", [3, 30, 200, -300])
def test_a_changed_byte_is_noticed(store: MemoryStore, saved: Open, at: int) -> None:
    content = bytearray(file_of(store).read_bytes())
    content[at] ^= 1
    replace(file_of(store), bytes(content))
    again = saved()
    assert asked(again) == asked(store)
    assert is_open(again)


def test_a_snapshot_that_was_cut_off_is_not_used(store: MemoryStore, saved: Open) -> None:
    replace(file_of(store), file_of(store).read_bytes()[:40])
    assert asked(saved()) == asked(store)


def test_what_is_expunged_is_in_no_snapshot(store: MemoryStore, saved: Open) -> None:
    with store.writing():
        store.write(changes.purge, ["m00000000004"])
    assert not file_of(store).exists()
    store.keep_in_memory()
    asked(store)
    store.keep_in_memory()
    assert b"note 5 about" in file_of(store).read_bytes()
    assert b"note 4 about" not in file_of(store).read_bytes()


def test_a_table_that_cannot_be_opened_is_not_answered_for(store: MemoryStore, saved: Open) -> None:
    again = saved()
    for data in (Path(store.uri) / "memories.lance" / "data").iterdir():
        data.write_bytes(b"damaged")
    with pytest.raises(StoreError):
        again.open_table()
    assert not file_of(store).exists()
