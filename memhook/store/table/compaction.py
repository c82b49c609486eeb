"""Old versions of a table are deleted once the newest is on disk: LanceDB joins and deletes files in one call."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

from memhook.errors import StoreError

_NONE_IS_OLDER = timedelta(days=36_500)
_AT_ONCE = timedelta(milliseconds=1)  # with zero LanceDB warns of readers, which have been waited for
_ATTEMPTS = 3


def compact(table: Any) -> None:
    """Join small files and extend the indexes until nothing is left to do, and delete nothing."""
    version = None
    while version != table.version:
        version = table.version
        table.optimize(cleanup_older_than=_NONE_IS_OLDER)


def delete_old_versions(table: Any, keep: timedelta, sync: Callable[[], None]) -> None:
    """Those older than `keep`. `sync` forces to disk what was written until now."""
    compact(table)  # else deleting would begin with that
    sync()
    table.optimize(cleanup_older_than=keep)


def sweep(table: Any, sync: Callable[[], None], *, is_ours_alone: bool) -> None:
    """Leave one version and no other file, and that on disk too.

    What a killed writer left behind goes as well, unless another might be writing just now.
    """
    compact(table)
    sync()
    for _ in range(_ATTEMPTS):
        table.optimize(cleanup_older_than=_AT_ONCE, delete_unverified=is_ours_alone)
        if len(table.list_versions()) == 1:
            sync()
            return
    raise StoreError(
        "Old versions of the store could not be cleared: they are younger than the clock says it is.",
        "What they hold is out of the current one. Set the clock right, then say this again.",
    )
