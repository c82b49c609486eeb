"""get: whole memories."""

from argparse import Namespace

from memhook.cli.output import said_json, say
from memhook.cli.parser import Commands, add_references, add_store, command
from memhook.cli.place import Place
from memhook.cli.views import show_whole


def add_parser(commands: Commands) -> None:
    get = command(commands, run, "get", "memhook get urn:memhook:k3v9x2m4p7qa")
    add_references(get)
    add_store(get, "in this shared store alone")


def run(args: Namespace, place: Place) -> None:
    """Whole memories, by URN, id or alias.

    With --json: {"memories": [...]}, also for one.
    """
    records = place.call("get", references=args.references)
    if said_json(args, {"memories": records}):
        return
    for number, record in enumerate(records):
        if number:
            say("")
        show_whole(record)
