"""The rows of a table as one file, and back."""

from __future__ import annotations

import struct
from collections.abc import Collection, Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from memhook.errors import InvalidInput

_ROWS_AT_ONCE = 512
_MAGIC = b"ARROW1\0\0"
_INT64, _UINT32, _INT32, _UINT16 = struct.Struct("<q"), struct.Struct("<I"), struct.Struct("<i"), struct.Struct("<H")
_HEADER, _BUFFERS, _COMPRESSION = 2, 2, 3  # places in Arrow's tables Message and RecordBatch


def arrow_bytes(rows: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    options = pa.ipc.IpcWriteOptions(compression="zstd")
    with pa.ipc.new_file(sink, rows.schema, options=options) as writer:
        writer.write_table(rows, max_chunksize=_ROWS_AT_ONCE)
    return bytes(sink.getvalue())


def rows_in(content: bytes) -> pa.Table:
    try:
        rows = pa.ipc.open_file(pa.BufferReader(content)).read_all()
        rows.validate(full=True)
    except (pa.ArrowException, OSError) as error:
        raise _unreadable() from error
    return rows


def refuse_bomb(path: Path, limit: int) -> None:
    """Raise if the declared size of the decompressed rows exceeds `limit` bytes; nothing is decompressed."""
    total = 0
    try:
        with path.open("rb") as file:
            if file.read(len(_MAGIC)) != _MAGIC:
                raise _unreadable()
            for message in pa.ipc.MessageReader.open_stream(pa.PythonFile(file)):
                if message.type in ("record batch", "dictionary"):
                    total += sum(_decompressed_sizes(message))
                if total > limit:
                    raise InvalidInput(
                        f"The memories in the backup would become {total} bytes, more than {limit}.",
                        "Nothing was changed.",
                    )
    except (pa.ArrowException, OSError, struct.error, IndexError) as error:
        raise _unreadable() from error


def rows_without(rows: pa.Table, ids: Collection[str]) -> pa.Table:
    return rows.filter(pc.invert(pc.is_in(rows["id"], pa.array(sorted(ids), pa.string()))))


def _unreadable() -> InvalidInput:
    return InvalidInput("The memories in the backup cannot be read.", "Nothing was changed.")


def _decompressed_sizes(message: pa.Message) -> Iterator[int]:
    """Yield the size of each buffer: a compressed one starts with its decompressed size, or -1 if stored as it is."""
    if message.type != "record batch":
        raise _unreadable()  # memhook writes no dictionaries
    metadata, body = bytes(message.metadata), message.body
    batch = _table_at(metadata, _field(metadata, _UINT32.unpack_from(metadata)[0], _HEADER))
    start = _table_at(metadata, _field(metadata, batch, _BUFFERS))
    is_compressed = _field(metadata, batch, _COMPRESSION) != 0
    for place in range(_UINT32.unpack_from(metadata, start)[0]):
        offset, length = struct.unpack_from("<qq", metadata, start + 4 + 16 * place)
        size = _INT64.unpack(body.slice(offset, 8).to_pybytes())[0] if is_compressed and length else -1
        if size < -1:
            raise _unreadable()
        yield length if size < 0 else size


def _field(metadata: bytes, table: int, place: int) -> int:
    """Return the offset of a field in a table of a flatbuffer; 0 when it is absent."""
    fields = table - _INT32.unpack_from(metadata, table)[0]
    if 4 + 2 * place >= _UINT16.unpack_from(metadata, fields)[0]:
        return 0
    offset: int = _UINT16.unpack_from(metadata, fields + 4 + 2 * place)[0]
    return table + offset if offset else 0


def _table_at(metadata: bytes, field: int) -> int:
    if not field:
        raise _unreadable()
    return field + int(_UINT32.unpack_from(metadata, field)[0])
