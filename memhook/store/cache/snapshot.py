"""An in-memory copy of a small store at one state of its table; searching it costs less than one LanceDB query.

The table's own query still decides which rows are visible; only the time of expiry is compared here.

A file beside the table stores the snapshot, to answer the first prompts after a start while LanceDB is imported. It is
valid for exactly one state of the table and one version of memhook, and only if its checksum matches. It includes the
results of the table's own queries; any other query waits for LanceDB. It may be deleted at any time.
"""

from __future__ import annotations

import hashlib
import json
import logging
import mmap
import os
from base64 import b64decode, b64encode
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import astuple
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from memhook import __version__
from memhook.core.memory import Memory
from memhook.core.ranking import LEXICAL_WEIGHT, Candidate, attainable, term_weights
from memhook.store.cache.words import WordIndex
from memhook.store.embedding.encoder import ModelIdentity, Vector
from memhook.store.embedding.language_vectors import stamp
from memhook.store.table.schema import (
    FACTS,
    MEMORY_COLUMNS,
    SCHEMA_VERSION,
    USES,
    candidates,
    known_cosines,
    last_used,
    memory_of,
    only_chunk,
    stored_vectors,
    title_terms,
)

COLUMNS = (*MEMORY_COLUMNS, "terms", "vector")
BY_ONE_KIND = 10  # candidates chosen by their words alone, or by their vector alone
BY_LANGUAGE = 20  # candidates chosen by the multilingual encoder alone: it reads foreign prompts best

MAGIC = b"memhook snapshot"
DIGEST = 32
HEADER = 64  # keeps the rows behind it aligned
_DETAILS = b"snapshot"
_UNREADABLE = (OSError, ValueError, KeyError, TypeError, pa.ArrowException)

Places = npt.NDArray[np.intp]
State = tuple[int, int, frozenset[str]]
"""The state of a table: the inode of its versions folder, when that changed, and the names in it."""

log = logging.getLogger("memhook")


