"""The resident process: one per user and state folder, holding the store, the model and the ledger."""

from __future__ import annotations

import ctypes
import fcntl
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

from memhook import __version__
from memhook.core.secrets import masked
from memhook.daemon import hook_client, wire
from memhook.daemon.peer import is_same_user
from memhook.errors import InvalidInput, MemhookError
from memhook.paths import Paths, private_directory, refuse_foreign, user_paths, write_private
from memhook.store.locking import is_named

if TYPE_CHECKING:
    from memhook.hooks.runner import Runner

log = logging.getLogger("memhook")

WORKERS = 16
WAITING = 256  # who comes while it loads is told so at once, and is not kept waiting for a worker to hear it
REQUEST_SECONDS = 5.0
ACKNOWLEDGE_SECONDS = 2.0
HOUSEKEEPING_SECONDS = 5.0
HAND_OVER_SECONDS = 10.0
WORTH_GIVING_BACK = 16  # megabytes more than before: looking for free pages takes some milliseconds
USELESS_SECONDS = 60.0  # how long a daemon stays that could not load
GO_FIRST_SECONDS = 1.0  # one that sends nothing, or asks for much, does not keep the daemon from warming up


class Server:
    """Answers hooks and calls until it is idle, told to stop, or met by a newer version."""

    def __init__(self, paths: Paths, listener: socket.socket) -> None:
        self._paths = paths
        self._listener = listener
        self._workers = ThreadPoolExecutor(WORKERS, "memhook-request")
        self._waiting = ThreadPoolExecutor(WAITING, "memhook-waiting")
        self._slots = threading.Semaphore(WORKERS)
        self._runner: Future[Runner] = Future()
        self._started = time.monotonic()
        self._last_request = self._started
        self._requests = 0
        self._in_progress = 0
        self._counting = threading.Condition()
        self._last_error = ""
        self._stopping = threading.Event()
        self._housekeeping = threading.Thread()
        self._warm = threading.Event()
        self._held_megabytes = 0.0

    def run(self) -> None:
        """Accept at once, load meanwhile: clients wait in the queue instead of failing to connect."""
        threading.Thread(target=self._load, name="memhook-load", daemon=True).start()
        threading.Thread(target=self._accept, name="memhook-accept", daemon=True).start()
        while not self._stopping.wait(min(HOUSEKEEPING_SECONDS, self._idle_seconds() / 2)):
            self._keep_house()
        # Off the door first: who comes now starts the next daemon, which waits for this one's lock.
        self._paths.socket.unlink(missing_ok=True)
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
            from memhook.hooks.runner import Runner  # noqa: PLC0415

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
                request = wire.decoded(header, wire.read_block(connection, wire.MAX_BODY))
                try:
                    self._answer(connection, request)
                finally:  # also when its client did not wait for the answer
                    if _is_newer(request.version, __version__):
                        self.stop(f"version {request.version} takes over from {__version__}")
            except wire.ConnectionEnded:
                pass  # somebody looked whether a daemon is there
            except (wire.BadRequest, OSError) as error:
                log.warning("bad request: %s %s", type(error).__name__, error)
            except Exception as error:
                log.exception("a request failed")
                self._last_error = f"{type(error).__name__}: {error}"

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

    def _called(self, request: wire.Request) -> bytes:
        try:
            call = json.loads(request.body)
            method, params = call["method"], call.get("params", {})
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            return wire.error_block(InvalidInput(f"The call cannot be read: {error}"))
        if method == "stop":
            self.stop("asked to")
            return wire.result_block({"pid": os.getpid()})
        if method == "daemon_status":
            return wire.result_block(self._status())
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

    def _keep_house(self) -> None:
        if self._is_idle():
            self.stop("idle")
        elif not self._paths.socket.exists():
            self.stop("its socket is gone")
        elif not self._housekeeping.is_alive():
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
        """What an import or another model needed for a while: glibc would keep it, for each thread apart."""
        if _resident_megabytes() < self._held_megabytes + WORTH_GIVING_BACK:
            return
        if trim := getattr(ctypes.CDLL(None), "malloc_trim", None):
            trim(0)
        self._held_megabytes = _resident_megabytes()


def main() -> int:
    os.umask(0o077)
    # Before numpy is imported: its threads spin after each product, and take from a prompt more than they give.
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    paths = user_paths()
    try:
        private_directory(paths.state)
        refuse_foreign(paths.log)
    except (OSError, MemhookError) as error:
        print(f"memhook: the daemon cannot start: {error}", file=sys.stderr)  # noqa: T201  there is no log either
        return 1
    _log_to(paths.log)
    try:
        lock = _locked(paths)
        if lock is None:
            return 0  # another one won
        os.chdir(paths.state)
        listener = _listening()
    except (OSError, MemhookError) as error:
        log.error("the daemon cannot start: %s", error)
        return 1
    _run(paths, listener)
    _leave_nothing(paths)
    log.info("stopped")
    logging.shutdown()
    os._exit(0)  # LanceDB's threads would keep the process for a while


def _run(paths: Paths, listener: socket.socket) -> None:
    server = Server(paths, listener)

    def terminated(_number: int, _frame: FrameType | None) -> None:
        server.stop("SIGTERM")

    signal.signal(signal.SIGTERM, terminated)
    signal.signal(signal.SIGINT, terminated)
    log.info("started: version %s, pid %s", __version__, os.getpid())
    _record_interpreter(paths)
    server.run()


def _leave_nothing(paths: Paths) -> None:
    """The lock's file goes while the lock is still held: who waits for it finds out that it is gone."""
    (paths.state / "daemon.starting").unlink(missing_ok=True)
    paths.daemon_lock.unlink(missing_ok=True)


def _locked(paths: Paths) -> int | None:
    """The right to be the daemon; None when another one has it and is there to answer."""
    deadline = time.monotonic() + HAND_OVER_SECONDS
    while True:
        handle = os.open(paths.daemon_lock, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        refuse_foreign(paths.daemon_lock)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(handle)
            # The one that holds it may be ending: it closes its socket first.
            if paths.socket.exists() or time.monotonic() > deadline:
                return None
            time.sleep(0.02)
            continue
        if is_named(paths.daemon_lock, handle):
            break
        os.close(handle)  # its last holder removed it at its end
    os.ftruncate(handle, 0)
    os.write(handle, f"{os.getpid()}\n".encode())
    return handle


def _listening() -> socket.socket:
    """Bound by its name in the current folder: the full path may be longer than a socket's can be."""
    refuse_foreign(Path("daemon.sock").absolute())
    Path("daemon.sock").unlink(missing_ok=True)  # of a dead daemon: the lock is ours
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listener.bind("daemon.sock")
    Path("daemon.sock").chmod(0o600)
    listener.listen(256)
    Path("daemon.failed").unlink(missing_ok=True)
    return listener


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


def _is_newer(theirs: str, ours: str) -> bool:
    def numbers(version: str) -> tuple[int, ...]:
        return tuple(int(part) for part in version.split(".") if part.isdigit())

    return numbers(theirs) > numbers(ours)


def _resident_megabytes() -> float:
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") / 1e6
    except OSError:  # not Linux: the peak is what there is, in bytes there
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
