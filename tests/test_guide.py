"""The guide on grading has the code's numbers."""

from __future__ import annotations

import re
from pathlib import Path

from memhook.core.grading import EDGES, FLOOR, MOST_UNSURE, Strictness
from memhook.core.rendering import END
from memhook.settings import Settings, flattened

ROOT = Path(__file__).parents[1]
GUIDE = (ROOT / "memhook" / "guide" / "grading.md").read_text(encoding="utf-8")
ROWS = [[cell.strip() for cell in line.strip("|").split("|")] for line in GUIDE.splitlines() if line.startswith("|")]
DEFAULTS = dict(flattened(Settings().model_dump(mode="json")))


def rows_of(table: str) -> dict[str, list[str]]:
    """The rows of the table whose first heading is this, by their first cells."""
    start = next(number for number, row in enumerate(ROWS) if row[0] == table) + 2
    end = next((number for number, row in enumerate(ROWS) if number > start and row[1] == "---"), len(ROWS) + 1) - 1
    return {row[0].strip("`"): row[1:] for row in ROWS[start:end]}


def test_the_edges_of_each_level_are_the_codes() -> None:
    assert rows_of("`hooks.relevance`") == {
        level.value: [f"below {edges.unsure:.2f}", f"from {edges.unsure:.2f}", f"from {edges.sure:.2f}"]
        for level, edges in EDGES.items()
    }


def test_the_floor_and_the_most_where_unsure_are_the_codes() -> None:
    assert re.findall(r"shown if that is at least ([\d.]+\d)", GUIDE) == [f"{FLOOR:.2f}"]
    assert re.findall(r"unsure: at most (\d+) memories", GUIDE) == [str(MOST_UNSURE)]
    assert re.findall(r"The default is `(\w+)`", GUIDE) == [DEFAULTS["hooks.relevance"]]
    assert END in GUIDE


def test_each_default_is_the_codes() -> None:
    documented = rows_of("setting")
    assert {"hooks.best_chars", "preview_chars", "hooks.max_memories", "max_tokens"} <= set(documented)
    assert {name: row[0] for name, row in documented.items()} == {name: str(DEFAULTS[name]) for name in documented}


def test_the_comments_on_the_settings_have_the_same_numbers() -> None:
    """A reader of the settings sees the edges too."""
    comments = (ROOT / "config" / "default.toml").read_text(encoding="utf-8")
    strict, balanced, eager = (EDGES[level].unsure for level in Strictness)
    assert f"strict, balanced or eager (a chance of at least {strict}, {balanced} or {eager})" in comments
    assert MOST_UNSURE == 3
    assert "three if it is unsure" in comments


def test_it_is_one_page() -> None:
    assert len(GUIDE.splitlines()) <= 120
