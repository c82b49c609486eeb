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
