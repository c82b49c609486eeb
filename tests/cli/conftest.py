from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from memhook.cli import place
from memhook.cli.main import main

NOTE: dict[str, Any] = {
    "anchors": [],
    "anchors_in_words": [],
    "id": "k3v9x2m4p7qa",
    "urn": "urn:memhook:k3v9x2m4p7qa",
    "title": "Replica lag",
    "content": "Read from the primary.\nRaise the timeout to 40 seconds.",
    "summary": "Read from the primary.",
    "namespace": "incidents",
    "tags": ["db"],
    "related": [],
    "source": "",
    "project": "",
    "sensitivity": "normal",
    "pinned": False,
    "redacted": False,
    "muted": False,
    "origin": "user",
    "created": "2026-02-14T09:30:00+00:00",
    "updated": "2026-02-14T09:30:00+00:00",
    "accessed": None,
    "expires": None,
    "supersedes": [],
    "superseded_by": "",
    "aliases": [],
    "quarantine": "",
    "store": "",
}


@dataclass
class Engine:
    """Answers each method with what a test put there, and remembers what it was asked."""

    answers: dict[str, Any] = field(default_factory=dict)
    asked: list[tuple[str, dict[str, Any]]] = field(default_factory=list)

    def call(self, method: str, **params: Any) -> Any:
        self.asked.append((method, params))
        answer = self.answers[method]
        if isinstance(answer, Exception):
            raise answer
        return answer(**params) if callable(answer) else json.loads(json.dumps(answer))


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> Engine:
    """Stands behind every command in place of the daemon."""
    fake = Engine()
    monkeypatch.setattr(place, "door", lambda *_, **__: fake.call)
    return fake


@pytest.fixture(autouse=True)
def outside_any_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    directory = tmp_path / "work"
    directory.mkdir()
    monkeypatch.chdir(directory)
    return directory


@pytest.fixture
def in_a_project(outside_any_project: Path) -> Path:
    (outside_any_project / ".memhook.toml").write_text("")
    return outside_any_project


@dataclass(frozen=True)
class Result:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


Cli = Callable[..., Result]


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str]) -> Cli:
    def ran(*arguments: str) -> Result:
        code = main(list(arguments))
        out, err = capsys.readouterr()
        return Result(code, out, err)

    return ran
