"""Serve the page on loopback until Ctrl-C, SIGTERM or an idle time."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import socket
import sys
import threading
import time
import webbrowser
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memhook.daemon.control import Call, door
from memhook.mcp_server.address import LOOPBACK, Address, listening
from memhook.paths import Paths, private_directory, write_private
from memhook.ui.session import Session

if TYPE_CHECKING:
    import uvicorn
    from starlette.types import Receive, Scope, Send

MAX_CONNECTIONS = 100
LAST_ANSWERS_SECONDS = 5
OPENER = '<!doctype html><meta http-equiv="refresh" content="0; url={address}">'


@dataclass(frozen=True, slots=True)
class Options:
    port: int = 0
    idle_seconds: float = 3600.0
    opens_browser: bool = True
    use_daemon: bool = True


def serve(paths: Paths, directory: str, options: Options) -> None:
    """Print the address, then serve. The socket listens from the start: a browser that is early waits."""
    os.umask(0o077)
    logging.getLogger("uvicorn.error").addHandler(logging.FileHandler(paths.log, delay=True))
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with listening(Address(LOOPBACK, options.port)) as bound, _opener(paths) as opener, suppress(KeyboardInterrupt):
        session = Session(bound.getsockname()[1])
        sys.stdout.write(f"{session.address}\n")
        sys.stdout.flush()
        if options.opens_browser:
            _open_browser(opener, session)
        call = _at_first_use(lambda: door(paths, directory, use_daemon=options.use_daemon))
        asyncio.run(_served(_server(call, paths, session, options.idle_seconds), bound))


def _at_first_use(opened: Callable[[], Call]) -> Call:
    """Return a door that is opened by the first call, once."""
    opening, once = threading.Lock(), cache(opened)

    def call(method: str, **params: Any) -> Any:
        with opening:
            found = once()
        return found(method, **params)

    return call


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
    # In a thread: some browsers are waited for.
    threading.Thread(target=webbrowser.open, args=[opener.as_uri()], daemon=True).start()


def _server(call: Call, paths: Paths, session: Session, idle_seconds: float) -> uvicorn.Server:
    # Loaded while the browser starts.
    import uvicorn  # noqa: PLC0415  as said above

    from memhook.ui.app import application  # noqa: PLC0415  as said above
    from memhook.ui.guard import guarded  # noqa: PLC0415  as said above

    last_request = time.monotonic()

    guarded_pages = guarded(application(call, paths, session), session)

    async def noticed(scope: Scope, receive: Receive, send: Send) -> None:
        nonlocal last_request
        last_request = time.monotonic()
        await guarded_pages(scope, receive, send)

    class Server(uvicorn.Server):
        """Leaves signals to `_served`: uvicorn would end the process by the signal that ended it."""

        @contextmanager
        def capture_signals(self) -> Iterator[None]:
            yield

        async def on_tick(self, counter: int) -> bool:
            return await super().on_tick(counter) or time.monotonic() - last_request > idle_seconds

    return Server(
        uvicorn.Config(
            noticed,
            http="h11",
            ws="none",
            lifespan="off",
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=False,
            limit_concurrency=MAX_CONNECTIONS,
            timeout_graceful_shutdown=LAST_ANSWERS_SECONDS,
        )
    )


async def _served(server: uvicorn.Server, bound: socket.socket) -> None:
    def end() -> None:
        server.should_exit = True

    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, end)
    await server.serve(sockets=[bound])
