from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from memhook.store.memories import MemoryStore


@pytest.fixture
def open_store(tmp_path: Path) -> Callable[[], MemoryStore]:
    return lambda: MemoryStore(str(tmp_path / "store"), tmp_path / "backups")


@pytest.fixture
def store(open_store: Callable[[], MemoryStore]) -> MemoryStore:
    return open_store()
