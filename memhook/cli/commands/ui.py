"""ui: the page in the browser. Without --help, main.py starts it without the other commands."""

from argparse import Namespace

from memhook.cli.parser import Commands, command
from memhook.cli.place import Place
from memhook.ui.main import add_options, serve


def add_parser(commands: Commands) -> None:
    ui = command(commands, run, "ui", "memhook ui", json=False)
    add_options(ui)


def run(args: Namespace, place: Place) -> int:
    """A page in the browser: try prompts, read and change memories, see what happened.

    It is served on this machine alone, until Ctrl-C or an idle time. The address
    printed opens it once.
    """
    return serve(args, place.paths, place.directory)
