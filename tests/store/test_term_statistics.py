from __future__ import annotations

from memhook.store.term_statistics import AT_LEAST, worth_looking_up


def test_of_many_documents_the_commonest_words_are_not_looked_up() -> None:
    rare = [f"rare{number}" for number in range(10)]
    frequencies = {**dict.fromkeys(rare, 1), "common": 60, "everywhere": 100}
    terms = ["everywhere", "common", *rare, "unknown"]
    assert worth_looking_up(terms, frequencies, 100, 64, many=100) == ["common", *rare, "unknown"]
    assert worth_looking_up(terms, frequencies, 99, 64, many=100) == terms


def test_common_words_are_looked_up_where_a_prompt_has_no_others() -> None:
    frequencies = {f"word{number}": 90 for number in range(20)}
    assert len(worth_looking_up(list(frequencies), frequencies, 100, 64, many=100)) == AT_LEAST
