"""Store notes typed into a prompt, and undo that: the only writes of a hook."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from memhook.core.fencing import collapsed
from memhook.core.memory import DEFAULT_NAMESPACE, Draft, Memory, content_hash, shortened
from memhook.library.access import OWNER
from memhook.library.library import Library
from memhook.screening.secrets import masked
from memhook.settings import Settings
from memhook.store.ledger import Captured
from memhook.store.project import Project
from memhook.store.table import changes
from memhook.writing.remember import checked_for_secrets, forgotten, remembered

SESSION_CHARS = 80
TITLE_CHARS = 60


@dataclass(frozen=True, slots=True)
class Note:
    """A stored note, the facts needed to undo it, and the kinds of secrets masked in it."""

    memory: Memory
    is_new: bool
    was_forgotten: bool
    masked: tuple[str, ...]


def stored_notes(
    library: Library, texts: Sequence[str], project: Project, settings: Settings, source: str, now: datetime
) -> list[Note]:
    """Store each text as a memory of this project, or as a global one outside of any."""
    given = (Draft(one, namespace=_namespace(settings), project=project.id, source=source) for one in texts)
    drafts, kinds = zip(*map(checked_for_secrets, given), strict=True)
    hashes = [content_hash(draft.content) for draft in drafts]
    forgotten_before = {memory.content_hash for memory in library.store.find("content_hash", hashes, forgotten=True)}
    stored = remembered(library, drafts, now, again=True)
    return [
        Note(one.memory, one.outcome == "stored", one.memory.content_hash in forgotten_before, masked_kinds)
        for masked_kinds, one in zip(kinds, stored, strict=True)
        if one.memory is not None
    ]


def take_back(library: Library, last: Captured, now: datetime) -> Memory | None:
    """Undo the note; a memory that existed before it stays. Return the memory, or None if it is already deleted."""
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


def confirmation(notes: Sequence[Note], project: Project) -> str:
    where = f"for {project.name}" if project.id else "for all projects"
    titles = ", ".join(f"“{short_title(note.memory)}”" for note in notes)
    noticed = "".join(_noticed(notes))
    if not any(note.is_new for note in notes):
        return f"memhook: already remembered: {titles} ({notes[-1].memory.urn}).{noticed}"
    what = f"{len(notes)} notes " if len(notes) > 1 else ""
    return (
        f"memhook: remembered {what}{where}: {titles} ({notes[-1].memory.urn}).{noticed}"
        f" “forget that” takes {'the last one' if len(notes) > 1 else 'it'} back."
    )


def pasted_notice(texts: Sequence[str]) -> str:
    title = shortened(collapsed(masked(texts[0]).text), TITLE_CHARS)
    more = f" and {len(texts) - 1} more" if len(texts) > 1 else ""
    return f"memhook: not remembered, because it looks pasted: “{title}”{more}. To keep it, send it on its own."


def _noticed(notes: Sequence[Note]) -> Iterator[str]:
    """Yield what the user would not expect: secrets were masked, or the note is in quarantine."""
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
    """Return a namespace that hooks show: with a narrowed setting, a note outside it would never appear."""
    allowed = settings.namespaces
    return DEFAULT_NAMESPACE if not allowed or DEFAULT_NAMESPACE in allowed else allowed[0]
