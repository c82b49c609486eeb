"""LanceDB, imported when it is first needed, in a third of its time: the first prompts are answered without it."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, MutableSequence
from contextlib import contextmanager
from functools import cache
from importlib.machinery import ModuleSpec
from types import ModuleType, SimpleNamespace
from typing import Any

NAMESPACE_CLIENT = "lance_namespace_urllib3_client"
EMBEDDINGS = "lancedb.embeddings"
_NEEDED = {"base", "registry", "utils"}  # of them; the others are one service or model each
FUNCTIONS = "lancedb.functions"


@cache
def lancedb() -> Any:
    os.environ.setdefault("LANCEDB_LOG", "error")  # read at import; its warnings are not for a terminal
    sys.meta_path.insert(0, _Placeholders())
    with _unchecked():
        import lancedb  # noqa: PLC0415 - half a second

    return lancedb


def query_of(table: Any) -> Any:
    """Return a query of LanceDB's asynchronous API, for `read`."""
    return table._table.query()


def read(query: Any) -> Any:
    """Return the rows of a query by `query_of`, in one round trip to LanceDB's event loop.

    `table.search()` takes five, for the schema and for each batch, and a third more of the processor's time.
    """
    from lancedb.background_loop import LOOP  # noqa: PLC0415 - as above

    return LOOP.run(query.to_arrow())


class _Placeholders:
    """Finds empty modules in place of the client of LanceDB's namespace service, and of the functions of others.

    The client takes most of the import and is never called: the generated package builds 140 pydantic models and the
    checks of 170 methods. LanceDB needs the names of its classes for annotations, and `ListTablesResponse` to carry a
    result. Of the rest, the pydantic models of 17 embedding services take a quarter, those of functions that run in
    LanceDB's cloud a tenth; memhook has its own encoder and no cloud.
    """

    def find_spec(self, name: str, *_: object) -> ModuleSpec | None:
        is_client = name.partition(".")[0] == NAMESPACE_CLIENT
        is_service = name.startswith(f"{EMBEDDINGS}.") and name.rpartition(".")[2] not in _NEEDED
        is_part = is_client or is_service or name == FUNCTIONS
        return ModuleSpec(name, self, is_package=True) if is_part else None  # type: ignore[arg-type]  # a duck

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return _Placeholder(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """Do nothing: the module is empty."""


class _Placeholder(ModuleType):
    """A module in which every name is a plain class."""

    __path__: MutableSequence[str] = []  # noqa: RUF012  as the base class types it

    def __getattr__(self, name: str) -> type:
        if name.startswith("__"):
            raise AttributeError(name)
        setattr(self, name, type(name, (SimpleNamespace,), {}))
        found: type = getattr(self, name)
        return found


@contextmanager
def _unchecked() -> Iterator[None]:
    """Skip the signature checks of methods marked as overrides, as from Python 3.12 on.

    To compare the signatures, the package `overrides` reads the bytecode around each: a third of the import.
    """
    try:
        import overrides  # noqa: PLC0415 - LanceDB's own dependency
    except ImportError:
        yield
        return
    before, overrides.override = overrides.override, _marked
    try:
        yield
    finally:
        overrides.override = before


def _marked(method: Any) -> Any:
    method.__override__ = True
    return method
