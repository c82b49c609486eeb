from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from memhook.store.table.lance import EMBEDDINGS, FUNCTIONS, NAMESPACE_CLIENT
from memhook.store.table.opening import connected

CODE = f"""
import sys, overrides
import memhook.hooks.runner
before, checked = "lancedb" in sys.modules, overrides.override
from memhook.store.table.lance import lancedb
print(before, lancedb().__name__, overrides.override is checked)
print([name for name in sys.modules if name.startswith("{NAMESPACE_CLIENT}.api.")])
found = [(name, hasattr(one, "__file__")) for name, one in sys.modules.items() if name.startswith("{EMBEDDINGS}.")]
print(sorted(name for name, is_real in found if is_real), hasattr(sys.modules["{FUNCTIONS}"], "__file__"))
"""
REAL = [f"{EMBEDDINGS}.{name}" for name in ("base", "registry", "utils")]


def test_lancedb_is_imported_when_it_is_needed_without_what_is_never_called_and_overriding_is_checked_after() -> None:
    """An interpreter of its own: what this one has loaded depends on the tests before."""
    ran = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=True)
    assert (ran.stdout, ran.stderr) == (f"False lancedb True\n[]\n{REAL} False\n", "")


def test_tables_are_listed_without_it(tmp_path: Path) -> None:
    connection = connected(str(tmp_path), {})
    connection.create_table("memories", [{"id": "a"}])
    assert connection.list_tables(limit=1).tables == ["memories"]
