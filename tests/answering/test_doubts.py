"""What use and doubt change about the answer to a prompt."""

from __future__ import annotations

from memhook.answering.block import Ranked
from memhook.answering.doubts import NEVER_USED, Doubts, Weighed
from memhook.core.grading import EDGES, Strictness
from memhook.store.ledger import Usage
from tests.store.test_memories import memory

LEVEL = Strictness.BALANCED
EDGE = EDGES[LEVEL].unsure
FIRST, SECOND = memory(1, "Deploys need the VPN."), memory(2, "Migrations need a dump.")


def weighed(first: float, second: float, *uses: Usage) -> Weighed:
    found = dict(zip((FIRST.id, SECOND.id), uses, strict=False))
    return Doubts(usage=lambda _: found).weighed([Ranked(FIRST, first), Ranked(SECOND, second)], LEVEL)


def order(found: Weighed) -> list[str]:
    return [one.memory.id for one in found.ranked]


def test_without_any_use_the_order_stays() -> None:
    assert order(weighed(0.5, 0.6)) == [FIRST.id, SECOND.id]


def test_what_was_used_comes_before_what_is_as_near() -> None:
    assert order(weighed(0.5, 0.5, Usage(), Usage(shown=1, used=1))) == [SECOND.id, FIRST.id]


def test_what_was_shown_often_and_never_used_comes_last_and_near_the_edge_not_at_all() -> None:
    never = Usage(shown=5)
    assert order(weighed(0.9, 0.8, never)) == [SECOND.id, FIRST.id]
    left = weighed(EDGE * 1.1, 0.8, never)
    assert (order(left), [one.reason for one in left.left_out]) == ([SECOND.id], [NEVER_USED])
    assert order(weighed(EDGE * 1.2, 0.8, never)) == [SECOND.id, FIRST.id]
    assert order(weighed(EDGE * 1.1, 0.8, Usage(shown=4))) == [FIRST.id, SECOND.id]
