"""What `memhook eval` measures, each measure defined once.

ranking_recall(gold, ranked, k)    of the gold memories, the share among the first k of the ranking
judged(question, parts, budget)    what one block is worth to one prompt: a Judgement
carried(question, text)            whether the words that a prompt needs stand in a text
remembered_chars(text, memories)   how much of a block is not framing
summed_up(judgements)              a Judgement for each prompt, averaged into the numbers of one budget
served(outcomes)                   how often a block came, what it brought and cost, overall and by the kind of prompt
percentile(values, share)          the smallest value that this share of them does not exceed

The blocks are read as a model reads them, from the finished text: a memory is shown when its URN stands in a line of
memhook's own, and what is shown of it is its title and the lines below. So nothing that rendering or packing does
wrong can hide behind what they say about themselves.
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
"""The kind of prompt about something that is in the store and does not answer it: to speak up is no mistake."""

_URN = "urn:memhook:"
_AFTER_URN = re.compile(
    rf"(?P<id>[a-z0-9]{{{ID_LENGTH}}})\]?"
    r"(?: · [-\w, ]+| \([-\w, ]+\))?"  # inject and pack say there when it was written, and by whom
)
_CUT = re.compile(r"^… | …$|…$")


@dataclass(frozen=True, slots=True)
class Question:
    """A prompt and the memories that answer it, none when nothing does."""

    prompt: str
    kind: str
    gold: tuple[Memory, ...]
    needs: str = ""
    """Words of a gold memory that the block must carry."""

    @property
    def is_answerable(self) -> bool:
        return bool(self.gold)


@dataclass(frozen=True, slots=True)
class Entry:
    """What a block shows of one memory."""

    title: str
    body: str

    @property
    def text(self) -> str:
        return f"{self.title}\n{self.body}"


@dataclass(frozen=True, slots=True)
class Judgement:
    """One block for one prompt; `tokens` is 0 where there is none.

    gold_recall     of the gold memories, the share that the block names
    text_recall     of the gold memories' characters, the share that the block carries
    passage_recall  of the content words that the prompt and a gold memory have in common, the share that the block
                    shows from that memory; None when they have none in common
    precision       of the memories in the block, the share that is gold; None without a block
    found           1 where the block names a gold memory, else 0
    carried         1 where the words that the prompt needs stand in the block, else 0; None where none are given

    All of these are None for a prompt that nothing answers.
    """

    tokens: int
    is_over_budget: bool
    gold_recall: float | None = None
    text_recall: float | None = None
    passage_recall: float | None = None
    precision: float | None = None
    found: int | None = None
    carried: int | None = None

    @property
    def is_spoken(self) -> bool:
        return self.tokens > 0


def ranking_recall(gold: Iterable[str], ranked: Sequence[str], k: int) -> float:
    wanted = set(gold)
    return len(wanted & set(ranked[:k])) / len(wanted)


def judged(question: Question, parts: Sequence[str], budget: int) -> Judgement:
    """`parts` are the finished texts that go out for the prompt, none where memhook is silent."""
    tokens = sum(map(estimated_tokens, parts))
    over = tokens > budget
    if not question.is_answerable:
        return Judgement(tokens, over)
    shown = entries("\n".join(parts))
    named = [memory for memory in question.gold if memory.id in shown]
    return Judgement(
        tokens,
        over,
        gold_recall=len(named) / len(question.gold),
        text_recall=_text_recall(question.gold, shown),
        passage_recall=_passage_recall(question, shown),
        precision=len(named) / len(shown) if shown else None,
        found=int(bool(named)),
        carried=carried(question, "\n".join(parts)),
    )


def carried(question: Question, text: str) -> int | None:
    """1 where the words that the prompt needs stand in the text, else 0; None where none are given."""
    return int(_collapsed(question.needs) in _collapsed(text)) if question.needs else None


def remembered_chars(text: str, memories: Mapping[str, Memory]) -> int:
    """Characters of a block that are a memory's own title or content, indentation not counted; the rest is framing."""
    return sum(_own_chars(entry, memories[key]) for key, entry in entries(text).items() if key in memories)


def _own_chars(entry: Entry, memory: Memory) -> int:
    whole = _collapsed(f"{memory.title}\n{memory.content}")
    pieces = (piece for line in entry.text.split("\n") for piece in line.split("…"))
    return sum(len(own) for piece in pieces if (own := _collapsed(piece)) and own in whole)


