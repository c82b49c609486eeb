"""The resident process: one per user and state folder, holding the store, the model and the ledger."""

from __future__ import annotations

import ctypes
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
from types import FrameType
from typing import TYPE_CHECKING, Any

import memhook
from memhook import __version__
from memhook.daemon import hook_client, wire
from memhook.daemon.peer import is_same_user
from memhook.daemon.place import HAND_OVER_SECONDS, Place, taken
from memhook.errors import InvalidInput, MemhookError
from memhook.paths import Paths, private_directory, refuse_foreign, user_paths, write_private
from memhook.screening.secrets import masked

if TYPE_CHECKING:
    from memhook.hooks.runner import Runner

log = logging.getLogger("memhook")

WORKERS = 16
WAITING = 256  # who comes while it loads is told so at once, and is not kept waiting for a worker to hear it
REQUEST_SECONDS = 5.0
ACKNOWLEDGE_SECONDS = 2.0
HOUSEKEEPING_SECONDS = 5.0
LOOK_SECONDS = 1.0  # a daemon that clients no longer find is replaced within the deadline of a hook
WORTH_GIVING_BACK = 16  # megabytes more than before: looking for free pages takes some milliseconds
QUIET_SECONDS = 5.0  # without a request: nobody waits for the milliseconds that giving memory back takes
USELESS_SECONDS = 60.0  # how long a daemon stays that could not load
UNUSED_SECONDS = 600.0  # without a client of its own protocol: an older version may take over
M_ARENA_MAX, ARENAS = -8, 2  # as malloc.h has it
GO_FIRST_SECONDS = 1.0  # one that sends nothing, or asks for much, does not keep the daemon from warming up


