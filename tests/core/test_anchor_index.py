"""Which commands bring up a memory that names one."""

from __future__ import annotations

from pathlib import Path

import pytest

from memhook.core.actions import Action, simple_commands
from memhook.core.anchor_index import AnchorIndex
from memhook.core.anchors import anchors_of

CALLS = [
    tuple(line.split(" | ")) for line in (Path(__file__).parent / "calls.txt").read_text(encoding="utf-8").splitlines()
]


def is_shown(note: str, call: str) -> bool:
    index = AnchorIndex()
    index.file("note", anchors_of("", note), note)
    return bool(index.matches(Action(commands=tuple(simple_commands(call)))))


@pytest.mark.parametrize(("expected", "call", "note"), CALLS)
def test_a_note_comes_up_for_the_calls_it_is_about_and_no_others(expected: str, call: str, note: str) -> None:
    assert is_shown(note, call) == (expected == "shown")


@pytest.mark.parametrize(
    ("note", "call"),
    [
        ("Run `npm ci --prefer-offline`.", "npm ci"),
        ("`npm install --legacy-peer-deps` is needed until the table is upgraded.", "npm install zod"),
        ("Backfill: `airflow dags backfill -s 2026-01-01 -p backfill_pool load`.", "airflow dags backfill load"),
        ("Use git fetch --prune in scripts.", "git fetch --prune"),
    ],
)
def test_a_recipe_with_flags_comes_up_for_the_command_without_them(note: str, call: str) -> None:
    assert is_shown(note, call)


def test_a_flag_in_prose_is_part_of_the_command_it_follows() -> None:
    note = "Never call git push --force on shared branches."
    assert is_shown(note, "git push --force origin main")
    assert not is_shown(note, "git push origin main")
    assert not is_shown("Use git push --force never.", "git push origin main")


def test_a_memory_that_is_filed_again_has_only_its_new_flags() -> None:
    index = AnchorIndex()
    index.file("note", ("git push --force",), "Never `git push --force`.")
    index.file("note", ("git push",), "`git push` asks for the passphrase.")
    assert index.matches(Action(commands=(("git", "push"),)))


def edited(note: str, path: str, written: str = "") -> bool:
    return is_matched(note, Action(paths=(path,), written=written))


def failed(note: str, error: str) -> bool:
    return is_matched(note, Action(commands=(("make", "test"),), error=error))


def is_matched(note: str, action: Action) -> bool:
    index = AnchorIndex()
    index.file("note", anchors_of("", note), note)
    return bool(index.matches(action))


def test_a_type_of_two_words_counts_where_code_uses_it() -> None:
    note = "ShiftStore must never be called from the main thread, see GitHub"
    assert edited(note, "src/ShiftStore.kt")
    assert edited(note, "src/Menu.kt", "val open = ShiftStore(db).current()")
    assert edited(note, "src/Menu.java", "ShiftStore store = null;")
    assert not edited(note, "src/ShiftReport.kt", "val open = ShiftReport(db)")
    assert not edited(note, "src/Menu.kt", "// as on GitHub and in the ShiftStore")
    assert not edited(note, "docs/menu.md", "GitHub(R) has it.")


def test_a_file_name_is_meant_in_the_folder_it_is_said_to_be_in() -> None:
    note = "the strings.xml in res/values-fr comes out of the translation tool"
    assert edited(note, "app/res/values-fr/strings.xml")
    assert not edited(note, "app/res/values-de/strings.xml")
    assert not edited(note, "app/res/values-fr/plurals.xml")


def test_a_file_with_an_unknown_ending_counts() -> None:
    assert edited("proguard-rules.pro: the first line stays", "app/proguard-rules.pro")


def test_a_short_message_counts_word_by_word() -> None:
    note = 'On "file is not a database" wipe the emulator.'
    assert failed(note, "SQLiteException: file is not a database: , while compiling")
    assert not failed(note, "the file of the database is missing")


def test_an_exception_with_its_package_is_a_message() -> None:
    note = "`java.lang.IllegalStateException: Migration didn't properly handle: stops` = an index is missing"
    assert failed(note, "java.lang.IllegalStateException: Migration didn't properly handle: stops(de.acme.Stop).")
    assert not failed(note, "java.lang.IllegalStateException: Depot has no stops")


def test_a_status_counts_for_the_address_it_is_said_of() -> None:
    note = "HTTP 422 from /v2/handover means that it was handed over already"
    assert failed(note, "POST https://api.test/v2/handover -> HTTP 422")
    assert not failed(note, "POST https://api.test/v2/parcels -> HTTP 422")
    assert not failed(note, "POST https://api.test/v2/handover -> HTTP 404")
    assert failed("ActiveRecord::Deadlocked: just retry", "ActiveRecord::Deadlocked: PG::Error")


def test_where_somebody_chose_the_anchors_the_text_adds_none() -> None:
    index = AnchorIndex()
    index.file("note", ("Makefile",), "adb reverse is lost with the cable")
    assert not index.matches(Action(commands=(("adb", "reverse"),)))
