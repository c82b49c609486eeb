"""The anchors of a large store are indexed behind the tool calls that ask for them."""

from __future__ import annotations

import threading

import pytest

from memhook.core.actions import Action
from memhook.store.cache import anchor_cache
from memhook.store.memories import MemoryStore
from memhook.store.table.filters import Filter
from tests.store.test_memories import add, memory

FILES = [f"src/part{number}.py" for number in range(6)]


def touched(store: MemoryStore, path: str) -> list[str]:
    return [one.memory for one in store.anchored(Action(paths=(path,)), Filter())]


def indexing() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "memhook-anchors"]


def test_a_call_waits_for_a_part_of_a_large_index_and_the_rest_follows(
    store: MemoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(anchor_cache, "AT_ONCE_SECONDS", -1.0)
    monkeypatch.setattr(anchor_cache, "PAUSE_SECONDS", 0.0)
    add(store, *(memory(number, f"{path} has no tests", anchors=(path,)) for number, path in enumerate(FILES)))
    store.keep_in_memory()
    assert not touched(store, FILES[-1])
    for thread in indexing():
        thread.join()
    assert [len(touched(store, path)) for path in FILES] == [1] * len(FILES)
