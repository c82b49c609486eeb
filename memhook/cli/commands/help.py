"""help and version, as commands."""

from argparse import Namespace

from memhook import __version__
from memhook.cli.output import say
from memhook.cli.parser import Commands, command, parser
from memhook.cli.place import Place


def add_parser(commands: Commands) -> None:
    of = command(commands, run, "help", "memhook help remember", json=False)
    of.add_argument("words", metavar="COMMAND", nargs="*")
    command(commands, version, "version", "memhook version", json=False)


def run(args: Namespace, _place: Place) -> None:
    """The help of memhook, or of one command."""
    parser().parse_args([*args.words, "--help"])


def version(_args: Namespace, _place: Place) -> None:
    """The version of memhook."""
    say(f"memhook {__version__}")
