"""Leaves out the client of LanceDB's namespace service: most of the time lancedb takes to import, and never called.

The generated package builds 140 pydantic models and the checks of 170 methods when it is imported. lancedb needs the
names of its classes for annotations, and `ListTablesResponse` to carry a result.
"""

from __future__ import annotations

import sys
from collections.abc import MutableSequence
from functools import cache
from importlib.machinery import ModuleSpec
from types import ModuleType, SimpleNamespace

PACKAGE = "lance_namespace_urllib3_client"


class _Placeholders(ModuleType):
    """A module in which every name is a plain class."""

    __path__: MutableSequence[str] = []  # noqa: RUF012  as the base class types it

    def __getattr__(self, name: str) -> type:
        if name.startswith("__"):
            raise AttributeError(name)
        return _placeholder(name)


@cache
def _placeholder(name: str) -> type:
    return type(name, (SimpleNamespace,), {})


class _Finder:
    """Finds the package and all modules in it, in place of what is installed."""

    def find_spec(self, name: str, *_: object) -> ModuleSpec | None:
        is_part = name.partition(".")[0] == PACKAGE
        return ModuleSpec(name, self, is_package=True) if is_part else None  # type: ignore[arg-type]  # a duck

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return _Placeholders(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """Nothing is in it."""


def leave_out() -> None:
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())
