"""Memories that assistants keep in files of their own: instructions and memory folders, found and read.

Where each assistant keeps them is in its module in assistants/.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memhook.assistants.assistant import Where
from memhook.assistants.known import KNOWN
from memhook.core.memory import derived_title, shortened
from memhook.store.project import Project
from memhook.supply import markdown
from memhook.supply.source import Entry

LARGEST_BYTES = 1 << 20
TITLE_CHARS = 80

_MEMORY_FOLDER = re.compile(r"/(?:memory|memories|agent-memory(?:-local)?/[^/]+)/[^/]+$")
_LINK_TO_NOTE = re.compile(r"\s*[-*]\s+\[[^]]*\]\([^)/]+\.md\)")
_FRONT_NAMES = {"name": "title", "description": "summary"}


@dataclass(frozen=True, slots=True)
class Kept:
    """A file of an assistant's, and the memories in it. A project without an id means all projects."""

    assistant: str
    path: Path
    shown_path: str
    size: int
    project: Project
    entries: tuple[Entry, ...]

    @property
    def memories(self) -> int:
        return sum(entry.record is not None for entry in self.entries)


def kept_by_assistants(
    project: Project, environment: Mapping[str, str], project_of: Callable[[str], Project]
) -> list[Kept]:
    """Return every file with a memory in it, each once, wherever links lead; the user's first, then this project's."""
    home = Path(environment.get("HOME") or "/")
    where = Where(home, environment, launcher=Path())
    found = [*_of_user(where), *_by_directory(where, project_of), *_of_project(project)]
    by_file: dict[Path, Kept] = {}
    for assistant, path, belongs in found:
        if (real := path.resolve()) not in by_file and (kept := _read(assistant, path, belongs, home)):
            by_file[real] = kept
    return list(by_file.values())


Found = tuple[str, Path, Project]


def _of_user(where: Where) -> Iterator[Found]:
    for one in KNOWN.values():
        yield from ((one.name, path, Project()) for path in _matching(one.folder(where), one.user_notes))


def _by_directory(where: Where, project_of: Callable[[str], Project]) -> Iterator[Found]:
    """Notes about directories, where those still belong to a project."""
    for one in KNOWN.values():
        for path, directory in one.notes_by_directory(one.folder(where)):
            if (project := project_of(str(directory))).id:
                yield one.name, path, project


def _of_project(project: Project) -> Iterator[Found]:
    if project.root is not None:
        for one in KNOWN.values():
            yield from ((one.name, path, project) for path in _matching(project.root, one.project_notes))


def _matching(root: Path, patterns: Iterable[str]) -> Iterator[Path]:
    for pattern in patterns:
        yield from sorted(root.glob(pattern))


def _read(assistant: str, path: Path, project: Project, home: Path) -> Kept | None:
    """None for a file that is not regular, too large, not text or empty."""
    try:
        size = path.stat().st_size
        text = path.read_bytes().decode("utf-8-sig") if path.is_file() and 0 < size <= LARGEST_BYTES else ""
    except (OSError, UnicodeDecodeError):
        return None
    shown = _shown(path, project, home)
    # By its place in the project, so that another clone of it updates the same memories.
    key = f"{project.id}\0{shown}"
    records = [_placed(record, path, project) for record in _records(text, path, shown, key)]
    entries = tuple(Entry(f"{shown}: {record['title']}", record) for record in records)
    return Kept(assistant, path, shown, size, project, entries) if entries else None


def _shown(path: Path, project: Project, home: Path) -> str:
    for root, start in ((project.root, ""), (home, "~/")):
        if root is not None and path.is_relative_to(root):
            return start + str(path.relative_to(root))
    return str(path)


def _records(text: str, path: Path, shown: str, key: str) -> list[dict[str, Any]]:
    """One memory per top heading; in a memory folder one per file, and none for the index of them."""
    if not _MEMORY_FOLDER.search(path.as_posix()):
        return [record for record in markdown.records(text, shown, key) if _says_something(record["content"])]
    if path.name == "MEMORY.md":
        rest = "\n".join(line for line in text.splitlines() if not _LINK_TO_NOTE.match(line))
        return [record for record in markdown.records(rest, shown, key) if _says_something(record["content"])]
    return [_whole(text, shown, key)] if text.strip() else []


def _whole(text: str, shown: str, key: str) -> dict[str, Any]:
    fields, body = markdown.front_matter(text)
    named = {ours: fields[theirs] for theirs, ours in _FRONT_NAMES.items() if isinstance(fields.get(theirs), str)}
    alias = hashlib.sha256(key.encode("utf-8", "replace")).hexdigest()[:16]
    return {**named, "source": shown, "content": body.strip() or text.strip(), "id": f"md-{alias}"}


def _says_something(content: str) -> bool:
    """Whether there is more than references to other files, which only an assistant follows."""
    lines = [line.strip() for line in content.splitlines() if line.strip()]
    return any(not line.startswith(("@", "<!--")) for line in lines)


def _placed(record: dict[str, Any], path: Path, project: Project) -> dict[str, Any]:
    tags = [path.parent.name] if path.parent.parent.name.startswith("agent-memory") else []
    own = {"tags": tags} if tags else {}
    return {**record, **own, "title": _telling(record), "project": project.id}


def _telling(record: Mapping[str, Any]) -> str:
    """The title; after a heading of one word, which says little, the start of the content too."""
    title, opening = str(record.get("title") or ""), derived_title(record["content"])
    if not title:
        return opening
    return title if len(title.split()) > 1 else shortened(f"{title}: {opening.lstrip('-* ')}", TITLE_CHARS)


def chosen(kept: Sequence[Kept], answer: str) -> list[Kept]:
    """Return all for yes, those with these numbers (1, 3-5), or none."""
    if answer.lower() in ("y", "yes", "all"):
        return list(kept)
    numbers: set[int] = set()
    for part in re.split(r"[,\s]+", answer.strip()):
        span = re.fullmatch(r"(\d{1,6})(?:-(\d{1,6}))?", part)
        if span is None:
            return []
        numbers |= set(range(int(span[1]), int(span[2] or span[1]) + 1))
    return [one for number, one in enumerate(kept, start=1) if number in numbers]


def of_assistant(kept: Sequence[Kept], name: str) -> list[Kept]:
    """Return those of the assistant with this name, or below this path."""
    path = Path(name).expanduser().absolute()
    return [one for one in kept if name in ("", one.assistant) or one.path.is_relative_to(path)]
