"""daemon start, stop, restart, status."""

from __future__ import annotations

from argparse import Namespace
from datetime import timedelta
from typing import Any

from memhook.cli.output import say, say_json
from memhook.cli.place import Place
from memhook.daemon.control import called, started, stopped
from memhook.errors import DaemonUnavailable
from memhook.paths import Paths


def daemon(args: Namespace, place: Place) -> int:
    actions = {"start": start, "stop": stop, "restart": restart, "status": status}
    return actions[args.action](args, place.paths)


def start(_args: Namespace, paths: Paths) -> int:
    fresh = started(paths)
    pid = called(paths, "daemon_status")["pid"]
    say(f"The daemon {'runs now' if fresh else 'was running already'} (process {pid}).")
    return 0


def stop(_args: Namespace, paths: Paths) -> int:
    pid = stopped(paths)
    say("No daemon was running." if pid is None else f"The daemon (process {pid}) has stopped.")
    return 0


def restart(args: Namespace, paths: Paths) -> int:
    stopped(paths)
    return start(args, paths)


def status(args: Namespace, paths: Paths) -> int:
    state = daemon_state(paths)
    if args.json:
        say_json(state)
    else:
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
    """What the daemon says of itself, and whether there is one. Starts none."""
    try:
        return {"running": True, **called(paths, "daemon_status")}
    except DaemonUnavailable:
        return {"running": False, "pid": None}


def summary(state: dict[str, Any]) -> str:
    if not state["running"]:
        return "not running; the next prompt starts it"
    return f"running (process {state['pid']}, {state['memory_mb']} MB)"
