"""Order memories by the evidence for and against them: superseded, out of date, used, never used."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from memhook.answering.block import Ranked
from memhook.core.grading import FLOOR
from memhook.core.memory import URN_PREFIX, Memory, Origin
from memhook.core.staleness import Findings, clause
from memhook.store.ledger import Considered, Usage

NEVER_USED = "shown often, never used"
SHOWN_OFTEN = 5
USED_GAIN = 1.1
NEVER_USED_LOSS = 0.85  # of the score that decides the order
# Showings without use before a memory that is hardly likely is left out. With five, one answer in 250 was lost.
FUTILE_SHOWINGS = 10
PATIENCE = 5  # showings without use that halve the worth of a score


@dataclass(frozen=True, slots=True)
class Weighed:
    """Ranked memories in the order to show them, a remark on each that has one, and those left out."""

    ranked: tuple[Ranked, ...]
    remarks: Mapping[str, str] = field(default_factory=dict)
    left_out: tuple[Considered, ...] = ()


@dataclass(frozen=True, slots=True)
class Doubts:
    """Access to the evidence.

    `successors` returns the newer memory for each that may be superseded, `findings` the differences between a memory
    and the repository, `usage` how often memories were shown and used, `former_names` the paths a file had before.
    """

    successors: Callable[[], Mapping[str, str]] = dict
    findings: Callable[[Memory], Findings] = lambda _: Findings()
    usage: Callable[[Sequence[str]], Mapping[str, Usage]] = lambda _: {}
    former_names: Callable[[str], Sequence[str]] = lambda _: ()

    def weighed(self, ranked: Sequence[Ranked]) -> Weighed:
        """Order the answer to a prompt by the evidence, without memories that are never used; ties keep their order."""
        usage = self.usage([one.memory.id for one in ranked]) if ranked else {}
        futile = [one for one in ranked[1:] if _is_futile(one, usage.get(one.memory.id, Usage()))]
        kept = [one for one in ranked if one not in futile]
        if any(_factor(one, usage) != 1 for one in kept):
            kept.sort(key=lambda one: (one.memory.origin is Origin.CAPTURED, -one.score * _factor(one, usage)))
        return replace(self.remarked(kept), left_out=tuple(one.considered(NEVER_USED) for one in futile))

    def with_successors(
        self, ranked: Sequence[Ranked], most: int, fetch: Callable[[Sequence[str]], Sequence[Memory]]
    ) -> tuple[Ranked, ...]:
        """Insert before each memory the newer one that may supersede it, however low its score, up to `most` in all.

        "Olga left; approvals come from Piet" answers who approves a deploy, but is not similar to that question.
        """
        successors = self.successors() if ranked else {}
        ids = {one.memory.id for one in ranked}
        missing = [new for one in ranked if (new := successors.get(one.memory.id)) and new not in ids]
        missing = list(dict.fromkeys(missing))[: max(0, most - len(ranked))]
        fetched = {memory.id: memory for memory in fetch(missing)} if missing else {}
        order: list[Ranked] = []
        for one in ranked:
            if newer := fetched.pop(successors.get(one.memory.id, ""), None):
                order.append(replace(one, memory=newer))
            order.append(one)
        return tuple(order)

    def remarked(self, ranked: Sequence[Ranked]) -> Weighed:
        """Sort each memory after its successor, and to the end those that name only deleted things; add the remarks."""
        found = self._found(ranked)
        return self._marked(sorted(ranked, key=lambda one: found[one.memory.id].is_all_gone), found)

    def newer_first(self, ranked: Sequence[Ranked]) -> Weighed:
        """Keep the order, but move each memory after its successor; add the remarks."""
        return self._marked(ranked, self._found(ranked))

    def _found(self, ranked: Sequence[Ranked]) -> dict[str, Findings]:
        return {one.memory.id: self.findings(one.memory) for one in ranked}

    def _marked(self, ranked: Sequence[Ranked], found: Mapping[str, Findings]) -> Weighed:
        successors = _within(self.successors(), ranked) if len(ranked) > 1 else {}
        remarks = {key: text for key, one in found.items() if (text := clause(one))}
        older = {old: f"older, may be superseded by {URN_PREFIX}{new}" for old, new in successors.items()}
        return Weighed(tuple(_newer_first(ranked, successors)), remarks | older)


NONE = Doubts()


def is_never_used(usage: Usage) -> bool:
    return usage.judged >= SHOWN_OFTEN and not usage.used


def _is_futile(one: Ranked, usage: Usage) -> bool:
    worth = one.score * PATIENCE / (PATIENCE + usage.judged)
    return usage.judged >= FUTILE_SHOWINGS and not usage.used and worth < FLOOR


def _factor(one: Ranked, usage: Mapping[str, Usage]) -> float:
    found = usage.get(one.memory.id, Usage())
    return USED_GAIN if found.used else NEVER_USED_LOSS if is_never_used(found) else 1.0


def _within(successors: Mapping[str, str], ranked: Sequence[Ranked]) -> dict[str, str]:
    """Return the pairs of which both are in `ranked`."""
    ids = {one.memory.id for one in ranked}
    return {old: new for old, new in successors.items() if old in ids and new in ids}


def _newer_first(ranked: Sequence[Ranked], successors: Mapping[str, str]) -> list[Ranked]:
    """Move each older memory that is before its newer one directly after it; of a chain, the newest comes first."""

    def steps(key: str) -> int:
        """Count the newer memories of a chain; in a circle, all of them."""
        count = 0
        while count < len(successors) and (key := successors.get(key, "")):
            count += 1
        return count

    order = list(ranked)
    for old in sorted(successors, key=steps):  # the newest first: each successor is in place before the older moves
        places = {one.memory.id: place for place, one in enumerate(order)}
        if places[old] < places[successors[old]]:
            older = order.pop(places[old])
            order.insert(places[successors[old]], older)
    return order
