"""The account of a session: the memories it has seen, the tokens spent, and what would still be new."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from memhook.core.excerpts import Range
from memhook.core.memory import Memory
from memhook.core.rendering import Level, Rendering
from memhook.store.ledger import Shown

# Every client keeps injected text in its history, but only these report that the history was compacted or cleared.
REPORTING_CLIENTS = frozenset({"claude"})


@dataclass(frozen=True, slots=True)
class Account:
    """`shown` maps each memory to its showings; `spent` counts the tokens injected into the session of `client`."""

    shown: Mapping[str, Sequence[Shown]] = field(default_factory=dict)
    spent: int = 0
    client: str = ""

    @property
    def knows_label(self) -> bool:
        """Whether the model has read the label, which comes with the first block of a session."""
        return self.spent > 0 and self.client in REPORTING_CLIENTS

    def has_seen(self, memory: Memory) -> bool:
        return bool(self._showings(memory))

    def is_new(self, memory: Memory) -> Callable[[Rendering], bool]:
        """Return a predicate for the renderings of `memory` that add something to what the session has seen.

        A richer level does, and so do passages that are mostly unseen, and a whole content of which any part is unseen.
        A light showing is a summary without passages: a preview after it is new.
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
        """Return the showings of the current content: a changed memory has not been seen."""
        return [one for one in self.shown.get(memory.id, ()) if one.content_hash == memory.content_hash]


def _visible(content: str, passages: Iterable[Range]) -> int:
    return sum(len(word) for start, end in passages for word in content[start:end].split())


def _outside(passages: Iterable[Range], known: Iterable[Range]) -> Iterator[Range]:
    """Yield the parts of `passages` outside `known`."""
    covered = sorted(known)
    for start, end in passages:
        at = start
        for low, high in covered:
            if at < min(low, end):
                yield at, min(low, end)
            at = max(at, high)
        if at < end:
            yield at, end
