"""`pip install` gives a complete product: the wheel is built, installed into a clean environment and serves a hook."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

from tests.patience import patient

ROOT = Path(__file__).parents[2]
FACT = "Ledger reconciliation must read from the primary: the replica lags up to 50 seconds behind."


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "build", "--wheel", "--outdir", str(folder), str(ROOT)]
    subprocess.run(command, check=True, capture_output=True, timeout=300)
    (built,) = folder.glob("*.whl")
    return built


def test_the_wheel_carries_client_graph_defaults_guide_and_licences(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    assert {
        "memhook/daemon/hook_client.py",
        "memhook/daemon/hook_client.pl",
        "memhook/resources/granite.onnx",
        "memhook/resources/default.toml",
        "memhook/resources/launch.sh",
        "memhook/resources/opencode.js",
    } <= names
    assert {f"memhook/guide/{page.name}" for page in (ROOT / "memhook/guide").glob("*.md")} <= names
    data = [path for path in (ROOT / "memhook").rglob("*") if path.suffix in (".toml", ".sql", ".html", ".css", ".js")]
    assert {path.relative_to(ROOT).as_posix() for path in data} <= names
    assert {name.rsplit("/", 1)[1] for name in names if "/licenses/" in name} == {"LICENSE", "NOTICE"}
    assert not any(name.startswith(("tests/", "scripts/", "config/")) for name in names)


def test_installed_in_a_clean_environment_it_serves_a_hook(wheel: Path, home: Path) -> None:
    environment = home / "env"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(environment)], check=True, timeout=300)
    install = [
        sys.executable,
        "-m",
        "pip",
        "--python",
        str(environment / "bin/python"),
        "install",
        "--quiet",
        "--no-deps",
    ]
    subprocess.run([*install, str(wheel)], check=True, capture_output=True, timeout=300)
    # What memhook depends on is the same here and there: linked in, it need not be downloaded again.
    (site,) = (environment / "lib").glob("python3.*/site-packages")
    (site / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
    client = site / "memhook/daemon/hook_client.py"
    client.write_text(patient(client.read_text(encoding="utf-8")), encoding="utf-8")
    memhook = str(environment / "bin/memhook")
    env = {"HOME": str(home), "PATH": os.environ["PATH"]}

    def run(*arguments: str, given: str = "") -> str:
        command = [memhook, *arguments]
        return subprocess.run(
            command, input=given, capture_output=True, text=True, check=True, timeout=300, env=env, cwd=home
        ).stdout

    try:
        run("remember", FACT)
        event = {
            "hook_event_name": "UserPromptSubmit",
            "session_id": "s",
            "prompt": "why is the ledger replica lagging?",
        }
        answer = json.loads(run("hook", "UserPromptSubmit", "1", given=json.dumps(event)))
        assert FACT in answer["hookSpecificOutput"]["additionalContext"]
        recorded = (home / ".local/state/memhook/interpreter").read_text(encoding="utf-8").splitlines()
        assert Path(recorded[0]) == environment / "bin/python"
        assert Path(recorded[1]).is_relative_to(environment)
        run("install", "claude", "--yes")
        settings = json.loads((home / ".claude/settings.json").read_text(encoding="utf-8"))
        command = settings["hooks"]["UserPromptSubmit"][0]["hooks"][0]["command"]
        asked = json.dumps({**event, "session_id": "of an assistant"})
        shell = ["/bin/sh", "-c", command]
        said = subprocess.run(shell, input=asked, capture_output=True, text=True, check=True, env={"HOME": str(home)})
        assert FACT in json.loads(said.stdout)["hookSpecificOutput"]["additionalContext"]
    finally:
        run("daemon", "stop")
