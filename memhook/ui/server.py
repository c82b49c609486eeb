"""Serve the page on loopback until Ctrl-C, SIGTERM or an idle time."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import socket
import sys
import threading
import webbrowser
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from html import escape
from pathlib import Path

from memhook.daemon.control import Call, door
from memhook.mcp_server.address import LOOPBACK, Address, listening
from memhook.paths import Paths, private_directory, write_private
from memhook.ui.session import Session

MAX_CONNECTIONS = 100
LAST_ANSWERS_SECONDS = 5
OPENER = '<!doctype html><meta http-equiv="refresh" content="0; url={address}">'


def serve(
    paths: Paths, directory: str, port: int, idle_seconds: float, *, opens_browser: bool, use_daemon: bool
) -> None:
    """Print the address, then serve. The socket listens from the start: a browser that is early waits."""
    os.umask(0o077)
    logging.getLogger("uvicorn.error").addHandler(logging.FileHandler(paths.log, delay=True))
    # Not KeyboardInterrupt: passing through an exec (a dataclass being imported), it ends the process as killed.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    with listening(Address(LOOPBACK, port)) as bound, _opener(paths) as opener, suppress(KeyboardInterrupt):
        session = Session(bound.getsockname()[1])
        sys.stdout.write(f"{session.address}\n")
        sys.stdout.flush()
        if opens_browser:
            _open_browser(opener, session)
        call = door(paths, directory, use_daemon=use_daemon)
        asyncio.run(_served(call, paths, session, idle_seconds, bound))


@contextmanager
def _opener(paths: Paths) -> Iterator[Path]:
    """Yield the name of a private file that leads to the page; it is deleted at the end."""
    file = private_directory(paths.state) / f"ui-{os.getpid()}.html"
    try:
        yield file
    finally:
        file.unlink(missing_ok=True)


def _open_browser(opener: Path, session: Session) -> None:
    """Open the browser by a file: every user of the machine can read the arguments of a command."""
    write_private(opener, OPENER.format(address=escape(session.address)))
    # In a thread: some browsers block until they are closed.
    threading.Thread(target=webbrowser.open, args=[opener.as_uri()], daemon=True).start()


async def _served(call: Call, paths: Paths, session: Session, idle_seconds: float, bound: socket.socket) -> None:
    # Loaded while the browser starts.
    from memhook.mcp_server.web_server import WebServer  # noqa: PLC0415  as said above
    from memhook.ui.app import application  # noqa: PLC0415  as said above
    from memhook.ui.guard import guarded  # noqa: PLC0415  as said above

    pages = guarded(application(call, paths, session), session)
    server = WebServer(pages, "h11", MAX_CONNECTIONS, LAST_ANSWERS_SECONDS, idle_seconds)
    server.end_at_a_signal()
    await server.serve(sockets=[bound])
