"""Find the memories that a new one repeats or contradicts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from statistics import median

from memhook.core.memory import Memory, Origin
from memhook.core.ranking import Candidate
from memhook.errors import EmbeddingError
from memhook.library.library import Library
from memhook.patterns import regex
from memhook.screening.secrets import MASK
from memhook.store.embedding.judge import Verdict, verdict
from memhook.store.ledger import Proposal
from memhook.store.table.filters import Filter
from memhook.store.table.schema import searchable_terms
from memhook.turns import stand_aside
from memhook.writing.twins import worded_at

NEAREST = 8
PROPOSED = 0.6  # from this chance on the user is asked; about 5 of 100 notes that only look alike reach it
ORDER_KNOWN = 0.8  # from this chance on the texts themselves show which is the newer one: in 3 to 4 of 100 wrongly
# Between notes of one sentence, paraphrases have a cosine of at least .95, other statements on the same subject at most
# .90. Without vectors, paraphrases share 64 to 100 % of their words, other statements 12 to 43 %.
VERY_CLOSE = 0.94
SHARED_WORDS = 0.6
# A longer text says what a sentence says if it has this share of the sentence's terms.
CONTAINED = 0.75
FEWEST_TERMS = 4
# A note replaces one or two older ones. One that seems to replace more belongs to a series, such as one note a release.
MOST_OUTDATED = 2
# Some note is always the nearest; one that is replaced is distinctly nearer than the others around both. Its cosine is
# above the median of the eight nearest by .06 to .30 in the superseding pairs of seven projects.
DISTINCTLY = 0.05
DISTINCTLY_BY_WORDS = 0.02
# Notes imported so soon after each other may come from one file without dates: which one is newer is not known.
ONE_SITTING = timedelta(hours=1)
_WORD = regex(r"\w+")


@dataclass(frozen=True, slots=True)
class Neighbours:
    """Memories of the same project: with nearly the same text, and older ones with another value for the same."""

    close: tuple[Memory, ...] = ()
    outdated: tuple[Memory, ...] = ()


def superseding(memory: Memory, near: Neighbours) -> list[Proposal]:
    """Return proposals that `memory` supersedes the outdated ones."""
    return [Proposal("supersede", one.id, "another value for the same", memory.id) for one in near.outdated]


@dataclass(frozen=True, slots=True)
class _Near:
    """A memory near to another one. `likeness` is the cosine, or without vectors the share of common words."""

    memory: Memory
    cosine: float | None
    likeness: float


def neighbours(library: Library, memory: Memory, allowed: Filter) -> Neighbours:
    """Return the memories near to `memory`, without those that it supersedes; each is either close or outdated."""
    allowed = replace(allowed, projects=(memory.project,), redacted=False, superseded=False, quarantined=False)
    allowed = replace(allowed, muted=False)  # a muted memory is not shown, so nothing has to replace it
    near = _nearest(library, memory, allowed)
    outdated = [
        one.memory
        for one in near
        if _stands_out(one, near)
        and _is_outdated(one, memory)
        and _stands_out(one, _nearest(library, one.memory, allowed))
    ]
    outdated = outdated if len(outdated) <= MOST_OUTDATED else []
    close = [one.memory for one in near if one.memory not in outdated and _is_close(one)]
    return Neighbours(tuple(close), tuple(outdated))


def _nearest(library: Library, memory: Memory, allowed: Filter) -> list[_Near]:
    """Return the memories most like this one, the nearest first."""
    words = searchable_terms(memory).split()
    found, _ = library.store.candidates(lambda: library.vectors([memory])[0][0], words, allowed, NEAREST + 1)
    others = [one for one in found if one.id not in (memory.id, *memory.supersedes)]
    likeness = {one.id: _likeness(one, words) for one in others}
    nearest = sorted(others, key=lambda one: likeness[one.id], reverse=True)[:NEAREST]
    memories = library.store.by_ids([one.id for one in nearest], allowed)
    return [_Near(memories[one.id], one.cosine, likeness[one.id]) for one in nearest if one.id in memories]


def _likeness(candidate: Candidate, words: Sequence[str]) -> float:
    if candidate.cosine is not None:
        return candidate.cosine
    ours, theirs = set(words), set(candidate.terms)
    return len(ours & theirs) / max(1, len(ours | theirs))


def _is_outdated(older: _Near, newer: Memory) -> bool:
    if older.memory.content_hash == newer.content_hash:
        return False
    texts = _statement(older.memory), _statement(newer)
    if not all(texts) or _repeats(*texts):
        return False
    is_one_sitting = _are_of_one_sitting(older.memory, newer)
    if not is_one_sitting and worded_at(older.memory) > worded_at(newer):
        return False
    found = _verdict(*texts)
    return found.replaces >= PROPOSED and (not is_one_sitting or found.in_order >= ORDER_KNOWN)


def _repeats(older: str, newer: str) -> bool:
    """Return whether the newer text has the older one whole, or consists of the same words."""
    return older in newer or _WORD.findall(older.casefold()) == _WORD.findall(newer.casefold())


def _verdict(older: str, newer: str) -> Verdict:
    """Return the verdict of the judge; without its model, which is reported elsewhere, one that proposes nothing."""
    stand_aside()
    try:
        return verdict(older, newer)
    except EmbeddingError:
        return Verdict(0.0, 0.0)


def _are_of_one_sitting(one: Memory, other: Memory) -> bool:
    return one.origin is other.origin is Origin.IMPORT and abs(worded_at(one) - worded_at(other)) < ONE_SITTING


def _stands_out(one: _Near, near: Sequence[_Near]) -> bool:
    """Return whether it is distinctly nearer than the median of those compared; true if few were compared."""
    margin = DISTINCTLY_BY_WORDS if one.cosine is None else DISTINCTLY
    return len(near) < NEAREST or one.likeness >= margin + median(other.likeness for other in near)


def _statement(memory: Memory) -> str:
    """Return title and content without masks: the values behind two masks cannot be compared."""
    start = memory.title.rstrip("…")
    text = memory.content if memory.content.startswith(start) else f"{memory.title}.\n{memory.content}"
    return MASK.sub("", text).strip()


def _is_close(one: _Near) -> bool:
    return one.likeness >= (SHARED_WORDS if one.cosine is None else VERY_CLOSE)


def is_contained(sentence: Sequence[str], text: Sequence[str]) -> bool:
    """Return whether a text says what a sentence says; both are given as terms."""
    wanted = set(sentence)
    return len(wanted) >= FEWEST_TERMS and len(wanted & set(text)) >= CONTAINED * len(wanted)
