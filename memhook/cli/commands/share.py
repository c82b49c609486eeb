"""share: copy memories into a shared store."""

from argparse import Namespace

from memhook.cli.output import said_json
from memhook.cli.parser import Commands, add_references, command
from memhook.cli.place import Place
from memhook.cli.views import show_if_unshared, show_stored

SHARED_AS = {
    "stored": "Shared with {store}",
    "already there": "{store} has it already",
    "updated": "Updated in {store}",
}


def add_parser(commands: Commands) -> None:
    share = command(commands, run, "share", "memhook share urn:memhook:k3v9x2m4p7qa --store team")
    add_references(share)
    share.option("--store", "NAME", "the shared store to copy to", dest="target", required=True)


def run(args: Namespace, place: Place) -> None:
    """Copy memories into a shared store; their URNs stay.

    Run again after a change, it updates the copy. Restricted and confidential
    memories stay in your own store.
    """
    copies = place.call("share", references=args.references, target=args.target)
    if said_json(args, {"copies": copies}):
        return
    for copy in copies:
        show_stored(SHARED_AS[copy["outcome"]].format(store=args.target), copy["memory"])
        show_if_unshared(copy["memory"])
