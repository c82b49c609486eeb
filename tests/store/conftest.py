from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from memhook.store.memories import MemoryStore, own_store
from memhook.store.table.indexes import SIZES


@pytest.fixture
def open_store(tmp_path: Path) -> Callable[..., MemoryStore]:
    """The store, with the usual sizes or smaller ones."""
    return lambda sizes=SIZES: own_store(str(tmp_path / "store"), tmp_path / "backups", sizes)


@pytest.fixture
def store(open_store: Callable[..., MemoryStore]) -> MemoryStore:
    return open_store()
