"""Backups that are not what they say: refused before they cost memory, and without touching anything."""

from __future__ import annotations

import json
import os
import stat
import struct
import zipfile
from collections.abc import Callable
from dataclasses import asdict
from functools import partial
from pathlib import Path

import pyarrow as pa
import pytest

from memhook.errors import InvalidInput
from memhook.store.table import arrow_file
from memhook.store.table.arrow_file import arrow_bytes, refuse_bomb
from memhook.writing import archive
from memhook.writing.archive import LEDGER, NOTE, PROJECTS, ROWS, SETTINGS, Contents, unpacked

NOTE_TEXT = json.dumps({"format": 1, **asdict(Contents("2026-03-01", "1.0", 0, 0, 0, False))})
ZEROS = bytes(1 << 20)

Write = Callable[[zipfile.ZipFile], None]


def made(file: Path, write: Write) -> Path:
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as target:
        target.writestr(NOTE, NOTE_TEXT)
        write(target)
    return file


def grown(name: str, megabytes: int) -> Write:
    def write(target: zipfile.ZipFile) -> None:
        with target.open(name, "w", force_zip64=True) as entry:
            for _ in range(megabytes):
                entry.write(ZEROS)

    return write


def entry(name: str, mode: int = 0) -> Write:
    def write(target: zipfile.ZipFile) -> None:
        info = zipfile.ZipInfo(name)
        info.external_attr = mode << 16
        target.writestr(info, "/etc/passwd")

    return write


def duplicate(target: zipfile.ZipFile) -> None:
    with pytest.warns(UserWarning, match="Duplicate"):
        target.writestr(NOTE, NOTE_TEXT)


def written_bytes(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


@pytest.mark.parametrize(
    ("name", "megabytes"), [(ROWS, 100), (LEDGER, 100), (SETTINGS, 1), (PROJECTS, 5), ("memhook-backup.jsonx", 1)]
)
def test_an_entry_that_grows_too_much_is_refused_by_what_it_declares(tmp_path: Path, name: str, megabytes: int) -> None:
    file = made(tmp_path / "b.zip", grown(name, megabytes))
    assert file.stat().st_size < 1 << 20
    (tmp_path / "out").mkdir()
    with pytest.raises(InvalidInput, match="is refused"):
        unpacked(file, tmp_path / "out")
    assert written_bytes(tmp_path / "out") < 1000


def test_what_declares_little_and_becomes_much_is_read_no_further_than_it_declared(tmp_path: Path) -> None:
    file = made(tmp_path / "b.zip", grown(ROWS, 80))
    content = file.read_bytes()
    size, claimed = struct.pack("<L", 80 << 20), struct.pack("<L", 1000)
    assert content.count(size) >= 1
    file.write_bytes(content.replace(size, claimed))
    (tmp_path / "out").mkdir()
    with pytest.raises(InvalidInput, match="damaged"):
        unpacked(file, tmp_path / "out")
    assert written_bytes(tmp_path / "out") < 2000


def test_the_bytes_are_counted_while_they_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Python's reader stops at what was declared; should another not, what is counted decides."""
    file = made(tmp_path / "b.zip", grown(ROWS, 20))
    with zipfile.ZipFile(file) as opened:
        monkeypatch.setattr(opened, "getinfo", lambda _: zipfile.ZipInfo(ROWS))  # which declares nothing
        whole = next(info for info in opened.infolist() if info.filename == ROWS)
        entry_itself = partial(opened.open, whole)
        monkeypatch.setattr(opened, "open", lambda _: entry_itself())
        with pytest.raises(InvalidInput, match="becomes more than"):
            archive._unpack(opened, ROWS, tmp_path / "out", 8 << 20, file)
    assert (tmp_path / "out").stat().st_size <= 8 << 20


@pytest.mark.parametrize(
    "write",
    [
        entry("../config.toml"),
        entry("/etc/config.toml"),
        entry("folder/config.toml"),
        entry("folder/"),
        entry("config.toml", stat.S_IFLNK | 0o777),
        entry("ledger.sqlite3", stat.S_IFIFO | 0o600),
        duplicate,
    ],
)
def test_an_entry_that_no_backup_has_is_refused(tmp_path: Path, write: Write) -> None:
    file = made(tmp_path / "b.zip", write)
    (tmp_path / "out").mkdir()
    with pytest.raises(InvalidInput, match="is refused"):
        unpacked(file, tmp_path / "out")
    assert list((tmp_path / "out").iterdir()) == []


def test_a_list_of_very_many_entries_is_refused_before_it_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def many(target: zipfile.ZipFile) -> None:
        for number in range(5000):
            target.writestr(f"{number}", "")

    file = made(tmp_path / "b.zip", many)
    monkeypatch.setattr(zipfile, "ZipFile", None)  # whoever opens it fails
    with pytest.raises(InvalidInput, match="list of entries"):
        unpacked(file, tmp_path)


def test_rows_that_decompress_to_too_much_are_refused_without_decompressing_any(tmp_path: Path) -> None:
    content = arrow_bytes(pa.table({"id": ["x"], "content": ["a" * (80 << 20)]}))
    assert len(content) < 1 << 20
    (tmp_path / "rows").write_bytes(content)
    before = pa.total_allocated_bytes()
    with pytest.raises(InvalidInput, match="would become 8388"):
        refuse_bomb(tmp_path / "rows", 64 << 20)
    assert pa.total_allocated_bytes() - before < 1 << 20
    refuse_bomb(tmp_path / "rows", 128 << 20)
    file = made(tmp_path / "b.zip", lambda target: target.writestr(ROWS, content))
    (tmp_path / "out").mkdir()
    with pytest.raises(InvalidInput, match="would become"):
        unpacked(file, tmp_path / "out")


def test_rows_that_lie_about_their_sizes_are_refused(tmp_path: Path) -> None:
    content = bytearray(arrow_bytes(pa.table({"id": [f"a{number}" * 40 for number in range(400)]})))
    whole = bytes(content)
    refused = 0
    for at in range(8, len(content) - 8, 41):
        content[:] = whole
        content[at : at + 8] = struct.pack("<q", 1 << 60)
        (tmp_path / "rows").write_bytes(content)
        try:
            refuse_bomb(tmp_path / "rows", 1 << 20)
            arrow_file.rows_in(bytes(content))
        except InvalidInput:
            refused += 1
    assert refused > 0


def test_random_bytes_in_a_zip_are_refused_with_a_hint(tmp_path: Path) -> None:
    file = made(tmp_path / "b.zip", lambda target: target.writestr(ROWS, os.urandom(5000)))
    whole = file.read_bytes()
    for at in range(0, len(whole), 97):
        content = bytearray(whole)
        content[at] ^= 0x55
        file.write_bytes(content)
        folder = tmp_path / f"{at}"
        folder.mkdir()
        with pytest.raises(InvalidInput) as refused:
            unpacked(file, folder)
        assert refused.value.hint
