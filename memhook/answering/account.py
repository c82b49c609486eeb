"""A session's account: what it has been shown, what that cost, and what would still be new to it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from memhook.core.excerpts import Range
from memhook.core.memory import Memory
from memhook.core.rendering import Level, Rendering
from memhook.store.ledger import Shown

# Injected text stays in the history of each client, but only these say when the history was compacted or cleared.
KEEPING_CLIENTS = frozenset({"claude"})


@dataclass(frozen=True, slots=True)
class Account:
    """`shown` has the showings of each memory, `spent` the tokens that the session of `client` was given so far."""

    shown: Mapping[str, Sequence[Shown]] = field(default_factory=dict)
    spent: int = 0
    client: str = ""

    @property
    def knows_label(self) -> bool:
        """Whether the model has read what these notes are: whatever the session was given first said so."""
        return self.spent > 0 and self.client in KEEPING_CLIENTS

    def has_seen(self, memory: Memory) -> bool:
        return bool(self._showings(memory))

    def is_new(self, memory: Memory) -> Callable[[Rendering], bool]:
        """Tell which renderings of `memory` add something to what the session has seen of it.

        A richer level does, and so do passages of which less than half was seen, and what was missing. A light showing
        is a summary: it shows no passage, so that a preview is still new.
        """
        showings = self._showings(memory)
        seen = max((Level[showing.level.upper()] for showing in showings), default=None)
        known = [passage for showing in showings for passage in showing.passages]

        def adds_something(offered: Rendering) -> bool:
            if seen is None or offered.level > seen:
                return True
            if seen > Level.LIGHT:
                return False
            new_chars = _visible(memory.content, _outside(offered.passages, known))
            return 2 * new_chars > _visible(memory.content, offered.passages) or (offered.is_whole and new_chars > 0)

        return adds_something

    def _showings(self, memory: Memory) -> list[Shown]:
        """Of the memory as it is now: a changed one has not been seen."""
        return [one for one in self.shown.get(memory.id, ()) if one.content_hash == memory.content_hash]


def _visible(content: str, passages: Iterable[Range]) -> int:
    return sum(len(word) for start, end in passages for word in content[start:end].split())


def _outside(passages: Iterable[Range], known: Iterable[Range]) -> Iterator[Range]:
    """The parts of `passages` that none of `known` has."""
    covered = sorted(known)
    for start, end in passages:
        at = start
        for low, high in covered:
            if at < min(low, end):
                yield at, min(low, end)
            at = max(at, high)
        if at < end:
            yield at, end
