"""One real round trip: the real client asks the real daemon for a memory in a temporary store."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from memhook.assistants.events import TRIAL_SESSION
from memhook.daemon import hook_client
from memhook.daemon.control import called
from memhook.paths import Paths

SECONDS = 15
REMOVALS = 20
FACT = "The kestrel at the harbour calibrates its altimeter at dawn, before the ferry leaves."
PROMPT = "when does the kestrel at the harbour calibrate its altimeter?"


def failure(paths: Paths, directory: str) -> str:
    """Return why the memory did not come back, or "" if it did. The temporary store is deleted, nothing is recorded."""
    folder = Path(tempfile.mkdtemp(prefix="doctor-", dir=paths.state))
    # The user's own settings may keep memhook silent here, which is not an error.
    environment = {"MEMHOOK_STORE__URI": str(folder / "store"), "MEMHOOK_ENABLED": "true", "MEMHOOK_NAMESPACES": "[]"}
    try:
        called(paths, "remember", {"content": FACT, "here": False}, directory, environment)
        return _missing(_answered(directory, environment))
    finally:
        _remove(folder)


def _remove(folder: Path) -> None:
    """Delete the folder; try again while the daemon, which has the store open, happens to write there."""
    for _ in range(REMOVALS):
        shutil.rmtree(folder, ignore_errors=True)
        if not folder.exists():
            return
        time.sleep(0.05)


def _answered(directory: str, environment: dict[str, str]) -> subprocess.CompletedProcess[bytes] | None:
    event = {"hook_event_name": "UserPromptSubmit", "session_id": TRIAL_SESSION, "cwd": directory, "prompt": PROMPT}
    kept = {name: value for name, value in os.environ.items() if name != "MEMHOOK_DISABLE"}
    try:
        return subprocess.run(
            [sys.executable, "-I", "-S", str(hook_client.__file__), "UserPromptSubmit"],
            input=json.dumps(event).encode(),
            capture_output=True,
            timeout=SECONDS,
            check=False,
            env={**kept, **environment},
        )
    except subprocess.TimeoutExpired:
        return None


def _missing(run: subprocess.CompletedProcess[bytes] | None) -> str:
    if run is None:
        return f"the hook did not answer in {SECONDS} seconds"
    if run.returncode or run.stderr:
        return f"the hook ended with {run.returncode}: {run.stderr[:80]!r}"
    try:
        answer = json.loads(run.stdout or b"{}")
        context = str(answer.get("hookSpecificOutput", {}).get("additionalContext", ""))
    except (ValueError, AttributeError):
        return f"the hook answered {run.stdout[:80]!r}"
    return "" if FACT in context else "the hook answered without the memory it was asked for"
