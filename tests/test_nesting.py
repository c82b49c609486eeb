"""Who parses JSON or TOML reckons with text that is nested deeper than Python can read."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import memhook

PACKAGE = Path(memhook.__file__).parent
PARSERS = {"json.loads", "json.load", "tomllib.loads", "tomllib.load"}
OWN = {
    "core/languages.py _function_words": "a file of the package",
    "core/pasted.py": "a file of the package",
    "core/phrases.py languages": "a file of the package",
    "core/tokens.py": "a file of the package",
    "cli/commands/inject.py _parsed": "its caller catches it",
    "cli/round_trip.py": "what memhook's own hook command printed",
    "files/layout.py": "a string",
    "daemon/wire.py": "what the daemon answered",
    "mcp_server/stdio.py __init__": "what memhook wrote itself",
    "mcp_server/stdio.py _listed": "a file of the package",
    "screening/intents.py vocabulary": "a file of the package",
    "screening/secrets.py _kinds": "a file of the package",
    "settings.py _parsed": "its caller catches it",
    "store/embedding/encoder.py calibration_of": "a file of the package",
    "store/embedding/model_files.py": "files verified by their hash",
    "store/cache/snapshot.py _mapped": "what memhook wrote itself, checked by its digest",
    "store/ledger.py": "columns that memhook wrote itself",
    "store/project_aliases.py _parsed": "its caller catches it",
    "ui/health.py _findings": "what memhook's own doctor printed",
    "writing/offered_settings.py _current": "its caller catches it",
}


def unguarded(path: Path) -> Iterator[str]:
    """The functions of a file that call a parser outside of a `try` that names RecursionError."""
    text = path.read_text(encoding="utf-8")
    named = {
        target.id
        for node in ast.parse(text).body
        if isinstance(node, ast.Assign) and "RecursionError" in ast.unparse(node.value)
        for target in node.targets
        if isinstance(target, ast.Name)
    } | {"RecursionError", "Exception"}

    def walk(node: ast.AST, function: str, guarded: bool) -> Iterator[str]:
        if isinstance(node, ast.FunctionDef):
            function = node.name
        if isinstance(node, ast.Call) and not guarded and ast.unparse(node.func) in PARSERS:
            yield f"{path.relative_to(PACKAGE)} {function}"
        for child in ast.iter_child_nodes(node):
            caught = isinstance(node, ast.Try) and child in node.body and any(map(catches, node.handlers))
            yield from walk(child, function, guarded or caught)

    def catches(handler: ast.ExceptHandler) -> bool:
        return handler.type is not None and any(
            isinstance(one, ast.Name) and one.id in named for one in ast.walk(handler.type)
        )

    return walk(ast.parse(text), "", guarded=False)


def test_who_parses_what_others_wrote_reckons_with_deep_nesting() -> None:
    found = [where for path in sorted(PACKAGE.rglob("*.py")) for where in unguarded(path)]
    assert [where for where in found if not {where, where.split()[0]} & OWN.keys()] == []
