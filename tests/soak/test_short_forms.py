from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.patience import patient_source
from tests.soak import damage, events, stages
from tests.soak.recording import CannotRecord

pytestmark = pytest.mark.usefixtures("home_with_model")


def test_many_hooks_at_once_get_one_daemon_clean_exits_and_the_memory_in_time_or_nothing() -> None:
    """How many get it in time says something about the machine as well: scripts/soak asks for 45."""
    stages.race(50, 0)


def test_a_daemon_killed_while_it_writes_loses_nothing_acknowledged() -> None:
    stages.kills(10, 2)


def test_no_event_harms_the_daemon_and_many_clients_are_served_beside_a_writer(home: Path) -> None:
    """One after the other in one home, because starting a daemon is what takes the time.

    How soon the clients are answered says something about the machine: only scripts/soak has them keep their deadline.
    """
    stages.bad_events_through_the_door(400)
    stages.bad_events_through_the_hook(25, 0)
    stages.load(20, 3, [sys.executable, "-I", "-S", "-c", patient_source(), "UserPromptSubmit", "1"])


def test_no_flipped_bit_or_cut_file_costs_more_than_the_rows_in_it_or_goes_untold(home: Path) -> None:
    stages.damages(28)


def test_what_is_acknowledged_survives_a_power_cut_at_any_moment_and_what_is_erased_does_not(home: Path) -> None:
    try:
        stages.power_cuts("short", 80, 40)
    except CannotRecord as error:
        pytest.skip(str(error))


def test_the_damages_reach_every_kind_of_file_and_are_the_same_each_time(tmp_path: Path) -> None:
    of = damage.sample(tmp_path)
    chosen = list(damage.trials(of, 60, 7))
    assert chosen == list(damage.trials(of, 60, 7))
    kinds = {damage.kind_of(tmp_path / trial.file) for trial in chosen}
    assert {"_deletions", "_indices", "_memhook", "_transactions", "data", "newest manifest", "ledger"} <= kinds
    assert list(tmp_path.rglob("*.idx"))  # an index of vectors
    assert list(tmp_path.rglob("part_*_docs.lance"))  # and one of words


def test_the_generated_events_are_of_every_kind_and_the_same_each_time() -> None:
    made = list(events.bodies(7, 600, largest=9000))
    assert made == list(events.bodies(7, 600, largest=9000))
    assert max(map(len, made)) > 100_000  # deep nesting
    assert any(b"\\ud800" in body or b"\xed\xa0\x80" in body for body in made)
    assert any(b"\0" in body for body in made)
