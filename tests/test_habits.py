"""Habits that no linter checks."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[1]
EXCEPTION = re.compile(r"# noqa\b(.*)")
EXPLAINED = re.compile(r": [A-Z]+\d+(?:, [A-Z]+\d+)*(?: -)? +\S.*")


def exceptions() -> dict[str, str]:
    """What follows each exception from the linter's rules, by file and line."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "memhook", "scripts", "tests"], cwd=ROOT, capture_output=True, check=True
    )
    found = {}
    for name in filter(None, listed.stdout.decode().split("\0")):
        path = ROOT / name
        if path.is_file() and (path.suffix == ".py" or path.parent.name == "scripts") and path != Path(__file__):
            for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
                if match := EXCEPTION.search(line):
                    found[f"{name}:{number}"] = match[1]
    return found


def test_every_exception_from_a_rule_names_the_rule_and_says_why() -> None:
    found = exceptions()
    assert len(found) > 10
    assert not {where for where, rest in found.items() if not EXPLAINED.fullmatch(rest)}


def test_an_exception_without_a_reason_would_be_noticed() -> None:
    assert EXPLAINED.fullmatch(": S608, E501  only question marks")
    for bare in ("", ": S608", ": S608  ", " because"):
        assert not EXPLAINED.fullmatch(bare)
