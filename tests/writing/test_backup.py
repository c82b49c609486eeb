from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import zipfile
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pytest

from memhook.engine.engine import Engine
from memhook.errors import InvalidInput, StoreError
from memhook.library.sweep import Sweep
from memhook.paths import Paths, user_paths
from memhook.store.ledger import Injection, Ledger
from memhook.store.memories import MemoryStore, own_store
from memhook.store.project_aliases import ProjectAliases
from memhook.store.table import changes
from memhook.store.table.arrow_file import rows_in
from memhook.writing.archive import NOTE, ROWS, Contents
from memhook.writing.backup import backed_up, rebuilt, restored, settings_offered
from tests.core.secret_samples import samples
from tests.store.test_memories import MODEL, axis, memory

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


def opened(paths: Paths) -> MemoryStore:
    return own_store(str(paths.store), paths.backups)


def filled(paths: Paths, count: int = 10) -> MemoryStore:
    store = opened(paths)
    for number in range(count):
        with store.writing():
            store.write(changes.add, [memory(number, f"note {number}")], [axis(number)], MODEL)
    return store


@pytest.fixture
def paths(home: Path) -> Paths:
    """Of a home with ten memories, one of them forgotten, an event and a setting."""
    paths = user_paths()
    store = filled(paths)
    with store.writing():
        store.write(changes.forget, [memory(3, "note 3")], NOW)
    ledger = Ledger(paths.ledger)
    ledger.record(Injection(NOW, "s", "", "claude", "UserPromptSubmit", "p", "shown", "text", 3, 4000, {}))
    ledger.close()
    paths.config.mkdir(parents=True)
    paths.config_file.write_text("max_tokens = 1234\n", encoding="utf-8")
    return paths


@pytest.fixture
def elsewhere(tmp_path: Path) -> Paths:
    return user_paths({"HOME": str(tmp_path / "elsewhere")})


def unfinished(folder: Path) -> list[str]:
    return [path.name for path in folder.rglob(".memhook-unfinished-*")]


def written(paths: Paths, file: Path) -> Contents:
    return backed_up(file, paths, str(paths.store))


def test_a_backup_put_back_elsewhere_is_the_same_in_each_column(paths: Paths, elsewhere: Paths, tmp_path: Path) -> None:
    contents = written(paths, tmp_path / "b.zip")
    assert (contents.memories, contents.forgotten, contents.events, contents.settings) == (9, 1, 1, True)
    assert restored(tmp_path / "b.zip", elsewhere, str(elsewhere.store)) == contents
    before, after = opened(paths).all_rows(), opened(elsewhere).all_rows()
    assert before is not None
    assert after is not None
    assert after.sort_by("id").to_pylist() == before.sort_by("id").to_pylist()
    assert opened(elsewhere).model == MODEL
    assert Ledger(elsewhere.ledger).last_by_event() == {"UserPromptSubmit": NOW}
    assert not elsewhere.config_file.exists()


def test_the_file_is_private_whole_and_never_written_over(paths: Paths, tmp_path: Path) -> None:
    written(paths, tmp_path / "b.zip")
    assert (tmp_path / "b.zip").stat().st_mode & 0o777 == 0o600
    assert unfinished(tmp_path) == []
    with pytest.raises(InvalidInput, match="already exists"):
        written(paths, tmp_path / "b.zip")


def test_what_is_there_is_replaced_only_when_asked_and_kept_then(paths: Paths, tmp_path: Path) -> None:
    written(paths, tmp_path / "b.zip")
    with opened(paths).writing():
        opened(paths).write(changes.add, [memory(50, "written since")], [axis(50)], MODEL)
    with pytest.raises(InvalidInput, match="There is data already") as refused:
        restored(tmp_path / "b.zip", paths, str(paths.store))
    assert "--replace" in refused.value.hint
    assert "There is data already: 10 memories, the traces of 1 forgotten ones and a ledger" in str(refused.value)
    assert opened(paths).count() == 10
    restored(tmp_path / "b.zip", paths, str(paths.store), replace=True)
    assert opened(paths).count() == 9
    (kept,) = paths.backups.glob("replaced-*.zip")
    restored(kept, paths, str(paths.store), replace=True)
    assert opened(paths).count() == 10


