"""When a table is compacted, indexed and rid of old versions; and how it is, for the doctor."""

from __future__ import annotations

import os
import time
from datetime import timedelta
from typing import Any

from memhook.store.table import recovery
from memhook.store.table.compaction import delete_old_versions
from memhook.store.table.indexes import INDEXES, missing, unindexed_rows
from memhook.store.table.opening import first_line
from memhook.store.table.own import OwnTable
from memhook.store.table.recovery import FOREIGN_ERRORS
from memhook.store.table.schema import NO_MODEL
from memhook.store.table.sizes import Sizes
from memhook.store.table.upkeep import Upkeep, make_current

OPTIMIZE_AFTER = 64  # writes, or eight times as many rows
ROWS_FOR_A_WRITE = 4_000  # of a large store every index is rewritten, however little was added
STREAM_SECONDS = 10.0
SETTLED_AFTER, SETTLED_SECONDS = 8, 60.0  # fewer writes do when none has come for a while
MANY_VERSIONS = 128  # each names all files of its own
KEPT_VERSIONS = 16  # to go back to when the newest is damaged
KEPT_WHEN_SETTLED = 4  # what was written a minute ago is on disk, and old versions are whole copies
KEPT_SECONDS = 10.0  # a reader elsewhere may still be on an old one


class Maintenance:
    """Of a table of one's own; of a large one it is done by another process."""

    def __init__(self, table: OwnTable, sizes: Sizes) -> None:
        self._table = table
        self._sizes = sizes
        directory, self._folder = table.place
        self.upkeep = Upkeep(directory, sizes)
        self._being_optimized = 0
        self._is_counted = False

    def count_unindexed(self) -> None:
        """Count, once, what was written before and is in no index; opens the table."""
        if not self._is_counted:
            with self._table.translating("opening"):
                self._table.unoptimized += unindexed_rows(self._table.handle) // 8 if self._table.exists else 0
            self._is_counted = True

    def optimize(self) -> bool:
        """Bring the indexes up to date and delete old versions, when enough was written to pay for it."""
        table = self._table
        self.count_unindexed()
        if not table.exists:
            return False
        if self.upkeep.finished():
            table.unoptimized = max(0, table.unoptimized - self._being_optimized)
        is_settled = time.monotonic() - table.last_write > SETTLED_SECONDS
        rows = table.count()
        is_large = rows > self._sizes.apart
        is_quiet = is_settled and not is_large
        is_littered = len(self._versions_on_disk()) > (2 * KEPT_WHEN_SETTLED if is_quiet else MANY_VERSIONS)
        enough = SETTLED_AFTER if is_quiet else max(OPTIMIZE_AFTER, rows // ROWS_FOR_A_WRITE)
        if table.unoptimized < enough and not (is_littered and not is_large) and not self._missing_indexes():
            return False
        if is_large:
            return self._optimize_apart(self._age_to_keep(is_settled), rows)
        with table.locked():
            make_current(table.handle, self._sizes)
            delete_old_versions(table.handle, self._age_to_keep(is_settled), table.sync)
        table.unoptimized = 0
        return True

    def health(self) -> dict[str, Any]:
        """How the table is, every row of it read."""
        table = self._table
        report: dict[str, Any] = {"damage": "", "missing_indexes": [], "fragments": 0, "versions": 0}
        if not table.exists:
            return report
        try:
            if damaged := recovery.damaged_files(self._folder):
                table.suspect()
                names = ", ".join(sorted(path.name for path in damaged)[:3])
                raise ValueError(f"{len(damaged)} of its files are damaged ({names})")
            table.handle.to_arrow()
            report["missing_indexes"] = [column for column in self._missing_indexes() if column in INDEXES]
            report["fragments"] = int(table.handle.stats()["fragment_stats"]["num_fragments"])
        except FOREIGN_ERRORS as error:
            report["damage"] = f"the store is damaged: {first_line(error)}"
        return report | {"versions": len(self._versions_on_disk())}

    def _optimize_apart(self, keep: timedelta, rows: int) -> bool:
        """Not while more is coming in, unless that is a twentieth of the store: it would be slow to find."""
        is_streaming = time.monotonic() - self._table.last_write < STREAM_SECONDS
        is_much = 8 * self._table.unoptimized > rows // 20
        if not self.upkeep.may_begin() or (is_streaming and not is_much):
            return False
        self._being_optimized = self._table.unoptimized
        self.upkeep.begin(keep)
        return True

    def _missing_indexes(self) -> list[str]:
        return missing(self._table.handle, self._table.model != NO_MODEL, self._sizes)

    def _versions_on_disk(self) -> list[float]:
        """When each was written, the newest first."""
        with os.scandir(self._folder / "_versions") as versions:
            return sorted((version.stat().st_mtime for version in versions), reverse=True)

    def _age_to_keep(self, is_settled: bool) -> timedelta:
        """As long as the last few versions take."""
        kept = self._versions_on_disk()[: KEPT_WHEN_SETTLED if is_settled else KEPT_VERSIONS]
        return timedelta(seconds=KEPT_SECONDS + time.time() - kept[-1])
