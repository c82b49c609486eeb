"""The measurements of `scripts/bench`: client, whole hook, the naive way, a cold start, memory, time by stage.

Housekeeping, every five seconds, is part of all of them. The hook is also measured while notes are imported and while
indexes are built, beside a bare interpreter.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import platform
import random
import shutil
import socket
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import partial
from itertools import count
from pathlib import Path

import numpy as np

from memhook import __version__
from memhook.daemon import control, hook_client, wire
from memhook.paths import Paths, user_paths
from memhook.store.table.opening import SNAPSHOT

ROOT = Path(__file__).resolve().parents[1]
MEMORIES = 10_000
SCALE_ROUNDS = 100
PAGE_ROUNDS = 9
RARE_SAMPLES = 8  # for measurements that take seconds
LONG_CHARS = 245  # three in four real prompts are shorter
# The shares of 3,802 prompts in 534 published sessions of four projects that have at most so many characters.
SHARES = (0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 1.0)
REAL_CHARS = (6, 15, 41, 89, 206, 459, 783, 3_000)
IMPORTED = 1_500  # notes, while prompts are answered
REST_SECONDS = 15.0  # after which an idle daemon has released memory
SNAPSHOT_SECONDS = 60.0
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "memhook-bench"
LAUNCH = ROOT / "hooks" / "launch"
NAIVE = """
import json, sys
from pathlib import Path
import lancedb
from memhook.store.embedding.encoder import DEFAULT_MODEL, load_embedder
event = json.load(sys.stdin)
store, models = map(Path, sys.argv[1:])
vector = load_embedder(DEFAULT_MODEL, models).embed_query(event["prompt"][:1000])
lancedb.connect(store).open_table("memories").search(vector, vector_column_name="vector").limit(50).to_arrow()
"""
IMPORTS = "import lancedb, fastembed"
REBUILD_INDEXES = """
import os, sys
from memhook.store.table import indexes, maintenance
from memhook.store.table.opening import connected
from memhook.store.table.recovery import TABLE
os.nice(maintenance.LOWEST)
table = connected(sys.argv[1]).open_table(TABLE)
for _ in range(5):
    for column in indexes.INDEXES:
        indexes._index(table, column)
