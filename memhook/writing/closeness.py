"""Find the memories that a new one repeats or contradicts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from memhook.core.memory import Memory
from memhook.core.ranking import Candidate
from memhook.core.supersession import PROPOSED, chance_to_supersede
from memhook.library.library import Library
from memhook.store.ledger import Proposal
from memhook.store.table.filters import Filter
from memhook.store.table.schema import searchable_terms

NEAREST = 8
# Between notes of one sentence, paraphrases have a cosine of at least .95, other statements on the same subject at most
# .90. Without vectors, paraphrases share 64 to 100 % of their words, other statements 12 to 43 %.
VERY_CLOSE = 0.94
SHARED_WORDS = 0.6
# Of a sentence that a longer text says too, in its own words: of the terms of the sentence, so many are in the text.
CONTAINED = 0.75
FEWEST_TERMS = 4
# A note replaces one older one, or two. One that seems to replace more is of a series, such as a release a line.
MOST_OUTDATED = 2


@dataclass(frozen=True, slots=True)
class Neighbours:
    """Memories of the same project: with nearly the same text, and older ones with another value for the same."""

    close: tuple[Memory, ...] = ()
    outdated: tuple[Memory, ...] = ()


def superseding(memory: Memory, near: Neighbours) -> list[Proposal]:
    """The questions whether `memory` replaces the outdated ones."""
    return [Proposal("supersede", one.id, "another value for the same", memory.id) for one in near.outdated]


def neighbours(library: Library, memory: Memory, allowed: Filter) -> Neighbours:
    """Return what is near to `memory`, without what it supersedes; each is either close or outdated."""
    words = searchable_terms(memory).split()
    allowed = replace(allowed, projects=(memory.project,), redacted=False, superseded=False, quarantined=False)
    near, _ = library.store.candidates(lambda: library.vectors([memory])[0][0], words, allowed, NEAREST + 1)
    others = {one.id: one for one in near if one.id not in (memory.id, *memory.supersedes)}
    found = library.store.by_ids(list(others)[:NEAREST], allowed)
    outdated = [one for one in found.values() if _is_outdated(one, memory, others[one.id].cosine)]
    outdated = outdated if len(outdated) <= MOST_OUTDATED else []
    close = [one for one in found.values() if one not in outdated and _is_close(others[one.id], words)]
    return Neighbours(tuple(close), tuple(outdated))


def _is_outdated(older: Memory, newer: Memory, cosine: float | None) -> bool:
    if older.updated > newer.updated:
        return False
    return chance_to_supersede(_statement(older), _statement(newer), cosine) >= PROPOSED


def _statement(memory: Memory) -> str:
    start = memory.title.rstrip("…")
    return memory.content if memory.content.startswith(start) else f"{memory.title}.\n{memory.content}"


def _is_close(candidate: Candidate, words: list[str]) -> bool:
    if candidate.cosine is not None:
        return candidate.cosine >= VERY_CLOSE
    ours, theirs = set(words), set(candidate.terms)
    return len(ours & theirs) >= SHARED_WORDS * max(1, len(ours | theirs))


def is_contained(sentence: Sequence[str], text: Sequence[str]) -> bool:
    """Return whether a text, given by its terms, says what a sentence says."""
    said = set(sentence)
    return len(said) >= FEWEST_TERMS and len(said & set(text)) >= CONTAINED * len(said)
