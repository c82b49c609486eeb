"""The rows of a table as one block of bytes, and back."""

from __future__ import annotations

from collections.abc import Collection

import pyarrow as pa
import pyarrow.compute as pc

from memhook.errors import InvalidInput

_ROWS_AT_ONCE = 512


def arrow_bytes(rows: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    options = pa.ipc.IpcWriteOptions(compression="zstd")
    with pa.ipc.new_file(sink, rows.schema, options=options) as writer:
        writer.write_table(rows, max_chunksize=_ROWS_AT_ONCE)
    return bytes(sink.getvalue())


def rows_in(content: bytes) -> pa.Table:
    try:
        return pa.ipc.open_file(pa.BufferReader(content)).read_all()
    except (pa.ArrowException, OSError) as error:
        raise InvalidInput("The memories in the backup cannot be read.", "Nothing was changed.") from error


def rows_without(rows: pa.Table, ids: Collection[str]) -> pa.Table:
    return rows.filter(pc.invert(pc.is_in(rows["id"], pa.array(sorted(ids), pa.string()))))
