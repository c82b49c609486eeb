from __future__ import annotations

from collections import Counter

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from memhook.store.cache.words import AT_LEAST, CountedTerms, worth_looking_up

TEXTS = st.lists(st.lists(st.sampled_from(["cache", "ledger", "größe", "x_1"]), max_size=6).map(" ".join), max_size=8)


@given(first=TEXTS, added=TEXTS)
def test_terms_are_counted_once_a_document_whether_it_was_there_or_came_later(
    first: list[str], added: list[str]
) -> None:
    counted = CountedTerms(lambda _: pa.array(first, pa.string()))
    assert counted.statistics.documents == len(first)
    counted.add(added)
    texts, statistics = [*first, *added], counted.statistics
    assert statistics.frequencies == Counter(term for text in texts for term in set(text.split()))
    assert statistics.documents == len(texts)
    assert statistics.average_length == (sum(len(text.split()) for text in texts) / len(texts) if texts else 1.0)


def test_of_many_documents_the_commonest_words_are_not_looked_up() -> None:
    rare = [f"rare{number}" for number in range(10)]
    frequencies = {**dict.fromkeys(rare, 1), "common": 56, "everywhere": 100}
    terms = ["everywhere", "common", *rare, "unknown"]
    assert worth_looking_up(terms, frequencies, 100, 64, many=100) == ["common", *rare, "unknown"]
    assert worth_looking_up(terms, frequencies, 99, 64, many=100) == terms


def test_common_words_are_looked_up_where_a_prompt_has_no_others() -> None:
    frequencies = {f"word{number}": 90 for number in range(20)}
    assert len(worth_looking_up(list(frequencies), frequencies, 100, 64, many=100)) == AT_LEAST
