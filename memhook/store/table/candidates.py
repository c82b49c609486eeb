"""Memories that may answer a query, as ranking wants them, out of rows of the table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from memhook.core.ranking import Candidate
from memhook.core.terms import terms

KEPT_TITLES = 16_384
FACTS = ("id", "content_hash", "created", "title", "terms")  # of a candidate


def candidates(
    facts: pa.Table, cosines: Sequence[float | None], multilingual: npt.NDArray[np.float32] | None = None
) -> Iterator[Candidate]:
    """From the columns FACTS, in their order."""
    columns = (column.to_pylist() for column in facts.itercolumns())
    others = known_cosines(multilingual) if multilingual is not None else [None] * len(facts)
    for key, content_hash, created, title, words, cosine, other in zip(*columns, cosines, others, strict=True):
        yield Candidate(key, cosine, words.split(), created.isoformat(), title_terms(title), other, content_hash)


@lru_cache(maxsize=KEPT_TITLES)
def title_terms(title: str) -> Sequence[str]:
    return terms(title)


def known_cosines(cosines: npt.NDArray[np.float32]) -> list[float | None]:
    """None where there is none."""
    return [cosine if cosine > -np.inf else None for cosine in cosines.tolist()]


def stored_vectors(rows: pa.Table) -> npt.NDArray[np.float32]:
    """Those that are there: `flatten` leaves out the rows without one."""
    column = only_chunk(rows, "vector")
    flat: npt.NDArray[np.float32] = column.flatten().to_numpy(zero_copy_only=False)
    return flat.reshape(-1, column.type.list_size)


def only_chunk(rows: pa.Table, name: str) -> Any:
    """As one array, whatever chunks it came in."""
    column = rows[name].combine_chunks()
    return column.chunk(0) if isinstance(column, pa.ChunkedArray) else column
