"""Fit when to show memories: logistic regressions for an embedding model, over answerable and unanswerable prompts.

Each set (see memhook eval --help) is used whole and sampled to stores of 40, 200 and 1,000 memories, to fit the effect
of the size; in a small store the answer of some prompts is missing. Small talk is asked of every small store; its
direction is fitted separately. Every set has the same weight. A model is fitted on English prompts, the multilingual
encoder on all: its space is the same for every language, so English prompts teach it kinds of requests too. The last
column of the report is the one that counts: how well the fit separates the prompts of a set that it has not seen.
"""

from __future__ import annotations

import argparse
import json
import math
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from memhook.core.grading import Calibration
from memhook.core.languages import is_english
from memhook.core.ranking import (
    FOREIGN_PROMPT,
    LEXICAL_WEIGHT,
    attainable,
    embedded_prompt,
    embedded_text,
    indexed_text,
    term_weights,
)
from memhook.core.terms import terms
from memhook.evaluation.sets import EvaluationSet, read_set
from memhook.paths import user_paths
from memhook.store.cache.words import WordIndex
from memhook.store.embedding import multilingual
from memhook.store.embedding.encoder import Embedder, load_embedder
from memhook.store.embedding.vector_cache import CachedEmbedder

RESOURCE = Path(__file__).parents[1] / "memhook" / "resources" / "calibration.json"
SMALL_TALK = Path(__file__).with_name("small_talk.txt")
SHORT_REQUESTS = Path(__file__).with_name("short_requests.txt")
CHORES = Path(__file__).with_name("chores.txt")
SIZES = (40, 200, 1000)
DRAWN = 2  # stores of each size
SMALL = 100
LARGEST_WITH_REMOVED = 200  # in a larger store something else is relevant as well
# The weight of each kind of unanswerable prompt, beside 1 for the answerable ones.
SHARES = {"same project": 0.55, "small talk": 0.2, "another subject": 1.2, "answer removed": 0.15}
RIDGE, TALK_RIDGE = 3.3, 0.1
VECTOR_SCALE = 3.0  # multiplies the standardized features and the vectors, which weakens the ridge
SIGNS = ("nearest", "best", "lexical", "decade", "length")
OTHER_LANGUAGE = 3.0  # the weight of a prompt that is not English, of which there are few

Vector = npt.NDArray[np.float32]
Numbers = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Loaded:
    """A set with its vectors and terms; `gold` are indexes into the list of memories."""

    name: str
    prompts: Sequence[str]
    kinds: Sequence[str]
    gold: Sequence[frozenset[int]]
    prompt_vectors: Vector
    vectors: Vector
    texts: Sequence[str]
    is_multilingual: bool


@dataclass(frozen=True)
class Row:
    """One prompt asked of one store."""

    of: str
    size: int
    kind: str  # "" if answerable
    signs: tuple[float, ...]
    vector: Vector
    is_english: bool = True


def main() -> int:
    parser = argparse.ArgumentParser(prog="scripts/calibrate", description=__doc__)
    parser.add_argument("sets", nargs="+", type=Path, metavar="DIR")
    parser.add_argument("--model", default="granite-embedding-30m-english")
    parser.add_argument("--write", action="store_true", help=f"write the fit of this model to {RESOURCE.name}")
    args = parser.parse_args()
    paths = user_paths()
    with closing(CachedEmbedder(load_embedder(args.model, paths.models), paths.evaluation_vectors)) as embedder:
        sets = [_loaded(read_set(folder), embedder) for folder in args.sets]
        chores = [vector for _, vector in _phrases(CHORES, embedder)]
        talk, short = _phrases(SMALL_TALK, embedder), [vector for _, vector in _phrases(SHORT_REQUESTS, embedder)]
    rows = [row for one in sets for row in _rows(one, talk)]
    print(f"{'set':<16}{'prompts':>8}{'fitted':>8}{'unseen':>8}   answerable or not: share of pairs separated")
    whole = _with_talk(_fitted(rows), [vector for _, vector in talk], short, sets)
    whole = _with_chores(whole, chores, sets)
    for one in sets:
        own = [row for row in rows if row.of == one.name]
        unseen = _fitted([row for row in rows if row.of != one.name]) if len(sets) > 1 else whole
        print(f"{one.name:<16}{len(own):>8}{_separated(whole, own):>8.3f}{_separated(unseen, own):>8.3f}")
    if args.write:
        _write(args.model, whole)
    return 0


