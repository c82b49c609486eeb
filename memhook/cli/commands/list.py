"""list: memories, the last changed first."""

from argparse import Namespace

from memhook.cli.fields import add_conditions, covered, given_conditions
from memhook.cli.output import counted, said_json, warn
from memhook.cli.parser import Commands, add_store, command, number_of
from memhook.cli.place import Place
from memhook.cli.views import show_in_list


def add_parser(commands: Commands) -> None:
    listing = command(commands, run, "list", "memhook list --tag deploy --limit 50")
    listing.option("--limit", "N", "at most N (20)", type=number_of("memories"), default=20)
    listing.option("--offset", "N", "leave out the first N", type=number_of("memories", 0), default=0)
    listing.flag("--quarantined", "those kept from every assistant, with the reason")
    add_conditions(listing)
    add_store(listing, "in this shared store alone")


def run(args: Namespace, place: Place) -> None:
    """Memories, the last changed first.

    With --json: {"memories": [...], "total": n}.
    """
    page = place.call("list", limit=args.limit, offset=args.offset, **given_conditions(args, place))
    if said_json(args, page):
        return
    for record in page["memories"]:
        show_in_list(record)
    shown, total, where = args.offset + len(page["memories"]), page["total"], covered(args, place)
    if not total and args.quarantined:
        warn(f"Nothing is in quarantine in {where}.")
    elif not total:
        warn(f'No memories in {where}. Add one: memhook remember "what is worth keeping"')
    elif shown < total:
        warn(f"{shown} of {counted(total)} in {where}. More: memhook list --offset {shown}")
    else:
        warn(f"{counted(total)} in {where}.")
