"""Recovery from damaged files: open the last version that is whole, or read what is readable.

A damaged file is moved or linked to a folder among the backups, never deleted. An old version is looked at in a folder
of its own that links to the files it names, so that nothing in the store changes while it is looked at.
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
REPORT = "report.txt"  # beside what was set aside
DAMAGED, REBUILT = "damaged", "rebuilt"  # prefixes of the folders of what was set aside; the doctor reports the first
FOREIGN_ERRORS = (RuntimeError, ValueError, OSError, pa.ArrowException)
"""The exceptions that LanceDB raises."""
FURTHEST_BACK = 64  # versions, of which one write that makes all indexes has 18; beyond, reading the newest loses less
SALVAGED_AT_OPENING = 50_000  # rows; of more, the user decides when to wait for it
READ_AT_OPENING = 64 << 20  # bytes, in less than 0.1 s; the doctor reads all

_ARROW_END = b"ARROW1"
_HINT = "latest_version_hint.json"
_ROWS_AT_ONCE = 512


def is_panic(error: BaseException) -> bool:
    """Whether LanceDB's Rust side gave up: by kinds of error of its own, which no module offers for catching."""
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
    """Whether nothing of the table's newest version is known to be damaged. Cheap: of a large one not all is read."""
    return bool(manifests(table)) and not damaged_files(table, READ_AT_OPENING)


def damaged_files(table: Path, most: int | None = None) -> set[Path]:
    """Those of the newest version, and damaged manifests and transactions of any: whoever clears up reads them too."""
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
    """Without the source positions that LanceDB appends, and without a credential, should it quote one."""
    return masked(str(error).splitlines()[0].split(", /")[0]).text[:200] if str(error) else type(error).__name__


def set_aside_in(backups: Path, kind: str = DAMAGED) -> Path:
    """A new place for what was damaged, or rebuilt although it was whole."""
    return backups / f"{kind}-{datetime.now(UTC):%Y%m%dT%H%M%S%f}"


def repaired(database: Any, uri: str, table: Path, backups: Path, put_back: Callable[[pa.Table], None]) -> str:
    """Make the newest version that reads the newest of all, at the cost of no row that can be read now.

    To be called by the one who may write; `put_back` makes rows the table's. Returns what was done, or nothing.
    Raises DamagedStore when the memories can still not be read.
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
        return " ".join(done)  # of a lost file nothing is left to keep
    report = " ".join([*done, f"What was damaged is kept in {aside}."])
    write_private(aside / REPORT, report)
    return report


def rebuild(table: Path, rows: pa.Table, aside: Path, put_back: Callable[[pa.Table], None]) -> None:
    """Make these rows the table's, which is set aside as it was."""
    _set_copy_aside(table, aside)
    _set_unreadable_manifests_aside(table, aside)
    put_back(rows)


def _newest_was_acknowledged(table: Path) -> bool:
    """Whether the newest version was once complete on disk, and its list of files still is."""
    newest = manifests(table)[:1]
    return bool(newest) and newest[0] in checksums.recorded(table) and newest[0] not in damaged_files(table)


def _replaced_by_copies(table: Path, aside: Path) -> Iterator[str]:
    """The damaged ones are linked, not moved: killed in between, the store has one or the other."""
    copies = {path: checksums.whole_copy(table, path) for path in sorted(damaged_files(table))}
    whole = {path: copy for path, copy in copies.items() if copy is not None}
    for path, copy in whole.items():
        _link(table, path, aside)
        durable.write(path, copy)
    if whole:
        yield f"{_counted(len(whole), 'damaged file')} of the store replaced by a copy: nothing is missing."


def _without_damaged_indexes(table: Any, folder: Path, aside: Path) -> Iterator[str]:
    """Whoever opens the table makes those that are missing."""
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
    """Damaged lists of older versions, and notes of what was done long ago: LanceDB stumbles over them clearing up."""
    newest = manifests(table)[:1]
    damaged = [path for path in damaged_files(table) if path.parent.name in (VERSIONS, TRANSACTIONS)]
    _set_aside(table, [path for path in damaged if path not in newest], aside)


