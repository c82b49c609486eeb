"""Recovery from damaged files: open the last undamaged version, or salvage the readable rows.

A damaged file is moved or linked to a folder among the backups, never deleted. An old version is opened in a temporary
folder that links to its files, so that reading it changes nothing in the store.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa

from memhook.core.memory import content_hash
from memhook.errors import DamagedStore, StoreError
from memhook.files import durable
from memhook.paths import write_private
from memhook.screening.secrets import masked
from memhook.store.table import checksums
from memhook.store.table.checksums import DATA, DELETIONS, INDEXES, TRANSACTIONS, VERSIONS
from memhook.store.table.lance import lancedb
from memhook.store.table.manifest import END, Fragment, manifests, version_in
from memhook.store.table.schema import memory_of

TABLE = "memories"
REBUILD = "memhook restore --from-damaged"
REPORT = "report.txt"  # beside the files that were set aside
DAMAGED, REBUILT = "damaged", "rebuilt"  # prefixes of the folders of files set aside; the doctor reports the first
FOREIGN_ERRORS = (RuntimeError, ValueError, OSError, pa.ArrowException)
"""The exceptions that LanceDB raises."""
FURTHEST_BACK = 64  # versions; a write that builds all indexes adds 18. Further back, salvaging the newest loses less
SALVAGED_AT_OPENING = 50_000  # rows; with more, the user decides when to wait for it
READ_AT_OPENING = 64 << 20  # bytes, in less than 0.1 s; the doctor reads all

_ARROW_END = b"ARROW1"
_HINT = "latest_version_hint.json"
_ROWS_AT_ONCE = 512


def is_panic(error: BaseException) -> bool:
    """Whether LanceDB's Rust code panicked. No module exports the types of these exceptions for catching."""
    return type(error).__name__ in ("PanicException", "RustPanic")


@contextmanager
def panics_as_errors() -> Iterator[None]:
    try:
        yield
    except BaseException as error:
        if is_panic(error):
            raise RuntimeError(f"LanceDB gave up: {error}") from error
        raise


def looks_whole(table: Path) -> bool:
    """Whether no damage to the table's newest version is known. Cheap: a large table is not read in full."""
    return bool(manifests(table)) and not damaged_files(table, READ_AT_OPENING)


def damaged_files(table: Path, most: int | None = None) -> set[Path]:
    """Return the newest version's damaged files, and any damaged manifests and transactions: cleanup reads them too."""
    listed = manifests(table)
    changed = checksums.damaged(table, most)
    found = {path for path in changed if path.relative_to(table).parts[0] in (VERSIONS, TRANSACTIONS)}
    found |= {path for path in listed if not _ends_well(path)}
    if not listed or listed[0] in found:
        return found
    try:
        newest = version_in(listed[0])
    except ValueError:
        return found | {listed[0]}
    named = {table / name for name in (*newest.index_files, *newest.data_files)}
    return found | {path for path in named if path in changed or not path.exists() or not _ends_well(path)}


def damaged(uri: str, backups: Path, error: BaseException) -> DamagedStore:
    return DamagedStore(f"The store at {uri} is damaged: {first_line(error)}", damage_hint(backups))


def damage_hint(backups: Path) -> str:
    return (
        f"It was left as it is. Put a backup back (memhook restore FILE --replace; {backups} may hold one),"
        f" or keep what can be read: {REBUILD}"
    )


def first_line(error: BaseException) -> str:
    """Return the error's first line without the source positions that LanceDB appends, credentials masked."""
    return masked(str(error).splitlines()[0].split(", /")[0]).text[:200] if str(error) else type(error).__name__


def set_aside_in(backups: Path, kind: str = DAMAGED) -> Path:
    """Return a new folder for the files of a damaged table, or of an undamaged one that is rebuilt."""
    return backups / f"{kind}-{datetime.now(UTC):%Y%m%dT%H%M%S%f}"


