"""Open a store safely: one that is unreadable, newer or not memhook's is left unchanged."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any

from memhook.errors import StoreError
from memhook.files import durable
from memhook.paths import shell_word
from memhook.store.table.lance import lancedb
from memhook.store.table.recovery import FOREIGN_ERRORS, TABLE, first_line
from memhook.store.table.schema import SCHEMA_VERSION, version_of

SNAPSHOT = ".snapshot.arrow"  # beside the table, derived from it
INDEX_CACHE = 64_000_000
LARGE_INDEX_CACHE = 192_000_000  # one search of a million memories uses 100 MB of the indexes
LARGE = 200_000_000  # bytes of indexes; smaller ones fit, and the larger cache would fill with those of old versions
METADATA_CACHE = 16_000_000
SERVER = "db://"
PATIENCE = {"connect_timeout": "5s", "timeout": "30s", "client_max_retries": "3", "client_retry_timeout": "20"}
"""Timeouts for a remote store, unless its options set others. LanceDB's defaults wait for minutes."""
_FORMAT = {"new_table_data_storage_version": "2.1"}
"""The format of new tables. In 2.2 a constant column is read from the first row up to the one that is wanted."""


def local_directory(uri: str) -> Path | None:
    """Return the folder of a local store; None for a remote one."""
    path = uri.removeprefix("file://")
    return None if "://" in path else Path(path).expanduser()


def connected(uri: str, options: Mapping[str, str] | None = None, *, create: bool = False) -> Any:
    """Connect to LanceDB at `uri`, seeing each finished write of any process; None if a local folder is missing."""
    directory = local_directory(uri)
    if directory is not None:
        refuse_unusable(uri)
        if not create and not directory.exists():
            return None
    try:
        if uri.startswith(SERVER):
            return lancedb().connect(uri, **_server_arguments(options or {}))
        return lancedb().connect(
            str(directory or uri),
            read_consistency_interval=timedelta(0),
            session=_caches(_index_cache(directory)),
            storage_options={**_FORMAT, **({} if directory else PATIENCE), **(options or {})},
        )
    except FOREIGN_ERRORS as error:
        raise StoreError(
            f"The store at {uri} cannot be reached: {first_line(error)}",
            "Check its location, its options and your credentials, which are the daemon's: memhook daemon restart",
        ) from error


def answers(uri: str, options: Mapping[str, str]) -> bool:
    """Whether a remote store responds at all, if only with an error, without retries."""
    hurry = {"connect_timeout": "4s", "timeout": "4s", "client_max_retries": "0", "client_retry_timeout": "4"}
    try:
        connected(uri, {**options, **hurry}).list_tables(limit=1)
    except FOREIGN_ERRORS as error:
        return not is_silence(error)
    except StoreError as error:
        return not is_silence(error.__cause__ or error)
    return True


_SILENCE = ("error sending request", "connection", "timed out", "timeout")


def is_silence(error: BaseException) -> bool:
    """Whether there was no response. LanceDB has no exception type for that, only messages."""
    said = str(error).lower()
    return any(sign in said for sign in _SILENCE)


def _server_arguments(options: Mapping[str, str]) -> dict[str, Any]:
    """Return the arguments for a LanceDB server. LanceDB reads its key from LANCEDB_API_KEY unless an option has it."""
    known = ("api_key", "region", "host_override")
    rest = {name: value for name, value in options.items() if name not in known}
    return {**{name: options[name] for name in known if name in options}, "storage_options": rest or None}


def _index_cache(directory: Path | None) -> int:
    files = directory.glob(f"{TABLE}.lance/_indices/*/*") if directory else ()
    return LARGE_INDEX_CACHE if sum(file.stat().st_size for file in files) > LARGE else INDEX_CACHE


@cache
def _caches(for_indexes: int) -> Any:
    """Return caches shared by the whole process. LanceDB's default may grow to 7 GB, with each table version."""
    return lancedb().Session(index_cache_size_bytes=for_indexes, metadata_cache_size_bytes=METADATA_CACHE)


def back_up(directory: Path, backups: Path, version: int) -> None:
    """Copy the whole store before a change that an older memhook cannot read."""
    copy = durable.made_folder(backups) / f"store-schema{version}-{datetime.now(UTC):%Y%m%dT%H%M%S%f}"
    shutil.copytree(directory, copy)
    durable.sync_tree(copy)


def refuse_unknown(table: Any, uri: str) -> None:
    version = version_of(table.schema)
    if version > SCHEMA_VERSION:
        raise StoreError(
            f"The store at {uri} was written by a newer memhook (schema {version}; this one knows {SCHEMA_VERSION}).",
            "Upgrade memhook. The store was left as it is.",
        )
    if not {"id", "content"} <= set(table.schema.names):
        raise StoreError(f"The table at {uri} is not memhook's.", "Choose another store.uri.")


def refuse_unusable(uri: str) -> None:
    """Raise StoreError if a local store can be neither read nor created."""
    directory = local_directory(uri)
    if directory is None:
        return
    try:
        if directory.exists() and not directory.is_dir():
            raise StoreError(f"{directory} is a file, not a store.", "Choose another place with store.uri.")
        above = next(path for path in directory.parents if path.exists())
        if not above.is_dir():
            raise StoreError(
                f"The store at {directory} cannot be made: {above} is a file.",
                "Move that file away, or choose another place with store.uri.",
            )
        if directory.exists() and not os.access(directory, os.R_OK | os.X_OK):
            raise StoreError(
                f"The store at {directory} cannot be read.", f"Check its permissions: ls -ld {shell_word(directory)}"
            )
    except OSError as error:
        raise StoreError(
            f"The store at {directory} cannot be read ({error.strerror}).", "Check its permissions."
        ) from error
