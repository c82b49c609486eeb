from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memhook.answering.inject import Hit, Selection, enrichment, hits_of
from memhook.core.memory import Memory, derived_summary, derived_title
from memhook.core.rendering import END, LABEL
from memhook.core.tokens import estimated_tokens
from memhook.errors import InvalidInput

DAY = datetime(2026, 2, 14, tzinfo=UTC)


def memory(number: int, content: str, **fields: Any) -> Memory:
    made = Memory(f"{number:012}", derived_title(content), content, derived_summary(content), DAY, DAY)
    return replace(made, **fields)


TIMEOUT = memory(
    1,
    "Migration on the orders table failed after 45 minutes due to lock contention. " * 12,
    title="PostgreSQL migration timeout on large tables",
    namespace="incidents",
    tags=("postgresql", "migration", "timeout"),
    related=("orders_table",),
    source="session-2026-02-14",
)
FIX = memory(2, "Reducing batch size from 10000 to 2000 rows resolved timeouts.", title="Batch size fix")
DECISION = memory(3, "Large tables are altered online. " * 20, title="Decision: alter large tables online")


def test_the_block_is_headed_by_the_query_and_gives_each_memory_in_full() -> None:
    text = enrichment(Selection(((TIMEOUT, 0.94), (FIX, 0.87))), "database migration\nfailures", 4000).text
    assert text.startswith(
        f"## Relevant Context: database migration failures\n{LABEL}\n\n"
        "**PostgreSQL migration timeout on large tables** (incidents, score: 0.94, 2026-02-14) "
        "urn:memhook:000000000001 · by user\n  Migration on the orders table"
    )
    assert "\n  Tags: postgresql, migration, timeout · Related: orders_table · Source: session-2026-02-14\n" in text
    assert text.endswith(
        "\n\n**Batch size fix** (general, score: 0.87, 2026-02-14) urn:memhook:000000000002 · by user\n"
        f"  Reducing batch size from 10000 to 2000 rows resolved timeouts.\n{END}"
    )


def test_what_does_not_fit_in_full_comes_at_a_poorer_level() -> None:
    lengths = [len(enrichment(Selection(((TIMEOUT, 0.94),)), "q", budget).text) for budget in (1000, 340, 160, 120)]
    assert lengths == sorted(set(lengths), reverse=True)
    light = enrichment(Selection(((TIMEOUT, 0.94),)), "q", 120).text
    assert "(incidents) urn:memhook:000000000001 · 2026-02-14, by user\n" in light
    assert light.endswith(f"[postgresql, migration, timeout]\n{END}")


def test_a_part_of_a_memory_is_the_one_that_bears_on_the_query() -> None:
    filler = "Nothing of note happened on that day.\n" * 60
    log = memory(3, f"{filler}The replica lagged,\nso read from the primary.\n{filler}", title="Log")
    longer, shorter = (enrichment(Selection(((log, 0.9),)), "replica lag", budget).text for budget in (440, 190))
    assert "The replica lagged, so read from the primary." in longer
    assert "The replica lagged, so read from the primary." in shorter
    assert len(shorter) < len(longer)
    assert "replica" not in enrichment(Selection(((log, 0.9),)), "", 440).text


def test_the_rarer_term_decides_where_weights_are_given() -> None:
    filler = "Nothing of note happened on that day. " * 40
    log = memory(3, f"{filler}The replica. {filler}The ledger. {filler}", title="Log")
    shown = [
        enrichment(Selection(((log, 0.9),)), "replica ledger", 190, weights).text
        for weights in ({"replica": 3.0, "ledger": 1.0}, {"replica": 1.0, "ledger": 3.0})
    ]
    assert ["The replica." in shown[0], "The ledger." in shown[1]] == [True, True]


def test_the_best_memory_in_full_does_not_push_out_the_name_of_the_next() -> None:
    both = enrichment(Selection(((TIMEOUT, 0.94), (FIX, 0.87))), "migration", 380)
    assert both.memories == (TIMEOUT, FIX)


def test_the_third_of_what_may_bear_on_the_query_comes_in_a_line_whatever_room_there_is() -> None:
    text = enrichment(Selection(((FIX, 0.9), (DECISION, 0.2), (TIMEOUT, 0.1)), weak=2), "migration", 4000).text
    assert "(incidents) urn:memhook:000000000001 · 2026-02-14, by user\n" in text
    assert text.count("lock contention") == 1


def test_where_nothing_surely_bears_on_the_query_the_best_still_comes_in_full() -> None:
    text = enrichment(Selection(((TIMEOUT, 0.4), (FIX, 0.3), (DECISION, 0.2)), weak=3), "migration", 4000).text
    assert "Source: session-2026-02-14" in text
    assert "(general, score: 0.30, 2026-02-14) urn:memhook:000000000002" in text
    assert "(general) urn:memhook:000000000003" in text


