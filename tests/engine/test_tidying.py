"""What `tidy` lists, and what each decision does and undoes."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from memhook.core.memory import id_of
from memhook.engine import engine, inbox
from tests.hooks import conftest
from tests.hooks.conftest import Assistant

FROM_ONE_FILE = """
Pickers are paid by crate; a crate is 12.5 kg, and half crates are rounded down per day, not per entry.
We keep soil readings for 90 days in Timescale, then only hourly averages.
Leaf area index is calculated per row, not per tree, since drone pictures are too coarse.
Frost alerts go out by SMS through sipgate. The limit is 200 messages a day on our contract.
Timescale retention changed: raw soil readings are now kept for 365 days, since the agronomist compares years.
SMS limit was raised: sipgate allows us 1000 messages a day for frost alerts since October.
Irrigation valves must never stay open longer than 40 minutes; the server enforces it as well.
The valve controller speaks Modbus RTU at 9600 baud; addresses 1 to 24 are valves, 30 is the pump.
Never call the Modbus gateway from a LiveView process: it blocks for up to 3 seconds.
The crate scanner sends EAN-13 barcodes with a leading apostrophe, strip it in Scanner.Parser.
Log level in production is info; debug filled the disk in July.
The export for the tax adviser is a DATEV CSV in Windows-1252 with semicolons.
User accounts for pickers have no e-mail; they log in with a badge number and a PIN of 4 digits.
Backups: pg_dump nightly at 01:30 to a storage box, kept 30 days.
Translations: German is the source language, Polish and Romanian are needed for the pickers' app.
""".strip().splitlines()

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
        connection.execute("INSERT INTO usage (memory, shown, judged) VALUES (?, 5, 5)", (id_of(idle),))
    assistant.runner.engine.accounts.mark_used([id_of(newer)], datetime.now(UTC))
    expected = [("duplicate", twin), ("contradiction", older), ("never used", idle), ("never shown", old)]
    assert kinds(assistant) == expected

    done = assistant.calls("revise", references=[newer], supersedes=[id_of(older)])
    assert ("contradiction", older) not in kinds(assistant)
    assistant.calls(done["undo"]["method"], **done["undo"]["params"])
    assert kinds(assistant) == expected


def test_what_is_kept_is_not_listed_again_and_that_can_be_undone(assistant: Assistant) -> None:
    older = assistant.remembers("The mailer listens on port 2525.")
    newer = assistant.remembers("The mailer listens on port 2587.")
    twin = assistant.remembers("Invoices are sent on Monday morning.")
    other = assistant.remembers("Invoices are sent on Monday morning!")
    listed = [("duplicate", twin), ("contradiction", older)]
    assert kinds(assistant) == listed
    undo = []
    for left, pair in (([listed[0]], (older, newer)), ([], (twin, other))):
        done = assistant.calls("tidy_keep", reference=pair[0], other=pair[1])
        undo.append(done["undo"])
        assert [one["urn"] for one in done["memories"]] == list(pair)
        assert kinds(assistant) == left
    assert assistant.calls("inbox_list")["items"] == []
    for one in reversed(undo):
        assistant.calls(one["method"], **one["params"])
    assert kinds(assistant) == listed
    assert [one["memory"]["urn"] for one in assistant.calls("inbox_list")["items"]] == [older]


def test_one_text_under_two_titles_is_no_duplicate_and_no_contradiction(assistant: Assistant) -> None:
    text = "Two spaces, no tabs; frozen_string_literal in each file."
    for number in range(4):
        assistant.remembers(text, title=f"Style in service {number}")
    assert kinds(assistant) == []


def test_two_masks_are_no_two_values(assistant: Assistant) -> None:
    assistant.remembers("client_secret: [masked:secret]")
    assistant.remembers("[masked:private-key]")
    assistant.remembers("client_secret: [masked:api-key]")
    assert [kind for kind, _ in kinds(assistant) if kind == "contradiction"] == []


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


def test_what_waits_for_a_decision_is_listed_however_many_memories_came_since(
    assistant: Assistant, monkeypatch: pytest.MonkeyPatch
) -> None:
    older = assistant.remembers("Ledger reconciliation reads from the replica, with a timeout of 10 seconds.")
    assistant.remembers("Ledger reconciliation reads from the replica, with a timeout of 40 seconds.")
    monkeypatch.setattr(inbox, "MOST_COMPARED", 2)
    assistant.imports("The cat is on floor 3.", "Parcels are left at the gate.", "Lunch is at noon.")
    (item,) = assistant.calls("tidy_list")["items"]
    assert (item["kind"], item["memory"]["urn"]) == ("contradiction", older)


def test_after_an_import_a_few_are_compared_at_a_time_and_in_the_end_all(
    assistant: Assistant, monkeypatch: pytest.MonkeyPatch
) -> None:
    older = [assistant.remembers(f"The {name} listens on port 2525.") for name in ("mailer", "printer")]
    monkeypatch.setattr(engine, "COMPARED_AT_ONCE", 1)
    assistant.imports("The mailer listens on port 2587.", "The printer listens on port 9100.")
    waiting = []
    for _ in range(2):
        assistant.runner.keep_house()
        waiting.append(sorted(one["memory"]["urn"] for one in assistant.calls("inbox_list")["items"]))
    assert (len(waiting[0]), waiting[1]) == (1, sorted(older))


def test_a_series_of_notes_of_one_form_is_not_taken_for_contradictions(assistant: Assistant) -> None:
    lines = [[number, f'{{"text": "The nightly build took {number + 20} minutes."}}'] for number in range(30)]
    assistant.calls("import_lines", lines=lines)
    assistant.runner.engine.keep_house(datetime.now(UTC))
    assert assistant.runner.engine.accounts.proposals() == []


def test_of_the_notes_of_one_file_only_one_that_tells_of_a_change_is_proposed_and_only_for_what_it_is_about(
    assistant: Assistant,
) -> None:
    outdated = (1, 3)  # their ids come last: what is near does not depend on ids
    lines = [
        [number, json.dumps({"id": f"{'z' if number in outdated else 'a'}{number:011}", "text": text})]
        for number, text in enumerate(FROM_ONE_FILE)
    ]
    assistant.calls("import_lines", lines=lines)
    assistant.runner.engine.keep_house(datetime.now(UTC))
    items = assistant.calls("tidy_list")["items"]
    pairs = [(one["memory"]["content"], one["other"]["content"]) for one in items if one["kind"] == "contradiction"]
    assert sorted(pairs) == sorted([(FROM_ONE_FILE[1], FROM_ONE_FILE[4]), (FROM_ONE_FILE[3], FROM_ONE_FILE[5])])