def repaired(database: Any, uri: str, table: Path, backups: Path, put_back: Callable[[pa.Table], None]) -> str:
    """Go back to the newest readable version, or salvage the rows, without losing any row that can be read now.

    The caller holds the write lock; `put_back` replaces the table's rows. Returns a report, "" if nothing was done.
    Raises DamagedStore when the memories are still unreadable.
    """
    aside = set_aside_in(backups)
    try:
        with panics_as_errors():
            done = [*_replaced_by_copies(table, aside)]
            if not newest_reads(table):
                done.append(_gone_back(table, aside) or _rows_kept(table, aside, put_back))
            set_unneeded_aside(table, aside)
            done += _without_damaged_indexes(database.open_table(TABLE), table, aside)
    except (LookupError, *FOREIGN_ERRORS) as error:
        raise damaged(uri, backups, error) from error
    if not aside.exists():
        return " ".join(done)  # a lost file leaves nothing to set aside
    report = " ".join([*done, f"What was damaged is kept in {aside}."])
    write_private(aside / REPORT, report)
    return report


def rebuild(table: Path, rows: pa.Table, aside: Path, put_back: Callable[[pa.Table], None]) -> None:
    """Set a copy of the table aside, and replace its rows by these."""
    _set_copy_aside(table, aside)
    _set_unreadable_manifests_aside(table, aside)
    put_back(rows)


def _newest_was_acknowledged(table: Path) -> bool:
    """Whether the newest version was once complete on disk, and its manifest is undamaged."""
    newest = manifests(table)[:1]
    return bool(newest) and newest[0] in checksums.recorded(table) and newest[0] not in damaged_files(table)


def _replaced_by_copies(table: Path, aside: Path) -> Iterator[str]:
    """Replace damaged files by their copies. They are linked, not moved, so that a kill leaves one or the other."""
    copies = {path: checksums.whole_copy(table, path) for path in sorted(damaged_files(table))}
    whole = {path: copy for path, copy in copies.items() if copy is not None}
    for path, copy in whole.items():
        _link(table, path, aside)
        durable.write(path, copy)
    if whole:
        yield f"{_counted(len(whole), 'damaged file')} of the store replaced by a copy: nothing is missing."


def _without_damaged_indexes(table: Any, folder: Path, aside: Path) -> Iterator[str]:
    """Drop damaged indexes; opening the table builds the missing ones."""
    damaged = [path for path in damaged_files(folder) if path.is_relative_to(folder / INDEXES)]
    for path in damaged:
        _link(folder, path, aside)
    indexes = {path.relative_to(folder).parts[1] for path in damaged}
    broken = [index.name for index in table.list_indices() if index.index_uuid in indexes]
    for name in broken:
        table.drop_index(name)
    if broken:
        yield f"{len(broken)} damaged indexes of the store were built again."


def set_unneeded_aside(table: Path, aside: Path) -> None:
    """Set damaged manifests of older versions and damaged transactions aside: LanceDB's cleanup fails on them."""
    newest = manifests(table)[:1]
    damaged = [path for path in damaged_files(table) if path.parent.name in (VERSIONS, TRANSACTIONS)]
    _set_aside(table, [path for path in damaged if path not in newest], aside)


def _gone_back(table: Path, aside: Path) -> str:
    """Go back to the last readable version, and report it; empty if that would lose rows that are still readable.

    It is also empty if that would undo acknowledged changes, such as forgetting.
    """
    if _newest_was_acknowledged(table):
        return ""
    damaged = damaged_files(table) | checksums.damaged(table)
    lost = []
    for manifest in manifests(table)[: FURTHEST_BACK + 1]:
        if _reads(table, manifest, damaged):
            break
        lost.append(manifest)
    else:
        return ""
    with suppress(LookupError):
        if version_in(manifest).rows < len(salvaged(table).rows):
            return ""
    written = datetime.fromtimestamp(manifest.stat().st_mtime, UTC)
    _set_aside(table, [*lost, table / VERSIONS / _HINT], aside)
    return (
        f"The newest files of the store were damaged; it was opened as of {written:%F %T} UTC,"
        f" {_counted(len(lost), 'change')} earlier."
    )


