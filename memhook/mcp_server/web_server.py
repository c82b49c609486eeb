"""A web server on one bound socket, until a signal or an idle time: for `memhook mcp --http` and for the page."""

from __future__ import annotations

import asyncio
import math
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import uvicorn
from starlette.types import ASGIApp, Receive, Scope, Send


class WebServer(uvicorn.Server):
    """Without uvicorn's own logs and headers. `http` is its protocol: a class, or the name of one that it knows."""

    def __init__(
        self, app: ASGIApp, http: Any, connections: int, last_answers_seconds: int, idle_seconds: float = math.inf
    ) -> None:
        super().__init__(
            uvicorn.Config(
                self._noticed,
                interface="asgi3",  # uvicorn takes a method for an older one
                http=http,
                ws="none",
                lifespan="off",
                log_config=None,
                access_log=False,
                server_header=False,
                proxy_headers=False,  # who asks is said by a token or a cookie, never by a header
                limit_concurrency=connections,
                timeout_graceful_shutdown=last_answers_seconds,
            )
        )
        self._app = app
        self._idle_seconds = idle_seconds
        self._last_request = time.monotonic()

    def end_at_a_signal(self) -> None:
        """At the first signal, requests in progress are still answered; a second one ends the process."""
        loop = asyncio.get_running_loop()

        def end(number: int) -> None:
            loop.remove_signal_handler(number)
            self.should_exit = True

        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, end, number)

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Nothing: uvicorn would let the signal that it ended for kill the process, before all is closed."""
        yield

    async def on_tick(self, counter: int) -> bool:
        return await super().on_tick(counter) or time.monotonic() - self._last_request > self._idle_seconds

    async def _noticed(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._last_request = time.monotonic()
        await self._app(scope, receive, send)
