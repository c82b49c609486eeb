"""Memories that assistants keep in files of their own: instructions and memory folders, found and read.

Where each assistant keeps them, and which files of others it reads too, is in its module in assistants/.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from memhook.assistants.assistant import Where
from memhook.assistants.known import KNOWN
from memhook.core.memory import derived_title, shortened
from memhook.patterns import regex
from memhook.store.project import Project
from memhook.supply import markdown
from memhook.supply.source import Entry, alias_of, in_utf8

LARGEST_BYTES = 1 << 20
MOST_FILES = 500
DEEPEST = 5  # references of references, as in Claude Code
TITLE_CHARS = 80
PATH_CHARS = 40

_MEMORY_FOLDER = regex(r"/(?:memory|memories|agent-memory(?:-local)?/[^/]+)/[^/]+$")
_OF_SUBAGENT = regex(r"/agent-memory(?:-local)?/")
_LINK_TO_NOTE = regex(r"\s*[-*]\s+\[[^]]*\]\([^)/]+\.md\)")
_CODE = regex(r"```.*?(?:```|\Z)|`[^`\n]*`", re.DOTALL)
_REFERENCE = regex(r"(?<![\w@./~-])@((?:~/)?[\w./-]+\.(?:md|mdc|markdown|txt))(?![\w/])")
_FRONT_NAMES = {"name": "title", "description": "summary"}


@dataclass(frozen=True, slots=True)
class Start:
    """An assistant's file, and the assistants that load it by themselves. A project without an id means all."""

    assistant: str
    path: Path
    project: Project
    loaded_by: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept(Start):
    shown_path: str
    size: int
    entries: tuple[Entry, ...]

    def as_followed(self) -> dict[str, Any]:
        """Return the record by which changes of the file are followed, with the ids of its memories."""
        return {
            "path": str(self.path),
            "assistant": self.assistant,
            "project": self.project.id,
            "root": str(self.project.root or ""),
            "loaded_by": sorted(self.loaded_by),
            "names": [name for entry in self.entries if entry.record for name in _names(entry.record)],
            "stamp": stamp_of(self.path),
        }


def stamp_of(path: Path) -> list[int] | None:
    """Return the time and the size of a file, None if there is none; a list, as in JSON."""
    try:
        status = path.stat()
    except OSError:
        return None
    return [status.st_mtime_ns, status.st_size]


def is_in_memory_folder(path: Path) -> bool:
    """Whether an assistant keeps one note per file there."""
    return _MEMORY_FOLDER.search(path.as_posix()) is not None


def kept_by_assistants(
    project: Project, environment: Mapping[str, str], project_of: Callable[[str], Project]
) -> list[Kept]:
    """Return every file with a memory in it, each once, wherever links lead; the user's first, then this project's."""
    home = Path(environment.get("HOME") or "/")
    where = Where(home, environment, launcher=Path())
    return kept_from([*_own(where, project, project_of), *_read_too(project, home)], home)


def kept_from(starts: Iterable[Start], home: Path, *, into_home: bool = True) -> list[Kept]:
    """Read these files and those they refer to; with `into_home`, a project's may refer to one in the home."""
    files: dict[Path, tuple[Start, str]] = {}
    waiting = deque((start, 0) for start in starts)
    while waiting and len(files) < MOST_FILES:
        start, depth = waiting.popleft()
        real = start.path.resolve()
        known = files.get(real)
        if known is not None:
            if start.loaded_by <= known[0].loaded_by:
                continue  # ends a cycle of references
            start = replace(known[0], loaded_by=known[0].loaded_by | start.loaded_by)
        text = known[1] if known else _text(start.path)
        files[real] = (start, text)
        if depth < DEEPEST:
            waiting.extend((one, depth + 1) for one in _referred(start, text, home, into_home=into_home))
    read = (_read(start, text, home) for start, text in files.values())
    return [kept for kept in read if kept is not None]


def _own(where: Where, project: Project, project_of: Callable[[str], Project]) -> Iterator[Start]:
    """Yield the user's files, those about directories that still belong to a project, and this project's."""
    every = KNOWN.values()
    found = [(one.name, path, Project()) for one in every for path in _matching(one.folder(where), one.user_notes)]
    about = [(one.name, *pair) for one in every for pair in one.notes_by_directory(one.folder(where))]
    found += [(name, path, of) for name, path, directory in about if (of := project_of(str(directory))).id]
    if project.root is not None:
        found += [(one.name, path, project) for one in every for path in _matching(project.root, one.project_notes)]
    for name, path, of in found:
        # A subagent's memory is read by that subagent, not by the session.
        loaded_by = frozenset() if _OF_SUBAGENT.search(path.as_posix()) else frozenset({name})
        yield Start(name, path, of, loaded_by)


