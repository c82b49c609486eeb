"""The documentation is tested: what the README shows is what one sees."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from memhook.assistants.assistant import Where
from memhook.assistants.known import KNOWN

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_settings_table_and_the_transcripts_are_what_the_scripts_write() -> None:
    command = [sys.executable, str(ROOT / "scripts" / "readme"), "--check"]
    run = subprocess.run(command, capture_output=True, text=True, check=False, timeout=180)
    assert run.returncode == 0, f"run: .venv/bin/python scripts/readme\n{run.stderr}"


def test_every_command_it_names_exists() -> None:
    named = set(re.findall(r"\bmemhook ([a-z]+)\b", re.sub(r"claude plugin.*|memhook@memhook", "", README)))
    commands = {word for word in named if f"memhook {word}" in code_in(README)}
    assert {"remember", "search", "get", "config"} <= commands
    for command in sorted(commands):
        run = subprocess.run([sys.executable, "-m", "memhook.cli", command, "--help"], capture_output=True, check=False)
        assert run.returncode == 0, command


def code_in(text: str) -> str:
    blocks = re.findall(r"^    .*$|`[^`]+`", re.sub(r"```.*?```", "", text, flags=re.DOTALL), re.MULTILINE)
    return "\n".join(blocks)


def test_the_two_commands_come_first() -> None:
    commands = [line.strip() for line in README.splitlines() if line.startswith("    ")]
    assert commands[:2] == ["scripts/demo", "scripts/test"]
    for name in commands[:2]:
        assert (ROOT / name).stat().st_mode & 0o100


def test_what_install_writes_is_where_it_says(tmp_path: Path) -> None:
    section = README.split("## Every assistant", 1)[1].split("\n## ", 1)[0]
    for assistant in KNOWN.values():
        (row,) = [line for line in section.splitlines() if line.startswith(f"| {assistant.title} |")]
        assert f"`memhook install {assistant.name}`" in row
        for project in (None, tmp_path / "project"):
            edits = assistant.edits(Where(tmp_path / "home", {}, tmp_path / "launch", project))
            hooks = edits[0].path
            root, mark = (project, "") if project else (tmp_path / "home", "~/")
            named = [f"{mark}{part}" for part in (hooks.relative_to(root), *hooks.relative_to(root).parents)]
            assert any(f"`{name}`" in row or f"`{name}/`" in row for name in named if len(name) > len(mark) + 1), named
