from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from memhook.paths import user_paths
from tests.cli.conftest import Cli

NOT_PAUSED = "hooks     in no assistant yet: memhook install\n"


def test_pause_and_resume_need_no_daemon(cli: Cli) -> None:
    assert cli("pause").out == "memhook is paused everywhere until you run: memhook resume\n"
    assert "hooks     paused everywhere until you run: memhook resume\n" in cli().out
    assert cli("resume").out == "memhook is on again, from the next prompt.\n"
    assert cli("resume").out == "memhook was not paused.\n"
    assert NOT_PAUSED in cli().out
    assert not user_paths().socket.exists()


def test_a_pause_may_have_an_end(cli: Cli) -> None:
    before = datetime.now(UTC)
    paused = cli("pause", "30m", "--json").json["paused"]
    assert paused["scope"] == "*"
    assert before + timedelta(minutes=30) <= datetime.fromisoformat(paused["until"])
    assert datetime.fromisoformat(paused["until"]) <= datetime.now(UTC) + timedelta(minutes=30)
    assert cli("pause", "2h").out.endswith("To end it earlier: memhook resume\n")


@pytest.mark.parametrize("duration", ["soon", "30", "0m", "-5m", "2026-02-14", "999999w"])
def test_what_is_no_duration_is_refused_and_pauses_nothing(cli: Cli, duration: str) -> None:
    result = cli("pause", "--", duration)
    assert result.code == 1
    assert duration in result.err
    assert cli("resume", "--json").json == {"was_paused": False, "paused": None}


def test_a_project_is_paused_and_resumed_by_itself(cli: Cli, in_a_project: Path, tmp_path: Path) -> None:
    said = "memhook is paused in this project until you run: memhook resume --project\n"
    assert cli("pause", "--project").out == said
    assert NOT_PAUSED in cli("-C", str(tmp_path)).out
    cli("-C", str(in_a_project), "pause")
    lifted = cli("resume", "--project")
    assert lifted.err == "memhook is still paused everywhere until you run: memhook resume\n"
    cli("pause", "30m")
    assert cli("resume", "--project").err.endswith(". To lift that: memhook resume\n")
    assert cli("resume").out == "memhook is on again, from the next prompt.\n"


def test_a_project_to_pause_has_to_be_there(cli: Cli) -> None:
    assert "belongs to no project" in cli("pause", "--project").err


def test_the_file_is_private_and_a_damaged_one_pauses_nothing(cli: Cli) -> None:
    cli("pause")
    file = user_paths().state / "pauses.json"
    assert file.stat().st_mode & 0o077 == 0
    file.write_text('["*"]', encoding="utf-8")
    assert NOT_PAUSED in cli().out
    assert cli("pause", "1h").code == 0


def test_switched_off_is_told_with_its_source(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    cli("config", "set", "enabled", "false")
    assert "hooks     switched off by enabled = false (user file)\n" in cli().out
    monkeypatch.setenv("MEMHOOK_DISABLE", "1")
    assert "MEMHOOK_DISABLE is set" in cli().out
