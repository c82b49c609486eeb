"""Bit flips and truncations over every file of a store: what memhook makes of each.

A store with several files, deletions, a full-text and a vector index, its ledger and side files is made once. Each
trial damages one file of a copy and then opens, reads, searches, checks and writes it, in a process that may crash.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from memhook.core.memory import Memory
from memhook.core.terms import terms
from memhook.errors import MemhookError
from memhook.paths import Paths, user_paths
from memhook.store.ledger import Injection, Ledger
from memhook.store.memories import MemoryStore, own_store
from memhook.store.project_aliases import ProjectAliases
from memhook.store.table import changes, indexes
from memhook.store.table.filters import Filter
from memhook.store.table.indexes import Sizes
from memhook.writing.backup import rebuilt
from tests.store.test_memories import MODEL, axis, memory

ROOT = Path(__file__).parents[2]
SIZES = Sizes(held=100, scanned=0, exact=50, apart=10_000)
FORGOTTEN, REMOVED, WRITTEN = 3, 4, 999
FLIP, TRUNCATION = "flip", "truncation"
WEIGHTS = {"data": 4, "newest manifest": 2}
GOOD = ("whole", "missing", "refused")


@dataclass(frozen=True, slots=True)
class Sample:
    """The store before any damage: its memories, and which of them each data file has."""

    home: Path
    memories: dict[str, Memory]
    rows: dict[str, list[str]]


@dataclass(frozen=True, slots=True)
class Trial:
    """One file damaged in one way."""

    file: str
    kind: str
    at: int


@dataclass(slots=True)
class Result:
    """How it went: "whole", "missing" (told), "refused" (and rebuilt), or what must not be, by its name."""

    outcome: str
    told: str = ""
    lost: list[str] = field(default_factory=list)


def paths_in(home: Path) -> Paths:
    return user_paths({"HOME": str(home)})


def opened(paths: Paths) -> MemoryStore:
    return own_store(str(paths.store), paths.backups, SIZES)


def sample(home: Path) -> Sample:
    indexes.ROWS_IN_PARTITION = 50
    paths = paths_in(home)
    store = opened(paths)
    memories = {one.id: one for one in map(_note, range(110))}
    rows: dict[str, list[str]] = {}
    _written(store, rows, [memories[key] for key in sorted(memories)[:100]])
    store._here.table.unoptimized = 1000
    assert store.optimize()
    for number in range(100, 110, 2):
        _written(store, rows, [memories[_id(number)], memories[_id(number + 1)]])
    changed = memory(7, "note 7 says something else since it was edited", tags=("edited",))
    with store.writing():
        store.write(changes.replace, [changed], [axis(7)], MODEL)
        store.write(changes.forget, [memories[_id(FORGOTTEN)]], changed.updated)
        store.write(changes.remove, [_id(REMOVED)])
    memories[changed.id] = changed
    _written(store, rows, [memories.setdefault(_id(200), _note(200))])
    for number in (FORGOTTEN, REMOVED):
        del memories[_id(number)]
    store.set_mark("masked", "done")
    store.close()
    _side_files(paths)
    return Sample(home, memories, rows)


def _id(number: int) -> str:
    return f"m{number:011d}"


def _note(number: int) -> Memory:
    text = f"note {number} about replicas: the ledger lags {number * 7919} seconds behind, says host-{number}"
    return memory(number, text, tags=(f"tag{number % 5}",), project=f"example.org/p{number % 3}")


def _written(store: MemoryStore, rows: dict[str, list[str]], memories: list[Memory]) -> None:
    before = _data_files(store)
    with store.writing():
        store.write(changes.add, memories, [axis(int(one.id[1:])) for one in memories], MODEL)
    for name in _data_files(store) - before:
        rows[name] = [one.id for one in memories]


def _data_files(store: MemoryStore) -> set[str]:
    return {path.name for path in Path(store.uri).glob("memories.lance/data/*.lance")}


def _side_files(paths: Paths) -> None:
    now = datetime(2026, 3, 1, 12, tzinfo=UTC)
    ledger = Ledger(paths.ledger)
    for number in range(20):
        ledger.record(Injection(now, f"s{number}", "", "claude", "UserPromptSubmit", "p", "shown", "x" * 200, 3, 9, {}))
    ledger.close()
    ProjectAliases(paths).merge("/old", "example.com/shop")


def trials(of: Sample, count: int, seed: int) -> Iterator[Trial]:
    """Each kind of file in turn, so that the many small indexes do not leave the others out; some more than others."""
    chance = random.Random(seed)
    files: dict[str, list[str]] = {}
    for path in sorted(of.home.rglob("*")):
        if path.is_file() and path.stat().st_size:
            files.setdefault(kind_of(path), []).append(str(path.relative_to(of.home)))
    kinds = [kind for kind in sorted(files) for _ in range(WEIGHTS.get(kind, 1))]
    for number in range(count):
        file = chance.choice(files[kinds[number % len(kinds)]])
        size = (of.home / file).stat().st_size
        if chance.random() < 0.8:
            yield Trial(file, FLIP, chance.randrange(8 * size))
        else:
            yield Trial(file, TRUNCATION, chance.randrange(size))


def kind_of(path: Path) -> str:
    """By its folder in the table; of the newest manifest there are more trials than of an old one."""
    parts = path.parts
    if "memories.lance" not in parts:
        return "ledger" if "ledger" in path.name else "side file"
    kind = parts[parts.index("memories.lance") + 1]
    if kind == "_versions" and path.suffix == ".manifest":
        return "newest manifest" if path == min(path.parent.glob("*.manifest")) else "older manifest"
    return kind


def damage(home: Path, trial: Trial) -> None:
    path = home / trial.file
    if trial.kind == TRUNCATION:
        os.truncate(path, trial.at)
        return
    content = bytearray(path.read_bytes())
    content[trial.at // 8] ^= 1 << trial.at % 8
    path.write_bytes(content)


def tried(of: Sample, trial: Trial, home: Path) -> Result:
    """Open, read, search, check and write a copy with the damage in it."""
    shutil.rmtree(home, ignore_errors=True)
    shutil.copytree(of.home, home)
    damage(home, trial)
    paths = paths_in(home)
    try:
        told = _used(of, paths)
        lost = _lost(of, paths, trial, told)
    except MemhookError as error:
        return _after_refusal(of, paths, trial, error)
    except _Wrong as wrong:
        return Result(str(wrong))
    except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001  a bare error is what is looked for
        return Result(f"bare {type(error).__name__}", str(error)[:200])
    except BaseException as error:  # noqa: BLE001  a panic of the Rust side is no Exception
        return Result(f"panic {type(error).__name__}", str(error)[:200])
    return Result("missing" if lost else "whole", told, lost)


class _Wrong(AssertionError):
    """Something that memhook must not do."""


def _used(of: Sample, paths: Paths) -> str:
    """Everything that is done with a store; what the user was told."""
    store = opened(paths)
    told = [store.repaired, store.health()["damage"]]
    _ = [store.after("", 100_000), store.count(), store.counted_by("project"), store.all_rows()]
    for number in (0, 5, 50, 105):
        found, _ = store.candidates(partial(axis, number), terms(f"note {number} replicas"), Filter(), 20)
        store.by_ids([one.id for one in found])
    with store.writing():
        store.write(changes.add, [memory(WRITTEN, "written after the damage")], [axis(9)], MODEL)
        store.write(changes.mute, [_id(50)], True)
        store.write(changes.mute, [_id(50)], False)
    store._here.table.unoptimized = 1000
    store.optimize()
    store.close()
    with suppress(MemhookError):  # without a ledger the daemon goes on
        ledger = Ledger(paths.ledger)
        ledger.shown("s3", "")
        ledger.problem()
        ledger.close()
    ProjectAliases(paths).all()
    return " ".join(filter(None, told))


def _lost(of: Sample, paths: Paths, trial: Trial, told: str, *, new: int = 1) -> list[str]:
    """What is missing, which must have been in the damaged file and must have been told."""
    store = opened(paths)
    there = {one.id: one for one in store.after("", 100_000)}
    if there.pop(_id(WRITTEN), None) is None and new:
        raise _Wrong("write lost")
    if extra := there.keys() - of.memories.keys():
        raise _Wrong(f"came back: {sorted(extra)}")
    if any(one.content != of.memories[key].content for key, one in there.items()):
        raise _Wrong("wrong content")
    if not told and any(one != of.memories[key] for key, one in there.items()):
        raise _Wrong("wrong field, silently")
    lost = sorted(of.memories.keys() - there.keys())
    if lost and not told:
        raise _Wrong("missing, silently")
    if excess := set(lost) - set(of.rows.get(Path(trial.file).name, of.memories if "data/" in trial.file else ())):
        raise _Wrong(f"more missing than damaged ({len(excess)})")
    return lost


def _after_refusal(of: Sample, paths: Paths, trial: Trial, error: MemhookError) -> Result:
    """It must say what to do, and the rebuilding must bring back what is intact."""
    told = f"{error.message} -> {error.hint}"
    try:
        if not error.hint:
            raise _Wrong("refused without a hint")
        rebuilt(paths, str(paths.store))
        return Result("refused", told, _lost(of, paths, trial, told, new=0))
    except MemhookError as again:
        return Result("refused, nothing rebuilt", f"{told} | {again.message}")
    except _Wrong as wrong:
        return Result(f"refused, {wrong}", told)
    except BaseException as bare:  # noqa: BLE001  also a panic of the Rust side
        return Result(f"refused, rebuilding failed with {type(bare).__name__}", f"{told} | {bare}"[:300])


def results(of: Sample, chosen: list[Trial], folder: Path) -> Iterator[tuple[Trial, Result]]:
    """Each in a worker; one that dies costs its trial, and another goes on."""
    position = 0
    while position < len(chosen):
        worker = subprocess.Popen(
            [sys.executable, "-m", "tests.soak.damage", str(of.home), str(folder / "copy")],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, cwd=ROOT,
        )  # fmt: skip
        with worker:
            assert worker.stdin
            assert worker.stdout
            worker.stdin.write(json.dumps([_plain(of), *map(asdict, chosen[position:])]))
            worker.stdin.close()
            for line in worker.stdout:
                yield chosen[position], Result(**json.loads(line))
                position += 1
        if position < len(chosen):
            yield chosen[position], Result(f"crash {worker.returncode}")
            position += 1


def _plain(of: Sample) -> dict[str, Any]:
    return {"numbers": sorted(of.memories), "rows": of.rows}


def _worker(home: Path, copy: Path) -> None:
    indexes.ROWS_IN_PARTITION = 50
    plain, *chosen = json.load(sys.stdin)
    clean = opened(paths_in(home))
    of = Sample(home, {one.id: one for one in clean.after("", 100_000)}, plain["rows"])
    assert sorted(of.memories) == plain["numbers"]
    for one in chosen:
        sys.stdout.write(json.dumps(asdict(tried(of, Trial(**one), copy))) + "\n")
        sys.stdout.flush()


def counted(found: list[tuple[Trial, Result]], home: Path) -> str:
    """Outcomes, and for each kind of file how often it was damaged."""
    outcomes = Counter(result.outcome.split(":")[0] for _, result in found)
    missing = sum(len(result.lost) for _, result in found)
    told = ", ".join(f"{count} {outcome}" for outcome, count in outcomes.most_common())
    kinds = Counter(kind_of(home / trial.file) for trial, _ in found)
    return f"{told}; {missing} rows missing; " + ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items()))


if __name__ == "__main__":
    _worker(Path(sys.argv[1]), Path(sys.argv[2]))