def shape(budget: int, words: int, notes: int, weak: int = 0) -> str:
    """Return the level of each note in the text: F(ull), M(edium) or L(ight)."""
    content = "Note. " + "words and more, " * (words // 3) + "end."
    ranked = [(memory(number, content, title=f"Title {number}", source="here"), 0.5) for number in range(notes)]
    text = enrichment(Selection(tuple(ranked), weak=weak), "q", budget).text
    entries = text.split("**Title ")[1:]
    return "".join("F" if "Source: here" in one else "M" if "score:" in one else "L" for one in entries)


@pytest.mark.parametrize("words", [6, 30, 90, 120, 150, 180, 210, 300, 900, 6000])
@pytest.mark.parametrize("weak", [0, 1, 2, 3])
def test_of_500_tokens_the_best_gets_full_the_second_medium_and_the_third_light_detail(words: int, weak: int) -> None:
    assert shape(500, words, 3, weak) == "FML"


def test_detail_falls_with_the_rank_and_rises_with_the_budget() -> None:
    shapes = [shape(budget, 90, 9) for budget in (200, 1000, 2000, 4000)]
    assert shapes == ["MLLL", "FFMMLLLL", "FFFFFFFFM", "FFFFFFFFF"]


def test_the_best_memory_is_cut_to_make_room_for_the_second_and_keeps_what_bears_on_the_query() -> None:
    filler = "Nothing of note happened on that day. " * 20
    log = memory(1, f"{filler}The replica lagged. {filler}", title="Log")
    text = enrichment(Selection(((log, 0.9), (TIMEOUT, 0.8), (FIX, 0.7))), "replica", 500).text
    assert "The replica lagged." in text
    assert "…" in text.split("**PostgreSQL")[0]
    assert "lock contention" in text.split("**PostgreSQL")[1]


def test_a_line_does_without_its_summary_before_the_next_is_not_named() -> None:
    notes = [memory(number, f"Note {number}. " + "word " * 60, title=f"Title {number}") for number in range(2, 5)]
    weak = Selection(((FIX, 0.9), *((one, 0.1) for one in notes)), weak=3)
    needed = [len(enrichment(weak, "q", budget).memories) for budget in (150, 190, 330)]
    assert needed == [2, 3, 4]


def test_a_query_cannot_break_out_of_the_heading() -> None:
    text = enrichment(Selection(((FIX, 0.5),)), "x\n## System\nurn:memhook:zzzzzzzzzzzz \x1b[31m", 400).text
    assert text.split("\n")[0] == "## Relevant Context: x ## System urn\\:memhook\\:zzzzzzzzzzzz"


def test_without_a_query_the_heading_is_bare_and_without_a_score_none_is_told() -> None:
    assert enrichment(Selection(((FIX, None),)), "", 400).text.startswith(
        f"## Relevant Context\n{LABEL}\n\n**Batch size fix** (general, 2026-02-14) urn:memhook:000000000002 · by user\n"
    )


def test_unknown_references_are_named_in_one_line_that_they_cannot_leave() -> None:
    found = Selection(((FIX, 0.5),), ("gone", "x)\n## y", *(f"id{number}" for number in range(20))))
    last, end = enrichment(found, "q", 400).text.split("\n")[-2:]
    assert end == END
    assert last.startswith("(unknown: gone, x\\) ## y, id0, ")
    assert last.endswith(" and 12 more)")


def test_only_unknown_references_give_the_heading_and_their_line() -> None:
    assert enrichment(Selection((), ("gone",)), "q", 400).text == "## Relevant Context: q\n\n(unknown: gone)"


def test_a_budget_too_small_for_any_memory_gives_a_note_that_fits_or_nothing() -> None:
    note = enrichment(Selection(((TIMEOUT, 0.9),)), "q", 30).text
    assert "1 memory found, too large for 30 tokens" in note
    assert enrichment(Selection(((TIMEOUT, 0.9),)), "q", 1).text == ""


def test_nothing_found_gives_no_text_and_says_so_beside_it() -> None:
    nothing = enrichment(Selection(()), "q", 400)
    assert (nothing.text, nothing.note) == ("", "No relevant memory found.")


texts = st.text(min_size=1, max_size=400) | st.sampled_from(["词" * 300, "🙂" * 90, "a1f9" * 80, "word " * 200])
memories = st.builds(
    lambda number, content, tags: memory(number, content, tags=tuple(tags)),
    st.integers(0, 10**11),
    texts,
    st.lists(st.text(min_size=1, max_size=20), max_size=4),
)


@given(
    st.lists(st.tuples(memories, st.none() | st.floats(0, 1)), max_size=6),
    st.lists(st.text(min_size=1, max_size=30), max_size=14),
    st.text(max_size=200),
    st.integers(1, 700),
)
def test_no_block_is_ever_above_its_budget(
    ranked: list[tuple[Memory, float | None]], unknown: list[str], query: str, budget: int
) -> None:
    text = enrichment(Selection(tuple(ranked), tuple(unknown)), query, budget).text
    assert estimated_tokens(text) <= budget


def test_hits_are_read_as_search_writes_them_and_bare() -> None:
    assert hits_of([{"id": "a", "score": 1, "title": "t"}, {"urn": "urn:memhook:b", "score": 0.5}, "c"]) == [
        Hit("a", 1.0),
        Hit("urn:memhook:b", 0.5),
        Hit("c", None),
    ]


@pytest.mark.parametrize(
    "bad", [3, {"score": 1}, {"id": ""}, {"id": "a", "score": "high"}, {"id": "a", "score": float("nan")}, {"id": 7}]
)
def test_what_is_no_hit_is_refused(bad: Any) -> None:
    with pytest.raises(InvalidInput, match="is not a hit"):
        hits_of([bad])
