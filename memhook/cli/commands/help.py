"""help and version, as commands."""

from argparse import Namespace

from memhook import __version__
from memhook.cli.output import say
from memhook.cli.parser import Commands, command, parser
from memhook.cli.place import Place


def add_parser(commands: Commands) -> None:
    of = command(commands, run, "help", "the help of memhook, or of one command", "memhook help remember", json=False)
    of.add_argument("words", metavar="COMMAND", nargs="*")
    command(commands, version, "version", "the version of memhook", "memhook version", json=False)


def run(args: Namespace, _place: Place) -> None:
    parser().parse_args([*args.words, "--help"])


def version(_args: Namespace, _place: Place) -> None:
    say(f"memhook {__version__}")
