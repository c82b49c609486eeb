"""What assistants already keep in files of their own: instructions and memory folders, found and read."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memhook.assistants.known import KNOWN, Where
from memhook.core.memory import derived_title, shortened
from memhook.store.project import Project
from memhook.supply import markdown
from memhook.supply.files import Entry

LARGEST_BYTES = 1 << 20
TITLE_CHARS = 80

# Assistant, and where below its folder or the project's root it keeps notes.
_OF_USER = (
    ("claude", "CLAUDE.md"),
    ("claude", "rules/**/*.md"),
    ("claude", "agent-memory/*/*.md"),
    ("codex", "AGENTS.md"),
    ("codex", "memories/*.md"),
    ("gemini", "GEMINI.md"),
    ("qwen", "QWEN.md"),
    ("copilot", "copilot-instructions.md"),
    ("opencode", "AGENTS.md"),
)
_OF_PROJECT = (
    ("claude", "CLAUDE.md"),
    ("claude", "CLAUDE.local.md"),
    ("claude", ".claude/CLAUDE.md"),
    ("claude", ".claude/rules/**/*.md"),
    ("claude", ".claude/agent-memory/*/*.md"),
    ("claude", ".claude/agent-memory-local/*/*.md"),
    ("codex", "AGENTS.md"),
    ("gemini", "GEMINI.md"),
    ("qwen", "QWEN.md"),
    ("copilot", ".github/copilot-instructions.md"),
)
_MEMORY_FOLDER = re.compile(r"/(?:memory|memories|agent-memory(?:-local)?/[^/]+)/[^/]+$")
_LINK_TO_NOTE = re.compile(r"\s*[-*]\s+\[[^]]*\]\([^)/]+\.md\)")
_FRONT_NAMES = {"name": "title", "description": "summary"}


@dataclass(frozen=True, slots=True)
class Kept:
    """A file of an assistant's, and the memories in it. Without a project it is about all of them."""

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
    """Every file with something in it, each once, wherever links lead; the user's first, then this project's."""
    home = Path(environment.get("HOME") or "/")
    found = [*_of_user(home, environment), *_memory_folders(_folders(home, environment)["claude"], project_of)]
    if project.root is not None:
        found += [(name, path, project) for name, path in _matching(project.root, _OF_PROJECT)]
    by_file: dict[Path, Kept] = {}
    for assistant, path, belongs in found:
        if (real := path.resolve()) not in by_file and (kept := _read(assistant, path, belongs, home)):
            by_file[real] = kept
    return list(by_file.values())


def _folders(home: Path, environment: Mapping[str, str]) -> dict[str, Path]:
    """Where each assistant keeps what is the user's."""
    where = Where(home, environment, launcher=Path())
    return {assistant.name: assistant.folder(where) for assistant in KNOWN.values()}


Found = tuple[str, Path, Project]


def _of_user(home: Path, environment: Mapping[str, str]) -> Iterator[Found]:
    for assistant, folder in _folders(home, environment).items():
        own = [place for place in _OF_USER if place[0] == assistant]
        yield from ((assistant, path, Project()) for _, path in _matching(folder, own))


def _memory_folders(claude: Path, project_of: Callable[[str], Project]) -> Iterator[Found]:
    """Claude Code's memory of each project, where that is still on this machine."""
    for folder in sorted(claude.glob("projects/*/memory")):
        directories = list(_directories_called(folder.parent.name))
        project = project_of(str(directories[0])) if len(directories) == 1 else None
        if project is not None and project.id:
            yield from (("claude", path, project) for path in sorted(folder.glob("*.md")))


def _directories_called(encoded: str, at: Path = Path("/"), so_far: str = "") -> Iterator[Path]:
    """The directories whose path Claude Code writes so: every other character than a letter or a digit as a dash."""
    try:
        children = sorted(Path(entry.path) for entry in os.scandir(at) if entry.is_dir())
    except OSError:
        return
    for child in children:
        written = f"{so_far}-{re.sub('[^A-Za-z0-9]', '-', child.name)}"
        if written == encoded:
            yield child
        elif encoded.startswith(f"{written}-"):
            yield from _directories_called(encoded, child, written)


def _matching(root: Path, places: Iterable[tuple[str, str]]) -> Iterator[tuple[str, Path]]:
    for assistant, pattern in places:
        yield from ((assistant, path) for path in sorted(root.glob(pattern)))


def _read(assistant: str, path: Path, project: Project, home: Path) -> Kept | None:
    """None for what is no file, too large, no text or empty."""
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
    """Each top heading a memory; in a memory folder each file is one, and an index of them is none."""
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
    """More than references to other files, which only an assistant follows."""
    lines = [line.strip() for line in content.splitlines() if line.strip()]
    return any(not line.startswith(("@", "<!--")) for line in lines)


def _placed(record: dict[str, Any], path: Path, project: Project) -> dict[str, Any]:
    tags = [path.parent.name] if path.parent.parent.name.startswith("agent-memory") else []
    own = {"tags": tags} if tags else {}
    return {**record, **own, "title": _telling(record), "project": project.id}


def _telling(record: Mapping[str, Any]) -> str:
    """A heading of one word says little by itself: what it is about follows."""
    title, opening = str(record.get("title") or ""), derived_title(record["content"])
    if not title:
        return opening
    return title if len(title.split()) > 1 else shortened(f"{title}: {opening.lstrip('-* ')}", TITLE_CHARS)


def chosen(kept: Sequence[Kept], answer: str) -> list[Kept]:
    """All for yes, those with these numbers (1, 3-5), or none."""
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
    """Those of the assistant called so, or below the path named."""
    path = Path(name).expanduser().absolute()
    return [one for one in kept if name in ("", one.assistant) or one.path.is_relative_to(path)]
