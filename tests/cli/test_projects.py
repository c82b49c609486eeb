from __future__ import annotations

import io
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Cli, Engine

SHOP: dict[str, Any] = {
    "id": "example.com/team/shop",
    "name": "shop",
    "memories": 12,
    "last_used": "2026-02-14T09:30:00+00:00",
    "here": True,
    "exists": None,
    "also": ["/home/me/shop"],
}
GONE = SHOP | {"id": "/home/me/old", "name": "old", "memories": 3, "here": False, "exists": False, "also": []}
REPORT = {"projects": [SHOP, GONE], "global": 5}
MERGED = {"source": "/home/me/old", "target": "example.com/team/shop", "moved": 3, "folded": 1}


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_projects_are_listed(engine: Engine, cli: Cli) -> None:
    engine.answers["projects"] = REPORT
    assert cli("projects").out.splitlines() == [
        "     12  shop  (example.com/team/shop, here, last used 2026-02-14)",
        "         also /home/me/shop",
        "      3  old  (/home/me/old, no such directory now, last used 2026-02-14)",
        "      5  global",
        "",
        "If a directory was moved or renamed: memhook projects merge OLD NEW",
    ]
    assert cli("projects", "--json").json == REPORT


def test_merging_asks_first(engine: Engine, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    engine.answers["merge_projects"] = MERGED
    monkeypatch.setattr(sys, "stdin", Terminal("n\n"))
    refused = cli("projects", "merge", "old", "here")
    assert (refused.code, refused.out) == (1, "")
    assert "3 memories of /home/me/old will belong to example.com/team/shop" in refused.err
    assert engine.asked == [("merge_projects", {"source": "old", "target": "here", "dry_run": True})]
    monkeypatch.setattr(sys, "stdin", Terminal("y\n"))
    assert (
        "3 memories moved to shop; 1 with the same text as another kept both URNs."
        in cli("projects", "merge", "old", "here").out
    )
    assert engine.asked[-1] == ("merge_projects", {"source": "old", "target": "here"})


def test_without_a_terminal_only_yes_merges(engine: Engine, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    engine.answers["merge_projects"] = MERGED
    monkeypatch.setattr(sys, "stdin", io.StringIO())
    refused = cli("projects", "merge", "old", "here")
    assert refused.code == 1
    assert "--yes" in refused.err
    assert cli("projects", "merge", "old", "here", "--yes", "--json").json == MERGED


def test_a_directory_is_named_in_full(engine: Engine, cli: Cli, outside_any_project: Path) -> None:
    engine.answers["merge_projects"] = MERGED
    cli("projects", "merge", "/no/longer/there", ".", "--yes")
    assert engine.asked[-1][1] == {"source": "/no/longer/there", "target": str(outside_any_project)}


def test_memories_move_by_urn_or_all_of_a_project(engine: Engine, cli: Cli) -> None:
    engine.answers["move_memories"] = {"target": "", "moved": 1, "folded": 0}
    assert (
        cli("projects", "move", "urn:memhook:x", "--to", "global", "--yes").out == "1 memory moved to all projects.\n"
    )
    assert engine.asked == [("move_memories", {"references": ["urn:memhook:x"], "source": "", "target": "global"})]
    assert cli("projects", "move", "--to", "here", "--yes").code == 1
    assert cli("projects", "move", "urn:memhook:x", "--from", "old", "--to", "here", "--yes").code == 1


def test_a_split_is_told(engine: Engine, cli: Cli) -> None:
    engine.answers["split_project"] = {"source": "/home/me/old", "target": "example.com/team/shop"}
    assert "/home/me/old is a separate project again." in cli("projects", "split", "/home/me/old").out
