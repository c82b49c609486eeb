"""The words of a store: an index of the terms of cached memories, and how common each term is.

These statistics give the rare words of a prompt more weight.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain
from threading import Lock
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from memhook.core.ranking import LENGTH_FLOOR, LENGTH_SHARE, SATURATION

# A larger sample adds little: a term that is missing from this one is rare.
SAMPLE = 20_000
AT_LEAST = 8  # terms are looked up, however common


@dataclass(frozen=True, slots=True)
class TermStatistics:
    """The number of documents that have each term, and the average number of terms of a document."""

    frequencies: Mapping[str, int]
    documents: int
    average_length: float


class WordIndex:
    """An inverted index over texts of terms separated by spaces; a text is named by its place in the list."""

    def __init__(self, texts: pa.Array) -> None:
        documents, codes, words = _occurrences(texts)
        self.documents, self.length = len(texts), len(codes)
        lengths = np.bincount(documents, minlength=self.documents)
        self.average_length = float(lengths.mean()) if len(codes) else 1.0
        relative = (lengths + LENGTH_FLOOR) / (self.average_length + LENGTH_FLOOR)
        self._damping = SATURATION * (1.0 - LENGTH_SHARE + LENGTH_SHARE * relative)
        pairs, counts = np.unique(codes * self.documents + documents, return_counts=True)
        self._documents = (pairs % max(1, self.documents)).astype(np.int32)
        self._counts = counts.astype(np.float32)
        self._starts = np.searchsorted(pairs, np.arange(len(words) + 1, dtype=np.int64) * self.documents)
        self._codes = {word: code for code, word in enumerate(words)}
        self.frequencies: Mapping[str, int] = dict(zip(words, np.diff(self._starts).tolist(), strict=True))
        self.statistics = TermStatistics(self.frequencies, self.documents, self.average_length)

    def evidence(self, weights: Mapping[str, float]) -> npt.NDArray[np.float64]:
        """Return the BM25 score of each text for these terms, as `core.ranking` computes it for one."""
        known = [(self._codes[term], weight) for term, weight in weights.items() if term in self._codes]
        if not known:
            return np.zeros(self.documents)
        slices = [slice(self._starts[code], self._starts[code + 1]) for code, _ in known]
        documents = np.concatenate([self._documents[one] for one in slices])
        counts = np.concatenate([self._counts[one] for one in slices])
        weight = np.repeat([weight for _, weight in known], [one.stop - one.start for one in slices])
        gained = weight * counts * (1.0 + SATURATION) / (counts + self._damping[documents])
        total: npt.NDArray[np.float64] = np.bincount(documents, gained, minlength=self.documents)  # type: ignore[assignment]  # of the weights' kind
        return total


class CountedTerms:
    """The terms of a store that is not in memory, counted on first use and kept up as memories are added."""

    def __init__(self, read_terms: Callable[[int], pa.Array]) -> None:
        self._read_terms = read_terms
        self._lock = Lock()
        self._frequencies: Counter[str] | None = None
        self._documents = 0
        self._length = 0

    def add(self, documents: Iterable[str]) -> None:
        with self._lock:
            if self._frequencies is not None:  # else the first count will see them
                words = [text.split() for text in documents]
                self._frequencies.update(chain.from_iterable(map(set, words)))
                self._documents += len(words)
                self._length += sum(map(len, words))

    @property
    def statistics(self) -> TermStatistics:
        with self._lock:
            if self._frequencies is None:
                counted = WordIndex(self._read_terms(SAMPLE))
                self._frequencies, self._documents = Counter(counted.frequencies), counted.documents
                self._length = counted.length
            average_length = self._length / self._documents if self._documents else 1.0
            return TermStatistics(self._frequencies, self._documents, average_length)


def worth_looking_up(
    terms: Sequence[str], frequencies: Mapping[str, int], documents: int, limit: int, many: int = SAMPLE
) -> list[str]:
    """Return the rarest terms; with many documents only while their frequencies add up to two thirds of these.

    A word that is everywhere says the least and costs the most: the search reads every document with it.
    """
    found = rarest(terms, frequencies, limit)
    if documents < many:
        return found
    order = sorted(found, key=lambda term: frequencies.get(term, 0))
    seen = list(accumulate(frequencies.get(term, 0) for term in order))
    kept = {term for place, term in enumerate(order) if place < AT_LEAST or 3 * seen[place] <= 2 * documents}
    return [term for term in found if term in kept]


def rarest(terms: Sequence[str], frequencies: Mapping[str, int], limit: int) -> list[str]:
    """Return at most `limit` distinct terms, the rarest, in their original order."""
    distinct = list(dict.fromkeys(terms))
    if len(distinct) <= limit:
        return distinct
    # A term in no document finds nothing, so it must not take the place of one that does.
    order = sorted(distinct, key=lambda term: (term not in frequencies, frequencies.get(term, 0)))
    kept = set(order[:limit])
    return [term for term in distinct if term in kept]


def _occurrences(texts: pa.Array) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], list[str]]:
    """Return the text's place and the word's code for each word of each text, and the words by code."""
    split: Any = pc.split_pattern(texts, " ")
    flat = split.flatten().dictionary_encode()
    words: list[str] = flat.dictionary.to_pylist()
    codes = flat.indices.to_numpy(zero_copy_only=False).astype(np.int64)
    documents = np.repeat(np.arange(len(texts)), pc.list_value_length(split).to_numpy(zero_copy_only=False))
    if "" in words:  # splitting an empty text gives one
        real = codes != words.index("")
        documents, codes = documents[real], codes[real]
    return documents, codes, words
