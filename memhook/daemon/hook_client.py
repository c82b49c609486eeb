"""The hook command: passes the event on stdin to the daemon, and the daemon's answer to stdout.

Run by path as `python -I -S hook_client.py [EVENT] [PART] [--client NAME]`, on every prompt. It uses four built-in
modules and nothing of memhook, because importing `socket` and `json` alone would double its time; `os` would add a
tenth. It always exits 0 within its deadline, after writing one complete JSON object or nothing.
"""

import _signal  # type: ignore[import-not-found]  # signal itself imports enum
import _socket
import posix as os
import sys

VERSION = "0.1.0"
PROTOCOL = "1"
DEADLINE = 1.5
DEADLINE_WITH_START = 5.0
POLL_SECONDS = 0.02
STILL_STARTING = b"\xff\xff\xff\xff"
RETRY = b"\xff\xff\xff\xfe"
PASSED_ON = (b"COPILOT_CLI", b"CLAUDE_PROJECT_DIR", b"GEMINI_PROJECT_DIR", b"QWEN_PROJECT_DIR")
# Neither worth starting a daemon for nor waiting for one: never answered, or one for every tool call.
OF_TOOLS = ("PreToolUse", "PostToolUse", "PostToolUseFailure", "AfterTool", "preToolUse", "postToolUse")
QUIET = ("Stop", "PostCompact", "AfterAgent", *OF_TOOLS)
BROKEN = (OSError, ValueError, MemoryError)
ENDING_SIGNALS = (_signal.SIGINT, _signal.SIGTERM, _signal.SIGHUP)

ENCODING = (sys.getfilesystemencoding(), sys.getfilesystemencodeerrors())
# In `memhook hook`, os is there and knows what was changed since the process started.
environment: "dict[bytes, bytes]" = sys.modules["os"].environb if "os" in sys.modules else os.environ

deadline = DEADLINE

DAEMON_FAILED = (
    b'{"systemMessage": "memhook: its background process does not start, so no memories are shown.'
    b' Run: memhook doctor"}\n'
)

FOREIGN_DAEMON = (
    b'{"systemMessage": "memhook: its socket belongs to another user, so it is not used and no memories are shown.'
    b' Run: memhook doctor"}\n'
)
NO_PLACE = (
    b'{"systemMessage": "memhook: neither your home nor /tmp has a folder private to you, so no memories are'
    b' shown. Run: memhook doctor"}\n'
)


def main(argv: list[str]) -> int:
    for number in ENDING_SIGNALS:
        _signal.signal(number, end_at_once)
    try:
        return hook(argv)
    finally:
        ignore_signals()  # Python resets them to the default, which kills, at exit


def end_at_once(_signal_number: int, _frame: object) -> None:
    os._exit(0)


def ignore_signals() -> None:
    for number in ENDING_SIGNALS:
        _signal.signal(number, _signal.SIG_IGN)


def hook(argv: list[str]) -> int:
    event, part, client = arguments(argv)
    if variable("MEMHOOK_DISABLE") not in ("", "0"):
        return 0
    try:
        state = state_directory()
    except BROKEN:
        if (event, part or "1") == ("SessionStart", "1"):  # nothing can record that it was reported
            report(NO_PLACE)
        return 0
    start_timer(state, DEADLINE)
    try:
        answer(state, event, part, client)
    except BROKEN as error:
        note(state, f"hook {event} gave up: {type(error).__name__}: {error}")
    finally:
        _signal.setitimer(_signal.ITIMER_REAL, 0)  # when Python ends, there is no handler any more
    return 0


def arguments(argv: list[str]) -> tuple[str, str, str]:
    """Return event, part and assistant. An invalid part is the first: a hook never fails on its arguments."""
    places, client = list(argv), ""
    if "--client" in places:
        at = places.index("--client")
        client = "".join(places[at + 1 : at + 2])
        del places[at : at + 2]
    event, part = [*places, "", ""][:2]
    return event, part if part.isdecimal() else "1", client


def answer(state: str, event: str, part: str, client: str) -> None:
    body = everything_from_stdin()
    if not body.strip():
        return
    working_directory = current_directory()
    # Name the socket relative to the state folder: its full path may be too long for a socket.
    os.chdir(state)
    is_patient = event not in OF_TOOLS
    for _ in range(2 if is_patient else 1):  # a stopping daemon may accept a connection and close it
        connection = connected(state, may_start=event not in QUIET)
        if connection is None:
            return
        send_all(connection, request(event, part, client, working_directory, body))
        answered, text = received(connection, state, is_patient)
        if answered:
            write_out(text)
            connection.send(b"\x06")  # ACK: the memories count as shown
            return
        connection.close()
    if is_patient:
        note(state, f"hook {event}: the daemon closed the connection without an answer")


