"""The measures of `memhook eval`, each defined once.

Blocks are parsed from the finished text, as a model reads them: a memory is shown if a line of memhook's own has its
URN; its title and the lines below are what is shown of it. So an error in rendering or packing cannot hide itself.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache
from itertools import chain
from statistics import fmean
from typing import Any

from memhook.core.memory import ID_LENGTH, Memory
from memhook.core.terms import terms
from memhook.core.tokens import estimated_tokens

ADVERSARIAL = "adversarial"
"""The kind of prompt whose subject is in the store but whose answer is not: showing something is no error."""

_URN = "urn:memhook:"
_AFTER_URN = re.compile(
    rf"(?P<id>[a-z0-9]{{{ID_LENGTH}}})\]?"
    r"(?: · [-\w, ]+| \([-\w, ]+\))?"  # inject and pack put date and author there
)


@dataclass(frozen=True, slots=True)
class GoldQuery:
    prompt: str
    kind: str
    gold: tuple[Memory, ...]
    needs: str = ""
    """Words of a gold memory that the block must carry."""

    @property
    def is_answerable(self) -> bool:
        return bool(self.gold)


@dataclass(frozen=True, slots=True)
class ShownMemory:
    title: str
    body: str

    @property
    def text(self) -> str:
        return f"{self.title}\n{self.body}"


@dataclass(frozen=True, slots=True)
class Judgement:
    """One block for one prompt; `tokens` is 0 without a block.

    gold_recall     the share of the gold memories that the block names
    text_recall     the share of the gold memories' characters that the block has
    passage_recall  the share of the content words common to the prompt and a gold memory that the block shows from
                    that memory; None if they have none in common
    precision       the share of the memories in the block that are gold; None without a block
    found           1 if the block names a gold memory, else 0
    carried         1 if the block has the words that the prompt needs, else 0; None if none are given

    All of these are None for an unanswerable prompt.
    """

    tokens: int
    is_over_budget: bool
    gold_recall: float | None = None
    text_recall: float | None = None
    passage_recall: float | None = None
    precision: float | None = None
    found: int | None = None
    carried: int | None = None


def ranking_recall(gold: Iterable[str], ranked: Sequence[str], k: int) -> float:
    """Return the share of the gold memories among the first k of the ranking."""
    wanted = set(gold)
    return len(wanted & set(ranked[:k])) / len(wanted)


def judged(question: GoldQuery, parts: Sequence[str], budget: int) -> Judgement:
    """Judge the finished parts of an answer; none if memhook is silent."""
    tokens = sum(map(estimated_tokens, parts))
    over = tokens > budget
    if not question.is_answerable:
        return Judgement(tokens, over)
    text = "\n".join(parts)
    shown = entries(text)
    named = [memory for memory in question.gold if memory.id in shown]
    return Judgement(
        tokens,
        over,
        gold_recall=len(named) / len(question.gold),
        text_recall=_text_recall(question.gold, shown),
        passage_recall=_passage_recall(question, shown),
        precision=len(named) / len(shown) if shown else None,
        found=int(bool(named)),
        carried=carried(question, text),
    )


def carried(question: GoldQuery, text: str) -> int | None:
    """Return 1 if the text has the words that the prompt needs, else 0; None if none are given."""
    return int(_collapsed(question.needs) in _collapsed(text)) if question.needs else None


def remembered_chars(text: str, memories: Mapping[str, Memory]) -> int:
    """Count the characters of a block that are title or content of a memory, without indentation."""
    return sum(_own_chars(entry, memories[key]) for key, entry in entries(text).items() if key in memories)


def _own_chars(entry: ShownMemory, memory: Memory) -> int:
    whole = _collapsed(f"{memory.title}\n{memory.content}")
    pieces = (piece for line in entry.text.split("\n") for piece in line.split("…"))
    return sum(len(own) for piece in pieces if (own := _collapsed(piece)) and own in whole)


def summed_up(judgements: Sequence[Judgement]) -> dict[str, float | int | None]:
    """Return means over the prompts a measure applies to; `mean_tokens` per block, `tokens_per_prompt` over all."""
    costs = [one.tokens for one in judgements]
    blocks = [cost for cost in costs if cost]
    return {
        **_means(judgements, "gold_recall", "text_recall", "passage_recall", "precision", "found", "carried"),
        "mean_tokens": mean(blocks, 1),
        "max_tokens": max(blocks, default=0),
        "tokens_per_prompt": mean(costs, 1),
        "over_budget": sum(one.is_over_budget for one in judgements),
    }


def served(outcomes: Iterable[tuple[GoldQuery, Judgement]]) -> dict[str, Any]:
    """Return the figures overall and by kind; every mean is over prompts, not over kinds.

    `spoken` (or `kept`) is the share of the answerable prompts that got a block, `silent` the share of the others that
    got none. Prompts of the kind `adversarial` count only in `by_kind` and `silent_by_kind`.
    """
    answerable: dict[str, list[Judgement]] = defaultdict(list)
    others: dict[str, list[Judgement]] = defaultdict(list)
    for question, judgement in outcomes:
        (answerable if question.is_answerable else others)[question.kind].append(judgement)
    answered = _answered(list(chain(*answerable.values())))
    unanswered = _unanswered([one for kind, ones in others.items() if kind != ADVERSARIAL for one in ones])
    return {
        "kept": answered["spoken"],
        **{name: answered[name] for name in ("spoken", "found", "carried", "precision")},
        "silent": unanswered["silent"],
        "tokens_answerable": answered["tokens"],
        "tokens_unanswerable": unanswered["tokens"],
        "silent_by_kind": {kind: _unanswered(ones)["silent"] for kind, ones in sorted(others.items())},
        "by_kind": {
            **{kind: _answered(ones) for kind, ones in sorted(answerable.items())},
            **{kind: _unanswered(ones) for kind, ones in sorted(others.items())},
        },
    }


def _answered(judgements: Sequence[Judgement]) -> dict[str, float | None]:
    return {
        "prompts": len(judgements),
        "spoken": mean(one.tokens > 0 for one in judgements),
        **_means(judgements, "found", "carried", "precision"),
        "tokens": mean((one.tokens for one in judgements), 1),
    }


def _unanswered(judgements: Sequence[Judgement]) -> dict[str, float | None]:
    return {
        "prompts": len(judgements),
        "silent": mean(one.tokens == 0 for one in judgements),
        "tokens": mean((one.tokens for one in judgements), 1),
    }


def _means(judgements: Sequence[Judgement], *measures: str) -> dict[str, float | None]:
    return {name: mean(getattr(one, name) for one in judgements) for name in measures}


def percentile(values: Sequence[float], share: float) -> float | None:
    """Return the smallest value that this share of them does not exceed."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)] if ordered else None


