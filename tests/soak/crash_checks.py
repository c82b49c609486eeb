"""Whether a home that a power cut has left has all that was acknowledged, and nothing that was erased."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from memhook.paths import Paths, user_paths
from memhook.store.access_tokens import Tokens
from memhook.store.ledger import Ledger
from memhook.store.memories import MemoryStore, own_store, replicated_store
from memhook.store.table import changes
from memhook.store.table.arrow_file import rows_in
from memhook.writing.archive import ROWS
from tests.soak.crash_work import BACKUP, LARGE, PERSONAL, SMALL, TEAM
from tests.store.test_memories import MODEL, axis, memory, replica_of


@dataclass(slots=True)
class _Contents:
    """Of one store. `uncertain` are those that an operation was about to add or remove."""

    live: set[str] = field(default_factory=set)
    removed: set[str] = field(default_factory=set)
    uncertain: set[str] = field(default_factory=set)


class Expected:
    """What the command has said."""

    def __init__(self, said: Iterable[str]) -> None:
        self.stores: dict[str, _Contents] = {}
        self.erased: set[str] = set()
        self.noted: dict[str, object] = {}
        self.uncertain: set[str] = set()
        for line in said:
            self._hear(json.loads(line))

    def _hear(self, line: dict[str, object]) -> None:
        if not line["during"]:
            return
        contents = self.stores.setdefault(str(line["store"]), _Contents())
        adds, removes, erases = (set(line.get(name, ())) for name in ("adds", "removes", "erases"))  # type: ignore[call-overload]
        notes: dict[str, object] = {name: line[name] for name in ("settings", "token", "backup") if name in line}
        if line["acknowledged"]:
            contents.live = (contents.live | adds) - removes
            contents.removed = (contents.removed | removes) - adds
            contents.uncertain = set()
            self.erased |= erases
            self.noted |= notes
            self.uncertain = set()
        else:
            contents.uncertain = adds | removes
            self.uncertain = set(notes)


def faults(home: Path, said: Iterable[str]) -> list[str]:
    """What is wrong, in words; nothing, where all is as the command has said."""
    expected, paths = Expected(said), user_paths({"HOME": str(home)})
    found: list[str] = []
    for name, contents in expected.stores.items():
        try:
            found += _of_store(_opened(name, home, paths), name, contents)
        except Exception as error:  # noqa: BLE001  whatever it is, the store is of no use
            found.append(f"{name}: {error!r}")
    return [*found, *_noted(home, paths, expected), *_erased(home, expected)]


def _opened(name: str, home: Path, paths: Paths) -> MemoryStore:
    if name == PERSONAL:
        return own_store(str(paths.store), paths.backups)
    if name == LARGE:
        return own_store(str(home / LARGE), paths.backups, SMALL)
    there = str(home / TEAM)
    replica = next(iter(sorted(paths.replicas.glob("*"))), paths.replicas / "new")
    store = replicated_store(replica, paths.backups, there, {}, shared=True)
    replica_of(store).refresh()
    return store


def _of_store(store: MemoryStore, name: str, contents: _Contents) -> Iterator[str]:
    there = {one.content for one in store.after("", 100_000)}
    if missing := contents.live - contents.uncertain - there:
        yield f"{name}: {len(missing)} of {len(contents.live)} acknowledged memories are missing"
    if back := there & contents.removed - contents.uncertain:
        yield f"{name}: {len(back)} memories are back"
    if len(there) % 5:  # it takes as long as all the rest
        return
    with store.writing():
        store.write(changes.add, [memory(999, "One more.")], [axis(1)], MODEL)
    if "One more." not in {one.content for one in store.by_ids([memory(999, "").id]).values()}:
        yield f"{name}: what is written afterwards is not there"
    store.close()


def _noted(home: Path, paths: Paths, expected: Expected) -> Iterator[str]:
    certain = {name: value for name, value in expected.noted.items() if name not in expected.uncertain}
    if "settings" in certain and (
        not paths.config_file.exists() or paths.config_file.read_text() != certain["settings"]
    ):
        yield "the settings are not what they were set to"
    if "token" in certain and certain["token"] not in {token.name for token in Tokens(paths).all()}:
        yield "a token is missing"
    if "backup" in certain and _contents_of(home / BACKUP) != set(certain["backup"]):  # type: ignore[call-overload]
        yield "the backup does not have what it should"
    if paths.ledger.exists():
        ledger = Ledger(paths.ledger)
        if problem := ledger.problem():
            yield problem
        ledger.close()


def _contents_of(backup: Path) -> set[str]:
    try:
        with zipfile.ZipFile(backup) as archive:
            rows = rows_in(archive.read(ROWS)).to_pylist()
    except (OSError, zipfile.BadZipFile):
        return set()
    return {row["content"] for row in rows if row["forgotten"] is None and not row["redacted"]}


def _erased(home: Path, expected: Expected) -> Iterator[str]:
    """In no file but a backup of the user's own, whether packed or not."""
    words = {text.split()[1].encode(): text for text in expected.erased}
    for path in home.rglob("*") if words else ():
        if path.is_file() and path.name != BACKUP:
            content = path.read_bytes()
            found = sum(word in content for word in words)
            found += len(_contents_of(path) & expected.erased) if path.suffix == ".zip" else 0
            if found:
                yield f"erased and readable: {found} in {path.relative_to(home)}"
