import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memhook.core.passages import HORIZON, Passage, front, passage
from memhook.core.terms import term_spans, terms

FILLER = "Nothing of note happened in this part of the log. " * 20
words = st.sampled_from(
    ["alpha", "beta", "gamma", "delta", "so", "it", "goes.", "\n", "日本語。", "👩‍💻", "é", "x" * 30]
)
contents = st.one_of(st.lists(words, max_size=120).map(" ".join), st.text(max_size=300))
weighted = st.dictionaries(st.sampled_from(["alpha", "beta", "gamma", "delta"]), st.floats(0, 5), max_size=4)


def found(content: str, *asked: str, limit: int = 100) -> Passage:
    return passage(content, dict.fromkeys(terms(" ".join(asked)), 1.0), term_spans(content[:HORIZON]), limit)


def test_a_short_content_is_shown_whole() -> None:
    assert found("Use  the\nprimary.", "replica") == Passage("Use the primary.", 0, 17, False, False)


def test_the_passage_is_where_the_prompt_terms_stand() -> None:
    shown = found(FILLER + "Raise the statement timeout to 40 seconds. " + FILLER, "statement", "timeout")
    assert shown.text.startswith("Raise the statement timeout to 40 seconds.")
    assert shown.cut_before
    assert shown.cut_after
    assert shown.marked == f"… {shown.text} …"


def test_distinct_terms_weigh_more_than_one_term_repeated() -> None:
    content = "replica replica replica. " + FILLER + "A replica behind the primary. " + FILLER
    assert "behind the primary" in found(content, "replica", "primary").text


def test_a_heavier_term_wins_over_a_lighter_one() -> None:
    content = FILLER + "The lag. " + FILLER + "The ledger. " + FILLER
    assert "ledger" in passage(content, {"lag": 1.0, "ledger": 3.0}, term_spans(content), 80).text


def test_of_equal_pieces_the_earliest_is_shown() -> None:
    content = FILLER + "First replica here. " + FILLER + "Second replica there. " + FILLER
    assert "First replica" in found(content, "replica").text


def test_without_a_match_the_front_is_shown() -> None:
    shown = found("Start here. " + FILLER, "unheard")
    assert shown.text.startswith("Start here.")
    assert not shown.cut_before
    assert shown.cut_after


def test_terms_near_the_front_are_shown_from_the_front() -> None:
    assert found("A note on the replica. " + FILLER, "replica").start == 0


def test_nothing_beyond_the_horizon_is_looked_at() -> None:
    content = "a " * HORIZON + "replica"
    assert passage(content, {"replica": 1.0}, term_spans(content), 100).start == 0


def test_a_preview_is_one_paragraph() -> None:
    assert "\n" not in found("- one\n\n- two\n" * 50, "two").text


def test_scripts_without_spaces_are_cut_between_characters() -> None:
    shown = found("日本語の長い文章が続く" * 30, "検索", limit=50)
    assert len(shown.text) == 50


@pytest.mark.parametrize("cluster", ["e\u0301", "👩‍👩‍👧", "🇩🇪", "👍🏽", "ก้", "한", "1️⃣"])
def test_a_character_made_of_several_is_not_split(cluster: str) -> None:
    for limit in range(20, 40):
        shown = front(cluster * 40, limit)
        assert len(shown.text) % len(cluster) == 0
        assert limit - len(cluster) < len(shown.text) <= limit


def test_a_front_ends_with_a_sentence_that_ends_in_its_last_third() -> None:
    assert front("One two three four. Five six seven eight nine.", 24).text == "One two three four."
    assert front("One. Two three four five six seven eight nine.", 24).text == "One. Two three four five"


def test_a_front_keeps_its_lines() -> None:
    assert front("a\nb\n" + FILLER, 30).text.startswith("a\nb\n")


@settings(deadline=None)
@given(contents, st.integers(1, 400))
def test_a_front_is_a_part_of_the_content_within_its_limit(content: str, limit: int) -> None:
    shown = front(content, limit)
    assert content[shown.start : shown.end] == shown.text
    assert len(shown.text) <= limit
    assert shown.cut_after == bool(content[shown.end :].strip())


@settings(deadline=None)
@given(contents, weighted, st.integers(1, 200))
def test_a_passage_is_a_part_of_the_content_and_carries_no_less_than_the_front(
    content: str, weights: dict[str, float], limit: int
) -> None:
    spans = term_spans(content)
    shown, beginning = passage(content, weights, spans, limit), front(content, limit)
    assert shown.end - shown.start <= limit
    assert shown.text == " ".join(content[shown.start : shown.end].split())
    least = _weight(spans, weights, beginning.start, beginning.end)
    assert _weight(spans, weights, shown.start, shown.end) >= least - 1e-9


@settings(deadline=None)
@given(st.text(alphabet="ab .\n", min_size=60, max_size=200), st.integers(20, 50))
def test_words_are_cut_only_where_there_is_no_space_to_cut_at(content: str, limit: int) -> None:
    shown = front(content, limit)
    if shown.cut_after and not content[shown.end].isspace():
        assert not any(char.isspace() for char in shown.text[limit // 2 + 1 :])


def test_the_same_input_gives_the_same_passage() -> None:
    content = FILLER + "replica primary " + FILLER
    assert found(content, "replica", "primary") == found(content, "primary", "replica")


def test_a_cut_before_a_combining_mark_is_moved() -> None:
    for limit in range(5, 40):
        shown = found("a\u0308\u0323" * 30, "none", limit=limit)
        assert len(shown.text) % 3 == 0


def _weight(spans: list[tuple[str, int, int]], weights: dict[str, float], start: int, end: int) -> float:
    return sum(weights.get(term, 0.0) for term in {term for term, a, b in spans if start <= a and b <= end})
