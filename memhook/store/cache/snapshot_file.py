"""A snapshot in a file beside the table, to answer the first prompts after a start from: LanceDB is imported meanwhile.

It counts for exactly one state of the table and for one version of memhook, and only if its checksum is right. Whether
a memory may be seen was decided by the table's own queries, and their results are in it: a query that is not, waits for
LanceDB. It is derived from the table and may be deleted at any time.
"""

from __future__ import annotations

import hashlib
import json
import logging
import mmap
import os
from base64 import b64decode, b64encode
from dataclasses import astuple
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from memhook import __version__
from memhook.store.cache.parts import State
from memhook.store.cache.snapshot import Places, Snapshot
from memhook.store.embedding.encoder import ModelIdentity
from memhook.store.table.schema import SCHEMA_VERSION

log = logging.getLogger("memhook")

MAGIC = b"memhook snapshot"
DIGEST = 32
HEADER = 64  # what follows is aligned
_DETAILS = b"snapshot"


def save(file: Path, snapshot: Snapshot, state: State) -> None:
    """Replace the file. Without fsync: what a power cut leaves has another checksum."""
    details = {
        "written_for": _written_for(state),
        "model": astuple(snapshot.model),
        "known": {condition: _packed(places, len(snapshot.rows)) for condition, places in snapshot.known.items()},
    }
    rows = snapshot.rows.replace_schema_metadata({_DETAILS: json.dumps(details).encode()})
    aside = _aside(file)
    try:
        with os.fdopen(os.open(aside, os.O_CREAT | os.O_TRUNC | os.O_RDWR | os.O_NOFOLLOW, 0o600), "r+b") as out:
            out.write(bytes(HEADER))
            with pa.ipc.new_file(out, rows.schema) as writer:
                writer.write_table(rows)
            out.flush()
            digest = _digest_of(out)
            out.seek(0)
            out.write(MAGIC + digest)
        aside.replace(file)
    except OSError as error:
        log.info("no snapshot is kept in %s: %s", file, error)
        aside.unlink(missing_ok=True)


def load(file: Path, state: State) -> Snapshot | None:
    """The snapshot if it is of this state; else None."""
    try:
        with file.open("rb") as given:
            content = mmap.mmap(given.fileno(), 0, prot=mmap.PROT_READ)
            if content[: len(MAGIC)] != MAGIC or content[len(MAGIC) : len(MAGIC) + DIGEST] != _digest_of(given):
                return None
        rows = pa.ipc.open_file(pa.py_buffer(content).slice(HEADER)).read_all()
        details = json.loads(rows.schema.metadata[_DETAILS])
        if details["written_for"] != _written_for(state):
            return None
        snapshot = Snapshot(rows.replace_schema_metadata(None), ModelIdentity(*details["model"]), is_sorted=True)
        snapshot.known = {name: _unpacked(text, len(rows)) for name, text in details["known"].items()}
    except (OSError, ValueError, KeyError, TypeError, pa.ArrowException) as error:
        log.info("the snapshot in %s is not used: %s", file, error)
        return None
    return snapshot


def remove(file: Path) -> None:
    for path in (file, _aside(file)):
        path.unlink(missing_ok=True)


def _aside(file: Path) -> Path:
    return file.with_name(f"{file.name}.new")


def _written_for(state: State) -> list[Any]:
    inode, changed, names = state
    return [__version__, SCHEMA_VERSION, inode, changed, sorted(names)]


def _digest_of(file: Any) -> bytes:
    """Of all behind the header, read rather than mapped: what is mapped counts as memory in use."""
    file.seek(HEADER)
    return hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=DIGEST)).digest()


def _packed(places: Places, rows: int) -> str:
    chosen = np.zeros(rows, dtype=bool)
    chosen[places] = True
    return b64encode(np.packbits(chosen).tobytes()).decode()


def _unpacked(text: str, rows: int) -> Places:
    bits = np.unpackbits(np.frombuffer(b64decode(text), dtype=np.uint8), count=rows)
    return np.flatnonzero(bits)
