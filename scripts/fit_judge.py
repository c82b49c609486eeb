"""Fit the weights of memhook/store/embedding/judge.py with torch; the judge itself computes with numpy.

The product of two thin matrices is added to each matrix of the encoder (LoRA); these, its vectors and a small head are
fitted. A pair is read in either order: from pairs that replace each other, a second output learns which is the newer.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import random
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import torch
from torch.nn import functional

from memhook.paths import user_paths
from memhook.store.embedding.encoder import load_embedder
from memhook.store.embedding.judge import ADDED, EPSILON, FIRST_POSITION, HEADS, LAYERS, Pair, Reader
from memhook.store.embedding.model_files import GRANITE, pack_tensors, verified, word_rows

ROOT = Path(__file__).parents[1]
PAIRS = ROOT / "scripts" / "judge_pairs.jsonl"
HARD_PAIRS = ROOT / "scripts" / "judge_hard_pairs.jsonl"
CLOSE_PAIRS = ROOT / "scripts" / "judge_close_pairs.jsonl"
SHARE = 0.3  # of the hard pairs, drawn anew for each epoch
RESULT = ROOT / "memhook" / "resources" / ADDED.name
RANK = 32
DROPPED = 0.1
RATE, WARM_UP = 3e-4, 0.06
SMOOTHED = 0.03
OF_ORDER = 0.3  # how much the order counts beside the verdict
BATCH_TOKENS = 2_048
SORTED_TOGETHER = 1_024  # so that a batch has pairs of about the same length, and batches differ
NEAREST = 12  # notes on other subjects, of which one is paired with each older note
ANY = 2  # every second note is paired with any other as well
REPEATED = 60  # one pair in so many gives a pair of its older note with itself

Tensor: TypeAlias = Any
Weights = dict[str, Tensor]


@dataclass(frozen=True, slots=True)
class Example:
    old: str
    new: str
    replaces: bool


@dataclass(frozen=True, slots=True)
class Read:
    """A pair as the encoder reads it; the newer note may come first."""

    pair: Pair
    replaces: bool
    in_order: bool = True


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--anew", action="store_true", help="do not begin with the judge there is; give it 12 epochs")
    parser.add_argument("--test", type=Path, action="append", default=[])
    options = parser.parse_args()
    torch.manual_seed(1)
    chance = random.Random(1)
    pack = verified(GRANITE.weights)
    fixed = {name: torch.from_numpy(value.astype(np.float32)) for name, value in pack_tensors(pack).items()}
    reader, fitted = Reader(pack), _start(fixed)
    before = {} if options.anew else {name: torch.from_numpy(value).float() for name, value in np.load(RESULT).items()}
    fitted |= {name: value.clone().requires_grad_() for name, value in before.items()}
    pairs, hard = [*_training_pairs(PAIRS), *_training_pairs(CLOSE_PAIRS)], _training_pairs(HARD_PAIRS)
    pairs += [*_unrelated(pairs), *(Example(one.old, one.old, False) for one in pairs[::REPEATED])]
    tests = {path: _test_pairs(path) for path in options.test}
    optimizer = torch.optim.AdamW([one for one in fitted.values() if one.requires_grad], lr=RATE, weight_decay=0.01)
    epochs = [[*pairs, *chance.sample(hard, int(SHARE * len(hard)))] for _ in range(options.epochs)]
    done, steps = 0, sum(map(len, epochs))
    for number, examples in enumerate(epochs, start=1):
        for batch in _batches(reader, examples, chance):
            for group in optimizer.param_groups:
                group["lr"] = RATE * _rate(done / steps)
            loss = _loss(_outputs(_adapted(fixed, fitted), pack, batch, DROPPED), batch)
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(fitted.values(), 1.0)
            optimizer.step()
            done += len(batch)
        print(f"epoch {number} of {options.epochs}", file=sys.stderr, flush=True)
        for path, some in tests.items():
            _report(path, some, _scores(_adapted(fixed, fitted), pack, reader, some))
    found = {name: value.detach() for name, value in fitted.items()}
    found |= {name: (value + found[name]) / 2 for name, value in before.items()}  # their mean forgets less
    np.savez(RESULT, **{name: value.numpy().astype(np.float16) for name, value in found.items()})
    print(f"{RESULT.name}: sha256 {hashlib.sha256(RESULT.read_bytes()).hexdigest()}; put it into judge.py")
    return 0


def _training_pairs(path: Path) -> list[Example]:
    found = []
    for line in path.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        found += [Example(row["old"], new, True) for new in row["replaces"]]
        found += [Example(row["old"], new, False) for new in row["coexists"]]
    return found


def _test_pairs(path: Path) -> list[Example]:
    rows = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    return [Example(row["old"], row["new"], bool(row["label"])) for row in rows]


def _unrelated(pairs: Sequence[Example]) -> list[Example]:
    """Pair older notes with newer ones on other subjects: near ones, as in a store, and any."""
    model = load_embedder(GRANITE.id, user_paths().models)
    older, newer = list(dict.fromkeys(one.old for one in pairs)), [one.new for one in pairs]
    near = np.asarray(model.embed_documents(older)) @ np.asarray(model.embed_documents(newer)).T
    near[np.array(older)[:, None] == np.array([one.old for one in pairs])] = -1
    order = np.argpartition(-near, NEAREST)[:, :NEAREST]
    numbers = np.random.default_rng(1)
    chosen = numbers.integers(NEAREST, size=len(older))
    found = {(old, newer[row[place]]) for old, row, place in zip(older, order, chosen, strict=True)}
    found |= set(zip(older[::ANY], numbers.choice(newer, len(older[::ANY])).tolist(), strict=True))
    return [Example(*texts, replaces=False) for texts in sorted(found - {(one.old, one.new) for one in pairs})]


def _start(fixed: Mapping[str, Tensor]) -> Weights:
    """Return the weights to fit; at first they leave the encoder unchanged."""
    width, kind = fixed["type_emb"].shape[1], fixed["type_emb"][0]
    fitted = {name: kind + 0.01 * torch.randn(width) for name in ("older", "newer")}
    fitted |= {name: torch.zeros(width) for name in ("shared", "alone")}
    fitted |= {"reading.w": 0.02 * torch.randn(width, 2 * width), "reading.b": torch.zeros(width)}
    fitted |= {"verdict.w": 0.02 * torch.randn(2, width), "verdict.b": torch.zeros(2)}
    for name, value in fixed.items():
        if name.endswith(".w") and value.dim() == 2:
            fitted[f"{name}.up"] = torch.zeros(value.shape[0], RANK)
            fitted[f"{name}.down"] = torch.randn(RANK, value.shape[1]) / math.sqrt(value.shape[1])
        elif name.endswith((".w", ".b")):
            fitted[name] = value.clone()
    return {name: value.requires_grad_() for name, value in fitted.items()}


def _adapted(fixed: Mapping[str, Tensor], fitted: Mapping[str, Tensor]) -> Weights:
    products = {
        name.removesuffix(".up"): fixed[name.removesuffix(".up")] + up @ fitted[f"{name.removesuffix('.up')}.down"]
        for name, up in fitted.items()
        if name.endswith(".up")
    }
    return {**fixed, **fitted, **products}


def _batches(reader: Reader, examples: Sequence[Example], chance: random.Random) -> Iterator[list[Read]]:
    """Yield each pair once, in a new random order, in batches of about the same length."""
    drawn = [_turned(reader, one, chance) for one in chance.sample(examples, len(examples))]
    batches: list[list[Read]] = []
    for start in range(0, len(drawn), SORTED_TOGETHER):
        batch: list[Read] = []
        for read in sorted(drawn[start : start + SORTED_TOGETHER], key=lambda one: len(one.pair.tokens)):
            batch.append(read)
            if len(batch) * len(read.pair.tokens) >= BATCH_TOKENS:
                batches.append(batch)
                batch = []
        batches += [batch] if batch else []
    chance.shuffle(batches)
    yield from batches


def _turned(reader: Reader, one: Example, chance: random.Random) -> Read:
    if chance.random() < 0.5:
        return Read(reader.pair(one.new, one.old), one.replaces, in_order=False)
    return Read(reader.pair(one.old, one.new), one.replaces)


def _rate(done: float) -> float:
    """Return the factor of the learning rate: rising at first, then falling along a cosine."""
    return min(1.0, done / WARM_UP) * max(0.02, 0.5 * (1 + math.cos(math.pi * done)))


def _loss(outputs: Tensor, batch: Sequence[Read]) -> Tensor:
    replaces = torch.tensor([float(one.replaces) for one in batch])
    in_order = torch.tensor([float(one.in_order) for one in batch])
    of_verdict = functional.binary_cross_entropy_with_logits(outputs[:, 0], replaces * (1 - 2 * SMOOTHED) + SMOOTHED)
    of_order = functional.binary_cross_entropy_with_logits(outputs[:, 1], in_order, reduction="none")
    return of_verdict + OF_ORDER * (of_order * replaces).mean()


def _outputs(weights: Weights, pack: Path, batch: Sequence[Read], dropped: float = 0.0) -> Tensor:
    """Return for each pair the two logits of the verdict; while fitting, in bfloat16, which takes half the time."""
    with torch.autocast("cpu", dtype=torch.bfloat16, enabled=dropped > 0):
        hidden, is_there = _embedded(weights, pack, batch)

        def drop(values: Tensor) -> Tensor:
            return functional.dropout(values, dropped, dropped > 0)

        def linear(name: str, values: Tensor) -> Tensor:
            return functional.linear(values, weights[f"{name}.w"], weights[f"{name}.b"])

        def normalized(name: str, values: Tensor) -> Tensor:
            shape = values.shape[-1:]
            return functional.layer_norm(values, shape, weights[f"{name}.w"], weights[f"{name}.b"], EPSILON)

        hidden = drop(normalized("emb_ln", hidden))
        size, length, width = hidden.shape
        for layer in (f"l{number}" for number in range(LAYERS)):
            heads = linear(f"{layer}.qkv", hidden).view(size, length, 3, HEADS, width // HEADS).permute(2, 0, 3, 1, 4)
            attended = functional.scaled_dot_product_attention(
                *heads, attn_mask=is_there[:, None, None, :], dropout_p=dropped
            )
            attended = linear(f"{layer}.ao", attended.transpose(1, 2).reshape(size, length, width))
            middle = normalized(f"{layer}.aln", hidden + drop(attended))
            active = functional.gelu(linear(f"{layer}.f1", middle), approximate="tanh")
            hidden = normalized(f"{layer}.fln", middle + drop(linear(f"{layer}.f2", active)))
        shares = is_there[..., None] / is_there.sum(dim=1)[:, None, None]
        both = torch.cat([hidden[:, 0], (hidden * shares).sum(dim=1)], dim=1)
        return linear("verdict", drop(torch.tanh(linear("reading", drop(both))))).float()


def _embedded(weights: Weights, pack: Path, batch: Sequence[Read]) -> tuple[Tensor, Tensor]:
    """Return the input vector of each token, padded to the longest pair, and a mask of the tokens."""
    length = max(len(one.pair.tokens) for one in batch)
    rows, is_there = [], torch.zeros(len(batch), length, dtype=torch.bool)
    for number, pair in enumerate(one.pair for one in batch):
        size = len(pair.tokens)
        is_second = torch.arange(size)[:, None] >= pair.second
        row = (
            torch.from_numpy(word_rows(pack, pair.tokens)) + weights["pos_emb"][FIRST_POSITION : FIRST_POSITION + size]
        )
        row = row + torch.where(is_second, weights["newer"], weights["older"])
        row = row + torch.where(torch.tensor(pair.is_shared)[:, None], weights["shared"], weights["alone"])
        rows.append(functional.pad(row, (0, 0, 0, length - size)))
        is_there[number, :size] = True
    return torch.stack(rows), is_there


def _scores(weights: Weights, pack: Path, reader: Reader, examples: Sequence[Example]) -> list[float]:
    with torch.no_grad():
        reads = [Read(reader.pair(one.old, one.new), one.replaces) for one in examples]
        return [float(_outputs(weights, pack, [one])[0, 0]) for one in reads]


def _report(path: Path, examples: Sequence[Example], scores: Sequence[float]) -> None:
    replacing = [score for one, score in zip(examples, scores, strict=True) if one.replaces]
    others = sorted((score for one, score in zip(examples, scores, strict=True) if not one.replaces), reverse=True)
    edge = others[len(others) // 20]
    above = sum(score > edge for score in replacing) / len(replacing)
    rightly, wrongly = (sum(score > 0 for score in some) / len(some) for some in (replacing, others))
    print(f"{path.name}: {rightly:.2f} proposed, {wrongly:.2f} wrongly; with .05 wrong ones {above:.2f}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
