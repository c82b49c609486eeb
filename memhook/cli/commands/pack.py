"""pack: as many whole memories about a topic as fit a budget."""

from __future__ import annotations

from argparse import Namespace

from memhook.cli.parser import Commands, command
from memhook.cli.place import Place
from memhook.cli.views import show_block
from memhook.core.ordering import Ordering


def add_parser(commands: Commands) -> None:
    pack = command(
        commands,
        run,
        "pack",
        "as many whole memories about a topic as fit a token budget",
        'memhook pack "release process" --budget-tokens 2000',
    )
    pack.add_argument("topic", metavar="TOPIC", nargs="+")
    pack.add_argument("--budget-tokens", type=int, metavar="N", help="of the whole text (2000)")
    pack.add_argument("--ordering", metavar="ORDER", help=f"{', '.join(Ordering)} (the last)")


def run(args: Namespace, place: Place) -> None:
    options = {"budget_tokens": args.budget_tokens, "ordering": args.ordering}
    given = {name: value for name, value in options.items() if value is not None}
    show_block(args, place.call("pack", topic=" ".join(args.topic), **given))
