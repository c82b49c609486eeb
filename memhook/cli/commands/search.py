"""search: find memories by meaning and by words."""

from argparse import Namespace

from memhook.cli.fields import add_conditions, covered, given_conditions
from memhook.cli.output import said_json, warn
from memhook.cli.parser import Commands, add_store, command, number_of
from memhook.cli.place import Place
from memhook.cli.views import show_found
from memhook.core.ordering import Ordering
from memhook.errors import InvalidInput


def add_parser(commands: Commands) -> None:
    search = command(commands, run, "search", 'memhook search "statement timeout" --since 30d')
    search.add_argument("query", metavar="QUERY", nargs="+")
    search.option("--limit", "N", "at most N (10)", type=number_of("memories"), default=10)
    search.add_argument("--ordering", choices=[*map(str, Ordering)], help=f"by what ({[*Ordering][-1]})")
    add_conditions(search)
    add_store(search, "in this shared store alone")


def run(args: Namespace, place: Place) -> None:
    """Find memories by meaning and by words, best first.

    With --json: {"results": [{"urn", "score", "title", "content", ...}]}.
    """
    query = " ".join(args.query)
    if not query.strip():
        raise InvalidInput("The query is empty.", 'Give words to look for: memhook search "deploy"; or: memhook list')
    conditions = given_conditions(args, place)
    page = place.call("search", query=query, limit=args.limit, **conditions)
    if said_json(args, page):
        return
    for record in page["results"]:
        show_found(record)
    where = covered(args, place)
    if page["results"]:
        warn(f"Searched: {where}.")
    else:
        warn(f"Nothing found in {where}." + (" Try it with fewer conditions." if conditions else ""))
