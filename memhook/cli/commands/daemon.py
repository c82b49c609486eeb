"""daemon: start, stop, restart, status."""

from argparse import Namespace
from datetime import timedelta
from typing import Any

from memhook.cli.output import said_json, say
from memhook.cli.parser import Commands, command, family
from memhook.cli.place import Place
from memhook.daemon.control import called, started, stopped
from memhook.errors import DaemonUnavailable
from memhook.paths import Paths


def add_parser(commands: Commands) -> None:
    daemon = command(
        commands, status, "daemon", "memhook daemon status", "Control the resident process that makes hooks fast."
    )
    actions = family(daemon)
    command(actions, start, "start", "memhook daemon start", json=False)
    command(actions, stop, "stop", "memhook daemon stop", json=False)
    command(actions, restart, "restart", "memhook daemon restart", json=False)
    command(actions, status, "status", "memhook daemon status --json")


def start(_args: Namespace, place: Place) -> None:
    """Start the daemon, unless it runs."""
    is_new = started(place.paths)
    pid = called(place.paths, "daemon_status")["pid"]
    say(f"The daemon {'runs now' if is_new else 'was running already'} (process {pid}).")


def stop(_args: Namespace, place: Place) -> None:
    """Stop the daemon; the next prompt starts it again."""
    pid = stopped(place.paths)
    say("No daemon was running." if pid is None else f"The daemon (process {pid}) has stopped.")


def restart(args: Namespace, place: Place) -> None:
    """Stop the daemon and start it again."""
    stopped(place.paths)
    start(args, place)


def status(args: Namespace, place: Place) -> int:
    """Show whether the daemon runs (exit code 0) or not (1)."""
    state = daemon_state(place.paths)
    if not said_json(args, state):
        say(f"The daemon is {summary(state)}.")
        for name, value in _facts(state):
            say(f"  {name:<11} {value}")
    return 0 if state["running"] else 1


def _facts(state: dict[str, Any]) -> list[tuple[str, Any]]:
    if not state["running"]:
        return []
    return [
        ("version", state["version"]),
        ("uptime", timedelta(seconds=round(state["uptime_seconds"]))),
        ("memory", f"{state['memory_mb']} MB"),
        ("requests", state["requests"]),
        ("last error", state["last_error"] or "none"),
        ("socket", state["socket"]),
        ("log", state["log"]),
    ]


def daemon_state(paths: Paths) -> dict[str, Any]:
    """Return the daemon's report of itself, and whether it is running; it is not started."""
    try:
        return {"running": True, **called(paths, "daemon_status")}
    except DaemonUnavailable:
        return {"running": False, "pid": None}


def summary(state: dict[str, Any]) -> str:
    if not state["running"]:
        return "not running; the next prompt starts it"
    return f"running (process {state['pid']}, {state['memory_mb']} MB)"