class Snapshot:
    """The rows of a table, ready to be searched; sorted by id, which also breaks ties."""

    def __init__(self, rows: pa.Table, model: ModelIdentity, *, is_sorted: bool = False) -> None:
        self.model = model
        rows = (rows if is_sorted else rows.sort_by("id")).combine_chunks()
        self.keep_in(rows)
        self.words = WordIndex(only_chunk(rows, "terms"))
        self._place = {key: place for place, key in enumerate(rows["id"].to_pylist())}
        never = np.iinfo(np.int64).max
        self._expires = rows["expires"].cast(pa.int64()).fill_null(never).to_numpy()
        self._first_expiry = int(self._expires.min(initial=never))
        self.known: Mapping[str, Places] = {}
        """The places of the rows that match a condition, as the table's query returned them."""

    def keep_in(self, rows: pa.Table, mapping: mmap.mmap | None = None) -> None:
        """Use these rows from now on; they must equal the earlier ones, as a concurrent reader may see both.

        `mapping` is the mapped file that contains them.
        """
        self.rows = rows
        self._mapping = mapping
        self._has_vector = only_chunk(rows, "vector").is_valid().to_numpy(zero_copy_only=False)
        self._vectors = _one_for_each(stored_vectors(rows), self._has_vector)
        self._rows = rows.select(MEMORY_COLUMNS)
        self._facts = rows.select(FACTS)

    def unmap(self) -> None:
        """Release the mapped pages of the file; they are loaded again when read."""
        if self._mapping is not None and hasattr(mmap, "MADV_DONTNEED"):
            self._mapping.madvise(mmap.MADV_DONTNEED)

    @property
    def ids(self) -> list[str]:
        return list(self._place)

    def read_titles(self, start: int, end: int) -> None:
        """Cache the terms of these titles: computing them for the fifty candidates of a prompt takes 3 ms."""
        for title in self._facts["title"].slice(start, end - start).to_pylist():
            title_terms(title)

    def reached(self, ids: Collection[str], among: Places) -> list[str]:
        """Return the ids whose rows are at one of these places."""
        found: list[str] = self._rows["id"].take(_indices(self._among(ids, among))).to_pylist()
        return found

    def places(self, ids: Collection[str]) -> Places:
        """Return the sorted places of these ids; unknown ids are skipped."""
        return np.sort(np.fromiter((self._place[key] for key in ids if key in self._place), dtype=np.intp))

    def note(self, condition: str, ids: Collection[str], most: int) -> Places:
        """Cache and return the places of the ids that match the condition; only the last `most` conditions are kept."""
        places = self.places(ids)
        self.known = {**dict(list(self.known.items())[1 - most :]), condition: places}
        return places

    def newest(self, places: Places, limit: int) -> list[tuple[datetime, str]]:
        """Return update time and id of the rows at `places`, the last updated first."""
        rows = self._rows.select(["updated", "id"]).take(_indices(places))
        order = [("updated", "descending"), ("id", "ascending")]
        chosen = rows.take(pc.select_k_unstable(rows, limit, order)) if len(rows) else rows
        return list(zip(*(column.to_pylist() for column in chosen.itercolumns()), strict=True))

    def alive(self, places: Places, moment: datetime | None) -> Places:
        """Return the places of rows that have not expired by then."""
        if moment is None:
            return places
        now = round(moment.timestamp() * 1_000_000)
        return places if now < self._first_expiry else places[self._expires[places] > now]

    def stamps(self, places: Places | None = None) -> Iterator[tuple[str, str]]:
        """Yield the id and the text's stamp of each row, or of the rows at these places."""
        rows = self._rows if places is None else self._rows.take(_indices(places))
        updated = rows["updated"].cast(pa.int64()).to_pylist()
        return zip(rows["id"].to_pylist(), map(stamp, rows["content_hash"].to_pylist(), updated), strict=True)

    def candidates(
        self,
        vector: Vector | None,
        terms: Sequence[str],
        places: Places,
        limit: int,
        multilingual: npt.NDArray[np.float32] | None = None,
    ) -> list[Candidate]:
        """Return the best `limit` rows at `places` by vector and words together, and the best by either alone.

        `multilingual` has the other encoder's cosines of all rows, -inf for none; the best by it are included too.
        """
        if not len(places) or (vector is None and not terms and multilingual is None):
            return []
        weights = term_weights(terms, self.words.frequencies, self.words.documents)
        shares = self.words.evidence(weights)[places] / (attainable(weights) or 1.0)
        proposed = set(_best(shares, min(limit, BY_ONE_KIND), above=0.0))
        cosines = np.full(len(places), -np.inf, dtype=np.float32)
        if vector is None:
            proposed |= set(_best(shares, limit, above=0.0))
        else:
            cosines = self._cosines(vector, places)
            proposed |= set(_best(cosines + LEXICAL_WEIGHT * shares, limit))
            proposed |= set(_best(cosines, min(limit, BY_ONE_KIND)))
        if multilingual is not None:
            proposed |= set(_best(multilingual[places], min(limit, BY_LANGUAGE)))
        chosen = np.array(sorted(proposed), dtype=np.intp)
        others = None if multilingual is None else multilingual[places[chosen]]
        facts = self._facts.take(_indices(places[chosen]))
        return list(candidates(facts, known_cosines(cosines[chosen]), others))

    def memories(self, ids: Collection[str], among: Places) -> dict[str, Memory]:
        """Return the memories of these ids whose rows are at one of these places, by id."""
        rows = self._rows.take(_indices(self._among(ids, among)))
        return {row["id"]: memory_of(row) for row in rows.to_pylist()}

    def last_used(self, ids: Collection[str], among: Places) -> dict[str, datetime]:
        """Return when the memories of these ids were last accessed, else changed, if their rows are at these places."""
        return last_used(self._rows.select(USES).take(_indices(self._among(ids, among))))

    def _among(self, ids: Collection[str], among: Places) -> Places:
        places = self.places(ids)
        nearest = np.minimum(np.searchsorted(among, places), max(0, len(among) - 1))
        return places[among[nearest] == places] if len(among) else places[:0]

    def _cosines(self, vector: Vector, places: Places) -> npt.NDArray[np.float32]:
        """Return the cosine at each place, -inf where there is no vector."""
        asked = np.asarray(vector, dtype=np.float32)
        # Multiplying them all is faster than gathering half of them first.
        few = 2 * len(places) < len(self._vectors)
        cosines = self._vectors[places] @ asked if few else (self._vectors @ asked)[places]
        return np.where(self._has_vector[places], cosines, np.float32(-np.inf))


