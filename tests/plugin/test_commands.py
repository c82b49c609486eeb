"""The plugin's slash commands and its skill, where its manifest says they are."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from memhook.mcp_server import tools

ROOT = Path(__file__).parents[2]
MANIFEST = json.loads((ROOT / ".claude-plugin" / "plugin.json").read_text(encoding="utf-8"))
COMMANDS = {path.stem: path for path in (ROOT / MANIFEST["commands"][0]).glob("*.md")}
SKILLS = {path.parent.name: path for path in (ROOT / MANIFEST["skills"][0]).glob("*/SKILL.md")}
WORTH_KEEPING = ("a decision and its reason", "a fix and its cause", "a convention", "a surprise")


def front_matter(path: Path) -> dict[str, str]:
    found = re.match(r"---\n(.*?)\n---\n", path.read_text(encoding="utf-8"), re.DOTALL)
    assert found
    return dict(line.split(": ", 1) for line in found[1].split("\n"))


def test_the_commands_and_the_skill_are_there() -> None:
    assert set(COMMANDS) == {"remember", "recall", "why"}
    assert set(SKILLS) == {"memory"}
    assert front_matter(SKILLS["memory"])["name"] == "memory"


@pytest.mark.parametrize("path", [COMMANDS["remember"], SKILLS["memory"]], ids=str)
def test_a_description_says_when_a_memory_is_worth_writing(path: Path) -> None:
    description = front_matter(path)["description"]
    assert all(kind in description for kind in WORTH_KEEPING)
    assert len(description) < 1024  # Claude Code cuts a longer one
    assert re.search("not (write down )?what\\s+the code", path.read_text(encoding="utf-8"), re.IGNORECASE)


@pytest.mark.parametrize("path", [*COMMANDS.values(), *SKILLS.values()], ids=str)
def test_every_tool_they_name_exists(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    named = set(re.findall(r"mcp__plugin_memhook_memhook__(\w+)", text))
    named |= set(re.findall(r"`((?:\w+_)?(?:memory|memories|context|remember))`", text))
    assert named <= set(tools.TOOLS)
