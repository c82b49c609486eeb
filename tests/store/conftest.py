from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from memhook.store.table.memories import MemoryStore
from memhook.store.table.sizes import SIZES


@pytest.fixture
def open_store(tmp_path: Path) -> Callable[..., MemoryStore]:
    """The store, with the usual sizes or smaller ones."""
    return lambda sizes=SIZES: MemoryStore(str(tmp_path / "store"), tmp_path / "backups", sizes)


@pytest.fixture
def store(open_store: Callable[..., MemoryStore]) -> MemoryStore:
    return open_store()
