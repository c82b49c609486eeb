"""The plugin's set-up installs what its lock names, checked by hash, and says so when it cannot."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from memhook import __version__
from tests.hooks.conftest import Assistant, assistant, real_embedder, runner
from tests.plugin.test_launcher import ROOT, run_setup, script, state, tools

__all__ = ["assistant", "real_embedder", "runner", "tools"]

LOCK = ROOT / "hooks/requirements.lock"
DEVELOPMENT_LOCK = ROOT / "scripts/requirements-dev.lock"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
NEEDED = [*PROJECT["project"]["dependencies"], *PROJECT["build-system"]["requires"]]
ENTRY = re.compile(r"^(\S+)==(\S+)(?: ; (.*?))? \\\n((?: +--hash=sha256:[0-9a-f]{64}(?: \\)?\n)+)", re.MULTILINE)


def locked(path: Path) -> dict[str, set[str]]:
    """The versions of each package; several where they differ by Python."""
    found: dict[str, set[str]] = {}
    for name, version, _marker, _hashes in ENTRY.findall(path.read_text(encoding="utf-8")):
        found.setdefault(canonicalize_name(name), set()).add(version)
    return found


@pytest.mark.parametrize("needed", NEEDED)
def test_each_dependency_is_in_the_lock_in_a_version_within_its_range(needed: str) -> None:
    """If this fails: scripts/lock --keep."""
    requirement = Requirement(needed)
    versions = locked(LOCK).get(canonicalize_name(requirement.name), set())
    assert versions
    assert all(Version(version) in requirement.specifier for version in versions)


def test_every_line_of_the_lock_belongs_to_a_package_with_its_hashes() -> None:
    text = LOCK.read_text(encoding="utf-8")
    assert not [line for line in ENTRY.sub("", text).splitlines() if not line.startswith("#")]


def test_what_is_shipped_is_what_was_tested() -> None:
    tested = locked(DEVELOPMENT_LOCK)
    build = {"hatchling", "tomlkit", "trove-classifiers"}  # only the set-up builds the package without isolation
    assert {name: versions for name, versions in locked(LOCK).items() if tested.get(name) != versions}.keys() <= build


@pytest.fixture
def calls(home: Path, tools: Path) -> Path:
    """A Python on the PATH that makes environments of nothing and writes down what pip is asked to do."""
    written = home / "calls"
    python = f"""
case "$*" in
  *"-m venv "*) for target in "$@"; do :; done; mkdir -p "$target/bin" && ln -s "$0" "$target/bin/python" ;;
  *"-m pip "*)
    echo "${{*#*--no-input }}" >>"{written}"
    case "$*" in *--require-hashes*) cat "{home}/refusal" 2>/dev/null && exit 1 ;; esac ;;
esac
exit 0"""
    script(tools / "python3", python)
    for name in ("ln", "grep", "readlink"):
        (tools / name).symlink_to(
            Path("/usr/bin") / name if (Path("/usr/bin") / name).exists() else Path("/bin") / name
        )
    return written


def asked_of_pip(calls: Path) -> list[str]:
    return [line.replace(f"{ROOT}/", "").replace(str(ROOT), ".") for line in calls.read_text().splitlines()]


LOCKED = "install --require-hashes --only-binary :all: -r hooks/requirements.lock"


def test_it_installs_from_the_lock_and_nothing_besides(home: Path, tools: Path, calls: Path) -> None:
    run_setup(home, tools)
    assert asked_of_pip(calls) == [LOCKED, "install --no-deps --no-build-isolation ."]
    assert (home / f".local/share/memhook/env-{__version__}/made-by-plugin").exists()
    assert not (state(home) / "setup.notice").exists()


def test_where_the_locked_versions_cannot_be_had_it_takes_others_and_says_so(
    home: Path, tools: Path, calls: Path, assistant: Assistant
) -> None:
    (home / "refusal").write_text("ERROR: No matching distribution found for lancedb==0.40.0\n", encoding="utf-8")
    run_setup(home, tools)
    assert asked_of_pip(calls) == [LOCKED, "install ."]
    log = (state(home) / "setup.log").read_text(encoding="utf-8")
    assert "No matching distribution" in log
    assert "without checking their hashes" in log
    assert (home / f".local/share/memhook/env-{__version__}/made-by-plugin").exists()

    told_by = type(assistant.runner)(assistant.runner.engine.paths)  # the daemon that the set-up starts
    assistant.runner = told_by
    start = {"hook_event_name": "SessionStart", "session_id": "s1", "source": "startup"}
    assert "without checking their hashes" in assistant.answer(start)["systemMessage"]
    assert "systemMessage" not in assistant.answer({**start, "session_id": "s2"})


def test_a_package_with_another_hash_is_not_installed_at_all(home: Path, tools: Path, calls: Path) -> None:
    (home / "refusal").write_text(refusal_of_pip(home), encoding="utf-8")
    run_setup(home, tools)
    assert asked_of_pip(calls) == [LOCKED]
    assert "its hash differs" in (state(home) / "setup.failed").read_text(encoding="utf-8")
    assert not (home / f".local/share/memhook/env-{__version__}/made-by-plugin").exists()


def refusal_of_pip(folder: Path) -> str:
    """What the real pip says of a wheel whose content is not that of the lock."""
    with zipfile.ZipFile(folder / "tampered-1.0-py3-none-any.whl", "w") as wheel:
        wheel.writestr("tampered-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: tampered\nVersion: 1.0\n")
        wheel.writestr("tampered-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr("tampered-1.0.dist-info/RECORD", "")
    (folder / "lock").write_text(f"tampered==1.0 --hash=sha256:{'0' * 64}\n", encoding="utf-8")
    pip = [sys.executable, "-m", "pip", "install", "--require-hashes", "--no-index", "--find-links", str(folder)]
    run = subprocess.run(
        [*pip, "--target", str(folder / "nowhere"), "-r", str(folder / "lock")],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert run.returncode != 0
    return run.stderr
