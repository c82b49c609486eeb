"""Find near-duplicates of a memory."""

from __future__ import annotations

from dataclasses import replace

from memhook.core.memory import Memory
from memhook.core.ranking import Candidate
from memhook.library.library import Library
from memhook.store.table.filters import Filter
from memhook.store.table.schema import searchable_terms

NEAREST = 5
# Between notes of one sentence, paraphrases have a cosine of at least .95, other statements on the same subject at most
# .90. Without vectors, paraphrases share 64 to 100 % of their words, other statements 12 to 43 %.
VERY_CLOSE = 0.94
SHARED_WORDS = 0.6


def very_close(library: Library, memory: Memory, allowed: Filter) -> list[Memory]:
    """Return the near-duplicates in the same project, without those that `memory` supersedes."""
    words = searchable_terms(memory).split()
    allowed = replace(allowed, projects=(memory.project,), redacted=False, superseded=False, quarantined=False)
    near, _ = library.store.candidates(lambda: library.vectors([memory])[0][0], words, allowed, NEAREST + 1)
    ids = [one.id for one in near if one.id not in (memory.id, *memory.supersedes) and _is_close(one, words)]
    found = library.store.by_ids(ids[:NEAREST], allowed)
    return [found[key] for key in ids if key in found]


def _is_close(candidate: Candidate, words: list[str]) -> bool:
    if candidate.cosine is not None:
        return candidate.cosine >= VERY_CLOSE
    ours, theirs = set(words), set(candidate.terms)
    return len(ours & theirs) >= SHARED_WORDS * max(1, len(ours | theirs))
