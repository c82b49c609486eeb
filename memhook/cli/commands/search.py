"""search, list, get and source: find memories, list them, show whole ones, and show where one comes from."""

import sys
from argparse import Namespace
from datetime import UTC, datetime
from typing import Any

from memhook.cli.output import counted, said_json, say, say_title, say_wrapped, warn
from memhook.cli.parser import (
    Commands,
    Parser,
    add_reference,
    add_references,
    add_store,
    command,
    given,
    names_in,
    number_of,
)
from memhook.cli.place import Place
from memhook.cli.views import show_found, show_in_list, show_whole
from memhook.core.memory import place_of, sessions_of
from memhook.core.ranking import Ordering
from memhook.writing.moments import moment_back

NOTHING = "Nothing found in {}."
LEAST_SCORE = 0.005  # less reads 0.00
FEWER = "Try it with fewer conditions."


def add_parser(commands: Commands) -> None:
    whole = command(commands, get, "get", "memhook get urn:memhook:k3v9x2m4p7qa")
    add_references(whole)
    add_store(whole, "in this shared store alone")
    add_reference(command(commands, source, "source", "memhook source urn:memhook:k3v9x2m4p7qa"))
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

    Those that score 0.00 are left out where others score more.
    With --json: {"results": [{"urn", "score", "title", "content", ...}]}.
    """
    conditions = _given_conditions(args, place)
    page = place.call("search", query=" ".join(args.query), limit=args.limit, **conditions)
    if said_json(args, page):
        return
    found = page["results"]
    related = [record for record in found if record["score"] >= LEAST_SCORE]
    for record in related or found:
        show_found(record)
    where = _covered(args, place)
    nothing = f"{NOTHING.format(where)} {FEWER if conditions else ''}".rstrip()
    warn(f"Searched: {where}.{_unrelated(len(related), len(found))}" if found else nothing)


def _unrelated(related: int, found: int) -> str:
    """Return a sentence on the memories that score 0.00, which are shown only if there are no others."""
    if related == found:
        return ""
    if not related:
        return " Nothing is likely to be about it: all score 0.00."
    return f" Left out, with a score of 0.00: {counted(found - related)}; --json has all."


def list_(args: Namespace, place: Place) -> None:
    """List memories, the last changed first.

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
        warn(f"{NOTHING.format(where)} {FEWER}")
    elif not total:
        warn(f'No memories in {where}. Add one: memhook remember "what is worth keeping"')
    elif shown < total:
        warn(f"{shown} of {counted(total)} in {where}. More: memhook list --offset {shown}")
    else:
        warn(f"{counted(total)} in {where}.")


def _add_conditions(to: Parser) -> None:
    to.option("--namespace", "NAME", "of this namespace; repeatable", action="append", dest="namespaces")
    to.option("--tag", "TAG", "with this tag; repeated, with all of them", action="append", dest="tags")
    to.add_argument("--project", dest="here", action="store_true", help="only this project's and the global ones")
    to.option("--since", "WHEN", "created since then: 2026-01-31, 30d, 12h, 2w")
    to.option("--before", "WHEN", "created before then")
    to.add_argument("--cursor", help='the next page: "next_cursor" of --json')
    add_store(to, "in this shared store alone")


def _given_conditions(args: Namespace, place: Place) -> dict[str, Any]:
    """Return the conditions of `search` and `list`, as parameters of the engine."""
    if args.here:
        place.project_asked_for()
    for when in filter(None, (args.since, args.before)):
        moment_back(when, datetime.now(UTC))  # only a check: the engine takes the text, which a cursor belongs to
    conditions = given(args, "here", "namespaces", "tags", "since", "before", "cursor", "ordering", "quarantined")
    conditions["tags"] = names_in(args.tags or ())
    return {name: value for name, value in conditions.items() if value}


def _covered(args: Namespace, place: Place) -> str:
    """Return the projects that a list or a search covers, in words."""
    return f"{place.project.name} and global memories" if args.here else "all projects"


def get(args: Namespace, place: Place) -> None:
    """Show whole memories, by URN, id or alias.

    With --json: {"memories": [...]}, even for one memory.
    """
    # In a terminal the user reads it. An assistant, which learned the URN from a block, reads from a pipe.
    records = place.call("get", references=args.references, touch=not sys.stdout.isatty())
    if said_json(args, {"memories": records}):
        return
    for number, record in enumerate(records):
        if number:
            say("")
        show_whole(record)


def source(args: Namespace, place: Place) -> None:
    """Show where a memory comes from: assistant, session, turn, date and words."""
    record = place.call("get", references=[args.reference], touch=False)[0]
    turn = place_of(record["session"])
    facts = {
        "by": record["origin"],
        "assistant": turn.assistant,
        "session": turn.session,
        "turn": turn.turn,
        "date": record["created"][:10],
        "source": record["source"],
        "also_in": sorted(sessions_of(record["aliases"]) - sessions_of([record["session"]])),
        "quote": record["quote"],
    }
    if said_json(args, {"urn": record["urn"], **facts}):
        return
    say_title(record["title"])
    for name, value in facts.items():
        if value and name != "quote":
            say(f"{name.replace('_', ' '):<10} {', '.join(value) if isinstance(value, list) else value}")
    if facts["quote"]:
        say("quote")
        say_wrapped(facts["quote"], indent="  ")
    if not record["session"]:
        say("No session is recorded: it was typed, imported, or saved before sessions were recorded.")
