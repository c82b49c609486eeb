"""The checks that run on each change cover what the package claims to support."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[1]
WORKFLOW = (ROOT / ".github/workflows/ci.yml").read_text(encoding="utf-8")
JOBS = yaml.safe_load(WORKFLOW)["jobs"]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def test_every_supported_python_runs_on_linux_and_macos() -> None:
    pythons = [entry.rsplit(" ", 1)[1] for entry in PROJECT["classifiers"] if re.search(r":: 3\.\d+$", entry)]
    matrix = JOBS["locked"]["strategy"]["matrix"]
    assert matrix == {"os": ["ubuntu-latest", "macos-latest"], "python": pythons}
    assert PROJECT["requires-python"] == f">={pythons[0]}"
    assert any(step.get("run", "").startswith("scripts/test --cov") for step in JOBS["locked"]["steps"])


def test_the_ends_of_the_ranges_are_tested_on_the_oldest_and_the_newest_python() -> None:
    oldest, *_, newest = JOBS["locked"]["strategy"]["matrix"]["python"]
    matrix = JOBS["ranges"]["strategy"]["matrix"]
    assert matrix["python"] == [oldest, newest]
    assert matrix["dependencies"] == ["lowest-direct", "highest"]


def test_it_may_only_read() -> None:
    assert yaml.safe_load(WORKFLOW)["permissions"] == {"contents": "read"}
