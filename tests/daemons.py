"""The daemon of a home that a test made."""

from __future__ import annotations

import os
import signal
from pathlib import Path

from memhook.daemon import control
from memhook.paths import user_paths


def kill_daemon(home: Path) -> None:
    """End it at once, if there is one: nobody needs what it would still write."""
    paths = user_paths({"HOME": str(home)})
    if paths.daemon_lock.exists() and (pid := control._recorded_pid(paths)):
        os.kill(pid, signal.SIGKILL)
