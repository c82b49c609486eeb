"""Migrations: the changes of each schema version, as numbered steps that bring rows of an older table up to date.

The version stands in the metadata of the table. A step takes a row as the version before left it. To change the schema,
append a step; tests/store/recorded has a store of each version.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pyarrow as pa

from memhook.core.memory import FIELDS, plain
from memhook.errors import StoreError
from memhook.store.embedding.encoder import ModelIdentity
from memhook.store.table.schema import (
    NO_MODEL,
    SCHEMA_VERSION,
    memory_of,
    model_of,
    row_of,
    stored_terms,
    version_of,
)

Row = dict[str, Any]

MIGRATED_AT_ONCE = 1_000  # rows


def _first_columns(row: Row) -> Row:
    """Tables from before versions were written down may lack any column but `id` and `content`."""
    return row_of(memory_of(row), None) | {name: value for name, value in row.items() if value is not None}


def _with_defaults(*names: str) -> Callable[[Row], Row]:
    """Columns that were added, with the values that memories have by default."""
    return lambda row: row | {one.name: plain(one.default) for one in FIELDS if one.name in names}


def _terms_by_snowball(row: Row) -> Row:
    return row | {"terms": stored_terms(row)}


def _with_provenance(row: Row) -> Row:
    added = _with_defaults("session", "quote", "anchors", "loaded_by")(row)
    return added | {"origin": "user" if row["origin"] == "capture" else row["origin"]}


MIGRATIONS: tuple[tuple[int, Callable[[Row], Row]], ...] = (
    (1, _first_columns),
    (2, _with_defaults("muted")),
    (3, _with_defaults("quarantine", "released")),
    (4, _terms_by_snowball),
    (5, _with_provenance),
)


def migrated(table: Any, schema: pa.Schema) -> pa.RecordBatchReader:
    """The rows of an older table in today's shape, a batch at a time: a store may be larger than memory."""
    version, model = version_of(table.schema), vectors_model(table.schema)

    def batches() -> Iterator[pa.RecordBatch]:
        for batch in table.search().to_batches(batch_size=MIGRATED_AT_ONCE):
            rows = [_migrated(row, version, model) for row in batch.to_pylist()]
            yield from pa.Table.from_pylist(rows, schema=schema).to_batches()

    return pa.RecordBatchReader.from_batches(schema, batches())


def migrated_rows(rows: pa.Table) -> tuple[list[Row], ModelIdentity]:
    """Rows that were read elsewhere, in today's shape, and the model that made their vectors."""
    version, model = version_of(rows.schema), vectors_model(rows.schema)
    if version > SCHEMA_VERSION:
        raise StoreError("What is to be put back was written by a newer memhook.", "Upgrade memhook.")
    return [_migrated(row, version, model) for row in rows.to_pylist()], model


def vectors_model(schema: pa.Schema) -> ModelIdentity:
    return model_of(schema) if "vector" in schema.names else NO_MODEL


def _migrated(row: Row, version: int, model: ModelIdentity) -> Row:
    for number, step in MIGRATIONS:
        if number > version:
            row = step(row)
    return row if model != NO_MODEL else row | {"vector": None}
