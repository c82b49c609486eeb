"""The shape of the memories table, how rows turn into memories and candidates, and the migrations of older tables.

The version is in the metadata of the table. To change the schema, raise SCHEMA_VERSION and append a step of that
number to MIGRATIONS, which takes a row as the version before left it; tests/store/recorded has a store of each version.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from memhook.core.memory import FIELDS, Memory, content_hash, derived_summary, derived_title, plain
from memhook.core.ranking import Candidate, indexed_text
from memhook.core.terms import terms
from memhook.errors import StoreError
from memhook.store.embedding.encoder import ModelIdentity, Vector

SCHEMA_VERSION = 5
OLDEST_SHARED_VERSION = 3  # it has every column that a memory needs; those that came later are read as empty
DIMENSIONS = 384

_NEVER = datetime.min.replace(tzinfo=UTC)
_VERSION_KEY = b"memhook.schema"
_MODEL_KEY = b"memhook.model"
_MODEL_HASH_KEY = b"memhook.model_sha256"

_ARROW = {
    str: pa.string(),
    bool: pa.bool_(),
    tuple: pa.list_(pa.string()),
    datetime: pa.timestamp("us", "UTC"),
}

# The full-text index covers `terms`: title, content and tags as core.terms reads them. `forgotten` marks the remains of
# a forgotten memory, so that importing it again does not restore it.
_COLUMNS: tuple[tuple[str, pa.DataType], ...] = (
    *((one.name, _ARROW.get(one.kind, pa.string())) for one in FIELDS),
    ("forgotten", _ARROW[datetime]),
    ("terms", pa.string()),
    ("vector", pa.list_(pa.float32(), DIMENSIONS)),
)

MEMORY_COLUMNS = tuple(one.name for one in FIELDS)
FACTS = ("id", "content_hash", "created", "title", "terms")  # of a candidate
USES = ("id", "accessed", "updated")
NO_MODEL = ModelIdentity("", "", DIMENSIONS)
MIGRATED_AT_ONCE = 1_000  # rows
KEPT_TITLES = 16_384

Row = dict[str, Any]


def table_schema(model: ModelIdentity, version: int = SCHEMA_VERSION) -> pa.Schema:
    """Return the columns, with the schema version and the model of the vectors in the metadata."""
    dimensions = model.dimensions or DIMENSIONS
    columns = [(n, pa.list_(pa.float32(), dimensions) if n == "vector" else kind) for n, kind in _COLUMNS]
    metadata = {
        _VERSION_KEY: str(version).encode(),
        _MODEL_KEY: model.id.encode(),
        _MODEL_HASH_KEY: model.sha256.encode(),
    }
    return pa.schema(columns, metadata=metadata)


def version_of(schema: pa.Schema) -> int:
    """Return the schema version; 0 for a table from before versions were recorded."""
    return int((schema.metadata or {}).get(_VERSION_KEY, b"0"))


def model_of(schema: pa.Schema) -> ModelIdentity:
    metadata = schema.metadata or {}
    dimensions = schema.field("vector").type.list_size if "vector" in schema.names else DIMENSIONS
    return ModelIdentity(
        metadata.get(_MODEL_KEY, b"").decode(), metadata.get(_MODEL_HASH_KEY, b"").decode(), dimensions
    )


def searchable_terms(memory: Memory) -> str:
    names = (*memory.tags, *memory.related)
    return " ".join(terms(indexed_text(memory.title, memory.content, memory.created.isoformat(), names)))


def stored_terms(row: Mapping[str, Any]) -> str:
    """The column `terms` of a row; empty for a forgotten or redacted memory."""
    return "" if row.get("forgotten") is not None or row.get("redacted") else searchable_terms(memory_of(row))


def row_of(memory: Memory, vector: Vector | None) -> Row:
    return {name: plain(getattr(memory, name)) for name in MEMORY_COLUMNS} | {
        "forgotten": None,
        "terms": "" if memory.redacted else searchable_terms(memory),
        "vector": None if vector is None or memory.redacted else list(vector),
    }


def memory_of(row: Mapping[str, Any]) -> Memory:
    """The memory in a row; columns that an older table lacks get their defaults."""
    values = {one.name: one.read(row.get(one.name)) for one in FIELDS}
    content = values["content"]
    created = values["created"] or datetime.now(UTC)
    values |= {
        "id": row["id"],
        "title": values["title"] or derived_title(content),
        "summary": values["summary"] or derived_summary(content),
        "created": created,
        "updated": values["updated"] or created,
        "content_hash": values["content_hash"] or content_hash(content),
    }
    return Memory(**values)


def candidates(
    facts: pa.Table, cosines: Sequence[float | None], multilingual: npt.NDArray[np.float32] | None = None
) -> Iterator[Candidate]:
    """Yield candidates from the columns FACTS."""
    keys, hashes, titles, texts = (facts[name].to_pylist() for name in ("id", "content_hash", "title", "terms"))
    hours = _hours(facts["created"])
    others = known_cosines(multilingual) if multilingual is not None else [None] * len(facts)
    found = zip(keys, cosines, texts, hours, titles, others, hashes, strict=True)
    for key, cosine, words, hour, title, other, digest in found:
        yield Candidate(key, cosine, words.split(), hour, title_terms(title), other, digest, title)


def last_used(uses: pa.Table) -> dict[str, datetime]:
    """Return by id when each was last accessed, else changed, from the columns USES."""
    moments = pc.coalesce(uses["accessed"], uses["updated"]).to_pylist()
    return {key: moment or _NEVER for key, moment in zip(uses["id"].to_pylist(), moments, strict=True)}


def _hours(moments: pa.ChunkedArray) -> list[str]:
    """Return each as ISO 8601 up to the hour; creating datetimes would take a third of the time of `candidates`."""
    numbers = moments.cast(pa.int64()).to_numpy().astype("datetime64[us]")
    hours: list[str] = np.datetime_as_string(numbers, unit="h").tolist()
    return hours


@lru_cache(maxsize=KEPT_TITLES)
def title_terms(title: str) -> Sequence[str]:
    return terms(title)


def known_cosines(cosines: npt.NDArray[np.float32]) -> list[float | None]:
    """Return the cosines as a list, with None for -inf."""
    return [cosine if cosine > -np.inf else None for cosine in cosines.tolist()]


def stored_vectors(rows: pa.Table) -> npt.NDArray[np.float32]:
    """Return the existing vectors: `flatten` skips the rows without one."""
    column = only_chunk(rows, "vector")
    flat: npt.NDArray[np.float32] = column.flatten().to_numpy(zero_copy_only=False)
    return flat.reshape(-1, column.type.list_size)


def only_chunk(rows: pa.Table, name: str) -> Any:
    """Return the column as one array."""
    column = rows[name].combine_chunks()
    return column.chunk(0) if isinstance(column, pa.ChunkedArray) else column


def _first_columns(row: Row) -> Row:
    """Add missing columns: a table without a version may lack any but `id` and `content`."""
    return row_of(memory_of(row), None) | {name: value for name, value in row.items() if value is not None}


def _with_defaults(*names: str) -> Callable[[Row], Row]:
    """Return a step that adds these columns with the defaults of memories."""
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
    """Return the rows of an older table in the current schema, in batches: a store may be larger than memory."""
    version, model = version_of(table.schema), vectors_model(table.schema)

    def batches() -> Iterator[pa.RecordBatch]:
        for batch in table.search().to_batches(batch_size=MIGRATED_AT_ONCE):
            rows = [_migrated(row, version, model) for row in batch.to_pylist()]
            yield from pa.Table.from_pylist(rows, schema=schema).to_batches()

    return pa.RecordBatchReader.from_batches(schema, batches())


def migrated_rows(rows: pa.Table) -> tuple[list[Row], ModelIdentity]:
    """Return the rows in the current schema, and the model that computed their vectors."""
    version, model = version_of(rows.schema), vectors_model(rows.schema)
    if version > SCHEMA_VERSION:
        raise StoreError("The rows to restore were written by a newer memhook.", "Upgrade memhook.")
    return [_migrated(row, version, model) for row in rows.to_pylist()], model


def vectors_model(schema: pa.Schema) -> ModelIdentity:
    return model_of(schema) if "vector" in schema.names else NO_MODEL


def _migrated(row: Row, version: int, model: ModelIdentity) -> Row:
    for number, step in MIGRATIONS:
        if number > version:
            row = step(row)
    return row if model != NO_MODEL else row | {"vector": None}
