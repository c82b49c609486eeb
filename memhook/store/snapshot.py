"""The vectors of a store in memory, for as long as they are few: a query of LanceDB's costs more than all of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from memhook.store.schema import Vector

LARGEST = 50_000  # rows: 75 MB; beyond, the index is faster


@dataclass(frozen=True, slots=True)
class Candidate:
    """A memory that may answer a query, with what ranking needs; `cosine` is None where there is no vector."""

    id: str
    content_hash: str
    created: datetime
    terms: str
    cosine: float | None


class Snapshot:
    """What ranking needs of each row that has a vector, as of one version of the table."""

    def __init__(self, version: int, rows: pa.Table) -> None:
        self.version = version
        self._facts = rows.drop_columns(["vector"]).combine_chunks()
        self._vectors = stored_vectors(rows)
        self._place = {key: place for place, key in enumerate(rows["id"].to_pylist())}

    def places(self, ids: Sequence[str]) -> npt.NDArray[np.intp]:
        """Where these stand, for those that have a vector."""
        return np.fromiter((self._place[key] for key in ids if key in self._place), dtype=np.intp)

    def nearest(self, vector: Vector, places: npt.NDArray[np.intp], limit: int) -> list[Candidate]:
        """The nearest of the rows at `places`, exactly."""
        if len(places) == len(self._vectors):
            cosines = self._vectors @ np.asarray(vector, dtype=np.float32)
            cosines = cosines[places]
        else:
            cosines = self._vectors[places] @ np.asarray(vector, dtype=np.float32)
        best = np.argsort(-cosines, kind="stable")[:limit]
        return list(candidates(self._facts.take(places[best]), cosines[best].tolist()))


def candidates(rows: pa.Table, cosines: Sequence[float | None]) -> Iterator[Candidate]:
    for row, cosine in zip(rows.to_pylist(), cosines, strict=True):
        yield Candidate(row["id"], row["content_hash"], row["created"], row["terms"], cosine)


def stored_vectors(rows: pa.Table) -> npt.NDArray[np.float32]:
    """Those that are there: `flatten` leaves out the rows without one."""
    column = rows["vector"].combine_chunks()
    flat: npt.NDArray[np.float32] = column.flatten().to_numpy(zero_copy_only=False)
    return flat.reshape(-1, column.type.list_size)
