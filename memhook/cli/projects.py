"""projects, and mending them: merge, split, move."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from memhook.cli.asking import agreed
from memhook.cli.output import counted, say, say_json, warn
from memhook.cli.place import Place
from memhook.core.fencing import collapsed
from memhook.errors import InvalidInput
from memhook.store.project_aliases import name_of


def projects(args: Namespace, place: Place) -> int:
    actions: Mapping[str, Callable[[Namespace, Place], int]] = {"merge": merge, "split": split, "move": move}
    return actions[args.action](args, place) if args.action else listing(args, place)


def listing(args: Namespace, place: Place) -> int:
    report = place.call("projects")
    if args.json:
        say_json(report)
        return 0
    for project in report["projects"]:
        say(*_lines(project))
    say(f"{report['global']:>7}  global")
    if any(project["exists"] is False and project["memories"] for project in report["projects"]):
        say("", "A directory that has been moved or renamed: memhook projects merge OLD NEW")
    return 0


def merge(args: Namespace, place: Place) -> int:
    names = {"source": _as_given(args.source), "target": _as_given(args.target)}
    if not args.yes:
        plan = place.call("merge_projects", dry_run=True, **names)
        warn(f"{counted(plan['moved'])} of {plan['source']} will belong to {plan['target']}, and its sessions too.")
        if not agreed("Go on?", "nothing is merged"):
            warn("Nothing merged.")
            return 1
    result = place.call("merge_projects", **names)
    if args.json:
        say_json(result)
        return 0
    say(_moved(result), f"{result['source']} counts as {result['target']} from now on.")
    return 0


def split(args: Namespace, place: Place) -> int:
    result = place.call("split_project", source=_as_given(args.source))
    if args.json:
        say_json(result)
        return 0
    say(f"{result['source']} is a project of its own again. Its memories stay in {result['target']};")
    say("move those that are not that one's: memhook projects move URN --to PROJECT")
    return 0


def move(args: Namespace, place: Place) -> int:
    if bool(args.references) == bool(args.source):
        raise InvalidInput("Which memories to move is not said.", "Give URNs, or --from PROJECT for all of one.")
    asked = {"references": args.references, "source": _as_given(args.source), "target": _as_given(args.target)}
    if not args.yes:
        plan = place.call("move_memories", dry_run=True, **asked)
        warn(f"{counted(plan['moved'])} will belong to {plan['target'] or 'all projects'}.")
        if not agreed("Go on?", "nothing is moved"):
            warn("Nothing moved.")
            return 1
    result = place.call("move_memories", **asked)
    if args.json:
        say_json(result)
        return 0
    say(_moved(result))
    return 0


def _lines(project: Mapping[str, Any]) -> Iterator[str]:
    facts = [project["id"]]
    facts += ["here"] if project["here"] else []
    facts += ["no such directory now"] if project["exists"] is False else []
    facts += [f"last used {project['last_used'][:10]}"] if project["last_used"] else []
    yield f"{project['memories']:>7}  {collapsed(project['name'])}  ({', '.join(map(collapsed, facts))})"
    yield from (f"{'':>9}also {collapsed(other)}" for other in project["also"])


def _moved(result: Mapping[str, Any]) -> str:
    where = name_of(result["target"]) if result["target"] else "all projects"
    known = f"; {result['folded']} that it had already go by both URNs" if result["folded"] else ""
    return f"{counted(result['moved'])} moved to {where}{known}."


def _as_given(name: str) -> str:
    """A directory in full, for the daemon is elsewhere; anything else as it was typed."""
    is_path = name.startswith((".", "~", "/")) and Path(name).expanduser().is_dir()
    return str(Path(name).expanduser().resolve()) if is_path else name
