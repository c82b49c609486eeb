"""ui: the page in the browser. Without --help, main.py starts it without the other commands."""

from argparse import Namespace

from memhook.cli.parser import Commands, command
from memhook.cli.place import Place
from memhook.ui.main import add_options, serve


def add_parser(commands: Commands) -> None:
    ui = command(
        commands,
        run,
        "ui",
        "a page in the browser: try prompts, read and change memories, see what happened",
        "memhook ui",
        "It is served on this machine alone, until Ctrl-C or an idle time. The address\nprinted opens it once.",
        json=False,
    )
    add_options(ui)


def run(args: Namespace, place: Place) -> int:
    return serve(args, place.paths, place.directory)
