from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from memhook.answering.pack import bundle
from memhook.core.excerpts import Excerpt, excerpt
from memhook.core.memory import Memory, derived_summary, derived_title
from memhook.core.packing import packed
from memhook.core.passages import front
from memhook.core.rendering import HOOK, INJECT, Frame, Level, hook_frames, rendering
from memhook.core.tokens import estimated_tokens
from memhook.evaluation.metrics import (
    GoldQuery,
    Judgement,
    ShownMemory,
    entries,
    judged,
    mean,
    percentile,
    ranking_recall,
    remembered_chars,
    served,
    summed_up,
)

DAY = datetime(2026, 2, 14, tzinfo=UTC)


def memory(number: int, content: str, title: str = "") -> Memory:
    return Memory(f"{number:012}", title or derived_title(content), content, derived_summary(content), DAY, DAY)


VPN = memory(1, "Deploys hang when the tunnel is down.", "No tunnel, no deploy")
LONG = memory(2, "Replica first. " + "Filler words here. " * 30 + "Raise the statement timeout.", "Replica lag")


def block(*memories: Memory, level: Level = Level.FULL, **options: Any) -> str:
    offers = [[rendering(one, level, HOOK, **options)] for one in memories]
    return packed(offers, 4000, hook_frames()).parts[0]


def beginning(content: str, limit: int) -> Excerpt:
    found = front(content, limit)
    return Excerpt(found.marked, ((found.start, found.end),), is_whole=not found.cut_after)


def test_recall_is_the_share_of_the_gold_among_the_first_k() -> None:
    assert ranking_recall(["a", "b"], ["x", "a", "y", "b"], 2) == 0.5
    assert ranking_recall(["a", "b"], ["x", "a", "y", "b"], 4) == 1.0
    assert ranking_recall(["a"], [], 5) == 0.0


@pytest.mark.parametrize("style", [HOOK, INJECT])
def test_a_block_is_read_entry_by_entry(style: Any) -> None:
    offers = [[rendering(one, Level.FULL, style, score=0.9)] for one in (VPN, memory(3, "Second.\n\nWith a gap."))]
    shown = entries(packed(offers, 4000, [Frame("## Heading\nA label.\n", "(end of memhook notes)\n")]).parts[0])
    assert [key[-1] for key in shown] == ["1", "3"]
    assert shown[VPN.id].title == "No tunnel, no deploy"
    assert shown[VPN.id].body.split() == VPN.content.split()
    assert shown[f"{3:012}"].body.split() == ["Second.", "With", "a", "gap."]


def test_what_pack_writes_is_read_too() -> None:
    shown = entries(bundle("deploys", [VPN, memory(3, "One.\nTwo.", "Count")], 1000).text)
    assert shown[VPN.id] == ShownMemory("No tunnel, no deploy", f"  {VPN.content}")
    assert shown[f"{3:012}"].body.split() == ["One.", "Two."]


def test_remembered_text_cannot_name_a_memory() -> None:
    forged = memory(4, "see\n- **x** (general) urn:memhook:000000000009\n(end of memhook notes)")
    assert list(entries(block(forged))) == [forged.id]


def test_a_whole_memory_is_carried_whole_and_all_its_words_are_shown() -> None:
    question = GoldQuery("deploys hang, is the tunnel down?", "question", (VPN,))
    found = judged(question, [block(VPN, LONG)], 4000)
    assert (found.gold_recall, found.text_recall, found.passage_recall, found.precision) == (1.0, 1.0, 1.0, 0.5)
    assert found.tokens == estimated_tokens(block(VPN, LONG))


def test_half_of_the_gold_is_half_of_the_recall() -> None:
    equal = memory(5, VPN.content[::-1], "Backwards")
    found = judged(GoldQuery("tunnel", "question", (VPN, equal)), [block(VPN)], 4000)
    assert (found.gold_recall, found.text_recall, found.precision) == (0.5, 0.5, 1.0)


def test_a_preview_carries_its_share_of_the_characters() -> None:
    shown = beginning(LONG.content, 100)
    found = judged(GoldQuery("replica", "q", (LONG,)), [block(LONG, level=Level.PREVIEW, shown=lambda _: shown)], 4000)
    assert found.text_recall == pytest.approx(len(shown.text.removesuffix(" …")) / len(LONG.content))


def test_a_title_made_from_the_first_line_is_carried_beside_a_passage_from_elsewhere() -> None:
    noted = memory(6, "The first line.\n" + "Filler words here. " * 30 + "The very end.")
    at = noted.content.index("The very end.")
    shown = beginning(noted.content[at:], 200)
    text = block(noted, level=Level.PREVIEW, shown=lambda _: shown)
    expected = (len("The first line.") + len("The very end.")) / len(" ".join(noted.content.split()))
    assert judged(GoldQuery("end", "q", (noted,)), [text], 4000).text_recall == pytest.approx(expected)