def _rows_kept(table: Path, aside: Path, put_back: Callable[[pa.Table], None]) -> str:
    """Rewrite the readable rows to new files, as no older version has all of them, and report it."""
    found = salvaged(table)
    if not 0 < len(found.rows) <= SALVAGED_AT_OPENING:
        raise LookupError(f"{found.unreadable} of its memories cannot be read")
    rebuild(table, found.rows, aside, put_back)
    total = found.unreadable + len(found.rows)
    missing = f"{found.unreadable} of {total} memories could not be read and are missing."
    return (
        f"Files of the store were damaged: {missing if found.unreadable else f'all {total} memories could be read.'}"
        " Of others in those files the text was checked; their titles, tags and other fields could not be."
    )


def newest_reads(table: Path) -> bool:
    listed = manifests(table)
    return bool(listed) and _reads(table, listed[0], damaged_files(table))


def _reads(table: Path, manifest: Path, damaged: Collection[Path]) -> bool:
    """Whether every row of this version can be read; indexes do not count, as they are built from the rows."""
    try:
        named = {table / name for name in version_in(manifest).data_files}
        if manifest in damaged or not named.isdisjoint(damaged):
            return False
        with _view(table, manifest) as view:
            for _ in view.search().to_batches():
                pass
    except FOREIGN_ERRORS:
        return False
    return True


@contextmanager
def _view(table: Path, manifest: Path) -> Iterator[Any]:
    """Open the table as of one version: the newest in place, so that a full disk does not matter."""
    if manifest in manifests(table)[:1]:
        with panics_as_errors():
            yield lancedb().connect(table.parent).open_table(table.stem)
        return
    with _alone(table, manifest) as folder, panics_as_errors():
        yield lancedb().connect(folder).open_table(table.stem)


@contextmanager
def _alone(table: Path, manifest: Path) -> Iterator[Path]:
    """Create a temporary folder in which LanceDB finds this version as the only one.

    If it cannot be created, the error is not one of FOREIGN_ERRORS, which would mean that the version is unreadable.
    """
    content = manifest.read_bytes()
    with ExitStack() as stack:
        try:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="memhook-")))
            view = folder / table.name
            (view / VERSIONS).mkdir(parents=True)
            for part in (DATA, DELETIONS, INDEXES, TRANSACTIONS):
                (view / part).symlink_to((table / part).absolute())
            (view / VERSIONS / manifest.name).write_bytes(content)
        except OSError as error:
            raise StoreError(
                f"The older versions of a damaged store cannot be looked at: no temporary folder ({error.strerror}).",
                "Nothing was changed. Free some disk space, then try again.",
            ) from error
        yield folder


@dataclass(frozen=True, slots=True)
class Salvage:
    """The rows that could be read of a damaged table, and how many could not."""

    rows: pa.Table
    unreadable: int


def salvaged(table: Path) -> Salvage:
    """Read the newest version that opens, row by row if necessary. Raises LookupError when none opens."""
    damaged = damaged_files(table) | checksums.damaged(table)
    for manifest in manifests(table):
        if manifest in damaged:
            continue
        try:
            with _view(table, manifest) as view:
                return _salvaged(view, table, manifest, damaged)
        except FOREIGN_ERRORS:
            continue
    raise LookupError("no version of it can be opened")


def _salvaged(view: Any, table: Path, manifest: Path, damaged: Collection[Path]) -> Salvage:
    version = version_in(manifest)
    parts = []
    for one in version.fragments:
        is_damaged = any(table / name in damaged for name in one.all_files)
        rows = _readable_rows(view, one)
        parts += [_verified(rows) if is_damaged else rows]
    whole = pa.concat_tables([view.schema.empty_table(), *parts])
    return Salvage(whole, max(0, version.rows - len(whole)))


