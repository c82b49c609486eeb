"""One line about a session for an assistant's status line. It runs after each message: the standard library alone."""

from __future__ import annotations

import json
import sqlite3
import sys

from memhook.errors import MemhookError
from memhook.paths import user_paths

MOST_BYTES = 1_000_000
BUSY_SECONDS = 0.1
_SHOWN = """
SELECT count(DISTINCT memory), min(at) FROM considered JOIN injection ON injection.id = considered.injection
WHERE session = ? AND delivered = 1
"""
_TOKENS = """
SELECT coalesce(sum(tokens), 0) FROM injection WHERE session = ?
AND EXISTS (SELECT 1 FROM considered WHERE considered.injection = injection.id AND delivered = 1)
"""
_USED = """
SELECT count(*) FROM usage WHERE last_used >= ?2 AND memory IN
(SELECT memory FROM considered JOIN injection ON injection.id = considered.injection
WHERE session = ?1 AND delivered = 1)
"""


def main() -> int:
    """Read the assistant's JSON from stdin and print a line; an empty one on any error, which nobody could act on."""
    try:
        payload = json.loads(sys.stdin.buffer.read(MOST_BYTES))
        session, directory = (
            str(payload.get(name) or "") if isinstance(payload, dict) else "" for name in ("session_id", "cwd")
        )
        print(_pause_in(directory) or line_of(session))
    except (OSError, ValueError, RecursionError, sqlite3.Error, MemhookError):
        print()
    return 0


def _pause_in(directory: str) -> str:
    """Return a line that memhook is paused there, or "" if it is not."""
    paths = user_paths()
    if not paths.pauses.exists():
        return ""
    from memhook.cli.commands.pause import current_pause, described  # noqa: PLC0415  seldom needed, and slower
    from memhook.cli.place import Place  # noqa: PLC0415  as above

    pause = current_pause(Place(directory or ".", paths))
    return f"memhook: {described(pause)}" if pause else ""


def line_of(session: str) -> str:
    """Return a line with the memories and tokens that the session was shown, and the memories used."""
    ledger = sqlite3.connect(f"{user_paths().ledger.absolute().as_uri()}?mode=ro", uri=True, timeout=BUSY_SECONDS)
    try:
        shown, since = ledger.execute(_SHOWN, (session,)).fetchone()
        if not shown:
            return "memhook: nothing shown yet"
        tokens = ledger.execute(_TOKENS, (session,)).fetchone()[0]
        used = ledger.execute(_USED, (session, since)).fetchone()[0]
    finally:
        ledger.close()
    what = "memory" if shown == 1 else "memories"
    return f"memhook: {shown} {what}, {tokens} tokens" + (f", {used} used" if used else "")
