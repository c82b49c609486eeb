"""README.md is short, and what it shows is what one sees."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from argparse import _SubParsersAction
from pathlib import Path

from memhook.cli.parser import parser

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_it_is_at_most_180_lines() -> None:
    assert len(README.splitlines()) <= 180


def test_the_picture_the_tables_and_the_transcript_are_what_the_script_writes() -> None:
    command = [sys.executable, str(ROOT / "scripts" / "readme"), "--check"]
    run = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert run.returncode == 0, f"run: .venv/bin/python scripts/readme\n{run.stdout}{run.stderr}"


def test_the_two_commands_come_first() -> None:
    commands = [line.strip() for line in README.splitlines() if line.startswith("    ")]
    assert commands[:2] == ["scripts/demo", "scripts/test"]
    for name in commands[:2]:
        assert (ROOT / name).stat().st_mode & 0o100


def test_the_plugin_is_installed_from_the_marketplace_that_is_here() -> None:
    """Claude Code takes only ./ and ../ for a path: it refuses a bare dot."""
    marketplace = json.loads((ROOT / ".claude-plugin/marketplace.json").read_text(encoding="utf-8"))
    (plugin,) = marketplace["plugins"]
    lines = [
        "    claude plugin marketplace add ./",
        f"    claude plugin install {plugin['name']}@{marketplace['name']}",
    ]
    for text in (README, (ROOT / "memhook/guide/assistants.md").read_text(encoding="utf-8")):
        assert "\n".join(lines) in text


def test_the_table_has_every_command() -> None:
    (top,) = (action for action in parser()._actions if isinstance(action, _SubParsersAction))
    names = {id(command): name for name, command in reversed(top.choices.items())}  # an alias comes after its command
    assert set(re.findall(r"^\| `memhook ([a-z]+)` \|", README, re.MULTILINE)) == set(names.values())


def test_each_topic_of_the_guide_is_linked() -> None:
    pages = {path.stem for path in (ROOT / "memhook/guide").glob("*.md")}
    assert dict(re.findall(r"^\| \[([a-z-]+)\]\(memhook/guide/([a-z-]+)\.md\)", README, re.MULTILINE)) == {
        page: page for page in pages
    }