def test_merged_projects_come_back_and_take_the_place_of_others(paths: Paths, elsewhere: Paths, tmp_path: Path) -> None:
    ProjectAliases(paths).merge("/old", "example.com/shop")
    assert written(paths, tmp_path / "b.zip").merged_projects == 1
    restored(tmp_path / "b.zip", elsewhere, str(elsewhere.store))
    assert ProjectAliases(elsewhere).all() == {"/old": "example.com/shop"}
    ProjectAliases(paths).split("/old")
    written(paths, tmp_path / "none.zip")
    restored(tmp_path / "none.zip", elsewhere, str(elsewhere.store), replace=True)
    assert ProjectAliases(elsewhere).all() == {}
    (kept,) = elsewhere.backups.glob("replaced-*.zip")
    restored(kept, elsewhere, str(elsewhere.store), replace=True)
    assert ProjectAliases(elsewhere).all() == {"/old": "example.com/shop"}


def test_merged_projects_alone_are_not_lost_either(paths: Paths, elsewhere: Paths, tmp_path: Path) -> None:
    written(paths, tmp_path / "b.zip")
    ProjectAliases(elsewhere).merge("/mine", "/other")
    with pytest.raises(InvalidInput, match="1 merged projects"):
        restored(tmp_path / "b.zip", elsewhere, str(elsewhere.store))
    assert ProjectAliases(elsewhere).all() == {"/mine": "/other"}


def test_a_backup_of_an_older_memhook_leaves_the_merged_projects(
    paths: Paths, elsewhere: Paths, tmp_path: Path
) -> None:
    written(paths, tmp_path / "b.zip")
    with zipfile.ZipFile(tmp_path / "b.zip") as new, zipfile.ZipFile(tmp_path / "old.zip", "w") as old:
        for name in set(new.namelist()) - {"projects.json"}:
            content = new.read(name)
            if name == NOTE:
                note = json.loads(content)
                del note["merged_projects"]
                content = json.dumps(note).encode()
            old.writestr(name, content)
    ProjectAliases(elsewhere).merge("/mine", "/other")
    restored(tmp_path / "old.zip", elsewhere, str(elsewhere.store), replace=True)
    assert opened(elsewhere).count() == 9
    assert ProjectAliases(elsewhere).all() == {"/mine": "/other"}


def test_a_restored_store_is_looked_through_for_secrets_again(paths: Paths, tmp_path: Path) -> None:
    secret = next(sample.secret for sample in samples(1, 1) if sample.provider == "gitlab")
    with opened(paths).writing():
        opened(paths).write(changes.add, [memory(60, f"The key is {secret}")], [axis(60)], MODEL)
    written(paths, tmp_path / "b.zip")
    swept = [Sweep(opened(paths)).step() for _ in range(2)]
    assert swept == [1, 0]
    restored(tmp_path / "b.zip", paths, str(paths.store), replace=True)
    assert secret in str(opened(paths).all_rows())
    assert Sweep(opened(paths)).step() == 1
    assert secret not in str(opened(paths).all_rows())


def test_settings_come_back_only_by_name_and_beside_those_that_are_there(
    paths: Paths, elsewhere: Paths, tmp_path: Path
) -> None:
    paths.config_file.write_text('max_tokens = 1234\npreview_chars = 90\nstore.uri = "/theirs"\n', encoding="utf-8")
    written(paths, tmp_path / "b.zip")
    elsewhere.config.mkdir(parents=True)
    elsewhere.config_file.write_text("# mine\nmax_tokens = 99\n", encoding="utf-8")
    offer = settings_offered(tmp_path / "b.zip", elsewhere)
    assert [(change.key, change.before, change.after) for change in offer.plain] == [
        ("max_tokens", "99", "1234"),
        ("preview_chars", "", "90"),
    ]
    assert [change.key for change in offer.locations] == ["store.uri"]
    restored(tmp_path / "b.zip", elsewhere, str(elsewhere.store))
    assert elsewhere.config_file.read_text(encoding="utf-8") == "# mine\nmax_tokens = 99\n"
    restored(tmp_path / "b.zip", elsewhere, str(elsewhere.store), replace=True, settings=["preview_chars"])
    assert elsewhere.config_file.read_text(encoding="utf-8") == "# mine\nmax_tokens = 99\npreview_chars = 90\n"


def test_what_is_written_beside_a_restore_is_in_the_copy_or_in_the_store(paths: Paths, tmp_path: Path) -> None:
    written(paths, tmp_path / "b.zip")
    command = [sys.executable, "-c", WRITER, str(paths.store), str(paths.backups)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stdin=subprocess.PIPE, text=True) as writer:
        assert writer.stdout
        assert writer.stdin
        acknowledged = [writer.stdout.readline().strip()]
        for _ in range(4):
            restored(tmp_path / "b.zip", paths, str(paths.store), replace=True)
        writer.stdin.close()
        acknowledged += writer.stdout.read().split()
    assert writer.returncode == 0
    kept = [written_ids(paths, opened(paths).all_rows())]
    for copy in paths.backups.glob("replaced-*.zip"):
        with zipfile.ZipFile(copy) as archive:
            kept.append(written_ids(paths, rows_in(archive.read(ROWS))))
    assert len(acknowledged) > 4
    assert set(acknowledged) - set().union(*kept) == set()