class Server:
    """Answers hooks and calls until it is idle, told to stop, or met by a newer version."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._paths = place.paths
        self._listener = place.listener
        self._workers = ThreadPoolExecutor(WORKERS, "memhook-request")
        self._waiting = ThreadPoolExecutor(WAITING, "memhook-waiting")
        self._slots = threading.Semaphore(WORKERS)
        self._runner: Future[Runner] = Future()
        self._started = time.monotonic()
        self._last_request = self._started
        self._last_understood = self._started
        self._told: set[wire.Client] = set()
        self._requests = 0
        self._in_progress = 0
        self._counting = threading.Condition()
        self._last_error = ""
        self._stopping = threading.Event()
        self._housekeeping = threading.Thread()
        self._last_housekeeping = self._started
        self._warm = threading.Event()
        self._held_megabytes = {False: 0.0, True: 0.0}  # after giving back: at work, at rest

    def run(self) -> None:
        """Accept at once, load meanwhile: clients wait in the queue instead of failing to connect."""
        threading.Thread(target=self._load, name="memhook-load", daemon=True).start()
        threading.Thread(target=self._accept, name="memhook-accept", daemon=True).start()
        while not self._stopping.wait(min(LOOK_SECONDS, self._idle_seconds() / 2)):
            self._look_after()
        self._place.leave_socket()
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        for pool in (self._waiting, self._workers):
            pool.shutdown(wait=True, cancel_futures=False)
        if self._housekeeping.is_alive():
            self._housekeeping.join(HAND_OVER_SECONDS / 2)
        if self._is_loaded():
            self._runner.result().close()

    def stop(self, reason: str) -> None:
        if not self._stopping.is_set():
            log.info("stopping: %s", reason)
            self._stopping.set()

    def _load(self) -> None:
        # lancedb and fastembed take seconds to import: the socket must be open before.
        gc.disable()  # nothing of it is garbage, and looking for some takes a tenth of the time
        try:
            from memhook.hooks.runner import Runner  # noqa: PLC0415  lancedb is imported while the socket answers

            runner = Runner(self._paths)
            runner.open()
            self._runner.set_result(runner)
            self._let_those_waiting_go_first()
            runner.warm_up()
            gc.collect()
            gc.freeze()  # what was loaded stays: looking through it again takes tens of milliseconds from some prompt
        except Exception as error:
            log.exception("loading failed")
            self._last_error = f"{type(error).__name__}: {error}"
            if not self._runner.done():
                self._runner.set_exception(error)
        gc.enable()
        self._warm.set()

    def _let_those_waiting_go_first(self) -> None:
        """They warm up what they need themselves, and would wait for the rest of it."""
        with self._counting:
            self._counting.wait_for(lambda: not self._in_progress, GO_FIRST_SECONDS)

    def _accept(self) -> None:
        while not self._stopping.is_set():
            try:
                connection, _ = self._listener.accept()
            except OSError as error:
                self.stop(f"the socket failed: {error}")
                return
            (self._workers if self._warm.is_set() else self._waiting).submit(self._serve, connection)

    def _serve(self, connection: socket.socket) -> None:
        """One request. Whatever is wrong with it ends with this connection."""
        self._requests += 1
        with self._busy(), connection:
            try:
                connection.settimeout(REQUEST_SECONDS)
                if not is_same_user(connection):
                    log.warning("refused a connection of another user")
                    return
                header = wire.read_block(connection, wire.MAX_HEADER)
                client = wire.client_of(header)
                if client.protocol == wire.PROTOCOL:
                    self._serve_request(connection, header, client)
                else:
                    self._serve_stranger(connection, header, client)
            except wire.ConnectionEnded:
                pass  # somebody looked whether a daemon is there
            except (wire.BadRequest, wire.AskAgain, OSError) as error:
                log.warning("bad request: %s %s", type(error).__name__, error)
            except Exception as error:
                log.exception("a request failed")
                self._last_error = f"{type(error).__name__}: {error}"

    def _serve_request(self, connection: socket.socket, header: bytes, client: wire.Client) -> None:
        self._last_understood = time.monotonic()
        request = wire.decoded(header, wire.read_block(connection, wire.MAX_BODY))
        try:
            self._answer(connection, request)
        finally:  # also when its client did not wait for the answer
            if client.is_newer() or (client.version != __version__ and _is_replaced()):
                self._give_way(client)

    def _serve_stranger(self, connection: socket.socket, header: bytes, client: wire.Client) -> None:
        """A client of another protocol. A newer one starts its own daemon; an older one is told what to do.

        It would be wrong to give way to an older one, too: with two versions in use each would end the other's daemon
        at every prompt. So it may only take over where the newer one is no longer installed or no longer used.
        """
        unused = time.monotonic() - self._last_understood
        if client.is_newer():
            self._give_way(client)
            connection.sendall(wire.ASK_AGAIN)
        elif _is_replaced() or unused > UNUSED_SECONDS:
            self._give_way(client)  # what closes without an answer is asked again, in every protocol
        else:
            body = wire.read_block(connection, wire.MAX_BODY)
            connection.sendall(wire.block(self._answer_to_older(header, body, client)))

    def _answer_to_older(self, header: bytes, body: bytes, client: wire.Client) -> bytes:
        """Of any protocol, `stop` and `daemon_status` are understood: `memhook daemon restart` needs them."""
        message = (
            f"Two versions of memhook are in use: {__version__} runs in the background and does not understand"
            f" {client.version[:20]}, which asks."
        )
        hint = "Upgrade the older one; if you have gone back to it, run: memhook daemon restart"
        if b"\0call\0" in header:
            return self._managed(_method_in(body)) or wire.error_block(MemhookError(message, hint))
        if client in self._told:
            return b""
        self._told.add(client)
        log.warning("%s (protocol %s)", message, client.protocol[:20])
        return json.dumps({"systemMessage": f"{message} So no memories are shown. {hint}"}).encode() + b"\n"

    def _give_way(self, client: wire.Client) -> None:
        """Off the door before the connection closes: a client that asks again must not meet this daemon once more."""
        self.stop(f"version {client.version[:20]} takes over from {__version__}")
        self._place.leave_socket()

    @contextmanager
    def _busy(self) -> Iterator[None]:
        """Who is still being answered keeps the daemon from being idle, however long it takes."""
        with self._counting:
            self._in_progress += 1
        try:
            yield
        finally:
            with self._counting:
                self._in_progress -= 1
                self._last_request = time.monotonic()
                self._counting.notify_all()

    def _is_idle(self) -> bool:
        with self._counting:
            return not self._in_progress and time.monotonic() - self._last_request > self._idle_seconds()

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
            if connection.recv(1) == wire.READ_TO_ITS_END:
                delivered()
        except OSError:
            log.info("the client went before it had read the answer")

    def _hooked(self, request: wire.Request) -> tuple[bytes, Callable[[], None]]:
        try:
            runner = self._runner.result()
        except Exception:  # noqa: BLE001  logged when it happened; a hook stays silent
            return b"", lambda: None
        with self._slots:
            return runner.hook(request.event, request.part, request.directory, dict(request.environment), request.body)

    def _managed(self, method: object) -> bytes:
        """The answer to what a command asks of the process itself; empty for every other call."""
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
        return self._runner.result().idle_seconds() if self._is_loaded() else USELESS_SECONDS

    def _look_after(self) -> None:
        if self._is_idle():
            self.stop("idle")
        elif self._place.is_lost():
            self.stop("its lock or its socket was removed or replaced")
        elif time.monotonic() - self._last_housekeeping >= HOUSEKEEPING_SECONDS and not self._housekeeping.is_alive():
            self._last_housekeeping = time.monotonic()
            # On a thread of its own: embedding a store anew takes minutes, and this one must hear when to stop.
            self._housekeeping = threading.Thread(target=self._tidy, name="memhook-housekeeping", daemon=True)
            self._housekeeping.start()

    def _tidy(self) -> None:
        try:
            self._runner.result().keep_house()
            self._give_memory_back()
        except Exception as error:
            log.exception("housekeeping failed")
            self._last_error = f"{type(error).__name__}: {error}"

    def _give_memory_back(self) -> None:
        """What an import or another model needed for a while: the allocators would keep it, for each thread apart.

        What the process has while it works says nothing about how much it needs at rest, so the two are compared apart.
        """
        is_quiet = self._is_quiet()
        if _resident_megabytes() < self._held_megabytes[is_quiet] + WORTH_GIVING_BACK:
            return
        self._runner.result().give_memory_back()
        self._held_megabytes[is_quiet] = _resident_megabytes()

    def _is_quiet(self) -> bool:
        with self._counting:
            return not self._in_progress and time.monotonic() - self._last_request > QUIET_SECONDS


def main() -> int:
    os.umask(0o077)
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
        place = taken(paths)
    except (OSError, MemhookError) as error:
        log.error("the daemon cannot start: %s", error)
        return 1
    if place is None:
        return 0  # another one won
    _run(place)
    place.leave()
    log.info("stopped")
    logging.shutdown()
    os._exit(0)  # LanceDB's threads would keep the process for a while


def set_up_libraries() -> None:
    """Before any of them is imported and any thread is started.

    Memory can be given back only if it is free in whole pages. glibc has an arena for each thread and Arrow's own
    allocator a heap, so what sixteen threads left of an import of 10,000 notes stayed: 230 MB that nobody needed.
    """
    # numpy's threads spin after each product, and take from a prompt more than they give.
    os.environ |= {"OPENBLAS_NUM_THREADS": "1", "ARROW_DEFAULT_MEMORY_POOL": "system"}
    libc = ctypes.CDLL(None) if sys.platform == "linux" else None
    if mallopt := getattr(libc, "mallopt", None):  # not with musl, which has no arenas
        mallopt(M_ARENA_MAX, ARENAS)


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
    """An exception may quote what it failed on."""

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
    """For the plugin's launcher, so that a hook never has to look for Python."""
    with suppress(OSError):
        (paths.state / "interpreter.gone").rmdir()  # what a launcher told the user is mended
    try:
        write_private(paths.interpreter, f"{sys.executable}\n{hook_client.__file__}\n{__version__}\n")
    except OSError as error:
        log.warning("%s cannot be written: %s", paths.interpreter, error)


def _method_in(body: bytes) -> object:
    try:
        return json.loads(body)["method"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return None


def _is_replaced() -> bool:
    """Whether the files this process was started from are of another version by now, or deleted."""
    try:
        return f'__version__ = "{__version__}"' not in Path(str(memhook.__file__)).read_text(encoding="utf-8")
    except OSError:
        return True


def _resident_megabytes() -> float:
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") / 1e6
    except OSError:  # not Linux: the peak is what there is, in bytes there
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
