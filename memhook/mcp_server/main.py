"""`memhook mcp`: say hello, then load the SDK and serve."""

from __future__ import annotations

import os
from typing import Any

from memhook.context.scopes import Rights
from memhook.mcp_server.stdio import Incoming, Outgoing, claimed_streams, early_answer
from memhook.paths import Paths


def serve(rights: Rights, paths: Paths, directory: str) -> int:
    """Until the client goes away; the exit code."""
    incoming, outgoing = claimed_streams()
    first = incoming.readline()
    answer = early_answer(first)
    outgoing.write(answer)
    outgoing.flush()
    # The SDK, pydantic with it: only now, when the client has its first answer.
    from memhook.mcp_server.server import run  # noqa: PLC0415

    run(_door(paths, directory), rights, Incoming(first, incoming), Outgoing(outgoing, answer))
    return 0


def _door(paths: Paths, directory: str) -> Any:
    """Opened anew for each call: between two of them a daemon may have ended for being idle."""
    from memhook.daemon.control import daemon_door  # noqa: PLC0415

    project = os.environ.get("CLAUDE_PROJECT_DIR") or directory

    def call(method: str, **params: Any) -> Any:
        return daemon_door(paths, project)(method, **params)

    return call
