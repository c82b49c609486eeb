"""What can be imported besides JSONL: Markdown, in files and folders, and the graph of MCP's reference server."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum, auto
from pathlib import Path
from typing import Any

from memhook.supply import markdown, reference_server

SUFFIXES = (".md", ".markdown")
JSON_SUFFIXES = (".jsonl", ".ndjson", ".json")
MAX_FILE_BYTES = 16 << 20

_GRAPH_LINE = re.compile(r'\{[^\n]*"type"\s*:\s*"(?:entity|relation)"')
_MARKDOWN_LINE = re.compile(r"(?:#{1,6}|[-*+]|>|\d+\.)[ \t]+\S|---[ \t]*$|```")


class Kind(Enum):
    """What a file is, by what it says."""

    LINES = auto()
    GRAPH = auto()
    MARKDOWN = auto()


@dataclass(frozen=True, slots=True)
class Entry:
    """A memory to be, where it stands, and its record; or what is wrong there instead."""

    place: str
    record: dict[str, Any] | None
    problem: str = ""


def kind_of(head: bytes, name: str) -> Kind:
    """By the first lines; the name decides only where they do not."""
    lines = [line.strip() for line in head.decode("utf-8", "replace").lstrip("\ufeff").splitlines() if line.strip()]
    if any(line.startswith("{") for line in lines[:1]) or 2 * sum(line.startswith("{") for line in lines) > len(lines):
        return Kind.GRAPH if any(map(_GRAPH_LINE.match, lines[:1])) else Kind.LINES
    suffix = Path(name).suffix.lower()
    if suffix in JSON_SUFFIXES:
        return Kind.LINES
    is_markdown = suffix in (*SUFFIXES, ".txt") or any(map(_MARKDOWN_LINE.match, lines))
    return Kind.MARKDOWN if is_markdown else Kind.LINES


def entries_of(kind: Kind, data: bytes, name: str) -> list[Entry]:
    """The entries of one file; `-` is stdin."""
    if kind is Kind.GRAPH:
        return list(_graph_entries(data))
    key = name if name == "-" else str(Path(name).resolve())
    return list(_markdown_entries(data, "stdin" if name == "-" else Path(name).name, key))


def folder_entries(folder: Path) -> Iterator[Entry]:
    """Every Markdown file below, in the order of their names; hidden ones are left alone."""
    top = folder.resolve()
    for path in sorted(folder.rglob("*")):
        inside = path.relative_to(folder)
        if path.suffix.lower() in SUFFIXES and not any(part.startswith(".") for part in inside.parts):
            try:
                if not path.resolve().is_relative_to(top):  # the folder may be somebody else's, the file yours
                    yield Entry(str(inside), None, "a link that leads out of the folder")
                    continue
                is_file, size = path.is_file(), path.stat().st_size
                data = path.read_bytes() if is_file and size <= MAX_FILE_BYTES else b""
            except (OSError, RuntimeError) as error:  # the latter for a loop of links
                yield Entry(str(inside), None, f"cannot be read ({getattr(error, 'strerror', '') or error})")
                continue
            if size > MAX_FILE_BYTES:
                yield Entry(str(inside), None, f"larger than {MAX_FILE_BYTES >> 20} MB")
            elif is_file:
                yield from _markdown_entries(data, str(inside), str(path.resolve()))


def as_lines(entries: Iterable[Entry]) -> Iterator[tuple[int, str]]:
    """The good ones as lines of JSONL, numbered from 0 in the order of all."""
    return ((number, json.dumps(one.record)) for number, one in enumerate(entries) if one.record is not None)


def _markdown_entries(data: bytes, name: str, key: str) -> Iterator[Entry]:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        yield Entry(name, None, f"not UTF-8 ({error.reason} at byte {error.start + 1})")
        return
    try:
        records = markdown.records(text, name, key)
    except Exception as error:  # noqa: BLE001  one file costs only itself, whatever it sets off
        yield Entry(name, None, f"memhook failed on it ({type(error).__name__}: {str(error)[:200]})")
        return
    for record in records:
        title = record.get("title")
        yield Entry(f"{name}: {title}" if title else name, record)


def _graph_entries(data: bytes) -> Iterator[Entry]:
    lines: list[tuple[int, str]] = []
    for number, raw in enumerate(data.split(b"\n"), start=1):
        try:
            text = raw.decode("utf-8-sig" if number == 1 else "utf-8").strip()
        except UnicodeDecodeError as error:
            yield Entry(f"line {number}", None, f"not UTF-8 ({error.reason} at byte {error.start + 1})")
            continue
        if text:
            lines.append((number, text))
    records, bad = reference_server.records(lines)
    yield from (Entry(f"line {number}", None, reason) for number, reason in bad)
    yield from (Entry(f"line {number}: {record['title']}", record) for number, record in records)
