"""The table's indexes: created when they pay, again when the table has outgrown them, each in one step of its own.

A kill costs the step that was being done: whoever looks next finds it missing. Rows that no index has yet are found all
the same, by looking at each.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from memhook.store.table.lance import lancedb
from memhook.store.table.release import give_back

ROWS_IN_PARTITION = 1_000
OUTGROWN = 4  # times the rows it was made for, and partitions are too long to look through
VECTOR_INDEX = "vector_in_"  # and the number of its partitions
TRAINED_ON = 64  # rows for each partition
ROUNDS = 20  # of training; more moves nothing

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

A condition that holds for nearly every row has none: LanceDB would list all these rows for each query, where it can
look at the few that the other conditions leave. Of `origin` the few that were captured are asked for, or excluded.
"""


@dataclass(frozen=True, slots=True)
class Sizes:
    """How large a store may be for which way of answering, in rows, but for `held_text`, which is in bytes.

    Nobody sets these; tests pass in smaller ones.
    """

    held: int = 50_000  # in memory as a whole: 75 MB of vectors
    held_text: int = 64_000_000
    part: int = 100_000  # of one project, in memory when the store is not
    parts: int = 100_000  # of all projects that are in memory: 400 MB
    scanned: int = 1_000  # so few are looked through as fast as indexes are asked, and each write costs less without
    exact: int = 20_000  # so few are compared one by one, which no index is faster at
    apart: int = 20_000  # from here on indexes are kept by another process: it takes seconds


SIZES = Sizes()


def missing(table: Any, has_vectors: bool, sizes: Sizes) -> list[str]:
    """The columns that want an index: what a kill left out, and the vectors once there are many, or many more."""
    wanted = _missing_on_fields(table, sizes)
    return [*wanted, "vector"] if _wants_vectors(table, has_vectors, sizes) else wanted


def make_missing(table: Any, has_vectors: bool, sizes: Sizes) -> None:
    """One after the other; an index that was outgrown is used until its successor is there."""
    for column in missing(table, has_vectors, sizes):
        if column == "vector":
            _index_vectors(table)
        else:
            _index(table, column)
        give_back()  # each begins with the memory of the last one
    _drop_outgrown(table)


def indexed(table: Any) -> Any:
    """A new table, with those that any table of its size has but the one on the vectors."""
    for column in _missing_on_fields(table, SIZES):
        _index(table, column)
    return table


def unindexed_rows(table: Any) -> int:
    statistics = table.index_stats("terms_idx")
    return 0 if statistics is None else int(statistics.num_unindexed_rows)


def partitions_of(table: Any) -> int:
    """How many the vectors are divided into; 0 when they have no index."""
    names = [index.name.removeprefix(VECTOR_INDEX) for index in table.list_indices() if "vector" in index.columns]
    return max((int(name) for name in names if name.isdecimal()), default=0)


def _missing_on_fields(table: Any, sizes: Sizes) -> list[str]:
    """Words cannot be searched without one; the others pay once there is much to look through."""
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
    """A bit for each dimension, which finds the nearest; how near they are is said by the vectors themselves."""
    partitions = max(1, int(table.count_rows()) // ROWS_IN_PARTITION)
    config = lancedb().index.IvfRq(
        distance_type="dot", num_partitions=partitions, sample_rate=TRAINED_ON, max_iterations=ROUNDS
    )
    table.create_index("vector", config=config, name=f"{VECTOR_INDEX}{partitions}")


def _drop_outgrown(table: Any) -> None:
    """All on the vectors but the last one made, and those of an older memhook."""
    partitions = partitions_of(table)
    for index in table.list_indices():
        is_on_vectors = "vector" in index.columns
        is_older = index.name != f"{VECTOR_INDEX}{partitions}" if is_on_vectors else index.columns[0] not in INDEXES
        if is_older and (partitions or not is_on_vectors):
            table.drop_index(index.name)
