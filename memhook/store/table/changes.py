"""The changes that can be made to a table, own or shared."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any, Protocol

import pyarrow as pa

from memhook.core.memory import FIELDS, Memory, Trait, plain, title_key
from memhook.store.embedding.encoder import ModelIdentity, Vector
from memhook.store.table.expunge import emptied
from memhook.store.table.filters import quoted
from memhook.store.table.schema import Row, memory_of, row_of
from memhook.store.table.table import Table

_LOST = {one.name: [] if one.kind is tuple else "" for one in FIELDS if Trait.LOST_WHEN_FORGOTTEN in one.traits}


class Target(Protocol):
    """A table to change, with the derived data that must change with it.

    merge     replace the rows with the same ids
    expunge   delete the rows from every file, or replace each by the result of `left`
    """

    @property
    def table(self) -> Table: ...
    def append(self, data: pa.Table) -> None: ...
    def merge(self, data: pa.Table) -> None: ...
    def remove(self, ids: Sequence[str]) -> None: ...
    def remove_forgotten(self, ids: Sequence[str]) -> None: ...
    def expunge(self, ids: Sequence[str], left: Callable[[Row], Row] | None) -> None: ...
    def put_back(self, rows: pa.Table) -> None: ...


def add(to: Target, memories: Sequence[Memory], vectors: Sequence[Vector | None], model: ModelIdentity) -> None:
    to.append(_rows(to, memories, vectors, model))


def replace(to: Target, memories: Sequence[Memory], vectors: Sequence[Vector | None], model: ModelIdentity) -> None:
    """Replace the memories with the same ids, in one step."""
    to.merge(_rows(to, memories, vectors, model))


def forget(to: Target, memories: Sequence[Memory], now: datetime) -> None:
    """Keep only what is needed to recognise these if they are imported again."""
    rows = to.table.rows(f"id IN ({quoted(memory.id for memory in memories)})").to_pylist()
    nothing = _LOST | {"terms": "", "vector": None, "forgotten": now}
    to.merge(to.table.data(row | nothing | {"title": title_key(memory_of(row))} for row in rows))


def redact(to: Target, ids: Sequence[str], now: datetime) -> None:
    """Reduce these to empty rows, and delete their content from every file."""
    to.expunge(ids, lambda row: emptied(row) | {"updated": now})


def purge(to: Target, ids: Sequence[str]) -> None:
    """Delete these, forgotten or not, from every file."""
    to.expunge(ids, None)


def rewrite(to: Target, memories: Sequence[Memory]) -> None:
    """Replace the memories with the same ids, without vectors, and delete their earlier text from every file."""
    by_id = {memory.id: memory for memory in memories}
    to.expunge(list(by_id), lambda row: row_of(by_id[row["id"]], None))


def remove(to: Target, ids: Sequence[str]) -> None:
    """Delete these rows, as if they had never been stored."""
    to.remove(ids)


def unforget(to: Target, ids: Sequence[str]) -> None:
    """Delete the remains of forgotten memories. Check that there are any: deleting nothing adds a version too."""
    to.remove_forgotten(ids)


def update(to: Target, /, ids: Sequence[str], **fields: Any) -> None:
    """Set these fields, none of which is embedded."""
    if ids:
        to.table.update(f"id IN ({quoted(ids)})", {name: plain(value) for name, value in fields.items()})


def mute(to: Target, ids: Sequence[str], muted: bool) -> None:
    update(to, ids, muted=muted)


def set_quarantine(to: Target, memory: Memory) -> None:
    """Store the quarantine and release of this memory, unless its content has changed since."""
    where = f"id = {quoted([memory.id])} AND content_hash = {quoted([memory.content_hash])}"
    to.table.update(where, {"quarantine": memory.quarantine, "released": memory.released})


def put_back(to: Target, rows: pa.Table) -> None:
    """Replace all rows by these, in one step, migrated if they are of an older schema."""
    to.put_back(rows)


EXPUNGING: tuple[Callable[..., None], ...] = (redact, purge, rewrite)
"""Changes that leave no trace in any file: for a shared store, neither at the origin nor in the local copy."""
ANNOTATING: tuple[Callable[..., None], ...] = (mute, set_quarantine)
"""The user's own annotations, which stay local for a shared store."""


def _rows(to: Target, memories: Sequence[Memory], vectors: Sequence[Vector | None], model: ModelIdentity) -> pa.Table:
    """Return the rows, without vectors if another process re-embedded meanwhile: two models do not mix."""
    to.table.ensure(model)
    kept = vectors if to.table.model == model else [None] * len(memories)
    return to.table.data(row_of(memory, vector) for memory, vector in zip(memories, kept, strict=True))
