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


def rows_of(table: Any) -> Any:
    """A query for rows by their columns, as `table.search()` gives, which reads the schema for a vector's first."""
    return lancedb().query.LanceEmptyQueryBuilder(table)


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