def _read_too(project: Project, home: Path) -> Iterator[Start]:
    """Yield the files of other assistants that an assistant reads."""
    for one in KNOWN.values():
        for also in one.also_loads:
            path, *others = (_placed(name, project, home) for name in (also.pattern, *also.unless))
            if path and path.is_file() and not any(other and other.exists() for other in others):
                of = Project() if also.pattern.startswith("~/") else project
                yield Start(one.name, path, of, frozenset({one.name}))


def _placed(name: str, project: Project, home: Path) -> Path | None:
    if name.startswith("~/"):
        return home / name[2:]
    return project.root / name if project.root else None


def _matching(root: Path, patterns: Iterable[str]) -> Iterator[Path]:
    for pattern in patterns:
        yield from sorted(root.glob(pattern))


def _referred(start: Start, text: str, home: Path, *, into_home: bool) -> Iterator[Start]:
    """Yield the files referenced with an @ within the project or the home; assistants that follow them load them."""
    if "@" not in text:
        return
    loaded_by = frozenset(name for name in start.loaded_by if KNOWN[name].follows_references)
    roots = [root for root in (start.project.root, home if into_home or start.project.root is None else None) if root]
    for name in dict.fromkeys(_REFERENCE.findall(_CODE.sub(" ", text))):
        path = home / name[2:] if name.startswith("~/") else start.path.parent / name
        try:
            real = path.resolve()
            if path.is_file() and any(real.is_relative_to(root.resolve()) for root in roots):
                yield Start(start.assistant, path, start.project, loaded_by)
        except (OSError, RuntimeError):  # a loop of links
            continue


def _text(path: Path) -> str:
    """Return the text; empty for a file that is not regular, too large or not text."""
    try:
        is_fit = path.is_file() and 0 < path.stat().st_size <= LARGEST_BYTES
        return in_utf8(path.read_bytes()).decode() if is_fit else ""
    except (OSError, UnicodeDecodeError):
        return ""


def _read(start: Start, text: str, home: Path) -> Kept | None:
    shown = _shown(start.path, start.project, home)
    # By its place in the project, so that another clone of it updates the same memories.
    key = f"{start.project.id}\0{shown}"
    records = [_told(record, start, shown) for record in _records(text, start.path, shown, key)]
    entries = tuple(Entry(f"{shown}: {record['title']}", record) for record in records)
    size = len(text.encode())
    found = (start.assistant, start.path, start.project, start.loaded_by)
    return Kept(*found, shown_path=shown, size=size, entries=entries) if entries else None


def _shown(path: Path, project: Project, home: Path) -> str:
    for root, start in ((project.root, ""), (home, "~/")):
        if root is not None and path.is_relative_to(root):
            return start + str(path.relative_to(root))
    return str(path)


def _records(text: str, path: Path, shown: str, key: str) -> list[dict[str, Any]]:
    """Return one memory per top heading; in a memory folder one per file, and none for links in its index."""
    if is_in_memory_folder(path) and path.name != "MEMORY.md":
        return [_whole(text, shown, key)] if text.strip() else []
    if is_in_memory_folder(path):
        text = "\n".join(line for line in text.splitlines() if not _LINK_TO_NOTE.match(line))
    # By its path too, as `memhook import FILE` knows it.
    found = markdown.records(text, shown, key, str(path.resolve()))
    return [record for record in found if _says_something(record["content"])]


def _whole(text: str, shown: str, key: str) -> dict[str, Any]:
    fields, body = markdown.front_matter(text)
    named = {ours: fields[theirs] for theirs, ours in _FRONT_NAMES.items() if isinstance(fields.get(theirs), str)}
    return {**named, "source": shown, "content": body.strip() or text.strip(), "id": f"md-{alias_of(key)}"}


def _says_something(content: str) -> bool:
    """Whether there is more than references to other files, which only an assistant follows."""
    lines = [line.strip() for line in content.splitlines() if line.strip()]
    return any(not line.startswith(("@", "<!--")) for line in lines)


def _names(record: Mapping[str, Any]) -> Iterator[str]:
    """The names by which the memory of a record is found again."""
    yield str(record["id"])
    yield from record.get("aliases", ())


def _told(record: dict[str, Any], start: Start, shown: str) -> dict[str, Any]:
    folder = start.path.parent
    own = {"tags": [folder.name]} if folder.parent.name.startswith("agent-memory") else {}
    placed = {"project": start.project.id, "loaded_by": sorted(start.loaded_by)}
    return {**record, **own, **placed, "title": _telling(record, start.path, shown)}


def _telling(record: Mapping[str, Any], path: Path, shown: str) -> str:
    """Return a title of path and heading, as "Commands" alone says little. A file of one note has its own title."""
    title, opening = str(record.get("title") or ""), derived_title(record["content"])
    if not title:
        return opening
    if is_in_memory_folder(path) and path.name != "MEMORY.md":
        return title if len(title.split()) > 1 else shortened(f"{title}: {opening.lstrip('-* ')}", TITLE_CHARS)
    place = shown if len(shown) <= PATH_CHARS else path.name
    return shortened(f"{place} › {title}", TITLE_CHARS)


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
