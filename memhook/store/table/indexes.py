"""The table's indexes: created when worthwhile, rebuilt when outgrown, each in a step of its own.

A kill loses only the current step: the next check finds that index missing. Rows that are not indexed yet are found by
a scan.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from memhook.store.table.lance import lancedb
from memhook.store.table.release import give_back

ROWS_IN_PARTITION = 1_000
OUTGROWN = 4  # times the rows it was built for, partitions are too long to scan
VECTOR_INDEX = "vector_in_"  # and the number of its partitions
TRAINED_ON = 64  # rows for each partition
ROUNDS = 20  # of training; more change nothing

_FULL_TEXT = {
    "base_tokenizer": "whitespace",
    "lower_case": False,
    "stem": False,
    "remove_stop_words": False,
    "ascii_folding": False,
    "max_token_length": None,
}
INDEXES: dict[str, str] = {
    "terms": "FTS",
    **dict.fromkeys(("id", "content_hash", "created"), "BTree"),
    **dict.fromkeys(("project", "namespace", "origin"), "Bitmap"),
    **dict.fromkeys(("tags", "aliases", "supersedes"), "LabelList"),
}
"""The kind of each column's index, as LanceDB calls it.

A condition that nearly every row meets has no index: LanceDB would list all these rows for each query, instead of
checking the few that meet the other conditions. By `origin`, queries select or exclude the few captured memories.
"""


@dataclass(frozen=True, slots=True)
class Sizes:
    """The sizes up to which each way of answering is used, in rows, except `held_text`, which is in bytes.

    They are not settings; tests pass in smaller ones.
    """

    held: int = 50_000  # cached as a whole: 75 MB of vectors
    held_text: int = 64_000_000
    part: int = 100_000  # of one project, cached when the store is not
    parts: int = 100_000  # of all cached projects: 400 MB
    scanned: int = 1_000  # so few are scanned as fast as through indexes, and each write costs less without
    exact: int = 20_000  # so few are compared one by one: no index is faster
    apart: int = 20_000  # from here on another process maintains the indexes: it takes seconds


SIZES = Sizes()


def missing(table: Any, has_vectors: bool, sizes: Sizes) -> list[str]:
    """Return the columns that need an index: missing ones, and the vectors once there are many, or many more."""
    wanted = _missing_on_fields(table, sizes)
    return [*wanted, "vector"] if _wants_vectors(table, has_vectors, sizes) else wanted


def make_missing(table: Any, has_vectors: bool, sizes: Sizes) -> None:
    """Build the missing indexes one by one; an outgrown index is used until its successor is built."""
    for column in missing(table, has_vectors, sizes):
        if column == "vector":
            _index_vectors(table)
        else:
            _index(table, column)
        give_back()  # else each build starts with the memory that the last one took
    _drop_outgrown(table)


def indexed(table: Any) -> Any:
    """Return the table with its missing indexes built, except the one on the vectors."""
    for column in _missing_on_fields(table, SIZES):
        _index(table, column)
    return table


def unindexed_rows(table: Any) -> int:
    statistics = table.index_stats("terms_idx")
    return 0 if statistics is None else int(statistics.num_unindexed_rows)


def partitions_of(table: Any) -> int:
    """Return the number of partitions of the vector index; 0 without one."""
    names = [index.name.removeprefix(VECTOR_INDEX) for index in table.list_indices() if "vector" in index.columns]
    return max((int(name) for name in names if name.isdecimal()), default=0)


def _missing_on_fields(table: Any, sizes: Sizes) -> list[str]:
    """Return the missing ones: words cannot be searched without one, the others are worthwhile in a larger table."""
    there = {column for index in table.list_indices() for column in index.columns}
    wanted = INDEXES if table.count_rows() > sizes.scanned else ("terms",)
    return [column for column in wanted if column not in there]


def _wants_vectors(table: Any, has_vectors: bool, sizes: Sizes) -> bool:
    rows = int(table.count_rows())
    if rows <= sizes.exact or not has_vectors:
        return False
    partitions = partitions_of(table)
    return not partitions or rows > OUTGROWN * partitions * ROWS_IN_PARTITION


def _index(table: Any, column: str) -> None:
    kind = getattr(lancedb().index, INDEXES[column])
    table.create_index(column, config=kind(**(_FULL_TEXT if column == "terms" else {})))


def _index_vectors(table: Any) -> None:
    """Build an index with a bit for each dimension, which finds the nearest; their cosines come from the vectors."""
    partitions = max(1, int(table.count_rows()) // ROWS_IN_PARTITION)
    config = lancedb().index.IvfRq(
        distance_type="dot", num_partitions=partitions, sample_rate=TRAINED_ON, max_iterations=ROUNDS
    )
    table.create_index("vector", config=config, name=f"{VECTOR_INDEX}{partitions}")


def _drop_outgrown(table: Any) -> None:
    """Drop all indexes on the vectors but the last one built, and those that only an older memhook uses."""
    partitions = partitions_of(table)
    for index in table.list_indices():
        is_on_vectors = "vector" in index.columns
        is_older = index.name != f"{VECTOR_INDEX}{partitions}" if is_on_vectors else index.columns[0] not in INDEXES
        if is_older and (partitions or not is_on_vectors):
            table.drop_index(index.name)
