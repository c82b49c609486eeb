import pytest

from memhook.core.ranking import Ordering, placed, recency


def test_recency_halves_with_each_half_life_and_the_future_counts_as_now() -> None:
    assert [recency(days, 30) for days in (-5, 0, 30, 60)] == [1.0, 1.0, 0.5, 0.25]


@pytest.mark.parametrize(("ordering", "value"), [("relevance", 0.9), ("recency", 0.4)])
def test_an_ordering_says_what_counts(ordering: str, value: float) -> None:
    assert placed(0.9, 0.4, Ordering(ordering)) == value


@pytest.mark.parametrize(("better", "worse"), [(0.9, 0.7), (0.5, 0.1), (0.06, 0.04), (0.06, 0.0), (0.01, 0.002)])
def test_recency_never_overrules_a_clear_difference_in_relevance(better: float, worse: float) -> None:
    assert placed(better, 0.0, Ordering.BLEND) > placed(worse, 1.0, Ordering.BLEND)


@pytest.mark.parametrize(("older", "newer"), [(0.9, 0.85), (0.5, 0.5), (0.06, 0.05), (0.0002, 0.0), (0.0, 0.0)])
def test_of_about_equals_the_newer_comes_first(older: float, newer: float) -> None:
    assert placed(newer, 1.0, Ordering.BLEND) > placed(older, 0.1, Ordering.BLEND)
