from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memhook.core.excerpts import excerpt
from memhook.core.memory import Memory, derived_summary, derived_title
from memhook.core.packing import Packed, PartLimit, Reason, packed, utf8_bytes, utf16_units
from memhook.core.rendering import HOOK, INJECT, Frame, Level, Rendering, Renderings, Style, hook_frames, rendering
from memhook.core.tokens import estimated_tokens

FRAMES = hook_frames()
HEAD, HEAD_2 = (frame.tokens for frame in FRAMES)
BARE = (Frame(""),)
DAY = datetime(2026, 2, 14, tzinfo=UTC)


def piece(tokens: int, overhead: int = 5, size: int = 0) -> Rendering:
    return Rendering(Level.FULL, "x" * (size or tokens) + "\n", tokens, header=lambda: "a " * overhead)


def pieces(*sizes: Sequence[int], overhead: int = 5) -> list[list[Rendering]]:
    return [[piece(tokens, overhead) for tokens in levels] for levels in sizes]


def taken(result: Packed) -> list[tuple[int, int]]:
    return [(choice.index, choice.rendering.tokens) for choice in result.chosen]


def left_out(result: Packed) -> list[tuple[int, Reason]]:
    return list(result.left_out.items())


def test_each_memory_is_taken_at_the_richest_level_that_fits_what_is_left() -> None:
    assert taken(packed(pieces([60, 30], [60, 30], [60, 30, 9]), 100, BARE)) == [(0, 60), (1, 30), (2, 9)]


def test_the_cascade_stops_where_not_even_the_poorest_level_fits() -> None:
    result = packed(pieces([60], [50], [10]), 100, BARE)
    assert taken(result) == [(0, 60)]
    assert left_out(result) == [(1, Reason.OVER_BUDGET), (2, Reason.OVER_BUDGET)]


def test_skipping_goes_on_with_what_is_smaller() -> None:
    result = packed(pieces([60], [50], [10]), 100, BARE, skips=True)
    assert taken(result) == [(0, 60), (2, 10)]
    assert left_out(result) == [(1, Reason.OVER_BUDGET)]


def test_a_candidate_without_renderings_is_passed_over() -> None:
    result = packed(pieces([], [10]), 100, BARE)
    assert taken(result) == [(1, 10)]
    assert left_out(result) == [(0, Reason.NOTHING_TO_SHOW)]


@pytest.mark.parametrize("budget", [0, 1, HEAD, HEAD + 9])
def test_nothing_chosen_means_no_parts(budget: int) -> None:
    result = packed(pieces([10]), budget, FRAMES)
    assert (result.parts, result.chosen, result.tokens) == ((), (), 0)
    assert left_out(result) == [(0, Reason.OVER_BUDGET)]


def test_the_frame_is_part_of_the_budget() -> None:
    assert packed(pieces([10]), HEAD + 10, FRAMES).tokens == HEAD + 10


def test_what_one_part_cannot_hold_goes_to_the_next() -> None:
    first, second = FRAMES
    size = len(first.head) + len(first.tail) + 250
    result = packed([[piece(100)]] * 4, 10_000, FRAMES, PartLimit(size))
    entry = piece(100).text
    assert result.parts == (
        first.head + entry * 2 + first.tail.rstrip("\n"),
        second.head + entry * 2 + second.tail.rstrip("\n"),
    )
    assert [choice.part for choice in result.chosen] == [0, 0, 1, 1]
    assert result.tokens == HEAD + HEAD_2 + 400


def test_a_part_once_closed_is_not_gone_back_to() -> None:
    size = len(FRAMES[0].head) + len(FRAMES[0].tail) + 250
    result = packed(pieces([100], [200], [20]), 10_000, FRAMES, PartLimit(size))
    assert [choice.part for choice in result.chosen] == [0, 1, 1]


def test_a_memory_no_part_can_hold_drops_a_level() -> None:
    size = len(FRAMES[0].head) + len(FRAMES[0].tail) + 150
    assert taken(packed(pieces([900, 100]), 10_000, FRAMES, PartLimit(size))) == [(0, 100)]


def test_a_memory_over_the_clients_limit_says_so() -> None:
    result = packed(pieces([900]), 10_000, FRAMES, PartLimit(500))
    assert left_out(result) == [(0, Reason.OVER_PART_LIMIT)]


def test_a_second_part_is_not_opened_for_less_than_its_frame_is_worth() -> None:
    size = len(FRAMES[0].head) + len(FRAMES[0].tail) + 200
    budget = HEAD + HEAD_2 + 160
    assert len(packed(pieces([100], [150, 60], [30]), budget, FRAMES, PartLimit(size)).parts) == 1


def test_without_a_limit_there_is_one_part() -> None:
    assert len(packed(pieces(*[[1000]] * 20), 100_000, FRAMES).parts) == 1


def test_levels_that_are_not_needed_are_not_rendered() -> None:
    class Lazy:
        def __iter__(self) -> Iterator[Rendering]:
            yield piece(10)
            raise AssertionError

        def __reversed__(self) -> Iterator[Rendering]:
            raise AssertionError

    assert taken(packed([Lazy()], 100, BARE)) == [(0, 10)]


