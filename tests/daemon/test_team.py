"""Two people, each with a home, a daemon and hooks of their own, and one store on S3 between them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import tomli_w

from memhook.daemon import control
from memhook.paths import user_paths
from tests.conftest import GiveModel
from tests.daemon.conftest import FACT, QUESTION, answered, event
from tests.daemons import kill_daemon
from tests.s3 import READ_ONLY_KEY, S3, running_s3

SECRET = "the-secret-of-the-team"
WAIT = 300


@dataclass(frozen=True)
class Person:
    home: Path
    environment: dict[str, str]

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "memhook.cli", *arguments]
        return subprocess.run(
            command, env=self.environment, cwd=self.home, capture_output=True, text=True, timeout=300, check=False
        )

    def status(self) -> dict[str, Any]:
        report: dict[str, Any] = control.called(user_paths(self.environment), "status")
        return report

    def prompted(self, prompt: str, session: str) -> str:
        run = answered(event(prompt, session_id=session, cwd=str(self.home)), **self.environment)
        return str(json.loads(run.stdout)["hookSpecificOutput"]["additionalContext"]) if run.stdout else ""

    def has_fetched(self, memories: int) -> bool:
        return control._wait_until(lambda: self.status()["shared"][0]["memories"] == memories, WAIT)


@contextmanager
def person(name: str, s3: S3, give_model: GiveModel, key: str = "writer") -> Iterator[Person]:
    home = s3.folder / name
    home.mkdir()
    give_model(home)
    kept = {variable: os.environ[variable] for variable in ("PATH", "GIT_CONFIG_GLOBAL") if variable in os.environ}
    credentials = {"AWS_ACCESS_KEY_ID": key, "AWS_SECRET_ACCESS_KEY": SECRET}
    one = Person(home, {**kept, **credentials, "HOME": str(home)})
    team = {"uri": "s3://team/memories", "refresh_seconds": 1, "options": s3.options}
    file = user_paths(one.environment).config_file
    file.parent.mkdir(parents=True)
    file.write_text(tomli_w.dumps({"stores": {"team": team}}), encoding="utf-8")
    assert one.run("daemon", "start").returncode == 0
    try:
        yield one
    finally:
        kill_daemon(home)


@pytest.fixture(scope="module")
def s3(tmp_path_factory: pytest.TempPathFactory) -> Iterator[S3]:
    with running_s3(tmp_path_factory.mktemp("s3")) as server:
        yield server


@pytest.fixture(scope="module")
def ada(s3: S3, give_model: GiveModel) -> Iterator[Person]:
    """She has told the team something."""
    with person("ada", s3, give_model) as one:
        stored = one.run("remember", FACT, "--store", "team")
        assert stored.returncode == 0, stored.stderr
        yield one


def test_who_may_only_read_is_told_so_and_keeps_what_was_written_to_the_own_store(
    s3: S3, ada: Person, give_model: GiveModel
) -> None:
    with person("guest", s3, give_model, READ_ONLY_KEY) as guest:
        guest.status()
        assert guest.has_fetched(1)
        refused = guest.run("remember", "may I?", "--store", "team")
        assert refused.returncode == 1
        assert "may read it and not write" in refused.stderr
        assert guest.run("remember", "my own").returncode == 0
        listed = json.loads(guest.run("list", "--json").stdout)["memories"]
        assert [one["store"] for one in listed] == ["", "team"]
        changed = guest.run("forget", listed[1]["urn"], "--yes")
        assert "--store team" in changed.stderr


def test_two_people_see_each_others_memories_through_their_hooks(s3: S3, ada: Person, give_model: GiveModel) -> None:
    with person("bob", s3, give_model) as bob:
        assert bob.status()["shared"][0]["name"] == "team"
        assert bob.has_fetched(1)
        shown = bob.prompted(QUESTION, "first")
        assert FACT in shown
        assert "user, from team" in shown
        mine = json.loads(bob.run("remember", "Deploys hang at 40 % when the VPN is down.", "--json").stdout)
        assert bob.run("share", mine["memory"]["urn"], "--store", "team").returncode == 0
        assert ada.has_fetched(2)
        assert "VPN is down" in ada.prompted("why does the deploy hang at 40 %?", "second")
        s3.kill()  # a remote that cannot be reached delays no prompt and costs no answer
        assert FACT in bob.prompted(QUESTION, "third")
        assert bob.run("search", "ledger", "--store", "team").returncode == 0
        refused = bob.run("remember", "not now", "--store", "team")
        assert (refused.returncode, "Traceback" in refused.stderr) == (1, False)
        logs = [path.read_text(encoding="utf-8") for one in (ada, bob) for path in one.home.rglob("*.log")]
        assert not any(SECRET in text for text in logs)
