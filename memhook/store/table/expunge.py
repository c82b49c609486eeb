"""Delete memories from a table so that none of its files contains them any more.

Deleting a row only marks it, in LanceDB: its bytes stay in the data files until enough rows of a file are marked, and
in the indexes until they are rebuilt. So all rows are rewritten, and then all older files are deleted.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import pyarrow as pa

from memhook.core.memory import FIELDS, Trait, names_with, plain
from memhook.files import durable
from memhook.store.embedding import language_vectors
from memhook.store.table import checksums
from memhook.store.table.filters import quoted
from memhook.store.table.lance import lancedb
from memhook.store.table.maintenance import sweep
from memhook.store.table.opening import SNAPSHOT
from memhook.store.table.recovery import TABLE

_KEPT = frozenset((*names_with(Trait.KEPT_WHEN_REDACTED), "forgotten"))
_EMPTY: Mapping[str, Any] = {one.name: plain(one.default) for one in FIELDS} | {"terms": ""}


def emptied(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the row without its content and without the hash of it, which would confirm a guess of the content."""
    nothing = {name: _EMPTY.get(name) for name in row if name not in _KEPT}
    return {**row, **nothing, "redacted": True, "content_hash": redacted_hash(row["id"])}


def redacted_hash(key: str) -> str:
    """Return a value in place of the content's hash: unique, and equal to the hash of no content."""
    return f"redacted:{key}"


def rewritten(table: Any, gone: Collection[str], kept: Iterable[Mapping[str, Any]] = ()) -> pa.RecordBatchReader:
    """The rows of the table without those of the ids `gone`, then the rows `kept`."""
    schema = table.schema
    rest = table.search().where(f"id NOT IN ({quoted(gone)})").to_batches()
    added = pa.Table.from_pylist([dict(row) for row in kept], schema=schema)
    return pa.RecordBatchReader.from_batches(schema, _one_after_the_other(rest, added))


def _one_after_the_other(rest: Iterable[pa.RecordBatch], added: pa.Table) -> Iterator[pa.RecordBatch]:
    """Yield one batch at a time: a store may be larger than memory."""
    for batch in rest:
        yield from pa.Table.from_batches([batch]).select(added.schema.names).cast(added.schema).to_batches()
    yield from added.to_batches()


def copies_below(folder: Path) -> list[Path]:
    """The stores in this folder and in the folders of it."""
    found: list[Path] = []
    with suppress(OSError):
        found = sorted(path.parent for path in (*folder.glob(f"*/{TABLE}.lance"), *folder.glob(f"*/*/{TABLE}.lance")))
    return found


def expunged(copy: Path, ids: Collection[str], *, is_sound: bool = True) -> bool:
    """Rewrite a copy of a store without these memories; return whether it had one."""
    for derived in copy.glob(f"{SNAPSHOT}*"):
        derived.unlink(missing_ok=True)
    (copy / language_vectors.FILE).unlink(missing_ok=True)  # derived: rebuilt if the copy is used
    database = lancedb().connect(str(copy))
    table = database.open_table(TABLE)
    # Also where no row of the copy's last version is one of them: an older version may have it.
    is_there = any(_holds(database, version["version"], ids) for version in table.list_versions())
    if is_there or not is_sound:  # a damaged one may have files that belong to no version
        folder = copy / f"{TABLE}.lance"
        synced = durable.Synced(folder)
        rest = rewritten(table, ids)
        written = database.create_table(TABLE, data=rest, schema=rest.schema, mode="overwrite", on_bad_vectors="null")
        sweep(written, synced.sync, is_ours_alone=True)
        checksums.record(folder)  # else the checksums of the deleted files, which reveal their content, would stay
        synced.sync()
    return is_there


def _holds(database: Any, version: int, ids: Collection[str]) -> bool:
    table = database.open_table(TABLE)
    table.checkout(version)
    return bool(table.count_rows(f"id IN ({quoted(ids)})"))
