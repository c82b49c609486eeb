from __future__ import annotations

from pathlib import Path

import pytest

from memhook.cli.commands import help as guide
from tests.cli.conftest import Cli

PAGES = {
    path.stem: path.read_text(encoding="utf-8") for path in (Path(__file__).parents[2] / "memhook/guide").glob("*.md")
}


def test_without_a_topic_it_lists_each_with_its_title(cli: Cli) -> None:
    lines = cli("guide").out.splitlines()
    width = max(map(len, PAGES))
    for topic, text in PAGES.items():
        assert f"{topic:<{width}}  {text.splitlines()[0].removeprefix('# ')}" in lines
    listed = cli("guide", "--json").json["topics"]
    assert [entry["topic"] for entry in listed] == sorted(PAGES)
    assert {"topic": "settings", "title": "Settings"} in listed


@pytest.mark.parametrize("topic", PAGES)
def test_a_topic_is_printed_as_it_is(cli: Cli, topic: str) -> None:
    assert cli("guide", topic).out == PAGES[topic]
    assert cli("guide", f"{topic.upper()}.md", "--json").json == {"topic": topic, "text": PAGES[topic]}


def test_an_unknown_topic_is_refused_with_the_likely_one(cli: Cli) -> None:
    refused = cli("guide", "setings")
    assert (refused.code, refused.out) == (1, "")
    assert refused.err == "memhook: The guide has no topic 'setings'.\nDid you mean: memhook guide settings\n"
    assert "See the topics: memhook guide\n" in cli("guide", "xyzzy").err


@pytest.mark.parametrize("topic", PAGES)
def test_in_a_terminal_prose_fits_its_width_and_says_the_same(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, topic: str
) -> None:
    monkeypatch.setattr(guide, "is_terminal", lambda: True)
    monkeypatch.setenv("COLUMNS", "60")
    out = cli("guide", topic).out
    assert out.split() == PAGES[topic].split()
    prose = [line for line in out.splitlines() if " " in line.strip(" -") and not line.startswith(("    ", "|", "#"))]
    assert max(map(len, prose)) <= 60


def test_in_a_terminal_an_item_keeps_its_indentation_and_code_its_lines() -> None:
    page = "# Page\n\nSome words\nof prose.\n\n- one item\n  goes on\n- another\n\n    a  command\n| a | table |\n"
    assert list(guide._fitted(page)) == [
        *("# Page", "", "Some words of prose.", "", "- one item goes on", "- another"),
        *("", "    a  command", "| a | table |"),
    ]
