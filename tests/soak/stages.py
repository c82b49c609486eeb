"""What memhook must stand, with the real processes. The tests run each in a short form, `scripts/soak` in full.

Each works in the home that the environment names, returns what it measured, and raises AssertionError.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import numpy as np
import numpy.typing as npt

from memhook.daemon import control, hook_client, wire
from memhook.errors import DaemonUnavailable
from memhook.paths import Paths, user_paths
from memhook.store.memories import MemoryStore, own_store
from memhook.store.table import changes
from memhook.store.table import maintenance as maintenance_module
from memhook.store.table.filters import Filter
from memhook.store.table.schema import DIMENSIONS
from tests.core import test_any_text as any_text
from tests.soak import damage, events
from tests.soak.crash_checks import faults
from tests.soak.crashes import laid_out, points
from tests.soak.watched import changes_of
from tests.sockets import connect, hook_answer
from tests.store.test_memories import MODEL, memory

FACT = "Ledger reconciliation must read from the primary: the replica lags up to 50 seconds behind."
QUESTION = "why does the ledger reconciliation fail when the replica lags?"
CLIENT = [sys.executable, "-I", "-S", str(hook_client.__file__), "UserPromptSubmit", "1"]


def prompt(session: str, text: str = QUESTION) -> bytes:
    return json.dumps({"hook_event_name": "UserPromptSubmit", "session_id": session, "prompt": text}).encode()


def hooked(body: bytes, client: Sequence[str] = CLIENT) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(client, input=body, capture_output=True, timeout=300, check=False)


def daemons() -> list[int]:
    """Those whose home is the one of this process."""
    wanted = f"HOME={os.environ['HOME']}\0".encode()
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if b"memhook.daemon" in (process / "cmdline").read_bytes() and wanted in (process / "environ").read_bytes():
                found.append(int(process.name))
    return found


def race(hooks: int, answers: int) -> str:
    """Hooks that start at once, where no daemon runs: one daemon, clean exits, and the memory for nearly all.

    Who got no memory has given up at its deadline and said so: nothing else costs an answer.
    """
    paths = user_paths()
    control.daemon_door(paths, "/")("remember", content=FACT)
    control.stopped(paths)
    with ThreadPoolExecutor(hooks) as clients:
        runs = list(clients.map(lambda number: hooked(prompt(f"s{number}")), range(hooks)))
    assert [run.returncode for run in runs] == [0] * hooks
    assert [run.stderr for run in runs if run.stderr] == []
    answered = sum(FACT in run.stdout.decode() for run in runs)
    gave_up = paths.log.read_text(encoding="utf-8").count("gave up after")
    running = daemons()
    assert len(running) == 1, running
    assert answered + gave_up == hooks, f"{answered} answered, {gave_up} gave up"
    assert answered >= answers, f"{answered} of {hooks} answered"
    control.stopped(paths)
    assert daemons() == []
    return f"{answered} of {hooks} with the memory, 1 daemon"


def load(clients: int, prompts: int, hook: Sequence[str] = CLIENT) -> str:
    """Many at once while a writer adds memories: each is answered before it gives up, memory flat after warm-up."""
    paths = user_paths()
    call = control.daemon_door(paths, "/")
    call("remember", content=FACT)
    subjects = ("replica", "ledger", "deploy", "timeout", "cache", "schema", "queue", "invoice")
    stop = threading.Event()
    written = 0

    def write() -> None:
        nonlocal written
        while not stop.is_set():
            call("remember", content=f"Note {written} about the {subjects[written % 8]}: it is number {written}.")
            written += 1
            stop.wait(0.2)

    def one(client: int, number: int) -> float:
        began = time.monotonic()
        asked = prompt(f"c{client}-{number}", f"{QUESTION} And what of the {subjects[number % 8]} {number}?")
        run = hooked(asked, hook)
        assert (run.returncode, run.stderr) == (0, b"")
        assert FACT in json.loads(run.stdout)["hookSpecificOutput"]["additionalContext"]
        return time.monotonic() - began

    def rounds(first: int, last: int) -> list[float]:
        with ThreadPoolExecutor(clients) as pool:
            lists = pool.map(lambda client: [one(client, number) for number in range(first, last)], range(clients))
            return [took for one_list in lists for took in one_list]

    writer = threading.Thread(target=write)
    writer.start()
    try:
        warm = max(1, prompts // 5)
        took = rounds(0, warm)
        before = _memory(paths)
        took += rounds(warm, prompts)
        after = _memory(paths)
    finally:
        stop.set()
        writer.join()
    status = control.called(paths, "daemon_status")
    assert status["last_error"] == ""
    assert after < before * 1.15, f"{before} MB became {after} MB"
    assert control.called(paths, "status")["memories"] == written + 1
    p95 = statistics.quantiles(took, n=20)[-1]
    return f"{len(took)} prompts, p95 {p95 * 1000:.0f} ms, {written} written beside, {before} MB -> {after} MB"


def _memory(paths: Paths) -> int:
    return int(control.called(paths, "daemon_status")["memory_mb"])


def kills(writes: int, kills: int, seed: int = 1) -> str:
    """The daemon killed at random points of the writes: what was acknowledged is there, and the store opens."""
    paths = user_paths()
    chance = random.Random(seed)
    points = set(chance.sample(range(1, writes), kills))
    acknowledged: list[str] = []
    unanswered = 0
    for number in range(writes):
        content = f"Write number {number} of the run, about subject {chance.random()}."
        killer = None
        if number in points and (running := daemons()):
            killer = threading.Timer(chance.uniform(0, 0.06), _kill, running)
            killer.start()
        try:
            control.daemon_door(paths, "/")("remember", content=content)
            acknowledged.append(content)
        except DaemonUnavailable:
            unanswered += 1
        if killer:
            killer.join()
    stored = {record["content"] for record in _exported(paths)}
    missing = [content for content in acknowledged if content not in stored]
    assert missing == []
    assert len(daemons()) == 1
    return f"{len(acknowledged)} acknowledged, {len(missing)} missing, {unanswered} not acknowledged, {kills} kills"


def _kill(pid: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def _exported(paths: Paths) -> Iterator[dict[str, str]]:
    after = ""
    while page := control.daemon_door(paths, "/")("export_page", after=after, limit=500):
        yield from page
        after = page[-1]["id"]


def bad_events_through_the_door(count: int, seed: int = 2) -> str:
    """Whatever comes in, the daemon answers one JSON object or nothing, and lives on."""
    paths = user_paths()
    control.daemon_door(paths, "/")("remember", content=FACT)
    pid = control.called(paths, "daemon_status")["pid"]
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda body: _at_the_door(paths, body), events.bodies(seed, count)))
    for answer in answers:
        assert answer == b"" or isinstance(json.loads(answer), dict)
    status = control.called(paths, "daemon_status")
    assert (status["pid"], status["last_error"]) == (pid, "")
    assert "Traceback" not in paths.log.read_text(encoding="utf-8")
    assert FACT in _at_the_door(paths, prompt("after")).decode()
    return f"{count} events, {sum(bool(answer) for answer in answers)} answered, daemon alive, no traceback"


def _at_the_door(paths: Paths, body: bytes) -> bytes:
    with socket.socket(socket.AF_UNIX) as connection:
        connect(connection, paths.socket)
        connection.sendall(wire.encoded(wire.Request("hook", "UserPromptSubmit", body=body)))
        answer = hook_answer(connection)
        connection.sendall(wire.ACKNOWLEDGED)
        return answer


def bad_events_through_the_hook(count: int, silent: int, seed: int = 3) -> str:
    """The real command, also with stdin closed or silent: exit 0, one JSON object or nothing, no traceback."""
    paths = user_paths()
    control.daemon_door(paths, "/")("remember", content=FACT)
    pid = control.called(paths, "daemon_status")["pid"]
    runs = [hooked(body) for body in events.bodies(seed, count)]
    runs += [_with_silent_stdin() for _ in range(silent)]
    runs.append(
        subprocess.run(["sh", "-c", f"exec {' '.join(CLIENT)} <&-"], capture_output=True, check=False, timeout=300)
    )
    for run in runs:
        assert (run.returncode, run.stderr) == (0, b"")
        assert run.stdout == b"" or isinstance(json.loads(run.stdout), dict)
    assert control.called(paths, "daemon_status")["pid"] == pid
    assert "Traceback" not in paths.log.read_text(encoding="utf-8")
    return f"{len(runs)} runs of the hook, all exit 0, daemon alive, no traceback"


def _with_silent_stdin() -> subprocess.CompletedProcess[bytes]:
    read, write = os.pipe()
    try:
        return subprocess.run(CLIENT, stdin=read, capture_output=True, timeout=300, check=False)
    finally:
        os.close(read)
        os.close(write)


def damages(count: int, seed: int = 5) -> str:
    """Bit flips and truncations: told and bounded by what was in the file, or refused and rebuilt; nothing else."""
    home = Path(os.environ["HOME"]) / "damage"
    of = damage.sample(home / "sample")
    found = list(damage.results(of, list(damage.trials(of, count, seed)), home))
    wrong = [(trial, result) for trial, result in found if result.outcome not in damage.GOOD]
    assert wrong == [], wrong[:5]
    return damage.counted(found, of.home)


def housekeeping(writes: int) -> str:
    """Single writes beside the daemon's housekeeping, against the same memories written at once."""
    folder = Path(os.environ["HOME"])
    single, at_once = (own_store(str(folder / name), folder / "backups") for name in ("single", "at-once"))
    vectors = np.random.default_rng(4).standard_normal((writes, DIMENSIONS)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    memories = [memory(number, f"note {number} " + _words(number)) for number in range(writes)]
    stop = threading.Event()
    keeper = threading.Thread(target=_keep_house, args=(single, stop))
    keeper.start()
    try:
        for one, vector in zip(memories, vectors, strict=True):
            with single.writing():
                single.write(changes.add, [one], [vector], MODEL)
        stop.wait(maintenance_module.SETTLED_SECONDS + 15)  # what the daemon does once it is quiet
    finally:
        stop.set()
        keeper.join()
    with at_once.writing():
        at_once.write(changes.add, memories, list(vectors), MODEL)
    while at_once.optimize():
        pass
    size = _size(folder / "single") / _size(folder / "at-once")
    slower = _search_seconds(single, vectors) / _search_seconds(at_once, vectors)
    assert single.count() == writes
    assert size <= 3, f"{size:.2f} times the size"
    assert slower <= 1.5, f"{slower:.2f} times as slow"
    return f"{writes} single writes: {size:.2f} times the size, search {slower:.2f} times as long"


def _keep_house(store: MemoryStore, stop: threading.Event) -> None:
    while not stop.wait(5.0):
        store.optimize()


def _words(number: int) -> str:
    return " ".join(f"word{word}" for word in random.Random(number).choices(range(4000), k=40))


def _size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def _search_seconds(store: MemoryStore, vectors: npt.NDArray[np.float32]) -> float:
    """The median of searches by words and by meaning."""

    def search(number: int) -> float:
        began = time.perf_counter()
        store.candidates(lambda: vectors[number % len(vectors)], _words(number).split()[:5], Filter(), 50)
        return time.perf_counter() - began

    search(0)
    return statistics.median(search(number) for number in range(200))


def power_cuts(form: str, wanted: int, at_least: int, seed: int = 5) -> str:
    """A home rebuilt as each of many power cuts may have left it: all that was acknowledged, nothing that was erased.

    Raises CannotRecord where the file operations cannot be recorded.
    """
    changes = changes_of(["tests.soak.crash_work", form], Path(os.environ["HOME"]))
    looked_at: Counter[str] = Counter()
    failed: list[str] = []
    with tempfile.TemporaryDirectory(dir=_fastest_folder()) as scratch:
        for number, point in enumerate(points(changes, wanted, seed)):
            home = laid_out(point.files, Path(scratch, str(number)))
            looked_at[point.during] += 1
            failed += [f"step {point.step}, {point.during}, {point.way}: {one}" for one in faults(home, point.said)]
            shutil.rmtree(home)
    count = looked_at.total()
    assert failed == [], f"{len(failed)} faults at {count} points, first: {failed[:5]}"
    assert count >= at_least, f"{count} points"
    return f"{count} power cuts in {len(changes)} steps of {len(looked_at) - 1} operations, 0 faults"


def every_word() -> str:
    for name in any_text.ASKED_FOR_WORDS:
        any_text.read_words(name, any_text.words())
    return f"{len(any_text.words()):,} words in {len(any_text.ASKED_FOR_WORDS)} functions, none raises"


def _fastest_folder() -> Path | None:
    memory = Path("/dev/shm")
    return memory if os.access(memory, os.W_OK) else None


FULL: dict[str, tuple[Callable[[], str], int]] = {
    "50 hooks at once, no daemon": (lambda: race(50, 45), 120),
    "20 clients, 50 prompts each, and a writer": (lambda: load(20, 50), 600),
    "daemon killed at 25 points of 200 writes": (lambda: kills(200, 25), 900),
    "10,000 bad events through the daemon's door": (lambda: bad_events_through_the_door(10_000), 900),
    "500 bad events through the hook": (lambda: bad_events_through_the_hook(500, 5), 300),
    "500 bit flips and truncations": (lambda: damages(500), 3600),
    "1,000 power cuts": (lambda: power_cuts("full", 3_000, 1_000), 3600),
    "5,000 single writes": (lambda: housekeeping(5_000), 1200),
    "every word of up to four letters": (every_word, 3600),
}
"""What is run in full, and for how many seconds at most."""
