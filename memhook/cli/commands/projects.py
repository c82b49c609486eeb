"""projects: list, merge, split, and move memories between them."""

from argparse import Namespace
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from memhook.cli.output import agreed, counted, said_json, say
from memhook.cli.parser import Commands, add_yes, command, family
from memhook.cli.place import Place
from memhook.core.fencing import collapsed
from memhook.errors import InvalidInput
from memhook.store.project_aliases import name_of


def add_parser(commands: Commands) -> None:
    projects = command(commands, run, "projects", "memhook projects")
    actions = family(projects)
    joined = command(actions, merge, "merge", "memhook projects merge /home/me/old-name here")
    joined.add_argument("source", metavar="A")
    joined.add_argument("target", metavar="B")
    parted = command(actions, split, "split", "memhook projects split /home/me/old-name")
    parted.add_argument("source", metavar="A")
    moved = command(actions, move, "move", "memhook projects move urn:memhook:k3v9x2m4p7qa --to global")
    moved.add_argument("references", metavar="URN", nargs="*")
    moved.option("--from", "PROJECT", "all memories of this project", dest="source", default="")
    moved.option("--to", "PROJECT", "its id, here or global", dest="target", required=True)
    for one in (joined, moved):
        add_yes(one)


def run(args: Namespace, place: Place) -> None:
    """List, merge and split projects, and move memories between them.

    A project is identified by its git remote, else by its main worktree, a root
    marker or its directory. Name it by its id, its name, its directory, or as here.
    """
    report = place.call("projects")
    if said_json(args, report):
        return
    for project in report["projects"]:
        say(*_lines(project))
    say(f"{report['global']:>7}  global")
    if any(project["exists"] is False and project["memories"] for project in report["projects"]):
        say("", "If a directory was moved or renamed: memhook projects merge OLD NEW")


def merge(args: Namespace, place: Place) -> int:
    """Merge project A into B, with its later sessions.

    Every memory keeps its URN.
    """
    asked = {"source": _as_given(args.source), "target": _as_given(args.target)}
    about = "{memories} of {source} will belong to {target}, and its sessions too."
    done = "{source} counts as {target} from now on."
    return _carried_out(args, place, "merge_projects", asked, about, "Nothing merged.", done)


def split(args: Namespace, place: Place) -> None:
    """Undo a merge for later sessions; merged memories stay."""
    result = place.call("split_project", source=_as_given(args.source))
    if not said_json(args, result):
        say(f"{result['source']} is a separate project again. Its memories stay in {result['target']};")
        say("to move some back: memhook projects move URN --to PROJECT")


def move(args: Namespace, place: Place) -> int:
    """Move memories to another project, or make them global."""
    if bool(args.references) == bool(args.source):
        raise InvalidInput("Give either URNs to move or --from PROJECT.", "--from moves all memories of a project.")
    asked = {"references": args.references, "source": _as_given(args.source), "target": _as_given(args.target)}
    return _carried_out(args, place, "move_memories", asked, "{memories} will belong to {target}.", "Nothing moved.")


def _carried_out(
    args: Namespace, place: Place, operation: str, asked: Mapping[str, Any], about: str, nothing_done: str, *done: str
) -> int:
    """Ask, with the number of memories that a dry run reports; then run the operation and report it."""
    if not args.yes:
        plan = place.call(operation, dry_run=True, **asked)
        plan |= {"memories": counted(plan["moved"]), "target": plan["target"] or "all projects"}
        if not agreed("Go on?", nothing_done, [about.format(**plan)]):
            return 1
    result = place.call(operation, **asked)
    if not said_json(args, result):
        say(_moved(result), *(line.format(**result) for line in done))
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
    known = f"; {result['folded']} with the same text as another kept both URNs" if result["folded"] else ""
    return f"{counted(result['moved'])} moved to {where}{known}."


def _as_given(name: str) -> str:
    """Return a directory as an absolute path, because the daemon runs elsewhere; anything else as it was typed."""
    is_path = name.startswith((".", "~", "/")) and Path(name).expanduser().is_dir()
    return str(Path(name).expanduser().resolve()) if is_path else name
