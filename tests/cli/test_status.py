from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from memhook import __version__
from memhook.cli import daemon as daemon_command
from memhook.cli import doctor
from memhook.cli.place import Place
from memhook.daemon import hook_client
from memhook.errors import DaemonUnavailable, StoreError
from memhook.paths import user_paths
from tests.cli.conftest import Cli, Engine

STATUS: dict[str, Any] = {
    "project": "github.com/a/b",
    "project_name": "b",
    "store": "/data/store",
    "memories": 60,
    "by_project": {"": 10, "github.com/a/b": 20, **{f"p{number}": number for number in range(1, 8)}},
    "model": "granite-embedding-30m-english",
    "configured_model": "granite-embedding-30m-english",
    "embedding_problem": "",
    "by_meaning": True,
    "renewal": None,
    "max_tokens": 4000,
    "ledger": "/state/ledger.sqlite3",
}
DAEMON = {"pid": 42, "version": __version__, "memory_mb": 300, "last_error": "", "uptime_seconds": 5.0}


@pytest.fixture
def running(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """A daemon that says this of itself."""
    state = dict(DAEMON)
    monkeypatch.setattr(daemon_command, "called", lambda *_: state)
    monkeypatch.setattr(doctor, "started", lambda _: False)
    return state


def test_memhook_alone_shows_where_you_are_without_starting_anything(cli: Cli, in_a_project: Path) -> None:
    result = cli()
    assert result.code == 0
    assert f"memhook {__version__}\nproject   work ({in_a_project.resolve()})\nmemories  none yet\n" in result.out
    assert "not running" in result.out
    assert result.out.count("  memhook ") == 3
    assert max(map(len, result.out.splitlines())) <= 80 or len(str(in_a_project)) > 50
    assert not user_paths().socket.exists()
    assert not user_paths().data.exists()


def test_memhook_alone_counts_when_the_daemon_runs(engine: Engine, cli: Cli, running: dict[str, Any]) -> None:
    engine.answers["status"] = STATUS
    result = cli()
    assert "memories  60\n" in result.out
    assert "running (process 42, 300 MB)" in result.out


def test_memhook_alone_does_not_load_the_store(home: Path) -> None:
    script = "import sys; from memhook.cli.main import main; main([]); print('lancedb' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.endswith("False\n")


def test_status_is_one_screen(engine: Engine, cli: Cli, running: dict[str, Any]) -> None:
    engine.answers["status"] = STATUS
    out = cli("status").out
    assert len(out.splitlines()) <= 24
    assert "project   b (github.com/a/b)\n" in out
    assert "    10  global\n" in out
    assert "    20  this project\n" in out
    assert "     7  p7\n" in out
    assert "     3  in other projects\n" in out
    assert "budget    4000 tokens" in out
    shown = cli("status", "--json").json
    assert shown["daemon"] == {"running": True, **DAEMON}
    assert shown["memories"] == 60


def test_status_says_why_there_is_no_search_by_meaning(engine: Engine, cli: Cli, running: dict[str, Any]) -> None:
    problem = "The model file is missing."
    engine.answers["status"] = STATUS | {"embedding_problem": problem, "by_meaning": False}
    assert f"search by words alone: {problem}" in cli("status").out


def test_status_says_how_far_another_model_is(engine: Engine, cli: Cli, running: dict[str, Any]) -> None:
    other = STATUS | {"configured_model": "all-MiniLM-L6-v2"}
    engine.answers["status"] = other | {"renewal": {"done": 64, "total": 100}}
    becoming = "granite-embedding-30m-english, to become all-MiniLM-L6-v2"
    assert f"model     {becoming}, 64 of 100 embedded\n" in cli("status").out
    engine.answers["status"] = other | {"embedding_problem": "The package is missing."}
    assert f"model     {becoming}: The package is missing.\n" in cli("status").out


def test_daemon_status_tells_by_exit_code_whether_it_runs(cli: Cli, running: dict[str, Any]) -> None:
    assert cli("daemon", "status").code == 0
    assert cli("daemon", "status", "--json").json["pid"] == 42


def test_daemon_status_without_a_daemon(cli: Cli) -> None:
    result = cli("daemon", "status", "--json")
    assert result.code == 1
    assert result.json == {"running": False, "pid": None}
    assert "not running" in cli("daemon", "status").out
    assert cli("daemon", "stop").out == "No daemon was running.\n"


def test_start_and_restart_say_what_they_did(
    cli: Cli, running: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    stopped: list[object] = []
    monkeypatch.setattr(daemon_command, "started", lambda _: True)
    monkeypatch.setattr(daemon_command, "stopped", stopped.append)
    assert cli("daemon", "restart").out == "The daemon runs now (process 42).\n"
    assert stopped
    monkeypatch.setattr(daemon_command, "started", lambda _: False)
    assert cli("daemon", "start").out == "The daemon was running already (process 42).\n"


@pytest.fixture
def healthy(engine: Engine, running: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> Engine:
    engine.answers["status"] = STATUS
    paths = user_paths()
    paths.interpreter.write_text(f"{sys.executable}\n{hook_client.__file__}\n{__version__}\n")
    answer = subprocess.CompletedProcess([], 0, b"", b"")
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: answer)
    return engine


def test_doctor_finds_nothing_where_all_is_well(healthy: Engine, cli: Cli) -> None:
    result = cli("doctor")
    assert result.code == 0
    assert all(line.startswith("ok ") for line in result.out.splitlines())
    shown = cli("doctor", "--json").json
    assert shown["ok"] is True
    names = {check["name"] for check in shown["checks"]}
    assert names == {"python", "settings", "folders", "daemon", "store", "model", "ledger", "launcher", "hook"}


def _problems(cli: Cli) -> dict[str, str]:
    result = cli("doctor", "--json")
    problems = {
        check["name"]: f"{check['message']} -> {check['mend']}" for check in result.json["checks"] if not check["ok"]
    }
    assert result.code == (1 if problems else 0)
    return problems


def test_doctor_names_each_problem_and_what_mends_it(
    healthy: Engine, cli: Cli, running: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = user_paths()
    healthy.answers["status"] = STATUS | {"embedding_problem": "The model is gone.", "ledger": ""}
    running["version"] = "0.0.1"
    paths.config.mkdir(parents=True)
    paths.config_file.write_text("max_tokens = 9000\nwrong = 1\n")
    paths.interpreter.write_text("/no/python\n/no/client\n0.1\n")
    (paths.state / "setup.failed").write_text("no Python was found.\n")
    paths.data.mkdir(parents=True)
    paths.data.chmod(0o755)
    garbage = subprocess.CompletedProcess([], 0, b"Traceback", b"")
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: garbage)
    problems = _problems(cli)
    assert "wrong" in problems["settings"]
    assert problems["budget"].endswith("-> memhook config set max_tokens 5000")
    assert problems["folders"].endswith(f"-> chmod 700 {paths.data}")
    assert "no Python was found." in problems["plugin"]
    assert problems["daemon"].endswith("-> memhook daemon restart")
    assert "The model is gone." in problems["model"]
    assert "ledger" in problems
    assert problems["launcher"].endswith("-> memhook daemon restart")
    assert "Traceback" in problems["hook"]


def test_doctor_goes_on_after_a_check_that_cannot_be_made(
    healthy: Engine, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    def not_started(_: object) -> bool:
        raise DaemonUnavailable("The daemon did not start.", "The reason is in the log.")

    monkeypatch.setattr(doctor, "started", not_started)
    healthy.answers["status"] = StoreError("The store is damaged.", "memhook restore")
    problems = _problems(cli)
    assert problems["daemon"] == "The daemon did not start. -> The reason is in the log."
    assert problems["store"] == "The store is damaged. -> memhook restore"


def test_the_round_trip_takes_a_real_event_to_the_real_client(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given: dict[str, Any] = {}

    def run(command: list[str], **options: Any) -> subprocess.CompletedProcess[bytes]:
        given["command"], given["event"] = command, json.loads(options["input"])
        return subprocess.CompletedProcess(command, 0, b'{"systemMessage": "x"}', b"")

    monkeypatch.setattr(subprocess, "run", run)
    (finding,) = doctor.round_trip(Place("/somewhere", user_paths()))
    assert finding.ok
    assert given["command"][-1] == "UserPromptSubmit"
    assert given["event"]["hook_event_name"] == "UserPromptSubmit"
    assert given["event"]["cwd"] == "/somewhere"
