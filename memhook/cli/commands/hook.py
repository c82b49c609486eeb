"""hook: what assistants run. main.py hands it to the hook client before this file is imported; the help is here."""

from argparse import Namespace

from memhook.cli.parser import Commands, command
from memhook.cli.place import Place
from memhook.daemon import hook_client


def add_parser(commands: Commands) -> None:
    hook = command(commands, run, "hook", "memhook hook UserPromptSubmit", json=False)
    hook.add_argument("event", metavar="EVENT", nargs="?")
    hook.add_argument("part", metavar="PART", nargs="?")
    hook.option("--client", "NAME", "the assistant, where it cannot be recognised")


def run(args: Namespace, _place: Place) -> int:
    """What the plugin runs: an event on stdin, an answer on stdout."""
    # Reached only with global options before the name, as in `memhook -C DIR hook`.
    client = ["--client", args.client] if args.client else []
    return hook_client.main([*filter(None, (args.event, args.part)), *client])
