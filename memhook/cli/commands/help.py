"""help, version, and the script that completes memhook's commands and options in a shell."""

from argparse import ArgumentParser, Namespace, _SubParsersAction
from collections.abc import Mapping

from memhook import __version__
from memhook.cli.output import say
from memhook.cli.parser import Commands, command, parser
from memhook.cli.place import Place

SHELLS = ("bash", "zsh", "fish", "tcsh")


def add_parser(commands: Commands) -> None:
    of = command(commands, run, "help", "memhook help remember", json=False)
    of.add_argument("words", metavar="COMMAND", nargs="*")
    command(commands, version, "version", "memhook version", json=False)
    script = command(commands, completion, "completion", 'eval "$(memhook completion bash)"', json=False)
    script.add_argument("shell", choices=SHELLS)


def run(args: Namespace, _place: Place) -> None:
    """The help of memhook, or of one command."""
    parser().parse_args([*args.words, "--help"])


def version(_args: Namespace, _place: Place) -> None:
    """The version of memhook."""
    say(f"memhook {__version__}")


def completion(args: Namespace, _place: Place) -> None:
    """Print the completion script for a shell."""
    import shtab  # noqa: PLC0415  nothing else needs it

    completed = parser()
    _mark(completed, {"file": shtab.FILE, "directory": shtab.DIRECTORY})
    print(shtab.complete(completed, args.shell))


def _mark(within: ArgumentParser, kinds: Mapping[str, object]) -> None:
    """Mark each argument that is a file or a directory, so that it is completed as one."""
    for action in within._actions:
        if isinstance(action, _SubParsersAction):
            for one in action.choices.values():
                _mark(one, kinds)
        elif action.dest in kinds:
            action.complete = kinds[action.dest]  # type: ignore[attr-defined]