def _loaded(one: EvaluationSet, embedder: Embedder) -> Loaded:
    drafts = list(one.drafts.items())
    place = {name: index for index, (name, _) in enumerate(drafts)}
    facts = [
        (draft.title, draft.content, draft.created.date().isoformat() if draft.created else "", draft.tags)
        for _, draft in drafts
    ]
    reads_all = embedder.model.id == multilingual.ID
    asked = [query for query in one.queries if query.kind != "adversarial" and (reads_all or is_english(query.prompt))]
    return Loaded(
        one.name,
        [query.prompt for query in asked],
        [query.kind for query in asked],
        [frozenset(place[name] for name in query.gold) for query in asked],
        np.asarray(embedder.embed_documents([embedded_prompt(query.prompt) for query in asked])),
        np.asarray(embedder.embed_documents([embedded_text(*fact) for fact in facts])),
        [" ".join(terms(indexed_text(*fact))) for fact in facts],
        reads_all,
    )


def _phrases(file: Path, embedder: Embedder) -> list[tuple[str, Vector]]:
    phrases = file.read_text(encoding="utf-8").splitlines()
    return list(zip(phrases, embedder.embed_documents(phrases), strict=True))


def _rows(one: Loaded, talk: Sequence[tuple[str, Vector]]) -> Iterator[Row]:
    everything = np.arange(len(one.texts))
    if len(one.texts) <= SMALL:
        yield from _asked(one, everything)
        index = WordIndex(pa.array(one.texts))
        for phrase, vector in talk:
            yield _row(one, everything, index, (phrase, vector), "small talk")
        return
    yield from _asked(one, everything)
    drawing = random.Random(one.name)
    for size in (size for size in SIZES for _ in range(DRAWN) if size < len(one.texts)):
        wanted = drawing.sample(range(len(one.prompts)), min(len(one.prompts), max(10, size // 4)))
        kept = list(dict.fromkeys(place for number in wanted for place in sorted(one.gold[number])))[:size]
        others = [place for place in range(len(one.texts)) if place not in set(kept)]
        rows = list(_asked(one, np.array(kept + drawing.sample(others, size - len(kept)))))
        answered = [row for row in rows if not row.kind]
        rest = [row for row in rows if row.kind]
        yield from answered
        yield from drawing.sample(rest, min(len(rest), 2 * len(answered) + 30))


def _asked(one: Loaded, store: npt.NDArray[Any]) -> Iterator[Row]:
    index = WordIndex(pa.array([one.texts[place] for place in store]))
    inside = set(store.tolist())
    for number, prompt in enumerate(one.prompts):
        kind = "" if one.gold[number] & inside else _kind(one.kinds[number], bool(one.gold[number]))
        if kind != "answer removed" or len(store) <= LARGEST_WITH_REMOVED:
            yield _row(one, store, index, (prompt, one.prompt_vectors[number]), kind)


def _kind(kind: str, had_gold: bool) -> str:
    if had_gold:
        return "answer removed"
    return {"neg_same_project": "same project", "neg_ack": "small talk"}.get(kind, "another subject")


def _row(one: Loaded, store: npt.NDArray[Any], index: WordIndex, asked: tuple[str, Vector], kind: str) -> Row:
    prompt, vector = asked
    weights = term_weights(terms(prompt), index.frequencies, index.documents)
    shares = index.evidence(weights) / (attainable(weights) or 1.0)
    cosines = one.vectors[store] @ vector
    by_words = FOREIGN_PROMPT[2] / FOREIGN_PROMPT[0] if one.is_multilingual else LEXICAL_WEIGHT
    best = int(np.argmax(cosines + by_words * shares))
    # Chinese and Japanese prompts are one term for each pair of characters: their number means something else.
    length = 0.0 if one.is_multilingual else math.log1p(len(weights))
    signs = (cosines.max(), cosines[best], shares[best], math.log10(len(store)), length)
    return Row(one.name, len(store), kind, tuple(map(float, signs)), vector, is_english(prompt))


def _fitted(rows: Sequence[Row]) -> Calibration:
    """Fit whether a prompt is answerable, from its standardized features and its vector."""
    signs = np.array([row.signs for row in rows])
    middle, spread = signs.mean(axis=0), np.maximum(signs.std(axis=0), 1e-9) / VECTOR_SCALE
    vectors = VECTOR_SCALE * np.array([row.vector for row in rows], dtype=np.float64)
    design = np.hstack([(signs - middle) / spread, vectors])
    answered = np.array([not row.kind for row in rows], dtype=np.float64)
    found, intercept = _regression(design, answered, _weights(rows), RIDGE)
    by_sign = found[: len(SIGNS)] / spread
    named: dict[str, Any] = dict(zip(SIGNS, map(float, by_sign), strict=True))
    direction = tuple(map(float, VECTOR_SCALE * found[len(SIGNS) :]))
    return Calibration(intercept - float((by_sign * middle).sum()), **named, request=direction)


def _with_talk(
    fit: Calibration, talk: Sequence[Vector], short: Sequence[Vector], sets: Sequence[Loaded]
) -> Calibration:
    """Fit small talk against all prompts, half the weight each; short requests have a third of the second half."""
    long = [v for one in sets for v, kind in zip(one.prompt_vectors, one.kinds, strict=True) if kind != "neg_ack"]
    groups = ((talk, 500.0), (long, 350.0), (short, 150.0))
    weights = np.concatenate([np.full(len(group), weight / len(group)) for group, weight in groups])
    is_talk = np.array([1.0] * len(talk) + [0.0] * (len(long) + len(short)))
    found, intercept = _regression(np.array([*talk, *long, *short], dtype=np.float64), is_talk, weights, TALK_RIDGE)
    return replace(fit, talk=tuple(map(float, found)), talk_constant=intercept)


def _with_chores(fit: Calibration, chores: Sequence[Vector], sets: Sequence[Loaded]) -> Calibration:
    """Fit housekeeping against the prompts of the sets, half the weight each."""
    others = [v for one in sets for v, kind in zip(one.prompt_vectors, one.kinds, strict=True) if kind != "neg_ack"]
    weights = np.concatenate([np.full(len(group), 500.0 / len(group)) for group in (chores, others)])
    is_chore = np.array([1.0] * len(chores) + [0.0] * len(others))
    found, intercept = _regression(np.array([*chores, *others], dtype=np.float64), is_chore, weights, TALK_RIDGE)
    return replace(fit, chore=tuple(map(float, found)), chore_constant=intercept)


def _regression(design: Numbers, wanted: Numbers, weights: Numbers, ridge: float) -> tuple[Numbers, float]:
    """Return weights and intercept of a ridge logistic regression, by Newton's method."""
    design = np.hstack([design, np.ones((len(design), 1))])
    found = np.zeros(design.shape[1])
    penalty = np.full(design.shape[1], ridge)
    penalty[-1] = 1e-6
    for _ in range(50):
        chance = 1.0 / (1.0 + np.exp(-np.clip(design @ found, -30, 30)))
        slope = design.T @ (weights * (wanted - chance)) - penalty * found
        curve = (design * (weights * chance * (1.0 - chance))[:, None]).T @ design + np.diag(penalty)
        step = np.linalg.solve(curve, slope)
        found = found + step
        if float(np.abs(step).max()) < 1e-6:
            break
    return found[:-1], float(found[-1])


def _weights(rows: Sequence[Row]) -> Numbers:
    groups = Counter((row.of, row.size, row.kind) for row in rows)
    sizes = {name: len({size for of, size, _ in groups if of == name}) for name, _, _ in groups}
    return np.array(
        [
            (1.0 if row.is_english else OTHER_LANGUAGE)
            * (90 * SHARES.get(row.kind, 1.0) / (groups[row.of, row.size, row.kind] * sizes[row.of]))
            for row in rows
        ]
    )


def _separated(fit: Calibration, rows: Sequence[Row]) -> float:
    """Return the share of pairs of an answerable and another prompt in which the first has the higher odds."""
    by_sign = np.array([getattr(fit, name) for name in SIGNS])
    odds = np.array([float(by_sign @ row.signs + np.dot(fit.request, row.vector)) for row in rows])
    answered = np.array([not row.kind for row in rows])
    pairs = odds[answered][:, None] - odds[~answered][None]
    return float((pairs > 0).mean()) if pairs.size else math.nan


def _write(model: str, fit: Calibration) -> None:
    known = json.loads(RESOURCE.read_text(encoding="utf-8"))
    entry = {name: _rounded(value) for name, value in asdict(fit).items()}
    known[model] = entry
    RESOURCE.write_text(json.dumps(known, separators=(",", ": ")).replace("},", "},\n") + "\n", encoding="utf-8")


def _rounded(value: float | tuple[float, ...]) -> float | list[float]:
    return round(value, 3) if isinstance(value, float) else [round(one, 3) for one in value]


if __name__ == "__main__":
    raise SystemExit(main())
