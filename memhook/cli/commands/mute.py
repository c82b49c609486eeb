"""mute, unmute and release: which memories assistants are shown."""

from argparse import Namespace
from functools import partial

from memhook.cli.output import said_json
from memhook.cli.parser import Commands, add_references, command
from memhook.cli.place import Place
from memhook.cli.views import show_stored


def add_parser(commands: Commands) -> None:
    mute = command(
        commands,
        partial(run, "mute", "Muted", muted=True),
        "mute",
        "memhook mute urn:memhook:k3v9x2m4p7qa",
        "Keep memories, but never show them to an assistant.\n\nsearch, list and get still find them.",
    )
    unmute = command(
        commands,
        partial(run, "mute", "No longer muted", muted=False),
        "unmute",
        "memhook unmute urn:memhook:k3v9x2m4p7qa",
        "Let muted memories come up again.",
    )
    release = command(
        commands,
        partial(run, "release", "Released"),
        "release",
        "memhook release urn:memhook:k3v9x2m4p7qa",
        "Let quarantined memories come up after all.\n\n"
        "Read them first: memhook list --quarantined. They stay released until their\ntext is changed.",
    )
    for one in (mute, unmute, release):
        add_references(one)


def run(operation: str, done: str, args: Namespace, place: Place, **options: bool) -> None:
    records = place.call(operation, references=args.references, **options)
    if not said_json(args, {"memories": records}):
        for record in records:
            show_stored(done, record)