"""
BESIDE = ("during an import", "during an index build")

Samples = dict[str, list[float]]


def main() -> int:
    given = arguments()
    rounds = given.rounds
    if given.what == "scale":
        import bench_scale  # noqa: PLC0415  it needs this module

        return bench_scale.main(min(rounds, SCALE_ROUNDS), given.full)
    if given.what == "packages":
        import bench_packages  # noqa: PLC0415  imports what it measures

        return bench_packages.main()
    home = Path(tempfile.mkdtemp(prefix="memhook-bench-"))
    shutil.copytree(prepared_home(), home, dirs_exist_ok=True)  # a copy: the cached home must not get what is imported
    os.environ["HOME"] = str(home)
    for name in [name for name in os.environ if name.startswith(("XDG_", "MEMHOOK_", "CLAUDE"))]:
        del os.environ[name]
    paths = user_paths()
    control.started(paths)
    try:
        if given.what == "page":
            import bench_page  # noqa: PLC0415  it needs this module, and a browser

            return bench_page.main(min(rounds, PAGE_ROUNDS))
        samples, stages = measured(paths, rounds)
        sizes = while_importing(paths, samples)
        print_table(samples, stages, rounds, sizes)
    finally:
        control.stopped(paths)
        shutil.rmtree(home, ignore_errors=True)
    return 0


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "what",
        nargs="?",
        choices=("scale", "page", "packages"),
        help="larger stores; the page in a browser; which packages are installed, and which loaded",
    )
    parser.add_argument("--full", action="store_true", help="with scale: also a million")
    parser.add_argument("--rounds", type=int, default=200, help="rounds of the measurements that take milliseconds")
    return parser.parse_args()


def prepared_home() -> Path:
    """Return a home with the memories stored; embedding takes minutes, so it is cached for the next run."""
    home = CACHE / f"home-{MEMORIES}"
    if (home / "complete").exists():
        return home
    shutil.rmtree(home, ignore_errors=True)
    home.mkdir(parents=True)
    lines = home / "memories.jsonl"
    lines.write_text("".join(json.dumps(memory(number)) + "\n" for number in range(MEMORIES)), encoding="utf-8")
    print(f"embedding {MEMORIES} generated memories, once ...", file=sys.stderr)
    command = [sys.executable, "-m", "memhook.cli", "--no-daemon", "import", str(lines)]
    subprocess.run(command, check=True, env={**os.environ, "HOME": str(home)}, stdout=subprocess.DEVNULL)
    (home / "complete").touch()
    return home


# Developer-like text, with enough subjects that a prompt matches a few memories, not half of them.
SUBJECTS = (
    *("ledger", "invoice", "session", "cache", "queue", "replica", "migration", "webhook", "token", "deploy"),
    *("parser", "index", "scheduler", "importer", "router", "gateway", "billing", "upload", "mailer", "audit"),
)
PARTS = ("handler", "timeout", "retry", "schema", "batch", "cursor", "lock", "header", "payload", "fixture", "pool")
EVENTS = ("fails", "times out", "loops forever", "leaks memory", "returns stale data", "drops rows", "runs twice")
CAUSES = (
    "the connection was reused after a fork",
    "the clock of the host was behind",
    "two workers took the same lease",
    "the default changed in the last release",
    "the header is case sensitive there",
    "a transaction stayed open overnight",
)


def memory(number: int) -> dict[str, object]:
    chance = random.Random(number)
    subject, part = chance.choice(SUBJECTS), chance.choice(PARTS)
    name = f"{subject}_{part}_{number % 997}"
    content = (
        f"{name} in src/{subject}/{part}.py {chance.choice(EVENTS)} when {chance.choice(CAUSES)}. "
        f"Error E{1000 + number % 8999} is the sign. Fix: set {part}_limit to {chance.randint(2, 900)} "
        f"and restart the {chance.choice(SUBJECTS)} {chance.choice(PARTS)}."
    )
    day = f"2026-{1 + number % 9:02d}-{1 + number % 28:02d}T10:00:00Z"
    return {"title": f"{subject} {part} {number}", "content": content, "tags": [subject, part], "created": day}


def prompt(number: int, chars: int | None = None) -> str:
    """Return a prompt about one of the memories, as long as real ones are, or of so many characters."""
    chance = random.Random(f"prompt {number}")
    about = str(memory(chance.randrange(MEMORIES))["content"])
    length = chars or round(float(np.interp(chance.random(), SHARES, REAL_CHARS)))
    text = f"why is it that {about.partition('.')[0]}? "
    while len(text) < length:
        text += f"I saw this in the log at line {chance.randint(1, 999)}: {chance.choice(CAUSES)}. "
    return text[: max(length, 20)]  # with less it would name nothing


def measured(paths: Paths, rounds: int) -> tuple[Samples, dict[str, float]]:
    """Run the measurements interleaved, so that other load affects all of them alike; also the stages of a prompt."""
    samples: Samples = {}
    found = [control.called(paths, "search", {"query": prompt(number)})["results"] for number in range(20)]
    hits = [[{"id": one["id"], "score": one["score"]} for one in results] for results in found]
    with echo_server() as echo_state:
        steps: dict[str, Callable[[int], object]] = {
            "bare interpreter": lambda _: run([sys.executable, "-I", "-S", "-c", "pass"]),
            "client, echo socket": lambda n: run(launched(), event(n), XDG_STATE_HOME=str(echo_state)),
            "tool call that no memory names": lambda n: run(launched("PreToolUse"), tool_event(n)),
            "whole prompt hook, warm": whole_hook,
            f"whole prompt hook, warm, {LONG_CHARS} characters": lambda n: whole_hook(n, chars=LONG_CHARS),
            "inject with a query": lambda n: control.called(paths, "inject", {"query": prompt(n)}),
            "inject with ten hits": lambda n: control.called(paths, "inject", {"hits": hits[n % len(hits)]}),
        }
        for step in steps.values():
            step(0)
        for number in range(1, rounds + 1):
            for name, step in steps.items():
                samples.setdefault(name, []).append(timed(partial(step, number)))
    stages = stage_medians(paths, 2 * rounds)
    wait_for_snapshot(paths)
    for number in range(RARE_SAMPLES):
        for name, step in rare_steps(paths).items():
            samples.setdefault(name, []).append(timed(partial(step, number)))
        control.started(paths)
        control.called(paths, "search", {"query": "warm"})
    return samples, stages


def rare_steps(paths: Paths) -> dict[str, Callable[[int], object]]:
    naive = [sys.executable, "-c", NAIVE, str(paths.store), str(paths.models)]
    return {
        "the naive way": lambda n: run(naive, event(n)),
        "importing lancedb, fastembed": lambda _: run([sys.executable, "-c", IMPORTS]),
        "importing lancedb": lambda _: run([sys.executable, "-c", "import lancedb"]),
        "memhook mcp, until initialize is answered": lambda _: greeted(),
        "cold SessionStart": lambda n: cold_start(paths, n),
        "cold prompt": lambda n: cold_start(paths, n, "UserPromptSubmit"),
        "cold SessionStart, no snapshot": lambda n: cold_start(paths, n, with_snapshot=False),
    }


def wait_for_snapshot(paths: Paths) -> None:
    """Wait until the daemon has written the snapshot that answers SessionStart, as it does before it stops."""
    whole_hook(0, "SessionStart")
    asked = time.time()
    kept = paths.store / SNAPSHOT
    while not (kept.exists() and kept.stat().st_mtime > asked) and time.time() < asked + SNAPSHOT_SECONDS:
        time.sleep(0.5)


def while_importing(paths: Paths, samples: Samples) -> dict[str, float]:
    """Measure the hook during an import, and return the daemon's memory before, at its peak and after, in MB."""
    whole_hook(0)
    time.sleep(REST_SECONDS)
    sizes = {"at rest": memory_of(paths)["VmRSS"], "of code": memory_of(paths)["RssFile"]}
    for number in range(20):
        whole_hook(number)
    sizes["during prompts"] = memory_of(paths)["VmRSS"]
    lines = Path(os.environ["HOME"]) / "more.jsonl"
    lines.write_text("".join(json.dumps(memory(MEMORIES + one)) + "\n" for one in range(IMPORTED)), encoding="utf-8")
    command = [sys.executable, "-m", "memhook.cli", "import", str(lines)]
    sizes["largest during an import"] = beside(command, BESIDE[0], paths, samples)
    time.sleep(60.0)
    sizes["a minute after"] = memory_of(paths)["VmRSS"]
    beside([sys.executable, "-c", REBUILD_INDEXES, str(paths.store)], BESIDE[1], paths, samples)
    return sizes