@pytest.mark.parametrize(("measure", "size"), [(len, 4), (utf16_units, 5), (utf8_bytes, 8)])
def test_each_client_counts_in_its_own_units(measure: Callable[[str], int], size: int) -> None:
    assert measure("aé😀\n") == size


# Properties, over abstract pieces and over real renderings of arbitrary text.

ladders = st.lists(st.integers(6, 120), max_size=4)
limits = st.one_of(st.none(), st.integers(150, 600).map(PartLimit))


@settings(deadline=None)
@given(st.lists(ladders, max_size=12), st.integers(0, 900), limits)
def test_a_larger_budget_never_carries_less(sizes: list[list[int]], budget: int, limit: PartLimit | None) -> None:
    candidates = pieces(*sizes)
    assert _carried(candidates, budget + 1, limit) >= _carried(candidates, budget, limit)


@settings(deadline=None, max_examples=30)
@given(st.data())
def test_a_larger_budget_never_carries_less_whatever_a_memorys_header_costs(data: st.DataObject) -> None:
    overheads = data.draw(st.lists(st.integers(0, 40), max_size=10))
    candidates = [[piece(overhead + size, overhead) for size in data.draw(ladders)] for overhead in overheads]
    limit = data.draw(limits)
    carried = [_carried(candidates, budget, limit) for budget in range(900)]
    assert carried == sorted(carried)


def _carried(candidates: Sequence[Sequence[Rendering]], budget: int, limit: PartLimit | None) -> int:
    return packed(candidates, budget, FRAMES, limit).carried_tokens


memories = st.builds(
    partial(Memory, "k3v9x2m4p7qa", created=DAY, updated=DAY),
    title=st.text(max_size=60),
    content=st.one_of(st.text(max_size=600), st.text(alphabet="ab \n.", max_size=3000)),
    summary=st.text(max_size=200),
    namespace=st.text(max_size=20),
    tags=st.lists(st.text(max_size=10), max_size=3).map(tuple),
    source=st.text(max_size=30),
)
as_stored = memories.map(lambda m: replace(m, title=derived_title(m.content), summary=derived_summary(m.content)))
rankings = st.lists(st.one_of(memories, as_stored), max_size=8)
part_limits = st.one_of(
    st.none(), st.builds(PartLimit, st.integers(300, 4000), st.sampled_from([len, utf16_units, utf8_bytes]))
)
level_sets = st.sampled_from(
    [(Level.PREVIEW,), (Level.FULL,), (Level.FULL, Level.MEDIUM, Level.LIGHT), tuple(reversed(Level))]
)


def rendered(ranking: Sequence[Memory], levels: Sequence[Level], style: Style = HOOK) -> list[list[Rendering]]:
    return [[rendering(memory, level, style, score=0.5) for level in levels] for memory in ranking]


@settings(deadline=None)
@given(rankings, level_sets, st.integers(1, 100_000) | st.integers(1, 3000), part_limits, st.booleans())
def test_the_budget_and_the_parts_limit_hold_for_any_text(
    ranking: list[Memory], levels: tuple[Level, ...], budget: int, limit: PartLimit | None, skips: bool
) -> None:
    result = packed(rendered(ranking, levels), budget, FRAMES, limit, skips=skips)
    assert sum(map(estimated_tokens, result.parts)) <= result.tokens <= budget
    assert estimated_tokens("".join(result.parts)) <= budget
    assert estimated_tokens("\n".join(result.parts)) <= budget
    assert limit is None or all(limit.measure(part) <= limit.size for part in result.parts)


@settings(deadline=None)
@given(rankings, level_sets, st.integers(1, 3000), part_limits, st.booleans())
def test_memories_keep_their_order_and_are_each_accounted_for_once(
    ranking: list[Memory], levels: tuple[Level, ...], budget: int, limit: PartLimit | None, skips: bool
) -> None:
    candidates = rendered(ranking, levels)
    result = packed(candidates, budget, FRAMES, limit, skips=skips)
    shown = [choice.index for choice in result.chosen]
    assert shown == sorted(set(shown))
    assert sorted(shown + list(result.left_out)) == list(range(len(ranking)))
    assert [choice.part for choice in result.chosen] == sorted(choice.part for choice in result.chosen)
    assert result == packed(candidates, budget, FRAMES, limit, skips=skips)


@settings(deadline=None)
@given(rankings, level_sets, st.integers(1, 3000), part_limits)
def test_no_remembered_line_stands_at_the_margin(
    ranking: list[Memory], levels: tuple[Level, ...], budget: int, limit: PartLimit | None
) -> None:
    result = packed(rendered(ranking, levels), budget, FRAMES, limit)
    own = {line for frame in FRAMES for line in (frame.head + frame.tail).splitlines()}
    at_margin = [line for part in result.parts for line in part.splitlines() if line[:2] not in ("", "  ")]
    headers = [line for line in at_margin if line not in own]
    assert len(headers) == len(result.chosen)
    assert all(line.startswith("- ") and line.endswith(" urn:memhook:k3v9x2m4p7qa") for line in headers)


