from __future__ import annotations

import pytest

from memhook.core.tokens import estimated_tokens
from tests.hooks.conftest import Assistant

QUERY = "database migration failures"
INCIDENT = (
    "The migration that adds an index to the orders table failed in production after 45 minutes with a timeout.",
    "The job waited for a lock, other writes queued up behind it, and the connection pool ran empty.",
    "We rolled the migration back by hand and ran it again at night with a higher lock timeout.",
    "The estimate had been made on the staging database, where the table has two million rows.",
    "Since then each migration of a large table is rehearsed on a restored copy first.",
    "The measured time goes into the description of the change.",
    "Whoever is on call decides whether a migration that hangs is ended.",
)
FIX = (
    "Reducing the batch from 10000 to 2000 rows and committing after each one resolved the timeouts.",
    "A batch then takes less than two seconds, and one that fails can be repeated alone.",
    "Between two batches the job sleeps for 200 milliseconds, so that vacuum and replicas keep up.",
    "Wide rows need smaller batches: measure with one before the whole run.",
    "Rows are taken in the order of the primary key and never with an offset.",
    "The last key is written down, so that a crash costs one batch.",
    "Two of these jobs on one table block each other.",
)
DECISION = (
    "Tables above fifty million rows are altered with pt-online-schema-change.",
    "It copies the table in chunks, follows it by triggers and swaps the two at the end.",
    "The price is twice the disk space for some hours and slower writes meanwhile.",
    "Small tables keep the plain ALTER.",
    "The run is planned with dry-run, and the plan is attached to the ticket.",
    "Large runs start after ten in the evening.",
    "We looked at other tools, which need row based replication everywhere.",
)
UNRELATED = (
    "Buttons use the size scale of the design system, never pixels.",
    "The invoice footer carries the VAT number of the seller.",
    "Screenshots for the store page are taken with the demo account.",
    "Ask Priya before changing the newsletter template.",
    "The weather widget refreshes once an hour.",
)


@pytest.mark.parametrize("with_others", [False, True])
@pytest.mark.parametrize("sentences", [3, 5, 7])
def test_the_best_comes_in_full_the_next_in_part_and_a_weak_one_in_a_line(
    assistant: Assistant, sentences: int, with_others: bool
) -> None:
    notes = {
        "PostgreSQL migration timeout on large tables": (INCIDENT, "incidents"),
        "Batch size fix for migration timeouts": (FIX, "knowledge"),
        "Decision: use pt-online-schema-change for large tables": (DECISION, "decisions"),
    }
    for title, (text, namespace) in notes.items():
        assistant.remembers(" ".join(text[:sentences]), title=title, namespace=namespace, source="ticket-7")
    if with_others:
        assistant.imports(*UNRELATED)
    block = assistant.calls("inject", query=QUERY, max_tokens=500)["text"]
    assert estimated_tokens(block) <= 500
    first, second, third = block.split("\n\n**")[1:4]
    assert first.startswith("PostgreSQL migration timeout")
    assert INCIDENT[sentences - 1] in first
    assert "Source: ticket-7" in first
    assert second.startswith("Batch size fix")
    assert "score: " in second
    assert FIX[0] in second
    assert "Source:" not in second
    assert third.startswith("Decision: use pt-online-schema-change for large tables** (decisions) urn:memhook:")
    assert DECISION[1] not in third


def test_what_bears_on_nothing_that_was_asked_is_not_named(assistant: Assistant) -> None:
    assistant.imports(*UNRELATED)
    assert assistant.calls("inject", query=QUERY, max_tokens=500)["text"] == ""
