"""A hook's block over any memories: its bounds, and what a session has seen."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

from hypothesis import given, settings
from hypothesis import strategies as st

from memhook.answering.account import Account
from memhook.answering.block import Block, Budget, Extent, Ranked, hook_block
from memhook.core.memory import Memory, content_hash, derived_summary, derived_title
from memhook.core.packing import PartLimit, utf8_bytes, utf16_units
from memhook.core.rendering import Level, Rendering, hook_frames
from memhook.core.tokens import estimated_tokens
from memhook.store.ledger import Shown

DAY = datetime(2026, 2, 14, tzinfo=UTC)
PLENTY = Budget(100_000, hook_frames())
STORY = " ".join(f"On day {day} `shard_{day}` was looked at by somebody." for day in range(60))

pieces = st.sampled_from(
    [
        "alpha beta. ",
        "gamma delta ",
        "Fix: `run` it. ",
        "\n\n",
        "- item\n",
        "```\n",
        "    code\n",
        "日本語。",
        "👍 ",
        "x" * 70,
    ]
)
contents = st.one_of(st.lists(pieces, max_size=80).map("".join), st.text(max_size=900))
extents = st.builds(Extent, st.integers(40, 400), st.integers(0, 2500), st.booleans())
weightings = st.dictionaries(st.sampled_from(["alpha", "gamma", "item"]), st.floats(0, 5), max_size=3)
frames = st.booleans().map(lambda is_labelled: hook_frames(is_labelled=is_labelled))
limits = st.one_of(
    st.none(), st.builds(PartLimit, st.integers(300, 4000), st.sampled_from([len, utf16_units, utf8_bytes]))
)
budgets = st.builds(Budget, st.integers(1, 3000), frames, limits)


def memory(number: int, content: str) -> Memory:
    title, summary = derived_title(content), derived_summary(content)
    return Memory(f"{number:012d}", title, content, summary, DAY, DAY, content_hash=content_hash(content))


def ranked(*texts: str) -> list[Ranked]:
    return [Ranked(memory(number, text), 0.9) for number, text in enumerate(texts)]


def seen_after(block: Block, account: Account | None = None) -> Account:
    seen = {name: list(showings) for name, showings in account.shown.items()} if account else {}
    for one in block.considered:
        if not one.reason:
            seen.setdefault(one.memory, []).append(Shown(one.content_hash, one.level, one.passages))
    return Account(seen)


def test_only_the_first_gets_what_the_best_may_have() -> None:
    assert [Extent(200, 1500).steps(rank)[0] for rank in range(3)] == [1500, 200, 200]
    assert [Extent(200, 0).steps(rank)[0] for rank in range(2)] == [200, 200]


def test_where_the_budget_is_short_the_best_is_cut_by_halves() -> None:
    assert Extent(200, 1500).steps(0) == (1500, 750, 375, 200, 100)
    assert Extent(200, 1500).steps(1) == (200,)
    bounds = [replace(PLENTY, tokens=tokens) for tokens in (80, 120, 200, 400, 4000)]
    sizes = [len(hook_block(ranked(STORY), one, "preview", Extent(200, 3000), {}, Account()).text) for one in bounds]
    assert sizes == sorted(set(sizes))


def test_a_filled_block_shows_less_of_what_does_not_fit_or_what_is_behind_it() -> None:
    def shown(tokens: int, *, is_filled: bool) -> list[str]:
        extent, budget = Extent(200, is_filled=is_filled), replace(PLENTY, tokens=tokens)
        block = hook_block(ranked(STORY, STORY, "Use tabs."), budget, "preview", extent, {}, Account())
        assert estimated_tokens(block.text) <= tokens
        return [one.memory[-1] for one in block.considered if not one.reason]

    assert shown(210, is_filled=False) == ["0"]
    assert shown(210, is_filled=True) == ["0", "1"]
    assert shown(180, is_filled=True) == ["0", "2"]


def test_what_is_missing_of_a_short_memory_completes_it() -> None:
    text = "The ledger is off in May. " * 8 + "Then it was closed."
    first = hook_block(ranked("other", text), PLENTY, "preview", Extent(200, 1500), {"ledger": 1.0}, Account())
    best = ranked("other", text)[1:]
    again = hook_block(best, PLENTY, "preview", Extent(200, 1500), {"ledger": 1.0}, seen_after(first))
    assert "Then it was closed." not in first.text
    assert "Then it was closed." in again.text


def test_what_was_shown_as_a_summary_still_comes_as_a_passage_and_then_not_again() -> None:
    found = ranked(f"The ledger job reads the replica. {'It was watched for a week. ' * 40}Fix: read from the primary.")
    summary = Budget(150, hook_frames())
    light = hook_block(found, summary, "cascade", Extent(200), {}, Account())
    assert [one.level for one in light.considered] == ["light"]
    account = seen_after(light)
    block = hook_block(found, Budget(4_000, hook_frames()), "preview", Extent(200, 1_500), {}, account)
    assert "Fix: read from the primary." in block.text
    account = seen_after(block, account)
    assert not hook_block(found, summary, "cascade", Extent(200), {}, account).parts


def test_two_passages_that_were_seen_apart_are_not_new_together() -> None:
    content = f"Alpha comes first. {'Some words. ' * 30}Gamma comes last."
    seen = Account()
    for term in ("alpha", "gamma"):
        seen = seen_after(hook_block(ranked(content), PLENTY, "preview", Extent(40), {term: 1.0}, seen), seen)
    assert len(seen.shown["000000000000"]) == 2
    both = hook_block(ranked(content), PLENTY, "preview", Extent(60), {"alpha": 1.0, "gamma": 1.0}, seen)
    assert both.parts == ()


@settings(deadline=None)
@given(st.lists(contents, max_size=6), budgets, extents, weightings)
def test_the_bounds_hold_whatever_the_best_may_have(
    texts: list[str], budget: Budget, extent: Extent, weights: dict[str, float]
) -> None:
    block = hook_block(ranked(*texts), budget, "preview", extent, weights, Account())
    assert sum(map(estimated_tokens, block.parts)) <= block.tokens <= budget.tokens
    limit = budget.part_limit
    assert limit is None or all(limit.measure(part) <= limit.size for part in block.parts)
    assert [one.memory for one in block.considered] == [f"{number:012d}" for number in range(len(texts))]


@settings(deadline=None)
@given(st.lists(contents, max_size=4), extents, st.lists(weightings, max_size=4))
def test_a_session_sees_nothing_twice(texts: list[str], extent: Extent, prompts: list[dict[str, float]]) -> None:
    account = Account()
    for weights in prompts:
        account = seen_after(hook_block(ranked(*texts), PLENTY, "preview", extent, weights, account), account)
        again = hook_block(ranked(*texts), PLENTY, "preview", extent, weights, account)
        # What is left is less of a memory than the budget allowed, from a part that was not seen.
        for one, text in zip(again.considered, texts, strict=True):
            known = {
                at for shown in account.shown[one.memory] for start, end in shown.passages for at in range(start, end)
            }
            fresh = [at for start, end in one.passages for at in range(start, end) if at not in known]
            assert one.reason or any(not text[at].isspace() for at in fresh)


def test_a_memory_that_was_changed_since_is_new() -> None:
    seen = Account({"000000000000": [Shown("the hash of another text", "full", ())]})
    assert hook_block(ranked("The ledger reads the primary."), PLENTY, "preview", Extent(200), {}, seen).parts


def test_a_passage_is_new_when_more_than_half_of_it_was_not_seen() -> None:
    story = memory(0, "x" * 100)
    offered = Rendering(Level.PREVIEW, "", 1, passages=((0, 100),))
    for known, is_new in ((49, True), (51, False)):
        account = Account({story.id: [Shown(story.content_hash, "preview", ((0, known),))]})
        assert account.is_new(story)(offered) is is_new
