"""Read two notes together and estimate whether one of them replaces the other.

The default model's encoder reads both as one text. Small matrices added to its own, which `scripts/fit-judge` makes,
turn it into a judge. It runs in numpy, a pair at a time: storing a memory asks about few pairs.
"""

from __future__ import annotations

import io
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np

from memhook.errors import EmbeddingError
from memhook.store.embedding.model_files import (
    GRANITE,
    Floats,
    Resource,
    own_resource,
    pack_tensors,
    tokenizer_in,
    verified,
    word_rows,
)

ADDED = Resource("judge.npz", "6b53970be7ae3f96f969036421f1aefd974226250fa340aedbb18e1319d1f75a")
MOST_TOKENS = 112  # of each note: of a long one the beginning
READ_CHARS = 20 * MOST_TOKENS
START, END = 0, 2  # tokens before and behind a text
FIRST_POSITION = 2
LAYERS, HEADS = 6, 12
EPSILON = 1e-12
MOST_CACHED = 4096  # verdicts: `tidy` compares 300 notes with the eight nearest of each


@dataclass(frozen=True, slots=True)
class Verdict:
    """How likely it is that one text replaces the other, and if so, that the second is the newer one by its words."""

    replaces: float
    in_order: float


@lru_cache(maxsize=1)
def loaded_judge() -> Judge:
    """Return the judge, cached until `release`; raise EmbeddingError when the model's package is missing or differs."""
    return Judge()


def release() -> None:
    """Free the judge's 50 MB and its verdicts; loading it again takes an eighth of a second."""
    loaded_judge.cache_clear()
    _verdict.cache_clear()


def verdict(older: str, newer: str) -> Verdict:
    """Return the judge's verdict on two notes, cached until `release`; raise as `loaded_judge`.

    A pair is compared when one of it is stored, again by the housekeeping after that, and each time `tidy` lists.
    """
    return _verdict(older[:READ_CHARS], newer[:READ_CHARS])


@lru_cache(MOST_CACHED)
def _verdict(older: str, newer: str) -> Verdict:
    return loaded_judge().verdict(older, newer)


class Judge:
    """Judges pairs of notes. Safe to call from several threads."""

    def __init__(self) -> None:
        self._pack = verified(GRANITE.weights)
        self._reader = Reader(self._pack)
        self._weights = adapted(pack_tensors(self._pack), np.load(io.BytesIO(own_resource(ADDED))))

    def verdict(self, older: str, newer: str) -> Verdict:
        pair, weights = self._reader.pair(older, newer), self._weights
        hidden = word_rows(self._pack, pair.tokens)
        hidden += weights["pos_emb"][FIRST_POSITION : FIRST_POSITION + len(hidden)]
        hidden[: pair.second] += weights["older"]
        hidden[pair.second :] += weights["newer"]
        hidden += np.where(np.array(pair.is_shared)[:, None], weights["shared"], weights["alone"])
        return Verdict(*(1 / (1 + math.exp(-value)) for value in _read(weights, hidden)))


@dataclass(frozen=True, slots=True)
class Pair:
    """Two notes as the encoder reads them; `second` is where the newer one begins."""

    tokens: list[int]
    second: int
    is_shared: list[bool]
    """Whether the other note has the same token, in letters of any case, with or without a space before it."""


class Reader:
    """Tokenizes notes with the tokenizer of the encoder's `pack`."""

    def __init__(self, pack: Path) -> None:
        try:
            from tokenizers import Tokenizer  # noqa: PLC0415 - with the first pair
        except ImportError as error:
            raise EmbeddingError(f"tokenizers cannot be imported: {error}", "Install memhook again.") from error
        self._tokenizer = Tokenizer.from_str(tokenizer_in(pack).decode())
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(MOST_TOKENS)

    def pair(self, older: str, newer: str) -> Pair:
        first, second = [START, *self._tokens(older), END], [END, *self._tokens(newer), END]
        words = [self._word(token) for token in (*first, *second)]
        both = {*words[: len(first)]} & {*words[len(first) :]}
        return Pair([*first, *second], len(first), [word in both for word in words])

    def _tokens(self, text: str) -> list[int]:
        readable = text[:READ_CHARS].encode("utf-8", "replace").decode()
        tokens: list[int] = self._tokenizer.encode(readable, add_special_tokens=False).ids
        return tokens

    def _word(self, token: int) -> str:
        return str(self._tokenizer.id_to_token(token)).lstrip("Ġ").lower()


def adapted(weights: Mapping[str, Floats], added: Mapping[str, Floats]) -> dict[str, Floats]:
    """Return the encoder's weights with the judge's: low-rank products are added to matrices, others replaced."""
    result = dict(weights)
    for name in added:
        value = added[name].astype(np.float32)
        if name.endswith(".up"):
            result[name[:-3]] = weights[name[:-3]] + value @ added[f"{name[:-3]}.down"].astype(np.float32)
        elif not name.endswith(".down"):
            result[name] = value
    return result


def _read(weights: Mapping[str, Floats], hidden: Floats) -> list[float]:
    hidden = _normalized(weights, "emb_ln", hidden)
    for number in range(LAYERS):
        hidden = _layer(weights, f"l{number}", hidden)
    read = np.tanh(_linear(weights, "reading", np.concatenate([hidden[0], hidden.mean(axis=0)])))
    found: list[float] = _linear(weights, "verdict", read).tolist()
    return found


def _layer(weights: Mapping[str, Floats], layer: str, hidden: Floats) -> Floats:
    attended = _linear(weights, f"{layer}.ao", _attention(_linear(weights, f"{layer}.qkv", hidden)))
    middle = _normalized(weights, f"{layer}.aln", hidden + attended)
    active = _gelu(_linear(weights, f"{layer}.f1", middle))
    return _normalized(weights, f"{layer}.fln", middle + _linear(weights, f"{layer}.f2", active))


def _attention(projected: Floats) -> Floats:
    length, width = len(projected), projected.shape[1] // 3
    queries, keys, values = projected.reshape(length, 3, HEADS, width // HEADS).transpose(1, 2, 0, 3)
    scores = queries @ keys.transpose(0, 2, 1) / np.float32(math.sqrt(width // HEADS))
    scores = np.exp(scores - scores.max(axis=-1, keepdims=True))
    shares = scores / scores.sum(axis=-1, keepdims=True)
    attended: Floats = (shares @ values).transpose(1, 0, 2).reshape(length, width)
    return attended


def _linear(weights: Mapping[str, Floats], name: str, rows: Floats) -> Floats:
    return rows @ weights[f"{name}.w"].T + weights[f"{name}.b"]


def _normalized(weights: Mapping[str, Floats], name: str, rows: Floats) -> Floats:
    centred = rows - rows.mean(axis=-1, keepdims=True)
    deviation = np.sqrt(np.square(centred).mean(axis=-1, keepdims=True) + np.float32(EPSILON))
    scaled: Floats = centred / deviation * weights[f"{name}.w"] + weights[f"{name}.b"]
    return scaled


def _gelu(rows: Floats) -> Floats:
    """Return GELU in its tanh approximation, with which the judge was trained."""
    inner = np.float32(math.sqrt(2 / math.pi)) * (rows + np.float32(0.044715) * rows * rows * rows)
    active: Floats = np.float32(0.5) * rows * (1 + np.tanh(inner))
    return active