@settings(deadline=None, max_examples=60)
@given(rankings, level_sets, st.sampled_from([HOOK, INJECT]), part_limits, st.integers(1, 1500))
def test_a_larger_budget_never_carries_less_of_real_memories(
    ranking: list[Memory], levels: tuple[Level, ...], style: Style, limit: PartLimit | None, budget: int
) -> None:
    candidates = rendered(ranking, levels, style)
    carried = [_carried(candidates, some, limit) for some in range(budget, budget + 300, 7)]
    assert carried == sorted(carried)


sayings = st.lists(
    st.sampled_from(
        ["the", "ledger", "reads,", "x9f3", "40", "then aborts.", "日本語", "config/default.toml", "👍", "(#12)\n"]
    ),
    min_size=1,
    max_size=120,
).map(" ".join)
notes = st.builds(
    partial(Memory, "k3v9x2m4p7qa", created=DAY, updated=DAY), title=sayings, content=sayings, summary=sayings
)


def test_what_is_left_for_those_behind_names_one_more() -> None:
    long = Memory("1" * 12, "First", "word " * 150, "word", DAY, DAY)
    short = Memory("2" * 12, "Second", "Another thing to know. " * 8, "Another thing to know.", DAY, DAY)
    candidates = rendered([long, short], (Level.FULL, Level.MEDIUM, Level.LIGHT), HOOK)
    full, light = next(iter(candidates[0])).tokens, list(candidates[1])[-1].tokens
    budget = FRAMES[0].tokens + full + light - 1

    def leaves_a_line(behind: int, left: int) -> bool:
        return behind == 2 or left >= light

    assert len(packed(candidates, budget, FRAMES).chosen) == 1
    assert len(packed(candidates, budget, FRAMES, leaves_enough=leaves_a_line).chosen) == 2


@settings(deadline=None, max_examples=60)
@given(st.lists(notes, max_size=8), st.sampled_from([HOOK, INJECT]), st.integers(1, 1500), st.integers(0, 1500))
def test_the_bound_holds_whatever_is_to_be_left(ranking: list[Memory], style: Style, budget: int, wanted: int) -> None:
    offers = rendered(ranking, tuple(reversed(Level)), style)
    result = packed(offers, budget, FRAMES, leaves_enough=lambda _behind, left: left >= wanted)
    assert sum(map(estimated_tokens, result.parts)) <= budget
    assert [choice.index for choice in result.chosen] == list(range(len(result.chosen)))


stored_notes = notes.map(lambda m: replace(m, title=derived_title(m.content), summary=derived_summary(m.content)))


@settings(deadline=None, max_examples=40)
@given(
    st.lists(st.one_of(notes, stored_notes), max_size=8),
    st.sampled_from([HOOK, INJECT]),
    st.one_of(st.none(), st.integers(1200, 3000).map(PartLimit)),
    st.integers(50, 1200),
)
def test_a_larger_budget_never_shows_less_of_titles_and_text(
    ranking: list[Memory], style: Style, limit: PartLimit | None, budget: int
) -> None:
    candidates = rendered(ranking, (Level.FULL, Level.MEDIUM, Level.LIGHT), style)
    shown = [_titles_and_text(packed(candidates, some, FRAMES, limit)) for some in range(budget, budget + 60)]
    assert shown == sorted(shown)


def _titles_and_text(result: Packed) -> int:
    """Measured on what was emitted, without the packer's own count."""
    lines = [line for part in result.parts for line in part.splitlines()]
    titles = [line.split("**")[1] for line in lines if line.startswith(("- **", "**"))]
    return estimated_tokens("".join(f"{line}\n" for line in [*titles, *(line for line in lines if line[:2] == "  ")]))


def test_a_preview_pack_reaches_both_parts_within_claudes_limit() -> None:
    content = "The nightly job compares balances read from a replica that lags behind. " * 10
    memories = [Memory(f"{n:012d}", f"Note {n}", content, content[:100], DAY, DAY) for n in range(60)]
    shown = partial(excerpt, weights={"replica": 1.0}, limit_chars=200)
    candidates = [[rendering(memory, Level.PREVIEW, HOOK, shown=shown)] for memory in memories]
    result = packed(candidates, 5000, FRAMES, PartLimit(10_000, utf16_units))
    assert len(result.parts) == 2
    assert all(utf16_units(part) <= 10_000 for part in result.parts)


def test_levels_between_are_not_rendered_where_even_the_poorest_leaves_too_little() -> None:
    steps: list[int] = []

    def render(tokens: int) -> Rendering:
        steps.append(tokens)
        return piece(tokens)

    offer = Renderings([60, 50, 40, 30], render)
    assert taken(packed([offer], 100, BARE, leaves_enough=lambda _behind, left: left > 90)) == [(0, 30)]
    assert steps == [60, 30]