def request(event: str, part: str, client: str, working_directory: str, body: bytes) -> bytes:
    """Encode two length-prefixed blocks: the header's fields separated by NUL, and stdin."""
    passed_on = [
        name + b"=" + value for name, value in environment.items() if name in PASSED_ON or name.startswith(b"MEMHOOK_")
    ]
    if client:
        passed_on.append(encoded(f"MEMHOOK_CLIENT={client}"))
    fields = map(encoded, (PROTOCOL, VERSION, "hook", event, part, working_directory))
    header = b"\0".join([*fields, *passed_on])
    return len(header).to_bytes(4, "big") + header + len(body).to_bytes(4, "big") + body


def connected(state: str, may_start: bool) -> "_socket.socket | None":
    """Connect to the daemon; if there is none, start one if that is allowed."""
    starting = -1
    while True:
        connection = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
        try:
            connection.connect("daemon.sock")
        except OSError:
            connection.close()
        else:
            if starting >= 0:
                started(starting)
            check_peer(connection, state)
            return connection
        if not may_start:
            return None
        if starting < 0:
            allow_for_a_start(state, DAEMON_FAILED)
            starting = start_daemon_unless_starting()
        nap()


def check_peer(connection: _socket.socket, state: str) -> None:
    """Refuse the socket of another user, who would read the prompts."""
    # SO_PEERCRED on Linux, LOCAL_PEERCRED (1) of SOL_LOCAL (0) on macOS: both have the user id in bytes 4 to 8.
    asked = (_socket.SOL_SOCKET, _socket.SO_PEERCRED, 12) if sys.platform == "linux" else (0, 1, 76)
    peer = int.from_bytes(connection.getsockopt(*asked)[4:8], sys.byteorder)
    if peer != os.getuid():
        if first_time(state):
            report(FOREIGN_DAEMON)
        raise OSError(f"{state}/daemon.sock belongs to another user (uid {peer})")


