from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from memhook.daemon import control, hook_client
from memhook.paths import Paths, user_paths
from tests.conftest import GiveModel
from tests.daemons import kill_daemon
from tests.patience import SECONDS, patient_source

FACT = "Ledger reconciliation must read from the primary: the replica lags up to 50 seconds behind."
QUESTION = "why does the ledger reconciliation fail when the replica lags?"
CLIENT = [sys.executable, "-I", "-S", hook_client.__file__]
PATIENT_CLIENT = [sys.executable, "-I", "-S", "-c", patient_source()]


def event(prompt: str = QUESTION, **fields: Any) -> bytes:
    return json.dumps({"hook_event_name": "UserPromptSubmit", "session_id": "s", "prompt": prompt, **fields}).encode()


def hook(body: bytes | int, *arguments: str, **environment: str) -> subprocess.CompletedProcess[bytes]:
    """The real client as its own process; `body` is what comes on stdin, or a descriptor for it."""
    return _run(CLIENT, body, arguments, environment)


def answered(body: bytes, *arguments: str, **environment: str) -> subprocess.CompletedProcess[bytes]:
    """As `hook`, for an answer that must come, however busy the machine is."""
    return _run(PATIENT_CLIENT, body, arguments, environment)


def _run(
    client: Sequence[str], body: bytes | int, arguments: Sequence[str], environment: Mapping[str, str]
) -> subprocess.CompletedProcess[bytes]:
    stdin: dict[str, Any] = {"stdin": body} if isinstance(body, int) else {"input": body}
    command = [*client, *(arguments or ("UserPromptSubmit", "1"))]
    return subprocess.run(
        command, **stdin, capture_output=True, timeout=2 * SECONDS, check=False, env={**os.environ, **environment}
    )


def log_text(paths: Paths) -> str:
    return paths.log.read_text(encoding="utf-8") if paths.log.exists() else ""


@pytest.fixture
def paths(home_with_model: Path) -> Paths:
    return user_paths()


@pytest.fixture
def daemon(paths: Paths) -> int:
    """A running daemon whose store holds one memory; its process id."""
    return with_a_memory(paths)


@dataclass(frozen=True)
class Served:
    """A daemon that the tests of a module share, because none of them may harm it."""

    paths: Paths
    pid: int
    home: str

    def hook(self, body: bytes, *arguments: str) -> subprocess.CompletedProcess[bytes]:
        return answered(body, *arguments, HOME=self.home)

    def is_unharmed(self) -> bool:
        return int(control.called(self.paths, "daemon_status")["pid"]) == self.pid


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory, give_model: GiveModel) -> Iterator[Served]:
    home = tmp_path_factory.mktemp("served")
    give_model(home)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(home))
        paths = user_paths()
        pid = with_a_memory(paths)
    yield Served(paths, pid, str(home))
    kill_daemon(home)


def with_a_memory(paths: Paths) -> int:
    control.started(paths)
    control.called(paths, "remember", {"content": FACT})
    return int(control.called(paths, "daemon_status")["pid"])
