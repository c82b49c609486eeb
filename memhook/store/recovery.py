"""What to do about files that were cut short: open the last version that is whole, or read what is readable."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID

import pyarrow as pa

from memhook.durable import made_folder, moved

LANCE_END = b"LANC"
ARROW_END = b"ARROW1"
REBUILD = "memhook restore --from-damaged"

_DATA_FILE = re.compile(rb"[0-9a-f]{50}\.lance")
_HINT = "latest_version_hint.json"
FOREIGN_ERRORS = (RuntimeError, ValueError, OSError, pa.ArrowException)
"""What LanceDB raises."""
_ROWS_AT_ONCE = 512
FURTHEST_BACK = 64  # versions, of which one write that makes all indexes has 18; beyond, reading the newest loses less


def looks_whole(directory: Path) -> bool:
    """Whether each file of the table's newest version ends as such files do. Cheap: it reads their last bytes."""
    manifests = _manifests(directory)
    if not manifests or not _is_whole(manifests[0]):
        return False
    named = {name.decode() for name in _DATA_FILE.findall(manifests[0].read_bytes())}
    data = directory / "data"
    return (
        all((data / name).exists() and _is_whole(data / name) for name in named)
        and all(_is_whole(path) for path in directory.glob("_deletions/*.arrow"))
        and not cut_indexes(directory)
    )


def cut_indexes(directory: Path) -> set[str]:
    """The UUIDs of the newest version's indexes that have a file which was cut short."""
    newest = _manifests(directory)[0].read_bytes()
    files = directory.glob("_indices/*/**/*.lance")
    cut = {path.relative_to(directory / "_indices").parts[0] for path in files if not _is_whole(path)}
    return {name for name in cut if UUID(name).bytes in newest}


def last_good_version(database: Any, name: str, directory: Path, aside: Path) -> str:
    """Make the newest version that can be read to its end the newest of all; what this cost, or nothing.

    The newer ones are moved to `aside`, never deleted. Raises LookupError when none that is recent can be read, or when
    going back to it would cost memories that are still readable in the newest.
    """
    manifests = _manifests(directory)
    lost: list[Path] = []
    for manifest in manifests[: FURTHEST_BACK + 1]:
        if _is_whole(manifest) and _reads_to_its_end(database, name, _version(manifest), newer=lost):
            break
        lost.append(manifest)
    else:
        raise LookupError("no recent version of it can be read to its end")
    if not lost:
        return ""
    if _rows_of(database, name, _version(manifest), newer=lost) < _readable_now(database, name, directory):
        raise LookupError("more can be read of it than its last whole version has")
    written = datetime.fromtimestamp(manifest.stat().st_mtime, UTC)
    _move_aside([*lost, directory / "_versions" / _HINT], aside)
    return (
        f"The newest files of the store were damaged; it was opened as of {written:%F %T} UTC,"
        f" {len(lost)} {'change' if len(lost) == 1 else 'changes'} earlier."
    )


@contextmanager
def without_cut_manifests(directory: Path) -> Iterator[None]:
    """The table as if the versions whose list of files was cut had never been; afterwards all is as it was."""
    hidden = []
    for manifest in _manifests(directory):
        if _is_whole(manifest):
            break
        hidden.append(manifest.rename(manifest.with_suffix(".hidden")))
    try:
        yield
    finally:
        for path in hidden:
            path.rename(path.with_suffix(".manifest"))


@dataclass(frozen=True, slots=True)
class Salvage:
    """The rows that could be read of a damaged table, and how many could not."""

    rows: list[dict[str, Any]]
    unreadable: int
    schema: pa.Schema

    def as_table(self) -> pa.Table:
        return pa.Table.from_pylist(self.rows, schema=self.schema)


def salvaged(table: Any) -> Salvage:
    """Row by row of each fragment: one damaged file costs only the rows in it."""
    total = int(table.count_rows())
    rows = [row for fragment in _fragments(table) for row in _readable_rows(table, fragment)]
    return Salvage(rows, max(0, total - len(rows)), table.schema)


def _fragments(table: Any) -> Iterator[int]:
    """Their numbers, which rise with every write and have gaps where files were merged."""
    left = int(table.stats()["fragment_stats"]["num_fragments"])
    number = 0
    while left > 0 and number < 4 * int(table.version) + 64:
        if _taken(table, number, 0, _ROWS_AT_ONCE) != []:
            left -= 1
            yield number
        number += 1


def _readable_rows(table: Any, fragment: int) -> Iterator[dict[str, Any]]:
    start = 0
    while (rows := _taken(table, fragment, start, _ROWS_AT_ONCE)) != []:
        if rows is None:  # one row of these cannot be read: the others may
            rows = [row for at in range(start, start + _ROWS_AT_ONCE) for row in _taken(table, fragment, at, 1) or ()]
            if not rows:
                return
        yield from rows
        start += _ROWS_AT_ONCE


def _taken(table: Any, fragment: int, start: int, count: int) -> list[dict[str, Any]] | None:
    """Rows by their address; none behind the end, None when they cannot be read."""
    first = (fragment << 32) + start
    try:
        rows: list[dict[str, Any]] = table.take_row_ids(list(range(first, first + count))).to_arrow().to_pylist()
    except FOREIGN_ERRORS:
        return None
    return rows


def _reads_to_its_end(database: Any, name: str, version: int, newer: list[Path]) -> bool:
    try:
        with _as_of(database, name, version, newer) as table:
            table.to_arrow()
    except FOREIGN_ERRORS:
        return False
    return True


def _rows_of(database: Any, name: str, version: int, newer: list[Path]) -> int:
    with _as_of(database, name, version, newer) as table:
        return int(table.count_rows())


@contextmanager
def _as_of(database: Any, name: str, version: int, newer: list[Path]) -> Iterator[Any]:
    """While a broken manifest is the newest, the table does not open at all: `newer` steps aside for the look."""
    hidden = [path.rename(path.with_suffix(".hidden")) for path in newer]
    try:
        table = database.open_table(name)
        table.checkout(version)
        yield table
    finally:
        for path in hidden:
            path.rename(path.with_suffix(".manifest"))


def _readable_now(database: Any, name: str, directory: Path) -> int:
    """How many rows a rebuilding would keep."""
    with without_cut_manifests(directory):
        try:
            return len(salvaged(database.open_table(name)).rows)
        except FOREIGN_ERRORS:
            return 0


def _move_aside(paths: list[Path], aside: Path) -> None:
    made_folder(aside)
    for path in paths:
        if path.exists():
            moved(path, aside / path.name)


def _manifests(directory: Path) -> list[Path]:
    """The newest first."""
    return sorted((directory / "_versions").glob("*.manifest"), key=_version, reverse=True)


def _version(manifest: Path) -> int:
    """Written as its distance from the largest number there is, so that the newest is listed first."""
    number = int(manifest.stem)
    return number if number < 1 << 63 else (1 << 64) - 1 - number


def _is_whole(path: Path) -> bool:
    end = ARROW_END if path.suffix == ".arrow" else LANCE_END
    try:
        with path.open("rb") as file:
            file.seek(0, 2)
            file.seek(max(0, file.tell() - len(end)))
            return file.read() == end
    except FileNotFoundError:  # taken away meanwhile by compaction: then it is of no version
        return True
