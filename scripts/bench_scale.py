"""The measurements of `scripts/bench scale`: stores of 1k, 10k, 100k and, with --full, 1M memories and a large project.

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
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import scale_corpus as corpus
from bench import CACHE, LAUNCH, REST_SECONDS, machine, percentile

from memhook.daemon import control
from memhook.library.access import surfacing
from memhook.paths import Paths, user_paths
from memhook.settings import Settings
from memhook.store.embedding.encoder import DEFAULT_MODEL, load_embedder
from memhook.store.memories import MemoryStore, own_store
from memhook.store.table.filters import Filter
from memhook.store.table.indexes import SIZES, indexed
from memhook.store.table.opening import connected
from memhook.store.table.recovery import TABLE
from memhook.store.table.schema import table_schema

USUAL, FULL = (1_000, 10_000, 100_000), (1_000_000,)
ONE_PROJECT = 300_000  # in a store that has one project and global memories
PROJECTS = (0, 30, 400)  # of the thousand, by size: a large, a medium and a small one
OTHER_PROJECTS = (3, 10, 20, 50, 100, 150, 200, 300, 500, 800)  # queried once, while they are not in memory
QUERIES = 60
COLD_STARTS = 5
OTHER_PROJECT_SECONDS = 2.0
WARM_SECONDS = 180.0
ANSWERED = f"cold session starts answered in time, of {COLD_STARTS}"

Vectors = corpus.Vectors


@dataclass(slots=True)
class Store:
    """A store and its measurements; prompts come from checkouts of the projects with these numbers."""

    size: int
    home: Path
    projects: tuple[int, ...] = PROJECTS
    facts: dict[str, float] = field(default_factory=dict)
    samples: dict[str, list[float]] = field(default_factory=dict)

    @property
    def is_one_project(self) -> bool:
        return len(self.projects) == 1

    @property
    def label(self) -> str:
        return f"{self.size:,}" + (" in one project" if self.is_one_project else "")

    @property
    def paths(self) -> Paths:
        return user_paths({"HOME": str(self.home)})

    def place(self, number: int, projects: Sequence[int] = ()) -> Path:
        """Return the checkout for a prompt: one after the other."""
        chosen = self.projects if self.is_one_project else projects or self.projects
        return self.home.parent / f"checkout-{chosen[number % len(chosen)]}"

    @contextmanager
    def at_home(self) -> Iterator[Paths]:
        """Set the environment, so that processes start in its home."""
        os.environ["HOME"] = str(self.home)
        yield self.paths


def main(rounds: int, full: bool) -> int:
    for name in [name for name in os.environ if name.startswith(("XDG_", "MEMHOOK_", "CLAUDE"))]:
        del os.environ[name]
    with tempfile.TemporaryDirectory(prefix="memhook-scale-", dir=_cache()) as folder:
        for number in (*PROJECTS, *OTHER_PROJECTS):
            _checkout(Path(folder), number)
        stores = [Store(size, Path(folder, f"home-{size}")) for size in (*USUAL, *(FULL if full else ()))]
        if full:
            stores.append(Store(ONE_PROJECT, Path(folder, "home-one-project"), PROJECTS[:1]))
        try:
            for store in stores:
                _build(store)
            _measure(stores, rounds)
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


def _build(store: Store) -> None:
    """Build its home with freshly made indexes; the rows are cached for the next run."""
    store.home.mkdir()
    paths = store.paths
    paths.data.mkdir(parents=True, mode=0o700)
    shutil.copytree(_rows(store), paths.store, copy_function=os.link)  # LanceDB never changes a file
    _say(f"{store.label}: making the indexes ...")
    started = time.perf_counter()
    store.facts["index build, MB"] = _kept_up(paths.store)
    store.facts["index build, s"] = time.perf_counter() - started
    time.sleep(1.5)
    _kept_up(paths.store)  # the earlier files are now old, as after a minute
    store.facts["on disk, MB"] = sum(one.stat().st_size for one in paths.store.rglob("*") if one.is_file()) / 1e6


def _kept_up(folder: Path) -> float:
    """Make the indexes in another process, as the daemon does; return the peak of its memory in MB."""
    command = [sys.executable, "-m", "memhook.store.table.maintenance", str(folder), "1", str(SIZES.exact)]
    _, status, used = os.wait4(subprocess.Popen(command).pid, 0)
    assert os.waitstatus_to_exitcode(status) == 0, "the indexes were not made"
    return used.ru_maxrss / 1000


def _rows(store: Store) -> Path:
    """Return the folder of the store with rows and empty indexes, as after a bulk import."""
    made_by = corpus.model(CACHE, CACHE / "models")
    folder = CACHE / f"rows-{store.size}-{'one-' if store.is_one_project else ''}{corpus.fingerprint()}"
    if not folder.exists():
        unfinished = CACHE / f"rows-{store.size}.new"
        shutil.rmtree(unfinished, ignore_errors=True)
        _say(f"{store.label}: writing the rows, once ...")
        table = indexed(
            connected(str(unfinished), create=True).create_table(TABLE, schema=table_schema(made_by.identity))
        )
        for chunk in corpus.tables(store.size, made_by):
            table.add(_moved(chunk, store.projects[0]) if store.is_one_project else chunk)
        unfinished.rename(folder)
    return folder


def _moved(rows: pa.Table, project: int) -> pa.Table:
    """Return the rows with all but the global ones in this project."""
    moved = pc.if_else(pc.equal(rows["project"], ""), "", corpus.project_name(project))
    return rows.set_column(rows.schema.get_field_index("project"), rows.schema.field("project"), moved)


def _checkout(folder: Path, number: int) -> None:
    """Create a repository with the remote of the project with this number."""
    place = folder / f"checkout-{number}"
    subprocess.run(["git", "init", "-q", str(place)], check=True)
    remote = f"https://{corpus.project_name(number)}.git"
    subprocess.run(["git", "-C", str(place), "remote", "add", "origin", remote], check=True)


# Measuring


def _measure(stores: Sequence[Store], rounds: int) -> None:
    _say("starting ...")
    _interleaved(stores, "cold start", COLD_STARTS, _cold_start)
    _interleaved(stores, "", COLD_STARTS, _cold_hook)
    for store in stores:
        with store.at_home() as paths:
            control.started(paths)
    _say("warming up ...")
    _interleaved(stores[:1], "", 2 * len(PROJECTS), _hook)
    usual = min(_timed_round(stores[0]) for _ in range(3))
    for store in stores:
        store.facts["until warm, s"] = _warmed(store, 2 * usual)
    _interleaved(stores, "prompt hook", rounds, _hook)
    _interleaved(stores, "search in all projects", rounds // 2, partial(_search, project=""))
    _interleaved(stores, "search in a project", rounds // 2, partial(_search, project="here"))
    for store in stores:
        store.facts["daemon, busy, MB"] = _daemon_megabytes(store)
    time.sleep(REST_SECONDS)
    for store in stores:
        store.facts["daemon, at rest, MB"] = _daemon_megabytes(store)
    _interleaved(stores, "prompt hook, project not in memory", len(OTHER_PROJECTS), _first_hook)
    _interleaved(stores, "remember", rounds // 2, _remember)
    _interleaved(stores, "prompt hook, just remembered", rounds // 4, _remembered_hook)


def _daemon_megabytes(store: Store) -> float:
    return float(control.called(store.paths, "daemon_status")["memory_mb"])


def _warmed(store: Store, enough: float) -> float:
    """Return the seconds until prompts in its projects are answered from the in-memory cache."""
    started = time.perf_counter()
    if store.is_one_project:
        return 0.0  # too large for the cache
    while time.perf_counter() - started < WARM_SECONDS and _timed_round(store) > enough:
        time.sleep(0.5)
    return time.perf_counter() - started


def _timed_round(store: Store) -> float:
    """Return the slowest of one prompt in each project."""
    taken = []
    for number in range(len(store.projects)):
        with store.at_home():
            started = time.perf_counter()
            _hook(store, number)
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


def _hook(store: Store, number: int) -> None:
    _printed(_event(number, store.place(number), "UserPromptSubmit"), "UserPromptSubmit")


def _first_hook(store: Store, number: int) -> float:
    """Return the seconds of a prompt in another project; until that is read into memory, the next one waits."""
    started = time.perf_counter()
    _printed(_event(number, store.place(number, OTHER_PROJECTS), "UserPromptSubmit"), "UserPromptSubmit")
    taken = time.perf_counter() - started
    time.sleep(OTHER_PROJECT_SECONDS)
    return taken


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


def _search(store: Store, number: int, project: str) -> None:
    asked = {"query": corpus.prompt(number), **({"project": project} if project else {})}
    control.called(store.paths, "search", asked, str(store.place(number)))


def _remember(store: Store, number: int) -> None:
    new = corpus.memory(10_000_000 + number)
    params = {"content": new.content, "tags": list(new.tags)}
    control.called(store.paths, "remember", params, str(store.place(number)))


def _remembered_hook(store: Store, number: int) -> float:
    _remember(store, 1_000 + number)
    started = time.perf_counter()
    _hook(store, number)
    return time.perf_counter() - started


def _cold_start(store: Store, number: int) -> float:
    """Time from no daemon to the first answer, without a hook, whose deadline would hide it."""
    started = time.perf_counter()
    control.started(store.paths)
    _search(store, number, "here")
    taken = time.perf_counter() - started
    control.stopped(store.paths)  # else its loading would affect the next store
    return taken


def _cold_hook(store: Store, number: int) -> None:
    """Start a session without a daemon, and record whether it gets its memories in time."""
    printed = _printed(_event(number, store.place(number), "SessionStart"), "SessionStart")
    store.facts[ANSWERED] = store.facts.get(ANSWERED, 0.0) + (b"urn:" in printed)
    control.stopped(store.paths)


# Recall: nothing cached in memory, so that the indexes answer


def _measure_recall(stores: Sequence[Store]) -> None:
    embedder = load_embedder(DEFAULT_MODEL, CACHE / "models")
    asked = np.asarray([embedder.embed_query(corpus.prompt(number)) for number in range(QUERIES)], dtype=np.float32)
    for store in stores:
        _say(f"{store.label}: comparing with exact search ...")
        allowed = [surfacing(corpus.project_name(one), Settings(), datetime.now(UTC)) for one in store.projects]
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
    command = "scripts/bench scale --full" if stores[-1].is_one_project else "scripts/bench scale"
    print(f"{datetime.now(UTC):%Y-%m-%d}, {machine()}, {rounds} rounds: `{command}`\n")
    print("| what | " + " | ".join(store.label for store in stores) + " |")
    print("| --- |" + " --- |" * len(stores))
    for name in first.samples:
        for percent in (50, 95):
            values = [percentile(store.samples[name], percent) for store in stores]
            _print_row(f"{name}, p{percent}, ms", values)
    sizes = ("daemon, busy, MB", "daemon, at rest, MB", "on disk, MB", "index build, MB")
    for name in (*sizes, "index build, s", "until warm, s"):
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
