"""The argument parser, and the options that commands share."""

import sys
from argparse import (
    SUPPRESS,
    Action,
    ArgumentError,
    ArgumentParser,
    ArgumentTypeError,
    Namespace,
    RawDescriptionHelpFormatter,
    _SubParsersAction,
)
from collections.abc import Callable, Iterable, Sequence
from difflib import get_close_matches
from functools import cache
from importlib import import_module
from inspect import cleandoc
from typing import Any, NoReturn, TypeAlias

from memhook import __version__
from memhook.cli.commands import COMMANDS
from memhook.cli.place import Place

Commands: TypeAlias = "_SubParsersAction[Parser]"
Run = Callable[[Namespace, Place], int | None]

MOST_SUGGESTED = 3
DESCRIPTION = "Memory for coding assistants: the right memories at the right moment,\nwithin a token budget."
EPILOG = """\
examples:
  memhook remember "Deploys hang at 40 % without the VPN" --tag deploy
  memhook search "why does the deploy hang"
  memhook why
  memhook doctor

Each command has its own help: memhook remember --help"""


class Parser(ArgumentParser):
    """Suggests the command or the option that was probably meant, and names the help."""

    instead: Callable[[str], str] | None = None
    """Returns the command to suggest for a word that is no action of this command, or "" for none."""

    def flag(self, name: str, what: str, *aliases: str) -> None:
        self.add_argument(name, *aliases, action="store_true", help=what)

    def option(self, name: str, value: str, what: str, **more: Any) -> None:
        self.add_argument(name, metavar=value, help=what, **more)

    def _check_value(self, action: Action, value: Any) -> None:
        if isinstance(action, _SubParsersAction) and value not in action.choices:
            meant = likely(str(value), action.choices)
            if not meant and self.instead:
                meant = list(filter(None, [self.instead(str(value))]))
            raise ArgumentError(None, f"there is no {str(action.metavar).lower()} {value!r}.{_suggestion(meant)}")
        if value != []:  # argparse checks this value of a missing optional argument against its choices
            super()._check_value(action, value)

    def refuse(self, unknown: Sequence[str]) -> NoReturn:
        """Report unknown arguments, with the options that were probably meant."""
        typed = [word.partition("=")[0] for word in unknown if word.startswith("-") and word.strip("-")]
        meant = [one for word in typed for one in likely(word, self._option_string_actions)]
        self.error(f"unrecognized arguments: {' '.join(unknown)}{'.' if meant else ''}{_suggestion(meant)}")

    def error(self, message: str) -> NoReturn:
        self.print_usage(sys.stderr)
        self.exit(2, f"{self.prog}: error: {message}\nSee: {self.prog} --help\n")


def likely(typed: str, names: Iterable[str]) -> list[str]:
    """Return the names that start with what was typed, at most three, or else the closest one, if one is close."""
    starting = [name for name in names if name.startswith(typed) and len(typed) > 1]
    return starting[:MOST_SUGGESTED] or get_close_matches(typed, names, n=1)


def _suggestion(meant: Sequence[str]) -> str:
    *others, last = meant or [""]
    return f" Did you mean {', '.join(others)}{' or ' if others else ''}{last}?" if last else ""


@cache
def parser(first_word: str = "") -> Parser:
    """Return the parser of all commands; if the first word is a command, of that one alone: it starts twice as fast."""
    top = Parser(
        "memhook",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    top.set_defaults(parser=top)
    top.add_argument("--version", action="version", version=f"memhook {__version__}")
    top.add_argument("-C", dest="directory", metavar="DIRECTORY", help="run as if started there")
    top.add_argument("--no-daemon", action="store_true", help="work in this process, under the store's lock")
    commands: Commands = top.add_subparsers(dest="command", metavar="COMMAND", title="commands")
    for name in [name for name, words in COMMANDS.items() if first_word in words.split()] or COMMANDS:
        import_module(f"memhook.cli.commands.{name}").add_parser(commands)
    return top


def command(
    commands: Commands,
    run: Run,
    name: str,
    example: str,
    text: str = "",
    *,
    json: bool = True,
    aliases: tuple[str, ...] = (),
) -> Parser:
    """Add a command, which takes the global options too. Its help is `text`, or else the docstring of `run`."""
    description = cleandoc(text or run.__doc__ or name)
    sentence = description.partition("\n")[0].removesuffix(".")
    added = commands.add_parser(
        name,
        aliases=aliases,
        help=f"{sentence[0].lower()}{sentence[1:]}",
        description=description,
        epilog=f"example:\n  {example}",
        formatter_class=RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    added.set_defaults(run=run, parser=added)
    added.add_argument("-C", dest="directory", metavar="DIR", default=SUPPRESS, help=SUPPRESS)
    added.add_argument("--no-daemon", action="store_true", default=SUPPRESS, help=SUPPRESS)
    if json:
        added.add_argument("--json", action="store_true", help="print JSON")
    return added


def family(of: Parser) -> Commands:
    """Add the actions of a command; without an action the command itself runs."""
    return of.add_subparsers(dest="action", metavar="ACTION")


def number_of(what: str, least: int = 1) -> Callable[[str], int]:
    """Return the type of an option that counts `what`."""

    def number(text: str) -> int:
        if not (text.isascii() and text.isdigit() and len(text) < 10 and int(text) >= least):
            raise ArgumentTypeError(f"{text!r} is not a number of {what}: give {least} or more")
        return int(text)

    return number


def given(args: Namespace, *names: str) -> dict[str, Any]:
    """Return the options of these names that were given, as parameters of an operation."""
    return {name: value for name in names if (value := getattr(args, name, None)) is not None}


def names_in(values: Iterable[str]) -> list[str]:
    """Return the names of an option that may be repeated, each with several names between commas."""
    return [name for value in values for part in value.split(",") if (name := part.strip())]


def add_reference(to: Parser) -> None:
    to.add_argument("reference", metavar="URN", help="the URN, the start of one, an id or an alias")


def add_references(to: Parser, least: str = "+") -> None:
    to.add_argument("references", metavar="URN", nargs=least, help="the URN, the start of one, an id or an alias")


def add_yes(to: Parser, what: str = "do not ask") -> None:
    to.add_argument("-y", "--yes", action="store_true", help=what)


def add_store(to: Parser, what: str) -> None:
    to.option("--store", "NAME", what)
