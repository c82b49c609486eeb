"""The daemon: one per user and state folder, with the store, the model and the ledger in memory."""

from __future__ import annotations

import gc
import json
import logging
import logging.handlers
import os
import resource
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType, SimpleNamespace
from typing import TYPE_CHECKING, Any

import memhook
from memhook import __version__
from memhook.daemon import hook_client, wire
from memhook.daemon.place import HAND_OVER_SECONDS, Place, acquired
from memhook.errors import InvalidInput, MemhookError
from memhook.paths import Paths, private_directory, refuse_foreign, user_paths, write_private
from memhook.screening.secrets import masked
from memhook.store.table.release import few_arenas

if TYPE_CHECKING:
    from memhook.hooks.runner import Runner

log = logging.getLogger("memhook")

WORKERS = 16  # requests that are processed at the same time
CONNECTIONS = 256  # clients that connect during load get STILL_STARTING at once, without waiting for a worker
REQUEST_SECONDS = 5.0
ACKNOWLEDGE_SECONDS = 2.0
HOUSEKEEPING_SECONDS = 5.0
SUPERVISE_SECONDS = 1.0  # a daemon that clients cannot find is replaced within the deadline of a hook
WORTH_GIVING_BACK = 16  # megabytes more than the last time
CODE_MEGABYTES = 48  # above the least at rest: prompts and housekeeping take 40 of code, which they would map again
QUIET_SECONDS = 5.0  # without a request: then returning memory delays nobody
USELESS_SECONDS = 60.0  # after which a daemon that failed to load stops
UNUSED_SECONDS = 600.0  # without a client of its own protocol: an older version may take over
ARENAS = 2
# A prompt releases the interpreter lock some dozen times, for files and for the model, and waits up to so long to get
# it back while another thread imports or keeps house. With Python's 0.005 it takes two to three times as long.
SWITCH_SECONDS = 0.0002
WAITING_CLIENTS_SECONDS = 1.0  # a client that sends nothing, or takes long, does not delay the warm-up further


