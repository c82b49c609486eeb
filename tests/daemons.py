"""The daemon of a home that a test made."""

from __future__ import annotations

import os
import signal
from pathlib import Path

from memhook.files.locking import holder_of
from memhook.paths import user_paths


def kill_daemon(home: Path) -> None:
    """End it at once, if there is one: nobody needs what it would still write."""
    paths = user_paths({"HOME": str(home)})
    if pid := holder_of(paths.daemon_lock):
        os.kill(pid, signal.SIGKILL)
