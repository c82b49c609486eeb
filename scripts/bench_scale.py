"""The measurements of `scripts/bench scale`: stores of 1k, 10k, 100k and, with --full, 1M memories.

Every store has a home and a daemon of its own, and the rounds alternate between the stores, so that other load affects
all of them alike. The results are ratios to the smallest store.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import scale_corpus as corpus
from bench import CACHE, LAUNCH, machine, percentile

from memhook.daemon import control
from memhook.files.durable import Synced
from memhook.library.access import surfacing
from memhook.paths import Paths, user_paths
from memhook.settings import Settings
from memhook.store.embedding.encoder import DEFAULT_MODEL, load_embedder
from memhook.store.memories import MemoryStore, own_store
from memhook.store.table.filters import Filter
from memhook.store.table.indexes import indexed
from memhook.store.table.opening import TABLE, connected
from memhook.store.table.schema import table_schema
from memhook.store.table.sizes import SIZES
from memhook.store.table.upkeep import keep_up

USUAL, FULL = (1_000, 10_000, 100_000), (1_000_000,)
PROJECTS = (0, 30, 400)  # of the thousand, by size: a large, a medium and a small one
QUERIES = 60
COLD_STARTS = 5
WARM_SECONDS = 180.0
ANSWERED = f"cold session starts answered in time, of {COLD_STARTS}"

Vectors = corpus.Vectors


@dataclass(slots=True)
class Store:
    """A store and its measurements."""

    size: int
    home: Path
    facts: dict[str, float] = field(default_factory=dict)
    samples: dict[str, list[float]] = field(default_factory=dict)

    @property
    def paths(self) -> Paths:
        return user_paths({"HOME": str(self.home)})

    @contextmanager
    def at_home(self) -> Iterator[Paths]:
        """Set the environment, so that processes start in its home."""
        os.environ["HOME"] = str(self.home)
        yield self.paths


def main(rounds: int, full: bool) -> int:
    for name in [name for name in os.environ if name.startswith(("XDG_", "MEMHOOK_", "CLAUDE"))]:
        del os.environ[name]
    with tempfile.TemporaryDirectory(prefix="memhook-scale-", dir=_cache()) as folder:
        places = [_checkout(Path(folder), number) for number in PROJECTS]
        stores = [_store(size, Path(folder)) for size in (*USUAL, *(FULL if full else ()))]
        try:
            _measure(stores, places, rounds)
        finally:
            for store in stores:
                with store.at_home() as paths:
                    control.stopped(paths)
        _measure_recall(stores)
        _print(stores, rounds)
    return 0


# Building


def _cache() -> Path:
    CACHE.mkdir(parents=True, exist_ok=True)
    return CACHE


def _store(size: int, folder: Path) -> Store:
    """Build a home with a freshly indexed store; its rows are cached for the next run."""
    store = Store(size, folder / f"home-{size}")
    store.home.mkdir()
    paths = store.paths
    paths.data.mkdir(parents=True, mode=0o700)
    shutil.copytree(_rows(size), paths.store, copy_function=os.link)  # LanceDB never changes a file
    table = connected(str(paths.store)).open_table(TABLE)
    _say(f"{size:>9,}: making the indexes ...")
    sync = Synced(paths.store / f"{TABLE}.lance").sync
    started = time.perf_counter()
    keep_up(table, timedelta(seconds=1), SIZES, sync)
    store.facts["index build, s"] = time.perf_counter() - started
    time.sleep(1.5)
    keep_up(table, timedelta(seconds=1), SIZES, sync)  # the earlier files are now old, as after a minute
    store.facts["on disk, MB"] = sum(one.stat().st_size for one in paths.store.rglob("*") if one.is_file()) / 1e6
    return store


def _rows(size: int) -> Path:
    """Return the folder of the store with rows and empty indexes, as after a bulk import."""
    made_by = corpus.model(CACHE, CACHE / "models")
    folder = CACHE / f"rows-{size}-{corpus.fingerprint()}"
    if not folder.exists():
        unfinished = CACHE / f"rows-{size}.new"
        shutil.rmtree(unfinished, ignore_errors=True)
        _say(f"{size:>9,}: writing the rows, once ...")
        table = indexed(
            connected(str(unfinished), create=True).create_table(TABLE, schema=table_schema(made_by.identity))
        )
        for chunk in corpus.tables(size, made_by):
            table.add(chunk)
        unfinished.rename(folder)
    return folder


def _checkout(folder: Path, number: int) -> Path:
    """Create what memhook reads of a clone of the project with this number."""
    place = folder / f"checkout-{number}"
    subprocess.run(["git", "init", "-q", str(place)], check=True)
    remote = f"https://{corpus.project_name(number)}.git"
    subprocess.run(["git", "-C", str(place), "remote", "add", "origin", remote], check=True)
    return place


# Measuring


def _measure(stores: Sequence[Store], places: Sequence[Path], rounds: int) -> None:
    _say("starting ...")
    _interleaved(stores, "cold start", COLD_STARTS, lambda store, number: _cold_start(store, number, places))
    _interleaved(stores, "", COLD_STARTS, lambda store, number: _cold_hook(store, number, places))
    for store in stores:
        with store.at_home() as paths:
            control.started(paths)
    _say("warming up ...")
    _interleaved(stores[:1], "", 2 * len(places), lambda _, number: _hook(number, places))
    usual = min(_timed_round(stores[0], places) for _ in range(3))
    for store in stores:
        store.facts["until warm, s"] = _warmed(store, places, 2 * usual)
    _interleaved(stores, "prompt hook", rounds, lambda _, number: _hook(number, places))
    _interleaved(
        stores, "search in all projects", rounds // 2, lambda store, number: _search(store, number, places, "")
    )
    _interleaved(
        stores, "search in a project", rounds // 2, lambda store, number: _search(store, number, places, "here")
    )
    for store in stores:
        store.facts["daemon, MB"] = float(control.called(store.paths, "daemon_status")["memory_mb"])
    _interleaved(stores, "remember", rounds // 2, lambda store, number: _remember(store, number, places))
    _interleaved(stores, "prompt hook, just remembered", rounds // 4, lambda s, n: _remembered_hook(s, n, places))


def _warmed(store: Store, places: Sequence[Path], enough: float) -> float:
    """Return the seconds until prompts in these projects are answered from the in-memory cache."""
    started = time.perf_counter()
    while time.perf_counter() - started < WARM_SECONDS and _timed_round(store, places) > enough:
        time.sleep(0.5)
    return time.perf_counter() - started


def _timed_round(store: Store, places: Sequence[Path]) -> float:
    """Return the slowest of one prompt in each project."""
    taken = []
    for number in range(len(places)):
        with store.at_home():
            started = time.perf_counter()
            _hook(number, places)
        taken.append(time.perf_counter() - started)
    return max(taken)


def _interleaved(stores: Sequence[Store], name: str, rounds: int, step: Callable[[Store, int], float | None]) -> None:
    """Record milliseconds of each step; one that prepares something first returns seconds itself."""
    for number in range(rounds):
        for store in stores:
            with store.at_home():
                started = time.perf_counter()
                own = step(store, number)
                taken = own if own is not None else time.perf_counter() - started
            if name:
                store.samples.setdefault(name, []).append(1000 * taken)


def _hook(number: int, places: Sequence[Path]) -> None:
    _printed(_event(number, places[number % len(places)], "UserPromptSubmit"), "UserPromptSubmit")


def _printed(body: bytes, event: str) -> bytes:
    """Run both entries at once, as Claude Code does from hooks.json."""
    entries = []
    for part in (1, 2):
        command = ["/bin/sh", "-c", f'"{LAUNCH}" {event} {part}']
        entries.append(subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, close_fds=False))
    return b"".join(entry.communicate(body)[0] for entry in entries)


def _event(number: int, place: Path, name: str) -> bytes:
    payload = {"hook_event_name": name, "session_id": f"scale {number} {time.time_ns()}", "cwd": str(place)}
    prompt = {"prompt": corpus.prompt(number), "prompt_id": f"p{number}"}
    return json.dumps({**payload, **(prompt if name == "UserPromptSubmit" else {"source": "startup"})}).encode()


def _search(store: Store, number: int, places: Sequence[Path], project: str) -> None:
    asked = {"query": corpus.prompt(number), **({"project": project} if project else {})}
    control.called(store.paths, "search", asked, str(places[number % len(places)]))


def _remember(store: Store, number: int, places: Sequence[Path]) -> None:
    new = corpus.memory(10_000_000 + number)
    params = {"content": new.content, "tags": list(new.tags)}
    control.called(store.paths, "remember", params, str(places[number % len(places)]))


def _remembered_hook(store: Store, number: int, places: Sequence[Path]) -> float:
    _remember(store, 1_000 + number, places)
    started = time.perf_counter()
    _hook(number, places)
    return time.perf_counter() - started


def _cold_start(store: Store, number: int, places: Sequence[Path]) -> float:
    """Time from no daemon to the first answer, without a hook, whose deadline would hide it."""
    started = time.perf_counter()
    control.started(store.paths)
    _search(store, number, places, "here")
    taken = time.perf_counter() - started
    control.stopped(store.paths)  # or its loading would affect the next store
    return taken


def _cold_hook(store: Store, number: int, places: Sequence[Path]) -> None:
    """Start a session without a daemon, and record whether it gets its memories in time."""
    printed = _printed(_event(number, places[number % len(places)], "SessionStart"), "SessionStart")
    store.facts[ANSWERED] = store.facts.get(ANSWERED, 0.0) + (b"urn:" in printed)
    control.stopped(store.paths)


# Recall: nothing cached in memory, so that the indexes answer


def _measure_recall(stores: Sequence[Store]) -> None:
    embedder = load_embedder(DEFAULT_MODEL, CACHE / "models")
    asked = np.asarray([embedder.embed_query(corpus.prompt(number)) for number in range(QUERIES)], dtype=np.float32)
    allowed = [surfacing(corpus.project_name(number), Settings(), datetime.now(UTC)) for number in PROJECTS]
    for store in stores:
        _say(f"{store.size:>9,}: comparing with exact search ...")
        opened = own_store(str(store.paths.store), store.paths.backups)
        store.facts["recall@10 on disk, a project"] = float(np.mean([_recall(opened, asked, one) for one in allowed]))
        store.facts["recall@10 on disk, all projects"] = _recall(opened, asked, Filter())
        opened.keep_in_memory()
        if cache := opened._here.cache:
            for one in allowed:
                cache.renew_parts(one.projects)
        store.facts["recall@10 of a prompt"] = float(np.mean([_recall(opened, asked, one) for one in allowed]))


def _recall(store: MemoryStore, asked: Vectors, allowed: Filter) -> float:
    exact = _exact(store, asked, allowed)
    hits = sum(
        len(_best(store, one, allowed, len(nearest)) & nearest) for one, nearest in zip(asked, exact, strict=True)
    )
    return hits / max(1, sum(map(len, exact)))


def _best(store: MemoryStore, asked: Vectors, allowed: Filter, number: int) -> set[str]:
    found, _ = store.candidates(lambda: asked, [], allowed, 50)
    return {one.id for one in sorted(found, key=lambda one: -(one.cosine or -1.0))[:number]}


def _exact(store: MemoryStore, asked: Vectors, allowed: Filter) -> list[set[str]]:
    """Return the ten nearest to each by exact search, in batches, because the vectors are 1.5 GB."""
    best: list[list[tuple[float, str]]] = [[] for _ in asked]
    table: Any = connected(store.uri).open_table(TABLE)
    for batch in table.search().where(f"{allowed.sql()} AND vector IS NOT NULL").select(["id", "vector"]).to_batches():
        vectors = batch["vector"].flatten().to_numpy(zero_copy_only=False).reshape(-1, asked.shape[1])
        cosines = asked @ vectors.T
        for row, scores in enumerate(cosines):
            nearest = np.argpartition(-scores, min(10, len(scores) - 1))[:10]
            best[row] = sorted([*best[row], *((float(scores[n]), batch["id"][int(n)].as_py()) for n in nearest)])[-10:]
    return [{key for _, key in pairs} for pairs in best]


# Printing


def _print(stores: Sequence[Store], rounds: int) -> None:
    first = stores[0]
    command = "scripts/bench scale --full" if stores[-1].size >= FULL[0] else "scripts/bench scale"
    print(f"{datetime.now(UTC):%Y-%m-%d}, {machine()}, {rounds} rounds: `{command}`\n")
    print("| what | " + " | ".join(f"{store.size:,}" for store in stores) + " |")
    print("| --- |" + " --- |" * len(stores))
    for name in first.samples:
        for percent in (50, 95):
            values = [percentile(store.samples[name], percent) for store in stores]
            _print_row(f"{name}, p{percent}, ms", values)
    for name in ("daemon, MB", "on disk, MB", "index build, s", "until warm, s"):
        _print_row(name, [store.facts[name] for store in stores])
    print(f"| {ANSWERED} | " + " | ".join(f"{store.facts[ANSWERED]:.0f}" for store in stores) + " |")
    for name in [name for name in first.facts if name.startswith("recall")]:
        print(f"| {name} | " + " | ".join(f"{store.facts[name]:.3f}" for store in stores) + " |")


def _print_row(name: str, values: Sequence[float]) -> None:
    """Print the first value, and the others with their ratio to it."""
    cells = [f"{values[0]:.1f}", *(f"{value:.1f} ({value / values[0]:.2f}x)" for value in values[1:])]
    print(f"| {name} | " + " | ".join(cells) + " |")


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
