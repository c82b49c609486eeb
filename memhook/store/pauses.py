"""Pauses of memhook: everywhere or in one project, for a while or until it is resumed.

They are in a small file, so that pausing takes effect at once, also when no daemon runs.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from memhook.files.locking import exclusive
from memhook.paths import Paths, private_directory, write_private

log = logging.getLogger("memhook")

EVERYWHERE = "*"
LOCK_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Pause:
    """A pause of the project `scope`, or of all; without `until` it lasts until it is lifted."""

    scope: str
    until: datetime | None = None

    def holds(self, now: datetime) -> bool:
        return self.until is None or now < self.until


class Pauses:
    """The pauses in force. The file is read again only when its time or inode has changed."""

    def __init__(self, paths: Paths) -> None:
        self._file = paths.pauses
        self._stamp: tuple[int, int] | None = None
        self._pauses: Mapping[str, Pause] = {}

    def of(self, project: str, now: datetime) -> Pause | None:
        """Return the pause that silences memhook in `project`, or None."""
        try:
            status = self._file.stat()
        except OSError:
            return None
        stamp = (status.st_mtime_ns, status.st_ino)
        if stamp != self._stamp:
            self._pauses, self._stamp = _read(self._file), stamp
        pauses = (self._pauses.get(scope) for scope in (EVERYWHERE, project))
        return next((pause for pause in pauses if pause is not None and pause.holds(now)), None)


def pause(paths: Paths, new: Pause, now: datetime) -> None:
    """Store a pause, replacing an earlier one of the same scope."""
    _change(paths, now, new.scope, new)


def resume(paths: Paths, scope: str, now: datetime) -> bool:
    """Lift the pause of `scope`; return whether there was one."""
    return _change(paths, now, scope, None)


def _change(paths: Paths, now: datetime, scope: str, new: Pause | None) -> bool:
    with exclusive(private_directory(paths.state) / "pauses.lock", LOCK_SECONDS):
        pauses = {scope: one for scope, one in _read(paths.pauses).items() if one.holds(now)}
        earlier = pauses.pop(scope, None)
        if new is not None:
            pauses[scope] = new
        written = {scope: one.until.isoformat() if one.until else None for scope, one in pauses.items()}
        write_private(paths.pauses, json.dumps(written, indent=2) + "\n")
    return earlier is not None


def _read(file: Path) -> dict[str, Pause]:
    """The pauses in the file; none when it cannot be read."""
    try:
        written = json.loads(file.read_text(encoding="utf-8"))
        return {
            str(scope): Pause(str(scope), datetime.fromisoformat(until).astimezone(UTC) if until else None)
            for scope, until in written.items()
        }
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, AttributeError, TypeError, RecursionError) as error:
        log.warning("%s cannot be read (%s); nothing is paused", file, error)
        return {}
