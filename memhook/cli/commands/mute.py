"""share, mute, unmute and release: change who is shown a memory."""

from argparse import Namespace
from functools import partial

from memhook.cli.output import said_json
from memhook.cli.parser import Commands, add_references, command
from memhook.cli.place import Place
from memhook.cli.views import show_if_unshared, show_stored

SHARED_AS = {
    "stored": "Shared with {store}",
    "already there": "{store} has it already",
    "updated": "Updated in {store}",
}
MUTE = "Keep memories, but never show them to an assistant.\n\nsearch, list and get still find them."
RELEASE = """\
Let quarantined memories come up after all.

Read them first: memhook list --quarantined. They stay released until their
text is changed."""


def add_parser(commands: Commands) -> None:
    copied = command(commands, share, "share", "memhook share urn:memhook:k3v9x2m4p7qa --store team")
    add_references(copied)
    copied.option("--store", "NAME", "the shared store to copy to", dest="target", required=True)
    for name, changed, text in (
        ("mute", partial(run, "mute", "Muted", muted=True), MUTE),
        ("unmute", partial(run, "mute", "No longer muted", muted=False), "Let muted memories come up again."),
        ("release", partial(run, "release", "Released"), RELEASE),
    ):
        add_references(command(commands, changed, name, f"memhook {name} urn:memhook:k3v9x2m4p7qa", text))


def share(args: Namespace, place: Place) -> None:
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


def run(operation: str, done: str, args: Namespace, place: Place, **options: bool) -> None:
    records = place.call(operation, references=args.references, **options)
    if not said_json(args, {"memories": records}):
        for record in records:
            show_stored(done, record)
