from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from memhook.store.namespace_client import PACKAGE
from memhook.store.table.opening import connected


def test_importing_lancedb_leaves_out_the_client_of_its_namespace_service() -> None:
    """An interpreter of its own: what this one has loaded depends on the tests before."""
    code = f"import memhook.store, lancedb, sys; print([n for n in sys.modules if n.startswith('{PACKAGE}.api.')])"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert (ran.stdout, ran.stderr) == ("[]\n", "")


def test_tables_are_listed_without_it(tmp_path: Path) -> None:
    connection = connected(str(tmp_path), {})
    connection.create_table("memories", [{"id": "a"}])
    assert connection.list_tables(limit=1).tables == ["memories"]
