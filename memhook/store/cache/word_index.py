"""The words of a small store in memory: which memory holds a term how often, and what that says for a prompt."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from memhook.core.ranking import LENGTH_FLOOR, LENGTH_SHARE, SATURATION


class WordIndex:
    """An inverted index over texts of terms separated by spaces; a text is named by its place in the list."""

    def __init__(self, texts: pa.Array) -> None:
        documents, codes, words = _occurrences(texts)
        self.documents = len(texts)
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

    def evidence(self, weights: Mapping[str, float]) -> npt.NDArray[np.float64]:
        """For each text BM25 of these terms, as `core.ranking` has it for one."""
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


def document_frequencies(texts: pa.Array) -> tuple[dict[str, int], int]:
    """In how many of the texts each term is, and how many terms they have together."""
    documents, codes, words = _occurrences(texts)
    # With the counts it sorts; without them it would hash, ten times as long.
    pairs, _ = np.unique(codes * len(texts) + documents, return_counts=True)
    counts = np.bincount(pairs // max(1, len(texts)), minlength=len(words))
    return {word: count for word, count in zip(words, counts.tolist(), strict=True) if count}, len(codes)


def _occurrences(texts: pa.Array) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], list[str]]:
    """For each word of each text the place of the text and the word's number, and the words by number."""
    split: Any = pc.split_pattern(texts, " ")
    flat = split.flatten().dictionary_encode()
    words: list[str] = flat.dictionary.to_pylist()
    codes = flat.indices.to_numpy(zero_copy_only=False).astype(np.int64)
    documents = np.repeat(np.arange(len(texts)), pc.list_value_length(split).to_numpy(zero_copy_only=False))
    if "" in words:  # splitting an empty text gives one
        real = codes != words.index("")
        documents, codes = documents[real], codes[real]
    return documents, codes, words