def start_daemon_unless_starting() -> int:
    """Start the daemon if this client gets the lock, and return the lock; -1: another client is starting it."""
    lock = os.open("daemon.starting", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        os.lockf(lock, os.F_TLOCK, 0)
    except OSError:
        os.close(lock)
        return -1
    start_daemon()
    return lock


def started(lock: int) -> None:
    try:
        os.unlink("daemon.starting")
    except OSError:
        pass  # a daemon that stopped meanwhile deleted it
    os.close(lock)


def start_daemon() -> None:
    """Start the daemon detached: own session, no inherited descriptors, only the variables that memhook reads."""
    child = os.fork()
    if child:
        os.waitpid(child, 0)
        return
    try:
        os.setsid()
        if os.fork():
            os._exit(0)
        nothing = os.open("/dev/null", os.O_RDWR)
        for descriptor in (0, 1, 2):
            os.dup2(nothing, descriptor)
        os.closerange(3, 1024)
        kept = (b"HOME", b"PATH", b"USER", b"LOGNAME", b"LANG", b"LC_ALL", b"LC_CTYPE", b"TMPDIR", b"TZ")
        # The last four have the credentials of remote stores.
        started_with = (b"XDG_", b"MEMHOOK_", b"AWS_", b"AZURE_", b"GOOGLE_", b"LANCEDB_")
        variables = {
            name: value for name, value in environment.items() if name in kept or name.startswith(started_with)
        }
        # -P: do not import from the project's folder. -E: nor from PYTHONPATH.
        os.execve(sys.executable, [sys.executable, "-P", "-E", "-m", "memhook.daemon"], variables)
    finally:
        os._exit(1)


def state_directory() -> str:
    """Return the state folder as memhook.paths does: XDG, or in /tmp if the home is not writable."""
    base = variable("XDG_STATE_HOME")
    if not base.startswith("/"):
        base = (variable("HOME") or home_of_user()) + "/.local/state"
    preferred = base + "/memhook"
    try:
        make_folders(preferred)
        if os.stat(preferred).st_uid == os.getuid() and os.access(preferred, os.W_OK | os.X_OK):
            return preferred
    except OSError:
        pass
    fallback = f"/tmp/memhook-{os.getuid()}"
    make_folders(fallback)
    status = os.lstat(fallback)
    if status.st_uid != os.getuid() or status.st_mode & 0o170077 != 0o040000:
        raise OSError(f"{fallback} is not a private directory of this user")
    return fallback


def make_folders(path: str) -> None:
    try:
        os.mkdir(path, 0o700)
    except FileNotFoundError:
        make_folders(path.rpartition("/")[0])
        os.mkdir(path, 0o700)
    except FileExistsError:
        pass


def variable(name: str) -> str:
    return environment.get(encoded(name), b"").decode(*ENCODING)


def encoded(text: str) -> bytes:
    """Return the bytes that the system knows a name by, as `os.fsencode` does."""
    return text.encode(*ENCODING)


def home_of_user() -> str:
    import pwd  # noqa: PLC0415  hardly ever needed

    try:
        return pwd.getpwuid(os.getuid()).pw_dir
    except KeyError:
        return "/nonexistent"


def everything_from_stdin() -> bytes:
    chunks = []
    while chunk := os.read(0, 1 << 20):
        chunks.append(chunk)
    return b"".join(chunks)


def current_directory() -> str:
    try:
        return os.getcwd()
    except OSError:  # it was deleted under the assistant
        return ""


def received(connection: _socket.socket, state: str, is_patient: bool) -> tuple[bool, bytes]:
    """Return whether the daemon answered, and the answer, which may be empty."""
    size = read_exactly(connection, 4)
    if size == STILL_STARTING and is_patient:
        allow_for_a_start(state, b"")
        size = read_exactly(connection, 4)
    if size in (RETRY, STILL_STARTING):  # an older daemon stops for this client
        return False, b""
    text = read_exactly(connection, int.from_bytes(size, "big")) if len(size) == 4 else b""
    return len(size) == 4 and len(text) == int.from_bytes(size, "big"), text


def read_exactly(connection: _socket.socket, size: int) -> bytes:
    data = b""
    while len(data) < size:
        try:
            chunk = connection.recv(min(size - len(data), 1 << 20))
        except ConnectionError:
            return data
        if not chunk:
            return data
        data += chunk
    return data


def send_all(connection: _socket.socket, data: bytes) -> None:
    try:
        connection.sendall(data)
    except ConnectionError:
        pass  # reading the answer fails as well


def report(message: bytes) -> None:
    try:
        write_out(message)
    except OSError:
        pass


def write_out(data: bytes) -> None:
    """Write one object to stdout; neither the deadline nor a signal interrupts it."""
    _signal.setitimer(_signal.ITIMER_REAL, 0)
    ignore_signals()
    while data:
        data = data[os.write(1, data) :]


def nap() -> None:
    waiting, _other = _socket.socketpair()
    waiting.settimeout(POLL_SECONDS)
    try:
        waiting.recv(1)
    except OSError:
        pass


def start_timer(state: str, seconds: float, reason: str = "no answer in time", message: bytes = b"") -> None:
    def give_up(_signal_number: int, _frame: object) -> None:
        note(state, f"hook gave up after {deadline} s: {reason}")
        if message and first_time(state):
            report(message)
        os._exit(0)

    _signal.signal(_signal.SIGALRM, give_up)
    _signal.setitimer(_signal.ITIMER_REAL, seconds)


def allow_for_a_start(state: str, message: bytes) -> None:
    """Set the longer deadline, which also counts from the start of this process."""
    global deadline  # noqa: PLW0603  a process has one deadline
    left = _signal.getitimer(_signal.ITIMER_REAL)[0] + DEADLINE_WITH_START - deadline
    deadline = DEADLINE_WITH_START
    start_timer(state, left, "the daemon was not ready in time", message)


def first_time(state: str) -> bool:
    """Return whether this is the first failure since a daemon started, which deletes the mark."""
    try:
        os.close(os.open(state + "/daemon.failed", os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    except OSError:
        return False
    return True


def note(state: str, reason: str) -> None:
    """Append a line to the daemon's log: the failure only, never the prompt."""
    try:
        log = os.open(state + "/memhook.log", os.O_CREAT | os.O_APPEND | os.O_WRONLY | os.O_NOFOLLOW, 0o600)
        os.write(log, encoded(f"hook client {os.getpid()}: {reason[:300]}\n"))
        os.close(log)
    except BROKEN:
        pass


if __name__ == "__main__":  # to take the interpreter apart would take a tenth of the time
    os._exit(main(sys.argv[1:]))
