"""distill: turn captured memories into facts with a model of the user's choice."""

import os
from argparse import Namespace
from collections import Counter
from collections.abc import Callable
from functools import partial

from memhook.cli.output import agreed, counted, said_json, say, warn
from memhook.cli.parser import Commands, add_yes, command, number_of
from memhook.cli.place import Place
from memhook.errors import InvalidInput
from memhook.settings import Distill
from memhook.supply import distiller

NOTES = 40


def add_parser(commands: Commands) -> None:
    distill = command(commands, run, "distill", "memhook distill --limit 20")
    distill.option("--limit", "N", f"at most N ({NOTES})", type=number_of("memories"), default=NOTES)
    add_yes(distill)


def run(args: Namespace, place: Place) -> int:
    """Turn captured memories into facts with a model of your choice.

    Off until distill.command (such as claude -p) or distill.url is set. Captured
    memories are sent to it, without secrets; the facts wait for your review.
    """
    settings = place.settings().usable().distill
    ask = _asked(settings)
    notes = place.call("undistilled", limit=args.limit)
    if not notes:
        say("Nothing new to distill.")
        return 0
    calls, sent, received = distiller.estimate(notes)
    cost = f"{counted(len(notes))} in {calls} calls: about {sent:,} tokens to the model, up to {received:,} from it."
    if not args.yes and not agreed(f"Send them to {settings.command or settings.url}?", "Nothing sent.", [cost]):
        return 1
    total: Counter[str] = Counter()
    for batch in distiller.batches(notes):
        found = distiller.facts_in(ask(distiller.request(batch)), batch)
        total += Counter(place.call("distilled", facts=found))
        total["notes"] += len(batch)
    if not said_json(args, dict(total)):
        say(f"{counted(total['notes'])} distilled: facts stored {total['stored']}, merged {total['merged']}.")
        warn("To review them: memhook inbox")
    return 0


def _asked(settings: Distill) -> Callable[[str], str]:
    if settings.command:
        return partial(distiller.answer_of_command, settings.command)
    if settings.url:
        key = os.environ.get(settings.key_variable, "") if settings.key_variable else ""
        return partial(distiller.answer_of_address, settings.url, settings.model, key)
    raise InvalidInput(
        "Nothing is configured to distill with, so nothing is sent anywhere.",
        "Set one: memhook config set distill.command 'claude -p', or distill.url http://localhost:11434/v1",
    )