WRITER = """
import sys, threading
from pathlib import Path
from memhook.store.memories import own_store
from memhook.store.table import changes
from tests.store.test_memories import MODEL, axis, memory
store = own_store(sys.argv[1], Path(sys.argv[2]))
stop = threading.Event()
threading.Thread(target=lambda: (sys.stdin.read(), stop.set()), daemon=True).start()
number = 1000
while not stop.is_set():
    with store.writing():
        store.write(changes.add, [memory(number, f"written {number}")], [axis(1)], MODEL)
    print(memory(number, "").id, flush=True)
    number += 1
"""


def written_ids(paths: Paths, rows: pa.Table | None) -> set[str]:
    assert rows is not None
    return set(rows["id"].to_pylist())


def rewritten(source: Path, target: Path, **parts: bytes) -> Path:
    """The backup with other parts, by their names without suffix."""
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            new.writestr(name, parts.get(name.split(".")[0], old.read(name)))
    return target


@pytest.mark.parametrize("ledger", [b"garbage" * 1000, b"", b"SQLite format 3\0" + bytes(50), "flipped"])
def test_a_backup_with_a_corrupt_ledger_changes_nothing(paths: Paths, tmp_path: Path, ledger: bytes | str) -> None:
    written(paths, tmp_path / "b.zip")
    if isinstance(ledger, str):
        with zipfile.ZipFile(tmp_path / "b.zip") as archive:
            pages = bytearray(archive.read("ledger.sqlite3"))
        pages[4096:8192] = b"\xff" * 4096
        ledger = bytes(pages)
    file = rewritten(tmp_path / "b.zip", tmp_path / "bad.zip", ledger=ledger)
    with opened(paths).writing():
        opened(paths).write(changes.add, [memory(50, "written since")], [axis(50)], MODEL)
    before = opened(paths).all_rows()
    with pytest.raises(InvalidInput, match="damaged") as refused:
        restored(file, paths, str(paths.store), replace=True)
    assert "Nothing was changed" in refused.value.hint
    assert "\n" not in refused.value.message
    assert opened(paths).all_rows() == before
    assert Ledger(paths.ledger).last_by_event() == {"UserPromptSubmit": NOW}
    assert list(paths.backups.glob("replaced-*")) == []


def damage_ledger(paths: Paths) -> None:
    content = bytearray(paths.ledger.read_bytes())
    content[100:8192] = b"\xaa" * (8192 - 100)
    paths.ledger.write_bytes(content)


def test_a_restore_replaces_a_damaged_ledger(paths: Paths, tmp_path: Path) -> None:
    written(paths, tmp_path / "b.zip")
    damage_ledger(paths)
    restored(tmp_path / "b.zip", paths, str(paths.store), replace=True)
    assert Ledger(paths.ledger).last_by_event() == {"UserPromptSubmit": NOW}


def test_a_backup_made_beside_a_damaged_ledger_can_be_restored(paths: Paths, tmp_path: Path) -> None:
    written(paths, tmp_path / "b.zip")
    before = opened(paths).all_rows()
    damage_ledger(paths)
    assert backed_up(tmp_path / "later.zip", paths, str(paths.store)).ledger_damage
    restored(tmp_path / "later.zip", paths, str(paths.store), replace=True)
    assert opened(paths).all_rows() == before


def test_what_a_killed_restore_leaves_behind_the_next_one_removes_and_nothing_of_a_running_one(
    paths: Paths, tmp_path: Path
) -> None:
    written(paths, tmp_path / "b.zip")
    hang = "import sys; from memhook.writing.backup import *; from pathlib import Path; p = Path(sys.argv[1])\n"
    hang += "with temporary_folder(p) as f, in_one_step(p / 'b.zip') as z:\n"
    hang += "    (f / 'ledger').write_text('x'); print(flush=True); sys.stdin.read()"
    command = [sys.executable, "-c", hang, str(paths.backups)]
    pipe = subprocess.PIPE
    with (
        subprocess.Popen(command, stdin=pipe, stdout=pipe) as killed,
        subprocess.Popen(command, stdin=pipe, stdout=pipe) as running,
    ):
        assert killed.stdout
        assert running.stdout
        assert running.stdin
        killed.stdout.readline()
        running.stdout.readline()
        assert len(unfinished(paths.backups)) == 4
        killed.kill()
        killed.wait()
        restored(tmp_path / "b.zip", paths, str(paths.store), replace=True)
        assert len(unfinished(paths.backups)) == 2
        running.stdin.close()
        assert running.wait() == 0
    assert unfinished(paths.backups) == []
    assert (paths.backups / "b.zip").exists()


