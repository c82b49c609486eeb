"""What `tidy` lists, and what each decision does and undoes."""

from __future__ import annotations

from datetime import UTC, datetime

from memhook.core.memory import id_of
from tests.hooks import conftest
from tests.hooks.conftest import Assistant

real_embedder, runner, assistant = conftest.real_embedder, conftest.runner, conftest.assistant


def kinds(assistant: Assistant) -> list[tuple[str, str]]:
    return [(item["kind"], item["memory"]["urn"]) for item in assistant.calls("tidy_list")["items"]]


def test_duplicates_contradictions_and_unused_memories_are_listed_and_a_decision_can_be_undone(
    assistant: Assistant,
) -> None:
    older = assistant.remembers("The mailer listens on port 2525.")
    newer = assistant.remembers("The mailer listens on port 2587.")
    twin = assistant.remembers("Invoices are sent on Monday morning.")
    assistant.remembers("Invoices are sent on Monday morning!")
    old = assistant.remembers("Parcels are weighed in grams.", created="2025-01-01", updated="2025-01-01")
    assistant.remembers("Stairs are swept on Tuesday.", created="2025-01-01", updated="2025-01-01", pinned=True)
    idle = assistant.remembers("Colleagues like their tea with milk.")
    with assistant.runner.engine.accounts.ledger._writing() as connection:  # type: ignore[union-attr]
        connection.execute("INSERT INTO usage (memory, shown) VALUES (?, 5)", (id_of(idle),))
    assistant.runner.engine.accounts.mark_used([id_of(newer)], datetime.now(UTC))
    expected = [("duplicate", twin), ("contradiction", older), ("never used", idle), ("never shown", old)]
    assert kinds(assistant) == expected

    done = assistant.calls("revise", references=[newer], supersedes=[id_of(older)])
    assert ("contradiction", older) not in kinds(assistant)
    assistant.calls(done["undo"]["method"], **done["undo"]["params"])
    assert kinds(assistant) == expected


def test_a_memory_that_was_edited_or_imported_is_compared_with_the_older_ones(assistant: Assistant) -> None:
    port = assistant.remembers("The mailer listens on port 2525.")
    other = assistant.remembers("Parcels are weighed in grams.")
    changed = assistant.calls("edit", reference=other, content="The mailer listens on port 2587.")
    assert [one["urn"] for one in changed["may_supersede"]] == [port]

    nodes = assistant.remembers("The cluster has 3 nodes.")
    assistant.calls("import_lines", lines=[[1, '{"text": "The cluster has 5 nodes."}']])
    assistant.runner.engine.keep_house(datetime.now(UTC))
    asked = {one.memory for one in assistant.runner.engine.accounts.proposals()}
    assert asked == {id_of(port), id_of(nodes)}


def test_a_series_of_notes_of_one_form_is_not_taken_for_contradictions(assistant: Assistant) -> None:
    lines = [[number, f'{{"text": "The nightly build took {number + 20} minutes."}}'] for number in range(30)]
    assistant.calls("import_lines", lines=lines)
    assistant.runner.engine.keep_house(datetime.now(UTC))
    assert assistant.runner.engine.accounts.proposals() == []
