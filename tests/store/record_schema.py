"""Record a store of today's schema for test_migrations: .venv/bin/python -m tests.store.record_schema"""

from __future__ import annotations

import tarfile
from pathlib import Path
from tempfile import TemporaryDirectory

from memhook.store.memories import own_store
from memhook.store.table import changes
from memhook.store.table.indexes import SIZES
from memhook.store.table.schema import SCHEMA_VERSION
from tests.store.test_memories import MODEL, NOW, axis, memory
from tests.store.test_migrations import DEPLOYS, FORGOTTEN, RECORDED, REPLICAS


def main() -> None:
    with TemporaryDirectory() as name:
        store = own_store(f"{name}/store", Path(name, "backups"), SIZES)
        forgotten = memory(3, FORGOTTEN)
        with store.writing():
            store.write(changes.add, [DEPLOYS, REPLICAS, forgotten], [axis(number) for number in (1, 2, 3)], MODEL)
            store.write(changes.forget, [forgotten], NOW)
        store.close()
        with tarfile.open(RECORDED / f"schema{SCHEMA_VERSION}.tar.xz", "w:xz") as archive:
            archive.add(f"{name}/store/memories.lance", "memories.lance")


if __name__ == "__main__":
    main()