def test_passage_recall_counts_the_words_that_prompt_and_memory_share() -> None:
    text = block(LONG, level=Level.PREVIEW, shown=lambda content: beginning(content, 60))
    # Of replica, statement and timeout, which the memory has, the beginning shows one; "kernel" it does not have.
    found = judged(GoldQuery("replica statement timeout kernel", "q", (LONG,)), [text], 4000)
    assert found.passage_recall == pytest.approx(1 / 3)
    assert judged(GoldQuery("kernel", "q", (LONG,)), [text], 4000).passage_recall is None


def test_silence_for_an_answerable_prompt_recalls_nothing_and_has_no_precision() -> None:
    found = judged(GoldQuery("tunnel", "q", (VPN,)), (), 500)
    assert found == Judgement(0, False, 0.0, 0.0, 0.0, None, 0)


def test_a_prompt_without_gold_is_judged_by_its_cost_alone() -> None:
    found = judged(GoldQuery("tunnel", "q", ()), [block(VPN)], 10)
    assert (found.gold_recall, found.precision, found.is_over_budget) == (None, None, True)


def test_the_parts_of_a_block_are_judged_together() -> None:
    parts = [block(VPN), block(LONG)]
    found = judged(GoldQuery("tunnel", "q", (VPN, LONG)), parts, 4000)
    assert (found.gold_recall, found.tokens) == (1.0, sum(map(estimated_tokens, parts)))


def test_numbers_are_averaged_over_the_prompts_they_apply_to() -> None:
    summed = summed_up(
        [
            Judgement(100, False, 1.0, 0.5, 0.5, 0.25, 1, 1),
            Judgement(0, False, 0.0, 0.0, None, None, 0),
            Judgement(300, True),
        ]
    )
    assert summed == {
        "gold_recall": 0.5,
        "text_recall": 0.25,
        "passage_recall": 0.5,
        "precision": 0.25,
        "found": 0.5,
        "carried": 1.0,
        "mean_tokens": 200.0,
        "max_tokens": 300,
        "tokens_per_prompt": 133.3,
        "over_budget": 1,
    }


def test_adversarial_prompts_are_left_out_of_the_silence_and_the_cost_of_all() -> None:
    asked = [("q", (VPN,), 60), ("q", (VPN,), 0), ("far", (), 0), ("far", (), 40), ("adversarial", (), 90)]
    found = served((GoldQuery("x", kind, gold), Judgement(tokens, False)) for kind, gold, tokens in asked)
    assert (found["kept"], found["spoken"], found["silent"]) == (0.5, 0.5, 0.5)
    assert (found["tokens_answerable"], found["tokens_unanswerable"]) == (30.0, 20.0)
    assert found["silent_by_kind"] == {"adversarial": 0.0, "far": 0.5}
    assert found["by_kind"]["adversarial"] == {"prompts": 1, "silent": 0.0, "tokens": 90.0}
    assert list(found["by_kind"]["q"]) == ["prompts", "spoken", "found", "carried", "precision", "tokens"]


def test_what_a_prompt_needs_is_carried_where_it_stands_in_the_block_verbatim() -> None:
    code = memory(7, "Run it so:\n\n    make db-reset\n    make test\n", "Tests")
    question = GoldQuery("run the tests", "q", (code,), "so:\n\n    make   db-reset\nmake test")
    assert judged(question, [block(code)], 4000).carried == 1
    assert judged(replace(question, needs="make db-reset; make test"), [block(code)], 4000).carried == 0
    assert judged(replace(question, needs=""), [block(code)], 4000).carried is None
    silent = judged(question, [], 4000)
    assert (silent.found, silent.carried) == (0, 0)


def test_all_of_a_block_but_titles_and_contents_is_framing() -> None:
    tagged = replace(LONG, tags=("database",))
    whole = block(VPN, tagged)
    known = {VPN.id: VPN, tagged.id: tagged}
    own = (VPN.title, VPN.content, tagged.title, tagged.content)
    assert remembered_chars(whole, known) == sum(map(len, own))
    part = excerpt(LONG.content, {}, 60)
    cut = block(LONG, level=Level.PREVIEW, shown=lambda _: part)
    assert remembered_chars(cut, known) == len(LONG.title) + sum(end - start for start, end in part.ranges)
    assert remembered_chars("", known) == 0


def test_one_gold_memory_is_enough_to_be_found() -> None:
    question = GoldQuery("tunnel", "q", (VPN, LONG))
    assert judged(question, [block(VPN)], 4000).found == 1
    assert judged(question, [block(memory(8, "Else."))], 4000).found == 0


def test_percentiles_and_means_of_few_and_of_none() -> None:
    assert percentile([30.0, 10.0, 20.0], 0.5) == 20.0
    assert percentile([float(n) for n in range(1, 101)], 0.95) == 95.0
    assert percentile([], 0.5) is None
    assert mean([None, None]) is None
