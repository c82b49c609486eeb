"""redact, and forget --purge: what was remembered is taken out of everything memhook wrote."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Iterator, Mapping
from typing import Any

from memhook.cli.output import say, say_json, warn
from memhook.cli.place import Place
from memhook.daemon.control import is_running
from memhook.errors import InvalidInput

ELSEWHERE = "If it came from a file or an export, take it out there too: importing that brings it back."


def redact(args: Namespace, place: Place) -> int:
    return _done("redact", "Redacted", args, place)


def purge(args: Namespace, place: Place) -> int:
    return _done("purge", "Purged", args, place)


def _done(method: str, done: str, args: Namespace, place: Place) -> int:
    if not args.yes and not _is_agreed(method, args):
        warn(f"Nothing {done.lower()}.")
        return 1
    answer = place.call(method, references=args.references)
    if args.json:
        say_json(answer)
    else:
        say(*(f"{done}: {urn}" for urn in answer["memories"]), *_where(answer))
    warn(*_warnings(answer, place))
    return 0


def _is_agreed(method: str, args: Namespace) -> bool:
    """By the names given: a title on the screen would be one more trace."""
    if not sys.stdin.isatty():
        raise InvalidInput(f"There is no terminal to ask whether to {method} this.", "If you are sure, say --yes.")
    warn(*args.references)
    warn(f"{method.capitalize()} {'it' if len(args.references) == 1 else 'these'}? It cannot be undone. [y/N]")
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def _where(answer: Mapping[str, Any]) -> Iterator[str]:
    yield "  the store was written anew, without its old versions and indexes, and the log emptied"
    if answer["shown_in"]:
        yield f"  taken out of {answer['shown_in']} recorded answers"
    for copy in answer["copies"]:
        yield f"  taken out of the copy {copy}"
    for copy in answer["deleted_copies"]:
        yield f"  deleted the copy {copy}: it is damaged, and might have held it"


def _warnings(answer: Mapping[str, Any], place: Place) -> Iterator[str]:
    for copy in answer["unreadable_copies"]:
        yield f"The copy {copy} cannot be read and may still hold it. Delete it, or mend it and say this again."
    for urn in answer["same_content"]:
        yield f"The same content is also in {urn}."
    for name in answer["shared_in"]:
        yield f"The shared store {name} has a copy, which everybody there sees. To take it out there: --store {name}"
    if not place.use_daemon and is_running(place.paths):
        yield "The daemon may still have it in its memory: memhook daemon restart"
    yield ELSEWHERE
