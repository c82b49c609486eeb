"""completion: the script that completes memhook's commands and options in a shell."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace, _SubParsersAction
from collections.abc import Mapping

from memhook.cli.parser import parser
from memhook.cli.place import Place


def completion(args: Namespace, _place: Place) -> int:
    print(completion_script(args.shell))
    return 0


def completion_script(shell: str) -> str:
    import shtab  # noqa: PLC0415  nothing else needs it

    completed = parser()
    _mark(completed, {"file": shtab.FILE, "directory": shtab.DIRECTORY})
    return str(shtab.complete(completed, shell))


def _mark(within: ArgumentParser, kinds: Mapping[str, object]) -> None:
    """Say of each argument that is a file or a directory how it is completed."""
    for action in within._actions:
        if isinstance(action, _SubParsersAction):
            for command in action.choices.values():
                _mark(command, kinds)
        elif action.dest in kinds:
            action.complete = kinds[action.dest]  # type: ignore[attr-defined]