def save(file: Path, snapshot: Snapshot, state: State) -> None:
    """Replace the file. No fsync: the checksum reveals a file damaged by a power cut."""
    details = {
        "written_for": _written_for(state),
        "model": astuple(snapshot.model),
        "known": {condition: _packed(places, len(snapshot.rows)) for condition, places in snapshot.known.items()},
    }
    rows = snapshot.rows.replace_schema_metadata({_DETAILS: json.dumps(details).encode()})
    aside = _aside(file)
    try:
        aside.unlink(missing_ok=True)  # never overwritten: another process may just have renamed it to the snapshot
        with os.fdopen(os.open(aside, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600), "r+b") as out:
            out.write(bytes(HEADER))
            with pa.ipc.new_file(out, rows.schema) as writer:
                writer.write_table(rows)
            out.flush()
            digest = _digest_of(out)
            out.seek(0)
            out.write(MAGIC + digest)
        aside.replace(file)
    except OSError as error:
        log.info("the snapshot %s was not written: %s", file, error)
        aside.unlink(missing_ok=True)


def load(file: Path, state: State) -> Snapshot | None:
    """Return the snapshot if its file is valid for this state, else None."""
    try:
        found = _mapped(file, state)
        if found is None:
            return None
        rows, details, mapping = found
        snapshot = Snapshot(rows, ModelIdentity(*details["model"]), is_sorted=True)
        snapshot.keep_in(snapshot.rows, mapping)
        snapshot.known = {name: _unpacked(text, len(rows)) for name, text in details["known"].items()}
    except _UNREADABLE as error:
        log.info("the snapshot in %s is not used: %s", file, error)
        return None
    return snapshot


def move_to_file(snapshot: Snapshot, file: Path, state: State) -> None:
    """Replace the snapshot's rows in memory by its mapped file: pages that are not read take no memory."""
    try:
        found = _mapped(file, state)
        if found is not None and len(found[0]) == len(snapshot.rows):
            snapshot.keep_in(found[0], found[2])
    except _UNREADABLE as error:
        log.info("the snapshot in %s is not used: %s", file, error)


def _mapped(file: Path, state: State) -> tuple[pa.Table, dict[str, Any], mmap.mmap] | None:
    """Return the rows of the file, its details and the mapping; None if it is damaged or for another state."""
    with file.open("rb") as given:
        content = mmap.mmap(given.fileno(), 0, prot=mmap.PROT_READ)
        if content[: len(MAGIC)] != MAGIC or content[len(MAGIC) : len(MAGIC) + DIGEST] != _digest_of(given):
            return None
    rows = pa.ipc.open_file(pa.py_buffer(content).slice(HEADER)).read_all()
    details = json.loads(rows.schema.metadata[_DETAILS])
    if details["written_for"] != _written_for(state):
        return None
    return rows.replace_schema_metadata(None).combine_chunks(), details, content


def remove_file(file: Path) -> None:
    for path in (file, _aside(file)):
        path.unlink(missing_ok=True)


def _aside(file: Path) -> Path:
    return file.with_name(f"{file.name}.new")


def _written_for(state: State) -> list[Any]:
    inode, changed, names = state
    return [__version__, SCHEMA_VERSION, inode, changed, sorted(names)]


def _digest_of(file: Any) -> bytes:
    """Digest everything behind the header, read rather than mapped: mapped pages count as memory in use."""
    file.seek(HEADER)
    return hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=DIGEST)).digest()


def _packed(places: Places, rows: int) -> str:
    chosen = np.zeros(rows, dtype=bool)
    chosen[places] = True
    return b64encode(np.packbits(chosen).tobytes()).decode()


def _unpacked(text: str, rows: int) -> Places:
    bits = np.unpackbits(np.frombuffer(b64decode(text), dtype=np.uint8), count=rows)
    return np.flatnonzero(bits)


def _indices(places: Places) -> pa.Array:
    """Return places as an Arrow array: for a NumPy array, `take` imports `numpy.ma`, which takes 40 ms."""
    return pa.Array.from_buffers(pa.int64(), len(places), [None, pa.py_buffer(places.astype(np.int64))])


def _one_for_each(stored: npt.NDArray[np.float32], there: npt.NDArray[np.bool_]) -> npt.NDArray[np.float32]:
    """Return a vector for each row, zero where there is none; the array as stored if no row lacks one."""
    if there.all():
        return stored
    vectors = np.zeros((len(there), stored.shape[1]), dtype=np.float32)
    vectors[there] = stored
    return vectors


def _best(values: npt.NDArray[Any], limit: int, above: float = -np.inf) -> list[int]:
    """The indexes of the highest values; ties keep their order."""
    if limit < len(values):
        above = max(above, np.nextafter(np.partition(values, -limit)[-limit], -np.inf, dtype=values.dtype))
    eligible = np.flatnonzero(values > above)
    order = np.argsort(-values[eligible], kind="stable")[:limit]
    found: list[int] = eligible[order].tolist()
    return found