class Server:
    """Answers hooks and calls until it is idle, asked to stop, or replaced by a newer version."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._paths = place.paths
        self._listener = place.listener
        self._connections = ThreadPoolExecutor(CONNECTIONS, "memhook-request")
        self._workers = threading.Semaphore(WORKERS)
        self._runner: Future[Runner] = Future()
        self._started = time.monotonic()
        self._last_request = self._started
        self._last_understood = self._started
        self._notified: set[wire.Client] = set()
        self._requests = 0
        self._in_progress = 0
        self._counting = threading.Condition()
        self._last_error = ""
        self._stopping = threading.Event()
        self._housekeeping = threading.Thread()
        self._last_housekeeping = self._started
        self._warm = threading.Event()
        self._given_back_to = {False: 0.0, True: 0.0}  # megabytes left the last time: busy, quiet
        self._at_rest = 0.0

    def run(self) -> None:
        """Accept connections while loading: clients wait in the queue instead of failing to connect."""
        threading.Thread(target=self._load, name="memhook-load", daemon=True).start()
        threading.Thread(target=self._accept, name="memhook-accept", daemon=True).start()
        while not self._stopping.wait(min(SUPERVISE_SECONDS, self._idle_seconds() / 2)):
            self._supervise()
        self._place.release_socket()
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._connections.shutdown(wait=True, cancel_futures=False)
        if self._housekeeping.is_alive():
            self._housekeeping.join(HAND_OVER_SECONDS / 2)
        if self._is_loaded():
            self._runner.result().engine.close()

    def stop(self, reason: str) -> None:
        if not self._stopping.is_set():
            log.info("stopping: %s", reason)
            self._stopping.set()

    def _load(self) -> None:
        # lancedb and fastembed take seconds to import: the socket must be open before.
        gc.disable()  # loading makes no garbage, and collecting takes a tenth of the time
        try:
            from memhook.hooks.runner import Runner  # noqa: PLC0415  lancedb is imported while the socket answers

            runner = Runner(self._paths)
            runner.open()
            self._runner.set_result(runner)
            self._let_waiting_clients_finish()
            runner.engine.warm_up()
            # Scanning what was loaded would cost some prompt tens of milliseconds, and here as much: it is not garbage.
            gc.freeze()
            runner.engine.give_memory_back(is_quiet=True)  # a third of it was needed to load only
        except Exception as error:
            log.exception("loading failed")
            self._last_error = f"{type(error).__name__}: {error}"
            if not self._runner.done():
                self._runner.set_exception(error)
        gc.enable()
        self._warm.set()

    def _let_waiting_clients_finish(self) -> None:
        """Wait for requests in progress: they load what they need, and would have to wait for the warm-up."""
        with self._counting:
            self._counting.wait_for(lambda: not self._in_progress, WAITING_CLIENTS_SECONDS)

    def _accept(self) -> None:
        while not self._stopping.is_set():
            try:
                connection, _ = self._listener.accept()
            except OSError as error:
                self.stop(f"the socket failed: {error}")
                return
            self._connections.submit(self._serve, connection)

    def _serve(self, connection: socket.socket) -> None:
        """Serve one request. An error in it affects only this connection."""
        self._requests += 1
        with self._busy(), connection:
            try:
                connection.settimeout(REQUEST_SECONDS)
                if not wire.is_same_user(connection):
                    log.warning("refused a connection of another user")
                    return
                header = wire.read_block(connection, wire.MAX_HEADER)
                client = wire.client_of(header)
                if client.protocol == wire.PROTOCOL:
                    self._serve_request(connection, header, client)
                else:
                    self._serve_other_protocol(connection, header, client)
            except wire.ConnectionClosed:
                pass  # a client checked whether a daemon is running
            except (wire.BadRequest, wire.Retry, OSError) as error:
                log.warning("bad request: %s %s", type(error).__name__, error)
            except Exception as error:
                log.exception("a request failed")
                self._last_error = f"{type(error).__name__}: {error}"

    def _serve_request(self, connection: socket.socket, header: bytes, client: wire.Client) -> None:
        self._last_understood = time.monotonic()
        request = wire.decoded(header, wire.read_block(connection, wire.MAX_BODY))
        try:
            self._answer(connection, request)
        finally:  # even if the client did not wait for the answer
            if client.is_newer() or (client.version != __version__ and _is_replaced()):
                self._give_way(client)

    def _serve_other_protocol(self, connection: socket.socket, header: bytes, client: wire.Client) -> None:
        """Serve a client of another protocol: a newer one starts its own daemon, an older one gets instructions.

        Giving way to an older one as well would make two versions in use stop each other's daemon at every prompt. So
        an older one takes over only if the newer one is no longer installed or used.
        """
        unused = time.monotonic() - self._last_understood
        if client.is_newer():
            self._give_way(client)
            connection.sendall(wire.RETRY)
        elif _is_replaced() or unused > UNUSED_SECONDS:
            self._give_way(client)  # in every protocol, clients retry when the connection closes without an answer
        else:
            body = wire.read_block(connection, wire.MAX_BODY)
            connection.sendall(wire.block(self._answer_to_older(header, body, client)))

    def _answer_to_older(self, header: bytes, body: bytes, client: wire.Client) -> bytes:
        """Answer `stop` and `daemon_status` in any protocol, for `memhook daemon restart`; else explain."""
        message = (
            f"Two versions of memhook are in use: {__version__} runs in the background and does not support"
            f" this client's {client.version[:20]}."
        )
        hint = "Upgrade the older one; if you downgraded on purpose, run: memhook daemon restart"
        if b"\0call\0" in header:
            return self._managed(_method_in(body)) or wire.error_block(MemhookError(message, hint))
        if client in self._notified:
            return b""
        self._notified.add(client)
        log.warning("%s (protocol %s)", message, client.protocol[:20])
        return json.dumps({"systemMessage": f"{message} So no memories are shown. {hint}"}).encode() + b"\n"

    def _give_way(self, client: wire.Client) -> None:
        """Stop, and delete the socket before the connection closes: a client that retries gets the next daemon."""
        self.stop(f"version {client.version[:20]} takes over from {__version__}")
        self._place.release_socket()

    @contextmanager
    def _busy(self) -> Iterator[None]:
        """Count a request in progress: the daemon is not idle until it is answered."""
        with self._counting:
            self._in_progress += 1
        try:
            yield
        finally:
            with self._counting:
                self._in_progress -= 1
                self._last_request = time.monotonic()
                self._counting.notify_all()

    def _rested(self, seconds: float) -> bool:
        """Return whether no request came for so long, and none is in progress."""
        with self._counting:
            return not self._in_progress and time.monotonic() - self._last_request > seconds

    def _answer(self, connection: socket.socket, request: wire.Request) -> None:
        if request.kind == "call":
            connection.sendall(wire.block(self._called(request)))
            return
        if not self._warm.is_set():
            connection.sendall(wire.STILL_STARTING)
        text, delivered = self._hooked(request)
        connection.sendall(wire.block(text))
        connection.settimeout(ACKNOWLEDGE_SECONDS)
        try:
            if connection.recv(1) == wire.ACKNOWLEDGED:
                delivered()
        except OSError:
            log.info("the client disconnected before it had read the answer")

    def _hooked(self, request: wire.Request) -> tuple[bytes, Callable[[], None]]:
        try:
            runner = self._runner.result()
        except Exception:  # noqa: BLE001  logged by _load; a hook stays silent
            return b"", lambda: None
        with self._workers:
            return runner.hook(request.event, request.part, request.directory, dict(request.environment), request.body)

    def _managed(self, method: object) -> bytes:
        """Answer a call about the process itself; return b"" for every other call."""
        if method == "stop":
            self.stop("asked to")
            return wire.result_block({"pid": os.getpid()})
        return wire.result_block(self._status()) if method == "daemon_status" else b""

    def _called(self, request: wire.Request) -> bytes:
        try:
            call = json.loads(request.body)
            method, params = call["method"], call.get("params", {})
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            return wire.error_block(InvalidInput(f"The call cannot be read: {error}"))
        if answer := self._managed(method):
            return answer
        try:
            runner = self._runner.result()
            with self._workers:
                result = runner.call(method, params, request.directory, dict(request.environment))
            return wire.result_block(result)
        except MemhookError as error:
            return wire.error_block(error)
        except Exception as error:
            log.exception("%s failed", method)
            self._last_error = f"{type(error).__name__}: {error}"
            message = f"memhook met an unexpected error ({type(error).__name__}: {error})."
            return wire.error_block(MemhookError(message, f"The details are in {self._paths.log}."))

    def _status(self) -> dict[str, Any]:
        return {
            "pid": os.getpid(),
            "version": __version__,
            "uptime_seconds": round(time.monotonic() - self._started, 1),
            "memory_mb": round(_resident_megabytes()),
            "requests": self._requests,
            "last_error": self._last_error,
            "ready": self._runner.done(),
            "socket": str(self._paths.socket),
            "log": str(self._paths.log),
        }

    def _is_loaded(self) -> bool:
        return self._runner.done() and self._runner.exception() is None

    def _idle_seconds(self) -> float:
        if not self._is_loaded():
            return USELESS_SECONDS
        return self._runner.result().engine.loaded().settings.daemon.idle_minutes * 60

    def _supervise(self) -> None:
        if self._rested(self._idle_seconds()):
            self.stop("idle")
        elif self._place.is_lost():
            self.stop("its lock or its socket was deleted or replaced")
        elif time.monotonic() - self._last_housekeeping >= HOUSEKEEPING_SECONDS and not self._housekeeping.is_alive():
            self._last_housekeeping = time.monotonic()
            # In a thread of its own: embedding a store again takes minutes, and this thread must notice a stop.
            self._housekeeping = threading.Thread(target=self._housekeep, name="memhook-housekeeping", daemon=True)
            self._housekeeping.start()

    def _housekeep(self) -> None:
        try:
            self._runner.result().keep_house(is_quiet=self._rested(QUIET_SECONDS))
            self._give_memory_back()
        except Exception as error:
            log.exception("housekeeping failed")
            self._last_error = f"{type(error).__name__}: {error}"

    def _give_memory_back(self) -> None:
        """Return free memory to the system after an import or a change of model: the allocators would keep it.

        A busy process needs more than a quiet one, so each is compared with itself. Code is unmapped when nobody waits
        for it.
        """
        is_quiet = self._rested(QUIET_SECONDS)
        used = _resident_megabytes()
        if used < self._given_back_to[is_quiet] + WORTH_GIVING_BACK or (
            is_quiet and used < self._at_rest + CODE_MEGABYTES
        ):
            return
        self._runner.result().engine.give_memory_back(is_quiet)
        self._given_back_to[is_quiet] = left = _resident_megabytes()
        if is_quiet:
            self._at_rest = min(left, self._at_rest or left)


def main() -> int:
    os.umask(0o077)
    sys.setswitchinterval(SWITCH_SECONDS)
    set_up_libraries()
    paths = user_paths()
    try:
        private_directory(paths.state)
        refuse_foreign(paths.log)
    except (OSError, MemhookError) as error:
        print(f"memhook: the daemon cannot start: {error}", file=sys.stderr)  # noqa: T201  there is no log either
        return 1
    _log_to(paths.log)
    try:
        place = acquired(paths)
    except (OSError, MemhookError) as error:
        log.error("the daemon cannot start: %s", error)
        return 1
    if place is None:
        return 0  # another daemon is running
    _run(place)
    place.release()
    log.info("stopped")
    logging.shutdown()
    os._exit(0)  # LanceDB's threads would delay the exit


def set_up_libraries() -> None:
    """Configure libraries before any of them is imported and any thread is started.

    Memory can be given back only in whole free pages. With an arena per thread (glibc) and a heap of Arrow's own
    allocator, an import of 10,000 notes left 230 MB of unused memory.
    """
    # numpy's threads spin after each product, which costs a prompt more than it gains.
    os.environ |= {"OPENBLAS_NUM_THREADS": "1", "ARROW_DEFAULT_MEMORY_POOL": "system"}
    few_arenas(ARENAS)
    # Arrow parses the documentation of its functions to write theirs: half of that import.
    parser = SimpleNamespace(NumpyDocString=lambda _text: {"Parameters": ()})
    sys.modules["pyarrow.vendored.docscrape"] = parser  # type: ignore[assignment]  # a duck


def _run(place: Place) -> None:
    server = Server(place)

    def terminated(_number: int, _frame: FrameType | None) -> None:
        server.stop("SIGTERM")

    signal.signal(signal.SIGTERM, terminated)
    signal.signal(signal.SIGINT, terminated)
    log.info("started: version %s, pid %s", __version__, os.getpid())
    _record_interpreter(place.paths)
    server.run()


class MaskingFormatter(logging.Formatter):
    """Masks secrets: an exception may quote its input."""

    def format(self, record: logging.LogRecord) -> str:
        return masked(super().format(record)).text


def _log_to(path: Path) -> None:
    handler = logging.handlers.RotatingFileHandler(path, maxBytes=1_000_000, backupCount=2, encoding="utf-8")
    handler.setFormatter(MaskingFormatter("%(asctime)s %(levelname)s %(message)s"))
    logging.raiseExceptions = False  # a full disk must not end the daemon
    log.addHandler(handler)
    log.setLevel(logging.INFO)
    log.propagate = False


def _record_interpreter(paths: Paths) -> None:
    """Record the interpreter for the plugin's launcher, so that a hook need not search for Python."""
    with suppress(OSError):
        (paths.state / "interpreter.gone").rmdir()  # the problem that a launcher reported is fixed
    try:
        write_private(paths.interpreter, f"{sys.executable}\n{hook_client.__file__}\n{__version__}\n")
    except OSError as error:
        log.warning("cannot write %s: %s", paths.interpreter, error)


def _method_in(body: bytes) -> object:
    try:
        return json.loads(body)["method"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return None


def _is_replaced() -> bool:
    """Return whether the files of this process were deleted or are of another version by now."""
    try:
        return f'__version__ = "{__version__}"' not in Path(str(memhook.__file__)).read_text(encoding="utf-8")
    except OSError:
        return True


def _resident_megabytes() -> float:
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") / 1e6
    except OSError:  # not Linux: only the peak is available, in bytes
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
