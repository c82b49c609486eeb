"""LanceDB, imported when it is first needed: the first prompts are answered without it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any


@cache
def lancedb() -> Any:
    with _unchecked():
        import lancedb  # noqa: PLC0415 - half a second

    return lancedb


def query_of(table: Any) -> Any:
    """A query of LanceDB's asynchronous kind, for `read`."""
    return table._table.query()


def read(query: Any) -> Any:
    """What a query of `query_of` finds, in one turn of LanceDB's own loop.

    One of `table.search()` takes five, for the schema and for each batch, and a third more of the processor's time.
    """
    from lancedb.background_loop import LOOP  # noqa: PLC0415 - as above

    return LOOP.run(query.to_arrow())


@contextmanager
def _unchecked() -> Iterator[None]:
    """Take methods marked as overriding another at their word, as from Python 3.12 on.

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