def _gone_back(table: Path, aside: Path) -> str:
    """Back to the last version that reads; empty where that would cost rows that are still readable.

    Or would bring back what was changed or forgotten since.
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
    """Nothing older has all of them: the rows that can be read, in files of their own."""
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
    """Whether all of this version is there and can be read to its end; indexes aside, which are made from the rows."""
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
    """The table as of one version: in its own place if that is the newest, so that a full disk does not matter."""
    if manifest in manifests(table)[:1]:
        with panics_as_errors():
            yield lancedb().connect(table.parent).open_table(table.stem)
        return
    with _alone(table, manifest) as folder, panics_as_errors():
        yield lancedb().connect(folder).open_table(table.stem)


@contextmanager
def _alone(table: Path, manifest: Path) -> Iterator[Path]:
    """A folder in which LanceDB finds this version as the only one there is.

    That it cannot be made says nothing about the version, so it is no error that LanceDB might raise.
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
                "Nothing was changed. Make room on the disk, then say this again.",
            ) from error
        yield folder


@dataclass(frozen=True, slots=True)
class Salvage:
    """The rows that could be read of a damaged table, and how many could not."""

    rows: pa.Table
    unreadable: int


def salvaged(table: Path) -> Salvage:
    """Of the newest version that opens, row by row where it must be. Raises LookupError when none opens."""
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
    """Of a damaged file, the rows whose text is what it was; their vectors are to be made again."""
    intact = [row | ({"vector": None} if "vector" in row else {}) for row in rows.to_pylist() if _is_intact(row)]
    return pa.Table.from_pylist(intact, schema=rows.schema)


def _is_intact(row: Mapping[str, Any]) -> bool:
    """As far as is known: the text by its hash, the rest by whether it is a memory at all."""
    try:
        memory_of(row)
    except (ValueError, TypeError, KeyError):
        return False
    if row.get("redacted") or row.get("forgotten") is not None or not row.get("content_hash"):
        return not row.get("content")
    return bool(content_hash(row["content"]) == row["content_hash"])


def _readable_rows(view: Any, fragment: Fragment) -> pa.Table:
    """Rows that cannot be read together are read one by one."""
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
    """Rows by their address, without those that are deleted; None when they cannot be read."""
    first = fragment << 32
    try:
        with panics_as_errors():
            rows = view.take_row_ids([first + place for place in places]).to_arrow().cast(view.schema)
            rows.validate(full=True)
    except FOREIGN_ERRORS:
        return None
    return rows


def _set_copy_aside(table: Path, aside: Path) -> None:
    """The whole table as it is, by links: for who wants to look at what was damaged, when the store is rewritten."""
    for path in table.rglob("*"):
        if checksums.FOLDER not in path.parts:
            _link(table, path, aside)
    durable.sync_tree(aside)


def _set_unreadable_manifests_aside(table: Path, aside: Path) -> None:
    """So that what is written next has a version to stand on, and another's number."""
    for manifest in manifests(table):
        try:
            with _view(table, manifest):
                return
        except FOREIGN_ERRORS:
            _set_aside(table, [manifest, table / VERSIONS / _HINT], aside)


def _set_aside(table: Path, paths: Collection[Path], aside: Path) -> None:
    """Linked first and removed then, so that a kill leaves it in one place at least."""
    there = [path for path in paths if path.exists()]
    for path in there:
        _link(table, path, aside)
    durable.sync_tree(aside)
    for path in there:
        path.unlink()
    checksums.forget(table, there)


def _link(table: Path, path: Path, aside: Path) -> None:
    """Have the file, if it is one, at its place in a copy of the table too."""
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
    """As files of its kind do, if that is known."""
    end = {".arrow": _ARROW_END, ".lance": END, ".manifest": END, ".idx": END}.get(path.suffix, b"")
    try:
        with path.open("rb") as file:
            file.seek(0, os.SEEK_END)
            file.seek(max(0, file.tell() - len(end)))
            return file.read() == end
    except (FileNotFoundError, IsADirectoryError):  # deleted meanwhile by compaction: then it is of no version
        return True


def _counted(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"
