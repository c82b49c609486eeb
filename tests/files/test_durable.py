from __future__ import annotations

import errno
import json
import os
import time
from pathlib import Path

import pytest

from memhook.files import durable
from tests.soak.crashes import Files, points
from tests.soak.recording import CannotRecord
from tests.soak.watched import changes_of

HOUR = 3_600_000_000_000
PROGRAM = """
import json, os, sys
from pathlib import Path
from memhook.files import durable

home = Path.home()
marks = os.open(sys.argv[1], os.O_WRONLY | os.O_APPEND)
def say(what): os.write(marks, (json.dumps({"during": what}) + "\\n").encode())

durable.made_folder(home / "a/b"); say("made")
durable.write(home / "a/b/file", b"old" * 1000); say("old")
durable.write(home / "a/b/file", b"new" * 1000); say("new")
durable.moved(home / "a/b", home / "c"); say("moved")
(home / "c/d").mkdir()
(home / "c/d/more").write_bytes(b"more" * 1000)
durable.sync_tree(home / "c"); say("tree")
durable.delete(home / "c/file"); say("deleted")
"""


def as_it_should_be(files: Files, acknowledged: str) -> bool:
    contents = {files.get("a/b/file"), files.get("c/file")} - {None}
    old, new = b"old" * 1000, b"new" * 1000
    return {
        "": contents == set(),
        "made": "a/b" in files and contents <= {old},
        "old": contents <= {old, new} and len(contents) == 1,
        "new": contents == {new},
        "moved": files.get("c/file") == new and "a/b" not in files,
        "tree": files.get("c/d/more") == b"more" * 1000 and contents <= {new},
        "deleted": files.get("c/d/more") == b"more" * 1000 and contents == set(),
    }[acknowledged]


def test_what_was_acknowledged_is_there_whatever_a_power_cut_leaves(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    try:
        changes = changes_of([str(program)], tmp_path)
    except CannotRecord as error:
        pytest.skip(str(error))
    seen = list(points(changes, wanted=10_000, seed=1))
    assert len(seen) > 15
    for point in seen:
        acknowledged = json.loads(point.said[-1])["during"] if point.said else ""
        assert as_it_should_be(point.files, acknowledged), (acknowledged, point.step, point.way, list(point.files))


def test_a_write_that_fails_leaves_the_old_file_and_nothing_else(home: Path) -> None:
    durable.write(home / "file", b"old")
    with pytest.raises(ZeroDivisionError), durable.replacing(home / "file"):
        raise ZeroDivisionError
    assert {path.name: path.read_bytes() for path in home.iterdir()} == {"file": b"old"}


@pytest.mark.parametrize("is_folder", [True, False])
def test_what_is_moved_to_another_file_system_is_copied_first(
    home: Path, monkeypatch: pytest.MonkeyPatch, is_folder: bool
) -> None:
    source, target = home / "here", home / "there"
    if is_folder:
        (source / "deep").mkdir(parents=True)
    (source / "deep/file" if is_folder else source).write_text("text")
    rename = Path.rename

    def other_file_system(path: Path, new: Path) -> Path:
        if path == source:
            raise OSError(errno.EXDEV, os.strerror(errno.EXDEV))
        return rename(path, new)

    monkeypatch.setattr(Path, "rename", other_file_system)
    durable.moved(source, target)
    assert [path.name for path in home.iterdir()] == ["there"]
    assert (target / "deep/file" if is_folder else target).read_text() == "text"


def test_each_sync_covers_what_has_changed_since_the_last_also_if_the_clock_was_set_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    since: list[int] = []
    monkeypatch.setattr(durable, "sync_tree", lambda _, since_ns: since.append(since_ns))
    synced = durable.Synced(tmp_path)
    now = time.time_ns
    before = now()
    synced.sync()
    synced.sync()
    monkeypatch.setattr(time, "time_ns", lambda: now() - HOUR)
    synced.sync()
    assert since[0] == 0  # whatever a process that was killed has left
    assert before - 1_000_000_000 < since[1] <= now()
    assert since[2] < now() - HOUR + 1_000_000_000


def test_a_folder_that_may_be_written_and_not_be_read_is_synced_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    called: list[str] = []
    monkeypatch.setattr(os, "open", lambda *_: (_ for _ in ()).throw(PermissionError()))
    monkeypatch.setattr(os, "sync", lambda: called.append("sync"))
    durable.sync(tmp_path)
    assert called == ["sync"]