def beside(command: list[str], name: str, paths: Paths, samples: Samples) -> float:
    """Measure the hook and a bare interpreter while a command runs; return the daemon's largest memory in MB."""
    largest = 0.0
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as running:
        for number in count():
            samples.setdefault(f"whole prompt hook, {name}", []).append(timed(partial(whole_hook, number)))
            run_bare = partial(run, [sys.executable, "-I", "-S", "-c", "pass"])
            samples.setdefault(f"bare interpreter, {name}", []).append(timed(run_bare))
            largest = max(largest, memory_of(paths)["VmRSS"])
            if running.poll() is not None:
                return largest
    raise AssertionError("count() has no end")


def memory_of(paths: Paths) -> dict[str, float]:
    status = Path(f"/proc/{control.called(paths, 'daemon_status')['pid']}/status").read_text(encoding="utf-8")
    fields = (line.split() for line in status.splitlines() if line.endswith(" kB"))
    return {name[:-1]: int(value) / 1000 for name, value, _ in fields}


def greeted() -> float:
    """Return the seconds until the MCP server answers initialize, without its exit."""
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}
    request = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello}
    started = time.perf_counter()
    command = [sys.executable, "-m", "memhook.cli", "mcp"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        server.stdin.write(json.dumps(request).encode() + b"\n")
        server.stdin.flush()
        server.stdout.readline()
        return time.perf_counter() - started


def cold_start(paths: Paths, number: int, name: str = "SessionStart", *, with_snapshot: bool = True) -> float:
    control.stopped(paths)
    kept, aside = paths.store / SNAPSHOT, paths.store / f"{SNAPSHOT}.aside"
    if not with_snapshot and kept.exists():
        kept.rename(aside)
    started = time.perf_counter()
    is_answered = whole_hook(number, name)
    seconds = time.perf_counter() - started
    if aside.exists():
        control.stopped(paths)
        aside.replace(kept)
    return seconds if is_answered else math.nan


def whole_hook(number: int, name: str = "UserPromptSubmit", chars: int | None = None) -> bool:
    """Run both entries at once, as Claude Code does; return whether one of them had an answer."""
    body = event(number, name, chars)
    entries = [
        subprocess.Popen(
            launched(name, part), stdin=-1, stdout=-1, close_fds=False, env={**os.environ, "CLAUDECODE": "1"}
        )
        for part in (1, 2)
    ]
    for entry in entries:
        assert entry.stdin is not None
        entry.stdin.write(body)
        entry.stdin.close()
    answered = False
    for entry in entries:
        assert entry.stdout is not None
        answered = bool(entry.stdout.read()) or answered
        entry.stdout.close()
        entry.wait()
    return answered


def event(number: int, name: str = "UserPromptSubmit", chars: int | None = None) -> bytes:
    payload = {"hook_event_name": name, "session_id": f"bench {number} {time.time_ns()}", "cwd": str(ROOT)}
    asked = {"prompt": prompt(number, chars), "prompt_id": f"p{number}"}
    return json.dumps({**payload, **(asked if name == "UserPromptSubmit" else {"source": "startup"})}).encode()


def tool_event(number: int) -> bytes:
    payload = {"session_id": f"bench {number} {time.time_ns()}", "cwd": str(ROOT), "tool_use_id": f"t{number}"}
    given = {"file_path": f"{ROOT}/docs/page{number}.rst", "old_string": "", "new_string": "some words\n" * 40}
    return json.dumps({**payload, "hook_event_name": "PreToolUse", "tool_name": "Edit", "tool_input": given}).encode()


def launched(name: str = "UserPromptSubmit", part: int = 1) -> list[str]:
    """Return the command of one entry, as Claude Code runs it."""
    return ["/bin/sh", "-c", f'"{LAUNCH}" {name} {part}']


def run(command: list[str], given: bytes = b"", **environment: str) -> None:
    subprocess.run(
        command, input=given, check=True, stdout=subprocess.DEVNULL, close_fds=False, env={**os.environ, **environment}
    )


def timed(step: Callable[[], object]) -> float:
    """Return milliseconds; a step that prepares something first times itself and returns seconds."""
    started = time.perf_counter()
    own = step()
    return (own if isinstance(own, float) else time.perf_counter() - started) * 1000


class echo_server:  # noqa: N801  used like a function
    """A socket with empty answers in place of the daemon, to measure the client alone."""

    def __enter__(self) -> Path:
        self._folder = tempfile.TemporaryDirectory(prefix="memhook-echo-")
        state = Path(self._folder.name)
        (state / "memhook").mkdir(mode=0o700)
        interpreter = f"{sys.executable}\n{hook_client.__file__}\n{__version__}\n"
        (state / "memhook" / "interpreter").write_text(interpreter, encoding="utf-8")
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(state / "memhook" / "daemon.sock"))
        self._listener.listen()
        threading.Thread(target=self._serve, daemon=True).start()
        return state

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            with connection:
                wire.read_block(connection, wire.MAX_HEADER)
                wire.read_block(connection, wire.MAX_BODY)
                connection.sendall(wire.block(b""))
                connection.recv(1)

    def __exit__(self, *_: object) -> None:
        self._listener.close()
        self._folder.cleanup()


