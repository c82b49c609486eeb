"""doctor: what is well, what is not, and the command that mends it."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from argparse import Namespace
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from memhook import __version__
from memhook.cli.daemon import daemon_state
from memhook.cli.output import counted, say_json, say_wrapped
from memhook.cli.place import Place
from memhook.daemon import hook_client
from memhook.daemon.control import started
from memhook.errors import MemhookError
from memhook.hooks.events import TRIAL_SESSION
from memhook.hooks.limits import CARRIED_TOKENS, budget_note
from memhook.settings import Settings

ROUND_TRIP_SECONDS = 15
PROMPT = "memhook doctor round trip"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing looked at. `mend` is what to do when it is a problem."""

    name: str
    ok: bool
    message: str
    mend: str = ""


Check = Callable[[Place], Iterator[Finding]]


def doctor(args: Namespace, place: Place) -> int:
    findings = list(found(place))
    is_well = all(finding.ok for finding in findings)
    if args.json:
        say_json({"ok": is_well, "checks": [asdict(finding) for finding in findings]})
    else:
        say_wrapped("\n".join(_line(finding) for finding in findings))
    return 0 if is_well else 1


def found(place: Place) -> Iterator[Finding]:
    """In the order in which one thing rests on another."""
    checks: tuple[Check, ...] = (python, settings, folders, plugin, daemon, store, interpreter, round_trip)
    for check in checks:
        try:
            yield from check(place)
        except (MemhookError, OSError) as error:
            yield Finding(check.__name__, False, str(error), getattr(error, "hint", "") or f"see {place.paths.log}")


def python(_place: Place) -> Iterator[Finding]:
    text = f"memhook {__version__}, Python {platform.python_version()} at {sys.executable}"
    yield Finding("python", sys.version_info >= (3, 11), text, "install Python 3.11 or newer")


def settings(place: Place) -> Iterator[Finding]:
    loaded = place.settings()
    for problem in loaded.problems:
        yield Finding("settings", False, problem, "memhook config edit")
    if not loaded.problems:
        yield Finding(
            "settings", True, f"{place.paths.config_file} is well, {len(loaded.sources)} changed from the default"
        )
    if note := budget_note(loaded.settings.max_tokens):
        yield Finding("budget", False, note, f"memhook config set max_tokens {CARRIED_TOKENS}")


def folders(place: Place) -> Iterator[Finding]:
    fallback = f"memhook-{os.getuid()}"
    if place.paths.state.name == fallback:
        yield Finding(
            "folders", False, f"the home cannot be written; state is kept in {place.paths.state}", "chmod u+w ~"
        )
    for folder in (place.paths.data, place.paths.state):
        if folder.exists() and folder.stat().st_mode & 0o077:
            yield Finding("folders", False, f"{folder} is open to other users", f"chmod 700 {folder}")
        else:
            yield Finding("folders", True, f"{folder} is private")


def plugin(place: Place) -> Iterator[Finding]:
    """What the plugin's set-up left behind when it could not make its own environment."""
    failure = place.paths.state / "setup.failed"
    if failure.exists():
        reason = failure.read_text(encoding="utf-8", errors="replace").strip()
        yield Finding("plugin", False, f"the plugin's set-up failed: {reason}", f"see {place.paths.state}/setup.log")


def daemon(place: Place) -> Iterator[Finding]:
    if not place.use_daemon:
        return
    started(place.paths)
    state = daemon_state(place.paths)
    text = f"the daemon answers (process {state['pid']}, version {state['version']})"
    yield Finding("daemon", state["version"] == __version__, text, "memhook daemon restart")
    if state["last_error"]:
        yield Finding("daemon", False, f"its last error: {state['last_error']}", f"see {place.paths.log}")


def store(place: Place) -> Iterator[Finding]:
    report: dict[str, Any] = place.call("status")
    yield Finding("store", True, f"the store opens: {counted(report['memories'])} in {report['store']}")
    if report["embedding_problem"]:
        is_default = report["configured_model"] == Settings().embedding.model
        mend = "pip install --force-reinstall memhook" if is_default else "memhook config unset embedding.model"
        yield Finding("model", False, report["embedding_problem"], mend)
    else:
        yield Finding("model", True, f"search by meaning with {report['configured_model']}")
    ledger = report["ledger"]
    text = f"what was shown is recorded in {ledger}" if ledger else "the record of what was shown cannot be opened"
    yield Finding("ledger", bool(ledger), text, f"see {place.paths.log}")


def interpreter(place: Place) -> Iterator[Finding]:
    """What the plugin's launcher starts without looking for it."""
    file = place.paths.interpreter
    if not file.exists():
        if place.use_daemon:
            yield Finding("launcher", False, f"{file} is missing", "memhook daemon restart")
        return
    executable, client, version = [*file.read_text(encoding="utf-8").splitlines(), "", "", ""][:3]
    is_usable = os.access(executable, os.X_OK) and Path(client).is_file() and version == __version__
    yield Finding("launcher", is_usable, f"hooks run {client or 'nothing'} with {executable}", "memhook daemon restart")


def round_trip(place: Place) -> Iterator[Finding]:
    """A real event by the real client, as an assistant sends it."""
    if not place.use_daemon:
        return
    event = {
        "hook_event_name": "UserPromptSubmit",
        "session_id": TRIAL_SESSION,
        "cwd": place.directory,
        "prompt": PROMPT,
    }
    command = [sys.executable, "-I", "-S", str(hook_client.__file__), "UserPromptSubmit"]
    try:
        done = subprocess.run(
            command, input=json.dumps(event).encode(), capture_output=True, timeout=ROUND_TRIP_SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        yield Finding("hook", False, f"no answer in {ROUND_TRIP_SECONDS} seconds", "memhook daemon restart")
        return
    is_well = done.returncode == 0 and not done.stderr and _is_empty_or_json(done.stdout)
    text = "a prompt goes through the hook and back" if is_well else f"the hook answered {done.stdout[:80]!r}"
    yield Finding("hook", is_well, text, f"see {place.paths.log}")


def _is_empty_or_json(output: bytes) -> bool:
    try:
        return not output.strip() or isinstance(json.loads(output), dict)
    except ValueError:
        return False


def _line(finding: Finding) -> str:
    if finding.ok:
        return f"ok       {finding.name}: {finding.message}"
    return f"problem  {finding.name}: {finding.message} -> {finding.mend}"
