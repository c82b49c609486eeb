"""redact: empty memories, in everything memhook wrote. `forget --purge` does it the same way."""

from argparse import Namespace
from collections.abc import Iterator, Mapping
from typing import Any

from memhook.cli.asking import agreed
from memhook.cli.output import said_json, say, warn
from memhook.cli.parser import Commands, add_references, add_store, add_yes, command
from memhook.cli.place import Place
from memhook.daemon.control import is_running

ELSEWHERE = "If it came from a file or an export, delete it there too: importing that brings it back."


def add_parser(commands: Commands) -> None:
    redact = command(commands, run, "redact", "memhook redact urn:memhook:k3v9x2m4p7qa")
    add_references(redact)
    add_yes(redact)
    add_store(redact, "in this shared store, for everybody")


def run(args: Namespace, place: Place) -> int:
    """Empty memories; the URN stays, their text is deleted from memhook's files.

    Title, content, summary, tags and source are deleted, in old versions of the
    store and in the record of what was shown as well. It cannot be undone.
    """
    return expunged("redact", "Redacted", args, place)


def expunged(method: str, done: str, args: Namespace, place: Place) -> int:
    """Ask, do it, report where it was deleted. A question names URNs: a title on the screen would be one more trace."""
    question = f"{method.capitalize()} {'it' if len(args.references) == 1 else 'these'}? It cannot be undone."
    if not args.yes and not agreed(question, f"Nothing {done.lower()}.", args.references):
        return 1
    answer = place.call(method, references=args.references)
    if not said_json(args, answer):
        say(*(f"{done}: {urn}" for urn in answer["memories"]), *_where(answer))
    warn(*_warnings(answer, place))
    return 0


def _where(answer: Mapping[str, Any]) -> Iterator[str]:
    yield "  the store was written anew, without its old versions and indexes, and the log emptied"
    if answer["shown_in"]:
        yield f"  deleted from {answer['shown_in']} recorded answers"
    yield from (f"  deleted from the copy {copy}" for copy in answer["copies"])
    yield from (
        f"  deleted the copy {copy}: it is damaged and might have contained it" for copy in answer["deleted_copies"]
    )


def _warnings(answer: Mapping[str, Any], place: Place) -> Iterator[str]:
    for copy in answer["unreadable_copies"]:
        yield f"The copy {copy} cannot be read and may still contain it. Delete it, or repair it and run this again."
    for urn in answer["same_content"]:
        yield f"The same content is also in {urn}."
    for name in answer["shared_in"]:
        yield f"The shared store {name} has a copy, which everybody there sees. To delete it there: --store {name}"
    if not place.use_daemon and is_running(place.paths):
        yield "The daemon may still have it in memory: memhook daemon restart"
    yield ELSEWHERE