def print_table(samples: Samples, stages: dict[str, float], rounds: int, sizes: Mapping[str, float]) -> None:
    bare = percentile(samples["bare interpreter"], 50)
    imports = percentile(samples["importing lancedb, fastembed"], 50)
    print(f"{datetime.now(UTC):%Y-%m-%d}, {machine()}, {rounds} rounds, {MEMORIES:,} memories: `scripts/bench`\n")
    print("| what | p50 ms | p95 ms | p50 / bare | p95 / bare |")
    print("| --- | --- | --- | --- | --- |")
    for name, values in samples.items():
        p50, p95 = percentile(values, 50), percentile(values, 95)
        print(f"| {name} | {p50:.1f} | {p95:.1f} | {p50 / bare:.1f} | {p95 / bare:.1f} |")
    cold = percentile(samples["cold SessionStart"], 50) / imports
    spared = 1 - percentile(samples["inject with ten hits"], 50) / percentile(samples["inject with a query"], 50)
    greeting = percentile(samples["memhook mcp, until initialize is answered"], 50)
    print(f"\nHits save {spared:.0%} of the time that inject takes with a query.")
    share = greeting / percentile(samples["importing lancedb"], 50)
    print(f"memhook mcp answers initialize in {share:.2f} of the time that importing lancedb takes.")
    print(f"A cold SessionStart takes {cold:.2f} times as long as importing lancedb and fastembed.")
    unanswered = sum(map(math.isnan, samples["cold SessionStart"]))
    print(f"{unanswered} of {RARE_SAMPLES} cold starts were not answered within the hook's deadline.")
    for name in BESIDE:
        during, bare_then = (samples[f"{what}, {name}"] for what in ("whole prompt hook", "bare interpreter"))
        ratios = [percentile(during, percent) / percentile(bare_then, 50) for percent in (50, 95)]
        print(
            f"A prompt {name} takes {ratios[0]:.1f} (p50) and {ratios[1]:.1f} (p95) times a bare interpreter beside it."
        )
    print(f"The daemon's memory in MB: {', '.join(f'{name} {size:.0f}' for name, size in sizes.items())}.")
    shares = ", ".join(f"{name} {p50:.1f}" for name, p50 in stages.items())
    print(f"Inside the daemon a warm prompt takes, in ms at p50: {shares}.")


def stage_medians(paths: Paths, prompts: int) -> dict[str, float]:
    """Return the median of each stage of the last prompts, as the daemon has recorded them."""
    with sqlite3.connect(paths.ledger) as ledger:
        rows = ledger.execute(
            "SELECT milliseconds FROM injection WHERE event = 'UserPromptSubmit' ORDER BY id DESC LIMIT ?", (prompts,)
        ).fetchall()
    stages: Samples = {}
    for (text,) in rows:
        spent = json.loads(text)
        spent["search"] -= spent["embed"]  # which it includes
        for name, value in spent.items():
            stages.setdefault(name, []).append(value)
    return {name: percentile(values, 50) for name, values in stages.items()}


def percentile(values: list[float], percent: int) -> float:
    ordered = sorted(value for value in values if not math.isnan(value)) or [math.nan]
    return ordered[min(len(ordered) - 1, round(len(ordered) * percent / 100))]


def machine() -> str:
    return f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"


if __name__ == "__main__":
    sys.exit(main())