def summed_up(judgements: Sequence[Judgement]) -> dict[str, float | int | None]:
    """Means over the prompts a measure applies to; `mean_tokens` over the blocks, `tokens_per_prompt` over all."""
    costs = [one.tokens for one in judgements]
    blocks = [cost for cost in costs if cost]
    return {
        "gold_recall": mean(one.gold_recall for one in judgements),
        "text_recall": mean(one.text_recall for one in judgements),
        "passage_recall": mean(one.passage_recall for one in judgements),
        "precision": mean(one.precision for one in judgements),
        "found": mean(one.found for one in judgements),
        "carried": mean(one.carried for one in judgements),
        "mean_tokens": mean(blocks, 1),
        "max_tokens": max(blocks, default=0),
        "tokens_per_prompt": mean(costs, 1),
        "over_budget": sum(one.is_over_budget for one in judgements),
    }


def served(outcomes: Iterable[tuple[Question, Judgement]]) -> dict[str, Any]:
    """What the prompts got, overall and by kind; every mean is over prompts, not over kinds.

    `spoken` (or `kept`): of the answerable prompts, the share that got a block. `silent`: of the others, the share that
    got none. Prompts of the kind `adversarial` count in `by_kind` and `silent_by_kind` alone.
    """
    answerable: dict[str, list[Judgement]] = defaultdict(list)
    others: dict[str, list[Judgement]] = defaultdict(list)
    for question, judgement in outcomes:
        (answerable if question.is_answerable else others)[question.kind].append(judgement)
    answered = _answered(list(chain(*answerable.values())))
    unanswered = _unanswered([one for kind, ones in others.items() if kind != ADVERSARIAL for one in ones])
    return {
        "kept": answered["spoken"],
        "spoken": answered["spoken"],
        "found": answered["found"],
        "carried": answered["carried"],
        "precision": answered["precision"],
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
        "spoken": mean(one.is_spoken for one in judgements),
        "found": mean(one.found for one in judgements),
        "carried": mean(one.carried for one in judgements),
        "precision": mean(one.precision for one in judgements),
        "tokens": mean((one.tokens for one in judgements), 1),
    }


def _unanswered(judgements: Sequence[Judgement]) -> dict[str, float | None]:
    return {
        "prompts": len(judgements),
        "silent": mean(not one.is_spoken for one in judgements),
        "tokens": mean((one.tokens for one in judgements), 1),
    }


def percentile(values: Sequence[float], share: float) -> float | None:
    ordered = sorted(values)
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)] if ordered else None


def mean(values: Iterable[float | None], digits: int = 4) -> float | None:
    """Of those that are there; None when none is."""
    there = [value for value in values if value is not None]
    return round(fmean(there), digits) if there else None


def entries(text: str) -> dict[str, Entry]:
    """What a block shows, by the memory's id; memhook's own lines stand at the margin, remembered ones do not."""
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
    return {key: Entry(title, "\n".join(bodies[key])) for key, title in titles.items()}


def _title(before: str) -> str:
    """The title in what stands before the URN in a line of memhook's own; that may be none."""
    before = before.removeprefix("- ")
    end = before.rfind("**", 2) if before.startswith("**") else -1
    return before[2:end] if end >= 0 else ""


def _text_recall(gold: Sequence[Memory], shown: Mapping[str, Entry]) -> float:
    carried = sum(_carried(memory.content, shown[memory.id]) for memory in gold if memory.id in shown)
    return carried / max(1, sum(len(_collapsed(memory.content)) for memory in gold))


def _passage_recall(question: Question, shown: Mapping[str, Entry]) -> float | None:
    common = _common_words(question)
    total = sum(map(len, common.values()))
    seen = (words & set(terms(shown[key].text)) for key, words in common.items() if key in shown)
    return sum(map(len, seen)) / total if total else None


@lru_cache(maxsize=8)  # one question is judged at many budgets
def _common_words(question: Question) -> dict[str, set[str]]:
    asked = set(terms(question.prompt))
    return {memory.id: asked & set(terms(f"{memory.title}\n{memory.content}")) for memory in question.gold}


def _carried(content: str, entry: Entry) -> int:
    """Characters of `content`, runs of white space counted as one, that stand in the entry."""
    whole = _collapsed(content)
    body = _CUT.sub("", _CUT.sub("", _collapsed(entry.body)))
    title = _CUT.sub("", _collapsed(entry.title))
    start = whole.find(body) if body else -1
    if start < 0 and body:
        return _aligned(whole, f"{title} {body}")
    # A title made from the first line carries that line, unless the body does.
    first = whole.find(title, 0, len(title) + 8) if title else -1
    from_title = max(0, min(len(title), start - first) if body else len(title)) if first >= 0 else 0
    return min(len(whole), len(body) + from_title)


def _aligned(whole: str, shown: str) -> int:
    """The same where what is shown is not one stretch of the content, or was escaped: word by word."""
    words = whole.split()
    matches = SequenceMatcher(None, words, shown.split(), autojunk=False).get_matching_blocks()
    return sum(len(" ".join(words[match.a : match.a + match.size])) for match in matches)


def _collapsed(text: str) -> str:
    return " ".join(text.split())
