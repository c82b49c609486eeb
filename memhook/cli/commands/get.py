"""get and source: whole memories, and where one is from."""

import sys
from argparse import Namespace
from collections.abc import Mapping
from typing import Any

from memhook.cli.output import said_json, say, say_title, say_wrapped
from memhook.cli.parser import Commands, add_reference, add_references, add_store, command
from memhook.cli.place import Place
from memhook.cli.views import show_whole
from memhook.core.places import Place as Turn
from memhook.core.places import parsed, sessions_of


def add_parser(commands: Commands) -> None:
    get = command(commands, run, "get", "memhook get urn:memhook:k3v9x2m4p7qa")
    add_references(get)
    add_store(get, "in this shared store alone")
    add_reference(command(commands, source, "source", "memhook source urn:memhook:k3v9x2m4p7qa"))


def run(args: Namespace, place: Place) -> None:
    """Whole memories, by URN, id or alias.

    With --json: {"memories": [...]}, also for one.
    """
    # In a terminal the user reads it. An assistant, which learned the URN from a block, reads from a pipe.
    records = place.call("get", references=args.references, used=not sys.stdout.isatty())
    if said_json(args, {"memories": records}):
        return
    for number, record in enumerate(records):
        if number:
            say("")
        show_whole(record)


def source(args: Namespace, place: Place) -> None:
    """Where a memory is from: assistant, session, turn, date and words."""
    record = place.call("get", references=[args.reference], touch=False)[0]
    turn = parsed(record["session"])
    facts = _facts(record, turn)
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
        say("No session is recorded: it was typed, imported or saved before sessions were.")


def _facts(record: Mapping[str, Any], turn: Turn) -> dict[str, Any]:
    return {
        "by": record["origin"],
        "assistant": turn.assistant,
        "session": turn.session,
        "turn": turn.turn,
        "date": record["created"][:10],
        "source": record["source"],
        "also_in": sorted(sessions_of(record["aliases"]) - sessions_of([record["session"]])),
        "quote": record["quote"],
    }
