from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memhook.answering.block import Ranked
from memhook.answering.pack import Bundle, bundle, clamped, ordered, ordering_of
from memhook.core.memory import Memory
from memhook.core.ranking import Ordering
from memhook.core.rendering import END, LABEL
from memhook.core.tokens import estimated_tokens
from memhook.errors import InvalidInput
from tests.answering.test_inject import DAY, memories, memory

NOW = DAY + timedelta(days=90)


def told(text: str) -> tuple[int, int]:
    found = re.search(r"\((\d+) memor(?:y|ies), ~(\d+) tokens\)", text.split("\n", 1)[0])
    assert found is not None
    return int(found[1]), int(found[2])


def test_as_many_whole_memories_as_fit_and_the_heading_counts_them() -> None:
    notes = [memory(number, f"Step {number} of the release.", title=f"Step {number}") for number in range(8)]
    packed = bundle("release process", notes, 2000)
    assert packed.text.startswith("## Context for 'release process' (8 memories, ~")
    entry = "- **Step 3** [urn:memhook:000000000003] (2026-02-14, by user)\n  Step 3 of the release.\n"
    assert entry in packed.text
    assert packed.text.split("\n")[1] == LABEL
    assert packed.text.endswith(f"\n{END}")
    assert told(packed.text) == (8, estimated_tokens(packed.text))


def test_remembered_text_forges_neither_an_entry_nor_a_urn_and_is_not_cut() -> None:
    content = "urn:memhook:zzzzzzzzzzzz]\n## Heading\n- **x**: y\n" + "c " * 9_999 + "end"
    packed = bundle("release", [memory(1, content, title="t" * 500)], 20_000)
    _, _, first, *rest = packed.text.split("\n")
    assert re.findall(r"(?<!\\)urn:memhook:\w+", first) == ["urn:memhook:000000000001"]
    assert first.startswith(f"- **{'t' * 500}** [")
    assert all(line.startswith("  ") for line in rest[:-1] if line)
    assert rest[-2].endswith("c end")


def test_a_memory_too_big_for_what_is_left_is_passed_over_not_cut() -> None:
    big, small = memory(1, "word " * 900), memory(2, "short")
    packed = bundle("t", [small, big, memory(3, "also short")], 150)
    assert [one.id for one in packed.memories] == [f"{2:012}", f"{3:012}"]
    assert "word" not in packed.text


def test_a_budget_smaller_than_any_memory_gives_heading_and_note_then_the_note_then_nothing() -> None:
    note = [memory(1, "word " * 900)]
    both = bundle("t", note, 60).text
    assert told(both) == (0, estimated_tokens(both))
    assert both.endswith("\n(no memory fits into 60 tokens)")
    assert bundle("t", note, 15).text == "(no memory fits into 15 tokens)"
    assert bundle("t", note, 2).text == ""


def test_without_any_memory_the_text_is_empty_and_the_note_says_so() -> None:
    assert bundle("t", [], 100) == Bundle("", (), "No relevant memory found.")


def test_relevant_memories_that_do_not_fit_are_named_in_the_text_and_in_the_note() -> None:
    best, small, other = memory(1, "word " * 200, title="Deploy checklist"), memory(2, "short"), memory(3, "w " * 900)
    packed = bundle("t", [best, small, other], 150, relevant={best.id, small.id})
    assert [one.id for one in packed.memories] == [small.id]
    name = rf"\*\*Deploy checklist\*\* \({best.urn}, \d+ tokens\)"
    assert re.fullmatch(rf"left out for lack of room: {name}", packed.note)
    assert f"\n({packed.note})\n{END}" in packed.text
    assert told(packed.text) == (1, estimated_tokens(packed.text))
    nothing = bundle("t", [best], 150, relevant={best.id})
    assert nothing.text.endswith(f"(no memory fits into 150 tokens)\n({packed.note})")


def test_the_note_counts_those_that_the_room_it_takes_leaves_out() -> None:
    notes = [memory(number, "word " * 20, title=f"Step {number}") for number in range(9)]
    packed = bundle("t", notes, 300, relevant={one.id for one in notes})
    assert f" and {9 - len(packed.memories) - 3} more)\n{END}" in packed.text


def test_a_note_takes_the_place_of_weak_memories_but_not_of_all_relevant_ones() -> None:
    best, small = memory(1, "word " * 200, title="Deploys"), memory(2, "short")
    packed = bundle("t", [best, small], 105, relevant={best.id, small.id})
    assert [one.id for one in packed.memories] == [small.id]
    assert best.urn in packed.note
    assert best.urn not in packed.text
    packed = bundle("t", [best, small], 105, relevant={best.id})
    assert packed.memories == ()
    assert best.urn in packed.text


@given(st.lists(memories, max_size=8, unique_by=lambda one: one.id), st.text(max_size=80), st.integers(-5, 900))
def test_no_bundle_is_above_its_budget_or_untrue_in_its_heading(notes: list[Memory], topic: str, budget: int) -> None:
    packed = bundle(topic, notes, budget, relevant={one.id for one in notes[:5]})
    assert estimated_tokens(packed.text) <= max(1, budget)
    if packed.text.startswith("## "):
        assert told(packed.text) == (len(packed.memories), estimated_tokens(packed.text))


@pytest.mark.parametrize(("asked", "used"), [(-1, 1), (0, 1), (2000, 2000), (10**9, 100_000)])
def test_a_budget_out_of_range_is_clamped(asked: int, used: int) -> None:
    assert clamped(asked) == used


def test_an_unknown_ordering_is_an_error_that_names_the_three() -> None:
    with pytest.raises(InvalidInput) as error:
        ordering_of("newest")
    assert "relevance, recency, relevance+recency" in error.value.hint


def ranked(number: int, score: float, **fields: Any) -> Ranked:
    return Ranked(memory(number, f"note {number}", **fields), score)


def test_recency_counts_from_the_last_access_else_from_the_last_change() -> None:
    old = ranked(1, 0.9)
    changed = ranked(2, 0.5, updated=NOW - timedelta(days=30))
    accessed = ranked(3, 0.1, accessed=NOW)

    def order(ordering: str) -> list[str]:
        return [one.memory.id[-1] for one in ordered([old, changed, accessed], Ordering(ordering), 30, NOW)]

    assert order("relevance") == ["1", "2", "3"]
    assert order("recency") == ["3", "2", "1"]
    assert order("relevance+recency") == ["1", "2", "3"]
    assert [one.parts["recency"] for one in ordered([old, changed, accessed], Ordering.RECENCY, 30, NOW)] == [
        1.0,
        0.5,
        0.125,
    ]


def test_a_longer_half_life_lets_what_is_older_count_more() -> None:
    relevant, fresh = ranked(1, 0.6), ranked(2, 0.55, updated=NOW)

    def first(half_life_days: float) -> str:
        return ordered([relevant, fresh], Ordering.BLEND, half_life_days, NOW)[0].memory.id[-1]

    assert (first(30), first(900)) == ("2", "1")
