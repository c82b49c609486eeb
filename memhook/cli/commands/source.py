"""source: where a memory is from."""

from argparse import Namespace
from collections.abc import Mapping
from typing import Any

from memhook.cli.output import said_json, say, say_title, say_wrapped
from memhook.cli.parser import Commands, command
from memhook.cli.place import Place
from memhook.core.places import Place as Turn
from memhook.core.places import parsed, sessions_of


def add_parser(commands: Commands) -> None:
    source = command(commands, run, "source", "memhook source urn:memhook:k3v9x2m4p7qa")
    source.add_argument("reference", metavar="URN", help="the URN, the start of one, an id or an alias")


def run(args: Namespace, place: Place) -> None:
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
