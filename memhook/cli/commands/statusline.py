"""statusline: one line for an assistant's status line. main.py runs it before this file is imported; help is here."""

from argparse import Namespace

from memhook.cli import statusline
from memhook.cli.parser import Commands, command
from memhook.cli.place import Place


def add_parser(commands: Commands) -> None:
    command(commands, run, "statusline", "memhook statusline < event.json", json=False)


def run(_args: Namespace, _place: Place) -> int:
    """What this session was shown, in one line, for an assistant's status line.

    It reads the JSON that the assistant sends on stdin. In Claude Code's settings:
    "statusLine": {"type": "command", "command": "memhook statusline"}
    """
    # Reached only with global options before the name.
    return statusline.main()
