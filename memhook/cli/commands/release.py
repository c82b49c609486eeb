"""release: let quarantined memories come up after all."""

from __future__ import annotations

from argparse import Namespace

from memhook.cli.output import said_json
from memhook.cli.parser import Commands, add_references, command
from memhook.cli.place import Place
from memhook.cli.views import show_stored


def add_parser(commands: Commands) -> None:
    release = command(
        commands,
        run,
        "release",
        "let quarantined memories come up after all",
        "memhook release urn:memhook:k3v9x2m4p7qa",
        "Read them first: memhook list --quarantined. They stay released until their\ntext is changed.",
    )
    add_references(release)


def run(args: Namespace, place: Place) -> None:
    records = place.call("release", references=args.references)
    if not said_json(args, {"memories": records}):
        for record in records:
            show_stored("Released", record)