def test_a_backup_made_while_something_is_written_is_one_version_of_the_store(home: Path, tmp_path: Path) -> None:
    paths = user_paths()
    store = filled(paths, 2)
    stop = threading.Event()

    def write() -> None:
        number = 100
        while not stop.is_set():
            with store.writing():  # two at a time: a backup with one of a pair would be torn
                pair = [memory(number, f"left {number}"), memory(number + 1, f"right {number}")]
                store.write(changes.add, pair, [axis(1), axis(2)], MODEL)
            number += 2

    writer = threading.Thread(target=write)
    writer.start()
    try:
        counts = [written(paths, tmp_path / "0.zip").memories]
        while len(counts) < 3 or counts[-1] == counts[0]:  # until something was written meanwhile
            counts.append(written(paths, tmp_path / f"{len(counts)}.zip").memories)
    finally:
        stop.set()
        writer.join()
    assert all(count % 2 == 0 for count in counts)


@pytest.mark.parametrize("damage", ["cut", "changed", "other"])
def test_a_file_that_is_no_whole_backup_changes_nothing(paths: Paths, tmp_path: Path, damage: str) -> None:
    file = tmp_path / "b.zip"
    written(paths, file)
    if damage == "cut":
        os.truncate(file, file.stat().st_size // 2)
    elif damage == "changed":
        with zipfile.ZipFile(file) as archive:
            start = archive.getinfo(ROWS).header_offset + 200
        content = bytearray(file.read_bytes())
        content[start : start + 50] = bytes(50)
        file.write_bytes(content)
    else:
        with zipfile.ZipFile(file, "w") as archive:
            archive.writestr("memhook-backup.json", json.dumps({"something": "else"}))
    with pytest.raises(InvalidInput):
        restored(file, paths, str(paths.store), replace=True)
    assert opened(paths).count() == 9


def test_a_damaged_store_is_rebuilt_from_what_is_readable_with_a_count_of_the_rest(home: Path) -> None:
    paths = user_paths()
    store = opened(paths)
    with store.writing():
        store.write(
            changes.add, [memory(number, f"note {number}") for number in range(8)], [axis(n) for n in range(8)], MODEL
        )
    for number in range(8, 40):  # more than it goes back by itself
        with store.writing():
            store.write(changes.add, [memory(number, f"note {number}")], [axis(number)], MODEL)
    largest = max(paths.store.glob("memories.lance/data/*.lance"), key=lambda path: path.stat().st_size)
    os.truncate(largest, 100)
    result = rebuilt(paths, str(paths.store))
    assert (result.memories, result.unreadable) == (32, 8)
    assert (Path(result.kept) / "memories.lance").is_dir()
    again = opened(paths)
    assert (again.count(), again.model) == (32, MODEL)
    assert {path.name for path in paths.data.iterdir()} == {"store", "backups"}


def test_where_nothing_is_readable_the_store_is_left_and_a_backup_takes_its_place(paths: Paths, tmp_path: Path) -> None:
    written(paths, tmp_path / "b.zip")
    for manifest in paths.store.glob("memories.lance/**/_versions/*"):
        manifest.write_bytes(b"garbage")
    with pytest.raises(StoreError, match="Nothing can be read"):
        rebuilt(paths, str(paths.store))
    with pytest.raises(StoreError, match="damaged"):
        restored(tmp_path / "b.zip", paths, str(paths.store))
    restored(tmp_path / "b.zip", paths, str(paths.store), replace=True)
    assert opened(paths).count() == 9
    assert len(list(paths.backups.glob("damaged-*"))) == 1


def test_what_was_restored_is_searched_by_an_engine(paths: Paths, elsewhere: Paths, tmp_path: Path) -> None:
    written(paths, tmp_path / "b.zip")
    restored(tmp_path / "b.zip", elsewhere, str(elsewhere.store))
    found = Engine(elsewhere).call("list", {}, "/", {})
    assert found["total"] == 9


def test_putting_back_says_nothing_but_what_it_did(paths: Paths, tmp_path: Path) -> None:
    file = tmp_path / "backup.zip"
    written(paths, file)
    environment = {**os.environ, "HOME": str(tmp_path / "fresh")}
    command = [sys.executable, "-m", "memhook.cli", "restore", str(file)]
    run = subprocess.run(command, capture_output=True, text=True, check=True, env=environment, cwd=tmp_path)
    assert run.stdout.startswith("Restored ")
    assert run.stderr == ""
