from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from memhook.core.memory import ID_LENGTH
from memhook.store.memories import DIGITS, ids_after

IDS = st.lists(st.text(DIGITS, min_size=ID_LENGTH, max_size=ID_LENGTH), unique=True)
CLOSE = st.lists(st.text(DIGITS, min_size=3, max_size=3).map(lambda end: f"note00000{end}"), unique=True)


@given(st.one_of(IDS, CLOSE), st.integers(1, 20), st.integers(0, 3_000))
def test_pages_put_together_are_all_ids_in_order(ids: list[str], limit: int, rows: int) -> None:
    """However they are spread, and however wrong the number of rows is that one starts from."""

    def between(low: str, high: str) -> list[str]:
        return sorted(key for key in ids if key > low and (not high or key <= high))

    seen: list[str] = []
    while page := ids_after(seen[-1] if seen else "", limit, rows, between):
        assert len(page) <= limit
        seen += page
    assert seen == sorted(ids)


def test_a_page_of_a_million_ids_looks_at_a_few() -> None:
    asked: list[tuple[str, str]] = []

    def between(low: str, high: str) -> list[str]:
        asked.append((low, high))
        return [low[:-1] + "z"] * 512

    assert len(ids_after("m00000000000", 256, 1_000_000, between)) == 256
    assert asked == [("m00000000000", asked[0][1])]
    assert asked[0][1][:2] == "m0"
