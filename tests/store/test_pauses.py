from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from memhook.paths import Paths
from memhook.store import pauses
from memhook.store.pauses import EVERYWHERE, Pause, Pauses, pause, resume

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.fixture
def paths(tmp_path: Path) -> Paths:
    return Paths(tmp_path / "config", tmp_path / "data", tmp_path / "state", tmp_path / "cache")


def test_a_change_is_seen_at_once_and_the_file_is_read_only_then(paths: Paths, monkeypatch: pytest.MonkeyPatch) -> None:
    current = Pauses(paths)
    assert current.of("here", NOW) is None
    pause(paths, Pause("here"), NOW)
    assert current.of("here", NOW) == Pause("here")
    monkeypatch.setattr(pauses, "_read", lambda _: pytest.fail("read again"))
    assert current.of("here", NOW) == Pause("here")
    assert current.of("elsewhere", NOW) is None


def test_a_pause_holds_until_its_end(paths: Paths) -> None:
    end = NOW + timedelta(minutes=30)
    pause(paths, Pause(EVERYWHERE, end), NOW)
    current = Pauses(paths)
    assert current.of("", end - timedelta(seconds=1)) == Pause(EVERYWHERE, end)
    assert current.of("", end) is None


def test_a_new_pause_takes_the_place_of_the_old_one_and_keeps_the_others(paths: Paths) -> None:
    pause(paths, Pause("other", NOW + timedelta(hours=1)), NOW)
    pause(paths, Pause("here"), NOW)
    pause(paths, Pause("here", NOW + timedelta(minutes=1)), NOW)
    assert Pauses(paths).of("here", NOW) == Pause("here", NOW + timedelta(minutes=1))
    assert resume(paths, "here", NOW)
    assert not resume(paths, "here", NOW)
    assert Pauses(paths).of("here", NOW) is None
    assert Pauses(paths).of("other", NOW) is not None
