"""The changes that can be written, to a table of one's own as to a shared one."""

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
    """Where changes are made: a table, with whatever must change with it.

    merge     rows in place of those with the same ids
    expunge   what `left` makes of each row stays, or nothing, in whatever file
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
    """Store these in place of those with the same ids, in one step."""
    to.merge(_rows(to, memories, vectors, model))


def forget(to: Target, memories: Sequence[Memory], now: datetime) -> None:
    """Keep only what is needed to recognise these if they are imported again."""
    rows = to.table.rows(f"id IN ({quoted(memory.id for memory in memories)})").to_pylist()
    nothing = _LOST | {"terms": "", "vector": None, "forgotten": now}
    to.merge(to.table.data(row | nothing | {"title": title_key(memory_of(row))} for row in rows))


def redact(to: Target, ids: Sequence[str], now: datetime) -> None:
    """Keep of these their places alone, and no file that holds more."""
    to.expunge(ids, lambda row: emptied(row) | {"updated": now})


def purge(to: Target, ids: Sequence[str]) -> None:
    """Keep nothing of these, forgotten or not, and no file that holds anything of them."""
    to.expunge(ids, None)


def rewrite(to: Target, memories: Sequence[Memory]) -> None:
    """These in place of those with the same ids, without a vector, and no file that holds what they said before."""
    by_id = {memory.id: memory for memory in memories}
    to.expunge(list(by_id), lambda row: row_of(by_id[row["id"]], None))


def remove(to: Target, ids: Sequence[str]) -> None:
    """As if these had never been stored."""
    to.remove(ids)


def unforget(to: Target, ids: Sequence[str]) -> None:
    """Delete what is left of forgotten memories. Ask first: deleting nothing takes a version too."""
    to.remove_forgotten(ids)


def update(to: Target, /, ids: Sequence[str], **fields: Any) -> None:
    """Set these fields, none of which is embedded."""
    if ids:
        to.table.update(f"id IN ({quoted(ids)})", {name: plain(value) for name, value in fields.items()})


def mute(to: Target, ids: Sequence[str], muted: bool) -> None:
    update(to, ids, muted=muted)


def set_quarantine(to: Target, memory: Memory) -> None:
    """As this memory says, unless its content has changed since."""
    where = f"id = {quoted([memory.id])} AND content_hash = {quoted([memory.content_hash])}"
    to.table.update(where, {"quarantine": memory.quarantine, "released": memory.released})


def put_back(to: Target, rows: pa.Table) -> None:
    """These rows and no others, in one step; of an older schema, in today's shape."""
    to.put_back(rows)


EXPUNGING: tuple[Callable[..., None], ...] = (redact, purge, rewrite)
"""Leave no trace in any file, so of a shared store neither there nor in the copy here."""
ANNOTATING: tuple[Callable[..., None], ...] = (mute, set_quarantine)
"""The user's own business: of a store shared with others it stays here."""


def _rows(to: Target, memories: Sequence[Memory], vectors: Sequence[Vector | None], model: ModelIdentity) -> pa.Table:
    """Without vectors where another process re-embedded meanwhile: its vectors and these do not mix."""
    to.table.ensure(model)
    kept = vectors if to.table.model == model else [None] * len(memories)
    return to.table.data(row_of(memory, vector) for memory, vector in zip(memories, kept, strict=True))
