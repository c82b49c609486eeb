"""A web server on one bound socket, until a signal or an idle time: for `memhook mcp --http` and for the page."""

from __future__ import annotations

import asyncio
import math
import signal
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, ClassVar

import uvicorn
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

_CONNECTION = "memhook.connection"


class WebServer(uvicorn.Server):
    """Runs uvicorn without its logs and headers. `http` is its protocol: a class, or the name of one that it knows."""

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
                proxy_headers=False,  # a token or a cookie identifies the client, never a header
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
        """Do nothing: uvicorn would raise the signal again, which kills the process before all is closed."""
        yield

    async def on_tick(self, counter: int) -> bool:
        return await super().on_tick(counter) or time.monotonic() - self._last_request > self._idle_seconds

    async def _noticed(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._last_request = time.monotonic()
        await self._app(scope, receive, send)


class Connection(H11Protocol):
    """A connection that is limited in time and number for clients without a valid token.

    It is a stranger until the guard admits a request on it. Strangers have a time limit for the head of their request
    and a limit for each peer and for all; a new one replaces the oldest of the peer that has most. So a client with a
    token is served however many half-open connections there are, also from its own machine.
    """

    head_seconds: ClassVar[float] = 10.0
    idle_seconds: ClassVar[float] = 30.0
    max_strangers: ClassVar[int] = 100
    max_strangers_per_peer: ClassVar[int] = 50

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        self.app_state = {**self.app_state, _CONNECTION: self}  # uvicorn copies it into the scope of each request
        self.is_stranger = True
        self.made = 0.0
        self._limit: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn declares it
        super().connection_made(transport)
        self.made = self.loop.time()
        self._limit_to(self.head_seconds)
        strangers = [one for one in self.connections if isinstance(one, Connection) and one.is_stranger]
        crowded_out = _one_too_many(strangers, self.max_strangers, self.max_strangers_per_peer)
        if crowded_out is not None:
            crowded_out.transport.abort()
            crowded_out.connections.discard(crowded_out)  # uvicorn itself would notice only later

    def connection_lost(self, exc: Exception | None) -> None:
        self._unlimited()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.cycle is None or self.cycle.response_complete:
            if self.conn.trailing_data[0] and self._limit is None:  # the next request has begun
                self._limit_to(self.head_seconds)
        elif self.cycle.more_body:
            self._limit_to(self.idle_seconds)
        else:
            self._unlimited()

    @property
    def peer(self) -> str:
        return self.client[0] if self.client else ""

    def _limit_to(self, seconds: float) -> None:
        self._unlimited()
        self._limit = self.loop.call_later(seconds, self.transport.abort)

    def _unlimited(self) -> None:
        if self._limit is not None:
            self._limit.cancel()
            self._limit = None


def admit(scope: Mapping[str, Any]) -> None:
    """Record that the connection which brought this request has shown a valid token."""
    connection = scope.get("state", {}).get(_CONNECTION)
    if connection is not None:
        connection.is_stranger = False


def _one_too_many(strangers: list[Connection], most: int, most_per_peer: int) -> Connection | None:
    by_peer: dict[str, list[Connection]] = defaultdict(list)
    for one in strangers:
        by_peer[one.peer].append(one)
    largest = max(by_peer.values(), key=len, default=[])
    if len(strangers) <= most and len(largest) <= most_per_peer:
        return None
    return min(largest, key=lambda one: one.made)
