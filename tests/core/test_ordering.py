import pytest

from memhook.core.ordering import Ordering, placed, recency


def test_recency_halves_with_each_half_life_and_the_future_counts_as_now() -> None:
    assert [recency(days, 30) for days in (-5, 0, 30, 60)] == [1.0, 1.0, 0.5, 0.25]


@pytest.mark.parametrize(("ordering", "value"), [("relevance", 0.9), ("recency", 0.4), ("relevance+recency", 0.8)])
def test_an_ordering_says_what_counts(ordering: str, value: float) -> None:
    assert placed(0.9, 0.4, Ordering(ordering)) == pytest.approx(value)


def test_blended_what_is_relevant_and_old_stays_above_what_is_fresh_and_hardly_relevant() -> None:
    assert placed(0.5, 0.0, Ordering.BLEND) > placed(0.1, 1.0, Ordering.BLEND)
