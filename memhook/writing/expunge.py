"""Delete a memory from everything memhook wrote.

redacted(holdings, references, now)   empty memories; their rows and URNs stay
purged(holdings, references)          delete memories, with the hashes that would recognize them

This covers the store with its old versions and indexes, the copies made by a migration, a restore or a repair, and the
ledger. The log is emptied too: memhook does not log memories, but the error of a library may quote one.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from memhook.core.memory import Memory, id_of
from memhook.errors import InvalidInput, NotFound, StoreError
from memhook.files import durable
from memhook.files.durable import remove_leftovers
from memhook.library.access import OWNER
from memhook.library.library import Library
from memhook.paths import Paths
from memhook.store.ledger import Ledger
from memhook.store.table import changes
from memhook.store.table.expunge import copies_below, expunged
from memhook.store.table.opening import local_directory
from memhook.store.table.recovery import DAMAGED, FOREIGN_ERRORS, REBUILT
from memhook.writing import succession
from memhook.writing.backup import REPLACED, expunged_backup
from memhook.writing.remember import found, unnamed

SET_ASIDE = (DAMAGED, REBUILT)

log = logging.getLogger("memhook")


@dataclass(frozen=True, slots=True)
class Holdings:
    library: Library
    ledger: Ledger | None
    paths: Paths


def redacted(holdings: Holdings, references: Sequence[str], now: datetime) -> dict[str, Any]:
    store = holdings.library.store
    with store.writing():
        memories = found(holdings.library, references)
        store.write(changes.redact, [memory.id for memory in memories], now)
    return _expunged(holdings, memories)


def purged(holdings: Holdings, references: Sequence[str]) -> dict[str, Any]:
    """Purge memories, including forgotten ones, of which the hash and the name are left."""
    store = holdings.library.store
    with store.writing():
        memories = _known(holdings.library, references)
        succession.hand_over(store, memories)
        store.write(changes.purge, [memory.id for memory in memories])
    return _expunged(holdings, memories)


def _known(library: Library, references: Sequence[str]) -> list[Memory]:
    names = [id_of(reference) for reference in references]
    known = (*library.store.by_reference(names, OWNER), *library.store.find("name", names, forgotten=True))
    if missing := unnamed(references, known):
        raise NotFound(f"Not a memory, nor a forgotten one: {', '.join(missing)}.", "See: memhook list")
    return list({memory.id: memory for memory in known}.values())


def _expunged(holdings: Holdings, memories: Sequence[Memory]) -> dict[str, Any]:
    """Delete them from everything else, once the store no longer returns them; return a report as plain values.

    `same_content` has the URNs of other memories with that content, `deleted_copies` the copies of damaged files, which
    may contain the memory; `unreadable_copies` are unchanged.
    """
    ids = [memory.id for memory in memories]
    shown_in = holdings.ledger.expunge(ids) if holdings.ledger else 0
    backups = holdings.paths.backups
    remove_leftovers(backups)
    replaced = sorted(backups.glob(f"{REPLACED}-*.zip"))
    set_aside = [path for kind in SET_ASIDE for path in sorted(backups.glob(f"{kind}-*"))]
    cleaned, unreadable = _rewritten(_copies(holdings), lambda copy: expunged(copy, ids), FOREIGN_ERRORS)
    rewritten, lost = _rewritten(replaced, lambda file: expunged_backup(file, ids), (InvalidInput,))
    # Unreadable: parts of a damaged store, and its lists of files, which are of no use once the store is rewritten.
    rebuilt, remains = _rewritten(
        set_aside, lambda folder: expunged(folder, ids, is_sound=False), (StoreError, *FOREIGN_ERRORS)
    )
    for path in (*lost, *remains):
        durable.delete(path)
    _empty_log(holdings.paths)
    others = holdings.library.store.find("content_hash", [memory.content_hash for memory in memories])
    return {
        "memories": [memory.urn for memory in memories],
        "shown_in": shown_in,
        "copies": [str(path) for path in (*cleaned, *rewritten, *rebuilt)],
        "deleted_copies": [str(path) for path in (*lost, *remains)],
        "unreadable_copies": [str(path) for path in unreadable],
        "same_content": [one.urn for one in others if one.id not in ids],
    }


def _rewritten(
    paths: Iterable[Path], expunge: Callable[[Path], bool], errors: tuple[type[Exception], ...]
) -> tuple[list[Path], list[Path]]:
    """Expunge each path; return those that had one of the memories, and those that cannot be read."""
    cleaned, unreadable = [], []
    for path in paths:
        try:
            if expunge(path):
                cleaned.append(path)
        except errors:
            unreadable.append(path)
    return cleaned, unreadable


def _copies(holdings: Holdings) -> Iterable[Path]:
    """Return the copies, without any live store: what another store has is reported, not deleted."""
    paths = holdings.paths
    own = local_directory(holdings.library.store.uri)
    stores = [path.resolve() for path in (paths.store, own, *paths.replicas.glob("*")) if path is not None]
    found = dict.fromkeys((*copies_below(paths.backups), *copies_below(paths.data)))
    copies = [path for path in found if path.resolve() not in stores]
    return [path for path in copies if not path.name.startswith(tuple(f"{kind}-" for kind in SET_ASIDE))]


def _empty_log(paths: Paths) -> None:
    """Truncate the log in place: the daemon has it open and continues at its end."""
    for path in paths.log.parent.glob(f"{paths.log.name}*"):
        try:
            os.close(os.open(path, os.O_WRONLY | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC))
            durable.sync(path)
        except OSError as error:
            log.warning("cannot truncate %s: %s", path, error)
