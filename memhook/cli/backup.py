"""backup and restore. They open the store themselves: the daemon opens no path that it is told."""

from __future__ import annotations

import os
import sys
from argparse import Namespace
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memhook.cli.asking import agreed
from memhook.cli.output import counted, say, say_json, warn
from memhook.cli.place import Place
from memhook.core.fencing import collapsed
from memhook.daemon.control import stopped
from memhook.errors import InvalidInput

if TYPE_CHECKING:
    from memhook.writing.offered_settings import Change, Offered


def backup(args: Namespace, place: Place) -> int:
    from memhook.writing.backup import backed_up  # noqa: PLC0415  lancedb takes seconds to import

    os.umask(0o077)
    contents = backed_up(Path(args.file).absolute(), place.paths, *_location(place), replace=args.replace)
    if args.json:
        say_json({"file": args.file, **asdict(contents)})
    else:
        say(
            f"Wrote {counted(contents.memories)}, the traces of {contents.forgotten} forgotten ones, the record of"
            f" {contents.events} events, {_merges(contents.merged_projects)} and"
            f" {'your' if contents.settings else 'no'} settings to {args.file}."
        )
        if contents.ledger_damage:
            say(f"The record of what was shown is damaged and was left out: {contents.ledger_damage}")
    return 0


def restore(args: Namespace, place: Place) -> int:
    if bool(args.file) == args.from_damaged:
        raise InvalidInput(
            "Nothing to restore: give a FILE.", "Say: memhook restore FILE, or memhook restore --from-damaged"
        )
    os.umask(0o077)
    if args.from_damaged:
        return _rebuild(args, place)
    from memhook.writing.backup import restored, settings_offered  # noqa: PLC0415  lancedb takes seconds to import

    file, location = Path(args.file).absolute(), _location(place)
    offer = settings_offered(file, place.paths)
    chosen = _chosen(args, offer)
    contents = restored(file, place.paths, *location, replace=args.replace, settings=chosen)
    stopped(place.paths)  # the next prompt starts one that has seen none of what was there before
    left = [change for change in offer.changes if change.key not in chosen]
    if args.json:
        report = {"settings_restored": sorted(chosen), "settings_left": [_as_json(change) for change in left]}
        say_json({"file": args.file, **asdict(contents), **report, "settings_unusable": list(offer.unusable)})
    else:
        say(
            f"Restored {counted(contents.memories)}, the record of {contents.events} events and"
            f" {_merges(contents.merged_projects)}, as of {contents.created}.",
            *_told_of_settings(offer, chosen),
        )
    return 0


def _chosen(args: Namespace, offer: Offered) -> set[str]:
    """The settings to take over. --yes speaks for those that name no location; of these each user decides alone."""
    chosen: set[str] = set()
    for changes, is_given, question in (
        (offer.plain, args.yes, "Take over these settings of the backup?"),
        (offer.locations, args.with_stores, "Take over these, too? They say where memories go to and come from."),
    ):
        if changes and (is_given or _agreed(args, changes, question)):
            chosen |= {change.key for change in changes}
    return chosen


def _agreed(args: Namespace, changes: tuple[Change, ...], question: str) -> bool:
    if args.json or not sys.stdin.isatty():
        return False
    warn("", *(f"  {_visible(change.shown)}" for change in changes))
    return agreed(question, "they were left out")


def _told_of_settings(offer: Offered, chosen: set[str]) -> Iterator[str]:
    """Also what was left out, and how to have it."""
    for title, changes, option in (
        ("Settings", offer.plain, "--yes"),
        ("Stores and models", offer.locations, "--with-stores"),
    ):
        taken = [change for change in changes if change.key in chosen]
        left = [change for change in changes if change.key not in chosen]
        if taken:
            yield f"{title} taken over from the backup:"
            yield from (f"  {_visible(change.shown)}" for change in taken)
        if left:
            yield f"{title} in the backup that were left out (to take them over: {option}):"
            yield from (f"  {_visible(change.shown)}" for change in left)
    if offer.unusable:
        yield f"Not usable as settings, and left out: {_visible(', '.join(offer.unusable))}"


def _as_json(change: Change) -> dict[str, Any]:
    location = {"names_a_location": change.names_a_location}
    return {"key": change.key, "here": change.before, "backup": change.after, **location}


def _visible(text: str) -> str:
    """Somebody else may have written it."""
    return collapsed(text)


def _rebuild(args: Namespace, place: Place) -> int:
    from memhook.writing.backup import rebuilt  # noqa: PLC0415  lancedb takes seconds to import

    location = _location(place)[0]
    stopped(place.paths)
    result = rebuilt(place.paths, location)
    if args.json:
        say_json(asdict(result))
    else:
        say(
            f"Rebuilt the store: {counted(result.memories)} and the traces of {result.forgotten} forgotten ones"
            f" could be read, {result.unreadable} could not. What was there is kept in {result.kept}."
        )
    return 0


def _merges(count: int) -> str:
    return f"{count or 'no'} merged {'project' if count == 1 else 'projects'}"


def _location(place: Place) -> tuple[str, Mapping[str, str]]:
    store = place.settings().usable().store
    return store.uri or str(place.paths.store), store.options
