"""mute and unmute: keep memories from the assistants, or no longer."""

from __future__ import annotations

from argparse import Namespace
from functools import partial

from memhook.cli.output import said_json
from memhook.cli.parser import Commands, add_references, command
from memhook.cli.place import Place
from memhook.cli.views import show_stored


def add_parser(commands: Commands) -> None:
    mute = command(
        commands,
        partial(run, muted=True),
        "mute",
        "keep memories, but never show them to an assistant",
        "memhook mute urn:memhook:k3v9x2m4p7qa",
        "search, list and get still find them.",
    )
    unmute = command(
        commands,
        partial(run, muted=False),
        "unmute",
        "let muted memories come up again",
        "memhook unmute urn:memhook:k3v9x2m4p7qa",
    )
    for one in (mute, unmute):
        add_references(one)


def run(args: Namespace, place: Place, *, muted: bool) -> None:
    records = place.call("mute", references=args.references, muted=muted)
    if not said_json(args, {"memories": records}):
        for record in records:
            show_stored("Muted" if muted else "No longer muted", record)
