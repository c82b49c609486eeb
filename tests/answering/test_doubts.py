"""What use and doubt change about the answer to a prompt."""

from __future__ import annotations

from collections.abc import Sequence

from memhook.answering.block import Ranked
from memhook.answering.doubts import FUTILE_SHOWINGS, NEVER_USED, Doubts, Weighed
from memhook.core.grading import FLOOR
from memhook.core.memory import Memory
from memhook.store.ledger import Usage
from tests.store.test_memories import memory

FIRST, SECOND = memory(1, "Deploys need the VPN."), memory(2, "Migrations need a dump.")


def weighed(first: float, second: float, *uses: Usage) -> Weighed:
    found = dict(zip((FIRST.id, SECOND.id), uses, strict=False))
    return Doubts(usage=lambda _: found).weighed([Ranked(FIRST, first), Ranked(SECOND, second)])


def order(found: Weighed) -> list[str]:
    return [one.memory.id for one in found.ranked]


def test_without_any_use_the_order_stays() -> None:
    assert order(weighed(0.5, 0.6)) == [FIRST.id, SECOND.id]


def test_what_was_used_comes_before_what_is_as_near() -> None:
    assert order(weighed(0.5, 0.5, Usage(), Usage(shown=1, used=1))) == [SECOND.id, FIRST.id]


def test_what_was_shown_five_times_and_never_used_comes_behind_what_is_as_near() -> None:
    assert order(weighed(0.9, 0.8, Usage(judged=5))) == [SECOND.id, FIRST.id]
    assert order(weighed(0.9, 0.8, Usage(judged=4))) == [FIRST.id, SECOND.id]


def test_what_was_shown_often_and_never_used_is_left_out_where_it_is_hardly_likely() -> None:
    never = Usage(judged=FUTILE_SHOWINGS)
    left = weighed(0.8, FLOOR * 2, Usage(), never)
    assert (order(left), [one.reason for one in left.left_out]) == ([FIRST.id], [NEVER_USED])
    assert order(weighed(0.8, FLOOR * 4, Usage(), never)) == [FIRST.id, SECOND.id]
    assert order(weighed(0.8, FLOOR * 2, Usage(), Usage(judged=FUTILE_SHOWINGS - 1))) == [FIRST.id, SECOND.id]


def test_the_best_memory_of_an_answer_is_never_left_out() -> None:
    assert order(weighed(FLOOR * 2, FLOOR, Usage(judged=50), Usage())) == [FIRST.id, SECOND.id]


def test_of_three_that_may_supersede_each_other_the_newest_comes_first() -> None:
    third = memory(3, "The VPN is gone.")
    ranked = [Ranked(FIRST, 0.9), Ranked(SECOND, 0.8), Ranked(third, 0.7)]
    chain = {FIRST.id: SECOND.id, SECOND.id: third.id}
    assert order(Doubts(successors=lambda: chain).remarked(ranked)) == [third.id, SECOND.id, FIRST.id]
    circle = {**chain, third.id: FIRST.id}
    assert len(order(Doubts(successors=lambda: circle).remarked(ranked))) == 3


def test_what_may_supersede_a_memory_comes_before_it_once_though_nobody_asked_for_it() -> None:
    newer, other = memory(3, "The VPN is gone."), memory(4, "Ask Jo.")
    doubts = Doubts(successors=lambda: {FIRST.id: newer.id, SECOND.id: newer.id, other.id: FIRST.id})
    asked: list[str] = []

    def fetch(ids: Sequence[str]) -> list[Memory]:
        asked.extend(ids)
        return [newer]

    found = doubts.with_successors([Ranked(FIRST, 0.5), Ranked(SECOND, 0.4)], 3, fetch)
    assert [(one.memory.id, one.score) for one in found] == [(newer.id, 0.5), (FIRST.id, 0.5), (SECOND.id, 0.4)]
    assert asked == [newer.id]
    assert len(doubts.with_successors([Ranked(FIRST, 0.5), Ranked(SECOND, 0.4)], 2, fetch)) == 2
    assert doubts.with_successors([Ranked(newer, 0.5), Ranked(FIRST, 0.4)], 3, fetch)[0].memory is newer
    assert doubts.with_successors([Ranked(SECOND, 0.4)], 3, lambda _: []) == (Ranked(SECOND, 0.4),)  # hidden here
