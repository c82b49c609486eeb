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
    """From the columns FACTS."""
    keys, hashes, titles, texts = (facts[name].to_pylist() for name in ("id", "content_hash", "title", "terms"))
    hours = _hours(facts["created"])
    others = known_cosines(multilingual) if multilingual is not None else [None] * len(facts)
    found = zip(keys, cosines, texts, hours, titles, others, hashes, strict=True)
    for key, cosine, words, hour, title, other, content_hash in found:
        yield Candidate(key, cosine, words.split(), hour, title_terms(title), other, content_hash, title)


def _hours(moments: pa.ChunkedArray) -> list[str]:
    """Each as ISO 8601 has it, up to the hour: a datetime for each would take a third of the time of all this."""
    numbers = moments.cast(pa.int64()).to_numpy().astype("datetime64[us]")
    hours: list[str] = np.datetime_as_string(numbers, unit="h").tolist()
    return hours


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