def _verified(rows: pa.Table) -> pa.Table:
    """Return the rows of a damaged file whose text is intact, without vectors, which are to be computed again."""
    intact = [row | ({"vector": None} if "vector" in row else {}) for row in rows.to_pylist() if _is_intact(row)]
    return pa.Table.from_pylist(intact, schema=rows.schema)


def _is_intact(row: Mapping[str, Any]) -> bool:
    """Whether the row is a valid memory and its text matches its hash; other fields have no checksum."""
    try:
        memory_of(row)
    except (ValueError, TypeError, KeyError):
        return False
    if row.get("redacted") or row.get("forgotten") is not None or not row.get("content_hash"):
        return not row.get("content")
    return bool(content_hash(row["content"]) == row["content_hash"])


def _readable_rows(view: Any, fragment: Fragment) -> pa.Table:
    """Return the readable rows of a fragment; rows that cannot be read together are read one by one."""
    found = []
    for start in range(0, fragment.rows, _ROWS_AT_ONCE):
        places = range(start, min(start + _ROWS_AT_ONCE, fragment.rows))
        rows = _taken(view, fragment.id, places)
        if rows is None:
            singles = (_taken(view, fragment.id, range(at, at + 1)) for at in places)
            found += [row for row in singles if row is not None]
        else:
            found.append(rows)
    return pa.concat_tables([view.schema.empty_table(), *found])


def _taken(view: Any, fragment: int, places: range) -> pa.Table | None:
    """Return rows by their address, without deleted ones; None when they cannot be read."""
    first = fragment << 32
    try:
        with panics_as_errors():
            rows = view.take_row_ids([first + place for place in places]).to_arrow().cast(view.schema)
            rows.validate(full=True)
    except FOREIGN_ERRORS:
        return None
    return rows


def _set_copy_aside(table: Path, aside: Path) -> None:
    """Link all files of the table into a folder, so that damaged ones can be examined after the rewrite."""
    for path in table.rglob("*"):
        if checksums.FOLDER not in path.parts:
            _link(table, path, aside)
    durable.sync_tree(aside)


def _set_unreadable_manifests_aside(table: Path, aside: Path) -> None:
    """Set the newest manifests aside until one opens, so that the next write is based on a readable version."""
    for manifest in manifests(table):
        try:
            with _view(table, manifest):
                return
        except FOREIGN_ERRORS:
            _set_aside(table, [manifest, table / VERSIONS / _HINT], aside)


def _set_aside(table: Path, paths: Collection[Path], aside: Path) -> None:
    """Link the files first and delete them then, so that a kill leaves each in at least one place."""
    there = [path for path in paths if path.exists()]
    for path in there:
        _link(table, path, aside)
    durable.sync_tree(aside)
    for path in there:
        path.unlink()
    checksums.forget(table, there)


def _link(table: Path, path: Path, aside: Path) -> None:
    """Link or copy a file to its place in the copy of the table; anything but a file is skipped."""
    if not path.is_file():
        return
    target = aside / table.name / path.relative_to(table)
    durable.made_folder(target.parent)
    target.unlink(missing_ok=True)
    try:
        os.link(path, target)
    except OSError:  # on another file system, or one without links
        shutil.copy2(path, target)


def _ends_well(path: Path) -> bool:
    """Whether the file ends with the magic bytes of its format, if these are known."""
    end = {".arrow": _ARROW_END, ".lance": END, ".manifest": END, ".idx": END}.get(path.suffix, b"")
    try:
        with path.open("rb") as file:
            file.seek(0, os.SEEK_END)
            file.seek(max(0, file.tell() - len(end)))
            return file.read() == end
    except (FileNotFoundError, IsADirectoryError):  # deleted meanwhile by compaction: then no version needs it
        return True


def _counted(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"