def mean(values: Iterable[float | None], digits: int = 4) -> float | None:
    """Return the mean of the values that are not None, or None if there are none."""
    there = [value for value in values if value is not None]
    return round(fmean(there), digits) if there else None


def entries(text: str) -> dict[str, ShownMemory]:
    """Parse a block: what it shows by memory id. Only memhook's own lines start at the margin."""
    titles: dict[str, str] = {}
    bodies: dict[str, list[str]] = {}
    current = ""
    for line in text.split("\n"):
        before, _, after = line.rpartition(_URN)
        own = _AFTER_URN.fullmatch(after) if _URN in line and line[0] != " " else None
        if own:
            current = own["id"]
            titles[current], bodies[current] = _title(before), []
        elif line[:1] not in ("", " "):
            current = ""
        elif current:
            bodies[current].append(line)
    return {key: ShownMemory(title, "\n".join(bodies[key])) for key, title in titles.items()}


def _title(before: str) -> str:
    """Return the title in the text before the URN of a header line; it may be empty."""
    before = before.removeprefix("- ")
    end = before.rfind("**", 2) if before.startswith("**") else -1
    return before[2:end] if end >= 0 else ""


def _text_recall(gold: Sequence[Memory], shown: Mapping[str, ShownMemory]) -> float:
    kept = sum(_carried(memory.content, shown[memory.id]) for memory in gold if memory.id in shown)
    return kept / max(1, sum(len(_collapsed(memory.content)) for memory in gold))


def _passage_recall(question: GoldQuery, shown: Mapping[str, ShownMemory]) -> float | None:
    common = _common_words(question)
    total = sum(map(len, common.values()))
    seen = (words & set(terms(shown[key].text)) for key, words in common.items() if key in shown)
    return sum(map(len, seen)) / total if total else None


@lru_cache(maxsize=8)  # one question is judged at many budgets
def _common_words(question: GoldQuery) -> dict[str, set[str]]:
    asked = set(terms(question.prompt))
    return {memory.id: asked & set(terms(f"{memory.title}\n{memory.content}")) for memory in question.gold}


def _carried(content: str, entry: ShownMemory) -> int:
    """Count the characters of `content` that the entry has, word by word, with white space collapsed."""
    words = content.split()
    matches = SequenceMatcher(None, words, entry.text.split(), autojunk=False).get_matching_blocks()
    return sum(len(" ".join(words[match.a : match.a + match.size])) for match in matches)


def _collapsed(text: str) -> str:
    return " ".join(text.split())
