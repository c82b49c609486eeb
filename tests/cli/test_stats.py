from __future__ import annotations

from typing import Any

import pytest

from tests.cli.conftest import Cli, Engine

STATS: dict[str, Any] = {
    "since": "2026-02-14T09:30:00+00:00",
    "project": None,
    "prompts": 200,
    "with_injection": 50,
    "share": 0.25,
    "silent": {"nothing relevant": 120, "small talk": 30},
    "tokens_per_prompt": {"p50": 0, "p95": 410},
    "tokens_per_injection": {"p50": 180, "p95": 900},
    "sessions": 12,
    "tokens_per_session": {"p50": 1200, "p95": 3100},
    "sessions_used_up": 1,
    "by_origin": {
        "user": {"memories": 80, "shown": 25, "used": 9},
        "captured": {"memories": 11, "shown": 6, "used": 2},
    },
    "surfaced": 31,
    "shown": 14,
    "used": 6,
    "best_of_week": [{"urn": "urn:memhook:k3v9x2m4p7qa", "title": "Replica lag " * 9, "times": 6}],
    "never_used": 1,
    "never_used_examples": [{"urn": "urn:memhook:k3v9x2m4p7qb", "title": "Tea with milk", "times": 8}],
    "surfaced_most": [{"urn": "urn:memhook:k3v9x2m4p7qa", "title": "Replica lag " * 9, "times": 14}],
    "never_surfaced": 60,
    "never_examples": [{"urn": "urn:memhook:cccccccccccc", "title": "Cat"}],
}


def test_stats_fit_a_screen(engine: Engine, cli: Cli) -> None:
    engine.answers["stats"] = STATS
    out = cli("stats", "--days", "7").out
    assert engine.asked == [("stats", {"days": 7, "here": False})]
    assert "with memories 50 (25%)\n" in out
    assert "     120  nothing relevant\n" in out
    assert "                1200   3100  a session, of 12\n" in out
    assert "      14  urn:memhook:k3v9x2m4p7qa  Replica lag" in out
    assert "  captured        11      6      2\n" in out
    assert "never surfaced: 60 memories, 1 of them\n" in out
    assert "sessions that used up their budget (session_max_tokens): 1\n" in out
    assert max(map(len, out.splitlines())) <= 80
    assert len(out.splitlines()) <= 24
    assert cli("stats", "--json").json == STATS


@pytest.mark.usefixtures("in_a_project")
def test_stats_of_a_project_and_of_nothing(engine: Engine, cli: Cli) -> None:
    engine.answers["stats"] = STATS | {"since": None}
    assert "Nothing is recorded yet" in cli("stats", "--project").out
    assert engine.asked == [("stats", {"days": None, "here": True})]


def test_stats_of_a_project_outside_of_one_are_refused(cli: Cli) -> None:
    assert "belongs to no project" in cli("stats", "--project").err
