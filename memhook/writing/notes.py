"""Notes that a user types into a prompt, and taking them back: the only writing that a hook does."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from memhook.core.fencing import collapsed
from memhook.core.memory import DEFAULT_NAMESPACE, Draft, Memory, Origin, content_hash, shortened
from memhook.library.access import OWNER
from memhook.library.library import Library
from memhook.screening.secrets import masked
from memhook.settings import Settings
from memhook.store.ledger import Captured
from memhook.store.project import Project
from memhook.store.table import changes
from memhook.writing.remember import checked, forgotten, remembered

SESSION_CHARS = 80
TITLE_CHARS = 60


@dataclass(frozen=True, slots=True)
class Note:
    """A memory as it was stored, what has to be known to take it back, and the kinds of secrets left out of it."""

    memory: Memory
    is_new: bool
    was_forgotten: bool
    masked: tuple[str, ...]


def stored_notes(
    library: Library, texts: Sequence[str], project: Project, settings: Settings, source: str, now: datetime
) -> list[Note]:
    """Each text a memory of this project, or global outside of any."""
    drafts = [
        checked(
            Draft(
                content=text,
                namespace=_namespace(settings),
                project=project.id,
                source=source,
                origin=Origin.CAPTURE,
            )
        )
        for text in texts
    ]
    hashes = [content_hash(draft.content) for draft in drafts]
    gone = {memory.content_hash for memory in library.store.find("content_hash", hashes, forgotten=True)}
    stored = remembered(library, drafts, now, again=True)
    return [
        Note(one.memory, one.outcome == "stored", one.memory.content_hash in gone, masked(text).kinds)
        for text, one in zip(texts, stored, strict=True)
        if one.memory is not None
    ]


def take_back(library: Library, last: Captured, now: datetime) -> Memory | None:
    """Undo that note as if it had never been; what was known before it stays. None when it is gone already."""
    found = library.store.by_reference([last.memory], OWNER)
    if not found or not last.is_new:
        return found[0] if found else None
    memory = found[0]
    is_untouched = memory.content_hash == last.content_hash and memory.updated == memory.created
    if last.was_forgotten or not is_untouched or memory.superseded_by:
        forgotten(library, [memory.id], now)
    else:
        with library.store.writing():
            library.store.write(changes.remove, [memory.id])
    return memory


def said_of(notes: Sequence[Note], project: Project) -> str:
    """One line for the user."""
    where = f"for {project.name}" if project.id else "for all projects"
    titles = ", ".join(f"“{short_title(note.memory)}”" for note in notes)
    noticed = "".join(_noticed(notes))
    if not any(note.is_new for note in notes):
        return f"memhook: that was remembered before: {titles} ({notes[-1].memory.urn}).{noticed}"
    what = f"{len(notes)} notes " if len(notes) > 1 else ""
    return (
        f"memhook: remembered {what}{where}: {titles} ({notes[-1].memory.urn}).{noticed}"
        f" “forget that” takes {'the last one' if len(notes) > 1 else 'it'} back."
    )


def left_out(texts: Sequence[str]) -> str:
    """One line for the user about notes that looked pasted."""
    title = shortened(collapsed(masked(texts[0]).text), TITLE_CHARS)
    more = f" and {len(texts) - 1} more" if len(texts) > 1 else ""
    return f"memhook: not remembered, as it looks pasted: “{title}”{more}. To keep it, send it as a prompt of its own."


def _noticed(notes: Sequence[Note]) -> Iterator[str]:
    """What the user would not expect of a note: a text that is not quite theirs, or that nobody will be shown."""
    kinds = dict.fromkeys(kind for note in notes for kind in note.masked)
    if kinds:
        yield f" Masked before it was stored: {', '.join(kinds)}."
    for memory in (note.memory for note in notes if note.memory.quarantine):
        yield (
            f" {memory.urn} is in quarantine, so no assistant is shown it: it {memory.quarantine}."
            f" If that is a mistake: memhook release {memory.urn}."
        )


def short_title(memory: Memory) -> str:
    return shortened(collapsed(memory.title), TITLE_CHARS)


def _namespace(settings: Settings) -> str:
    """One that comes up: where surfacing is narrowed, a note outside of that would never be seen again."""
    allowed = settings.namespaces
    return DEFAULT_NAMESPACE if not allowed or DEFAULT_NAMESPACE in allowed else allowed[0]
