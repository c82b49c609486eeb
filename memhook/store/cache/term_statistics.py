"""How common each term is in the store: what makes a rare word of a prompt count for more."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import accumulate, chain
from threading import Lock

import pyarrow as pa

from memhook.store.cache.word_index import document_frequencies

# Beyond this a sample tells as much: a term that it does not hold is rare.
SAMPLE = 20_000
AT_LEAST = 8  # terms are looked up, however common


class TermStatistics:
    """Document frequencies, counted on first use and kept up as memories are added."""

    def __init__(self, read_terms: Callable[[int], pa.Array]) -> None:
        self._read_terms = read_terms
        self._lock = Lock()
        self._frequencies: Counter[str] | None = None
        self._documents = 0
        self._length = 0

    @property
    def frequencies(self) -> Counter[str]:
        return self._counted()

    @property
    def documents(self) -> int:
        self._counted()
        return self._documents

    @property
    def average_length(self) -> float:
        self._counted()
        return self._length / self._documents if self._documents else 1.0

    def add(self, documents: Iterable[str]) -> None:
        with self._lock:
            if self._frequencies is not None:  # else the first count will see them
                words = [text.split() for text in documents]
                self._frequencies.update(chain.from_iterable(map(set, words)))
                self._documents += len(words)
                self._length += sum(map(len, words))

    def _counted(self) -> Counter[str]:
        with self._lock:
            if self._frequencies is None:
                texts = self._read_terms(SAMPLE)
                frequencies, self._length = document_frequencies(texts)
                self._frequencies, self._documents = Counter(frequencies), len(texts)
            return self._frequencies


def worth_looking_up(
    terms: Sequence[str], frequencies: Mapping[str, int], documents: int, limit: int, many: int = SAMPLE
) -> list[str]:
    """The rarest of the terms; of many documents only as many as are together in no more than there are documents.

    A word that is everywhere says the least and takes the longest: every document with it is looked at.
    """
    found = rarest(terms, frequencies, limit)
    if documents < many:
        return found
    order = sorted(found, key=lambda term: frequencies.get(term, 0))
    seen = list(accumulate(frequencies.get(term, 0) for term in order))
    kept = {term for place, term in enumerate(order) if place < AT_LEAST or seen[place] <= documents}
    return [term for term in found if term in kept]


def rarest(terms: Sequence[str], frequencies: Mapping[str, int], limit: int) -> list[str]:
    """At most `limit` of the distinct terms, the rarest, in the order they came."""
    distinct = list(dict.fromkeys(terms))
    if len(distinct) <= limit:
        return distinct
    # A term nobody has finds nothing, so it must not take the place of one that does.
    order = sorted(distinct, key=lambda term: (term not in frequencies, frequencies.get(term, 0)))
    kept = set(order[:limit])
    return [term for term in distinct if term in kept]
