"""The formats that can be imported besides JSONL, one line each, and reading files and folders in them.

To add a format: a module beside this one with one `Source`, and its name in SOURCES.
"""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

from memhook.store.project import git_answer
from memhook.supply.csv_table import CSV
from memhook.supply.json_files import JSON_LIST, REFERENCE_SERVER
from memhook.supply.markdown import MARKDOWN
from memhook.supply.source import Entry, Head, Source, in_utf8

SOURCES = (
    REFERENCE_SERVER,
    JSON_LIST,
    CSV,
    MARKDOWN,
)
MAX_FILE_BYTES = 16 << 20
PACKAGES = ("node_modules", "bower_components", "site-packages", "venv")  # also where git does not ignore them
GIT_SECONDS = 10.0


def source_of(head: bytes, name: str) -> Source | None:
    """Return the format of a file by its first lines; the name decides only where they do not. None for JSONL."""
    lines = (line.strip() for line in in_utf8(head).decode("utf-8", "replace").splitlines())
    start = Head(tuple(filter(None, lines)), Path(name).suffix.lower())
    return next((source for source in SOURCES if source.recognises(start)), None)


def entries_of(source: Source, data: bytes, name: str) -> list[Entry]:
    """Return the entries of one file; `-` is stdin."""
    data = in_utf8(data)
    if name == "-":
        return list(source.entries(data, "stdin", name))
    return list(source.entries(data, Path(name).name, str(Path(name).resolve())))


def folder_entries(folder: Path) -> Iterator[Entry]:
    """Yield the entries of every file below with a format's suffix, in the order of their names.

    Hidden files, installed packages and files that git ignores are skipped.
    """
    by_suffix = {suffix: source for source in SOURCES for suffix in source.suffixes}
    top = folder.resolve()
    for path in sorted(_paths_below(folder)):
        inside = path.relative_to(folder)
        source = by_suffix.get(path.suffix.lower())
        if source is None:
            continue
        try:
            if not path.resolve().is_relative_to(top):  # the folder may be somebody else's, the file yours
                yield Entry(str(inside), None, "a link that leads out of the folder")
                continue
            is_file, size = path.is_file(), path.stat().st_size
            data = in_utf8(path.read_bytes()) if is_file and size <= MAX_FILE_BYTES else b""
        except (OSError, RuntimeError) as error:  # the latter for a loop of links
            yield Entry(str(inside), None, f"cannot be read ({getattr(error, 'strerror', '') or error})")
            continue
        if size > MAX_FILE_BYTES:
            yield Entry(str(inside), None, f"larger than {MAX_FILE_BYTES >> 20} MB")
        elif is_file:
            yield from source.entries(data, str(inside), str(path.resolve()))


def _paths_below(folder: Path) -> Iterator[Path]:
    ignored = _ignored_below(folder)
    for place, folders, names in os.walk(folder):
        here = Path(place)
        folders[:] = [name for name in folders if name not in PACKAGES and _is_wanted(here / name, ignored)]
        yield from (here / name for name in (*folders, *names) if _is_wanted(here / name, ignored))


def _is_wanted(path: Path, ignored: Collection[Path]) -> bool:
    return not path.name.startswith(".") and path not in ignored


def _ignored_below(folder: Path) -> set[Path]:
    """Return the files and folders below that git ignores; none if it ignores the folder that the user chose."""
    real = folder.resolve()
    top = git_answer(real, "rev-parse", "--show-toplevel", timeout=GIT_SECONDS)
    listing = ("ls-files", "--others", "--ignored", "--exclude-standard", "--directory", "-z")
    listed = git_answer(real, *listing, "--", f":(literal){real}", timeout=GIT_SECONDS) if top else None
    if top is None or not listed:
        return set()
    # Below the folder as it was given, which may be relative or a link.
    found = {Path(top.rstrip("\n")) / name for name in listed.split("\0") if name}
    return {folder / path.relative_to(real) for path in found if path != real and path.is_relative_to(real)}


def as_lines(entries: Iterable[Entry]) -> Iterator[tuple[int, str]]:
    """Return the records as lines of JSONL, each with its number among all entries, from 0."""
    return ((number, json.dumps(one.record)) for number, one in enumerate(entries) if one.record is not None)
