"""completion: the script that completes memhook's commands and options in a shell."""

from argparse import ArgumentParser, Namespace, _SubParsersAction
from collections.abc import Mapping

from memhook.cli.parser import Commands, command, parser
from memhook.cli.place import Place

SHELLS = ("bash", "zsh", "fish", "tcsh")


def add_parser(commands: Commands) -> None:
    completion = command(commands, run, "completion", 'eval "$(memhook completion bash)"', json=False)
    completion.add_argument("shell", choices=SHELLS)


def run(args: Namespace, _place: Place) -> None:
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
