"""search and list: memories by meaning and by words, or the last changed first."""

from argparse import Namespace
from datetime import UTC, datetime
from typing import Any

from memhook.cli.output import counted, said_json, warn
from memhook.cli.parser import Commands, Parser, add_store, command, names_in, number_of
from memhook.cli.place import Place
from memhook.cli.views import show_found, show_in_list
from memhook.core.ordering import Ordering
from memhook.writing.moments import moment_back

FEWER = "Try it with fewer conditions."


def add_parser(commands: Commands) -> None:
    search = command(commands, run, "search", 'memhook search "statement timeout" --since 30d')
    search.add_argument("query", metavar="QUERY", nargs="+")
    search.option("--limit", "N", "at most N (10)", type=number_of("memories"), default=10)
    search.add_argument("--ordering", choices=[*map(str, Ordering)], help=f"by what ({[*Ordering][-1]})")
    listing = command(commands, list_, "list", "memhook list --tag deploy --limit 50")
    listing.option("--limit", "N", "at most N (20)", type=number_of("memories"), default=20)
    listing.option("--offset", "N", "leave out the first N", type=number_of("memories", 0), default=0)
    listing.flag("--quarantined", "those kept from every assistant, with the reason")
    for one in (search, listing):
        _add_conditions(one)


def run(args: Namespace, place: Place) -> None:
    """Find memories by meaning and by words, best first.

    With --json: {"results": [{"urn", "score", "title", "content", ...}]}.
    """
    conditions = _given_conditions(args, place)
    page = place.call("search", query=" ".join(args.query), limit=args.limit, **conditions)
    if said_json(args, page):
        return
    for record in page["results"]:
        show_found(record)
    where = _covered(args, place)
    if page["results"]:
        warn(f"Searched: {where}.")
    else:
        warn(f"{_nothing_in(where)} {FEWER if conditions else ''}".rstrip())


def list_(args: Namespace, place: Place) -> None:
    """Memories, the last changed first.

    With --json: {"memories": [...], "total": n}.
    """
    conditions = _given_conditions(args, place)
    page = place.call("list", limit=args.limit, offset=args.offset, **conditions)
    if said_json(args, page):
        return
    for record in page["memories"]:
        show_in_list(record)
    shown, total, where = args.offset + len(page["memories"]), page["total"], _covered(args, place)
    if not total and args.quarantined:
        warn(f"Nothing is in quarantine in {where}.")
    elif not total and conditions.keys() - {"here"}:
        warn(f"{_nothing_in(where)} {FEWER}")
    elif not total:
        warn(f'No memories in {where}. Add one: memhook remember "what is worth keeping"')
    elif shown < total:
        warn(f"{shown} of {counted(total)} in {where}. More: memhook list --offset {shown}")
    else:
        warn(f"{counted(total)} in {where}.")


def _add_conditions(to: Parser) -> None:
    to.option("--namespace", "NAME", "of this namespace; repeatable", action="append")
    to.option("--tag", "TAG", "with this tag; repeated, with all of them", action="append")
    to.flag("--project", "only this project's and the global ones")
    to.option("--since", "WHEN", "created since then: 2026-01-31, 30d, 12h, 2w")
    to.option("--before", "WHEN", "created before then")
    to.add_argument("--cursor", help='the next page: "next_cursor" of --json')
    add_store(to, "in this shared store alone")


def _given_conditions(args: Namespace, place: Place) -> dict[str, Any]:
    """The conditions of `search` and `list`, as the engine takes them."""
    if args.project:
        place.project_asked_for()
    for when in filter(None, (args.since, args.before)):
        moment_back(when, datetime.now(UTC))  # the engine takes it as typed: a cursor goes with the words
    conditions: dict[str, Any] = {
        "here": args.project,
        "namespaces": args.namespace,
        "tags": names_in(args.tag or ()),
        "since": args.since,
        "before": args.before,
        "cursor": args.cursor,
        "ordering": getattr(args, "ordering", None),
        "quarantined": getattr(args, "quarantined", False),
    }
    return {name: value for name, value in conditions.items() if value}


def _nothing_in(where: str) -> str:
    return f"Nothing found in {where}."


def _covered(args: Namespace, place: Place) -> str:
    """The projects that a list or a search covers, for a person to know."""
    return f"{place.project.name} and global memories" if args.project else "all projects"
