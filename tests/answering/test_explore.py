import pytest

from memhook.answering.explore import cursor, place_of
from memhook.errors import InvalidInput

QUESTION = {"query": "deploy", "tags": ["ci"]}


def test_a_cursor_gives_back_the_place_it_was_made_of() -> None:
    assert place_of(cursor(QUESTION, [0.5, "k3v9x2m4p7qa"]), QUESTION, 2) == [0.5, "k3v9x2m4p7qa"]


@pytest.mark.parametrize("text", ["x", "!!!", "ümlaut", "bnVsbA", cursor({"query": "other"}, [1, 2]), ""])
def test_any_other_cursor_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput, match="cursor"):
        place_of(text, QUESTION, 2)
