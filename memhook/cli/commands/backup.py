"""backup and restore. They open the files themselves: the daemon opens no path that a client names."""

from __future__ import annotations

import os
import sys
from argparse import Namespace
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memhook.cli.output import agreed, counted, said_json, say
from memhook.cli.parser import Commands, add_yes, command
from memhook.cli.place import Place
from memhook.core.fencing import collapsed
from memhook.daemon.control import stopped
from memhook.errors import InvalidInput

if TYPE_CHECKING:
    from memhook.writing.offered_settings import Change, Offered


def add_parser(commands: Commands) -> None:
    backup = command(commands, run, "backup", "memhook backup memhook-2026-02-14.zip")
    backup.add_argument("file", metavar="FILE")
    backup.flag("--replace", "overwrite an existing file")
    put_back = command(commands, restore, "restore", "memhook restore memhook-2026-02-14.zip")
    put_back.add_argument("file", metavar="FILE", nargs="?")
    put_back.flag("--replace", "replace the existing data; a copy of it is kept")
    add_yes(put_back, "take over its settings, except stores and models")
    put_back.flag("--with-stores", "take over the stores and models it names, too")
    put_back.flag("--from-damaged", "rebuild the store from what is readable")


def run(args: Namespace, place: Place) -> None:
    """Write everything memhook keeps into one file.

    Memories with their vectors, the traces of forgotten ones, the record of what
    was shown, and your settings; consistent even while memories are written.
    """
    from memhook.writing.backup import backed_up  # noqa: PLC0415  lancedb takes seconds to import

    os.umask(0o077)
    contents = backed_up(Path(args.file).absolute(), place.paths, *_location(place), replace=args.replace)
    if said_json(args, {"file": args.file, **asdict(contents)}):
        return
    say(
        f"Wrote {counted(contents.memories)}, the traces of {contents.forgotten} forgotten ones, the record of"
        f" {contents.events} events, {_merges(contents.merged_projects)} and"
        f" {'your' if contents.settings else 'no'} settings to {args.file}."
    )
    if contents.ledger_damage:
        say(f"The record of what was shown is damaged and was left out: {contents.ledger_damage}")


def restore(args: Namespace, place: Place) -> None:
    """Restore a backup, or rebuild a damaged store.

    Settings in it that differ from yours are shown, and you are asked whether to
    restore them; a second question is about stores and models. The daemon is
    stopped; the next prompt starts it. With --from-damaged the readable rows of the
    store become a new one, the others are counted, and the damaged store is kept.
    """
    if bool(args.file) == args.from_damaged:
        raise InvalidInput(
            "Nothing to restore: give a FILE.", "Run: memhook restore FILE, or memhook restore --from-damaged"
        )
    os.umask(0o077)
    if args.from_damaged:
        _rebuild(args, place)
        return
    from memhook.writing.backup import restored, settings_offered  # noqa: PLC0415  lancedb takes seconds to import

    file, location = Path(args.file).absolute(), _location(place)
    offer = settings_offered(file, place.paths)
    chosen = _chosen(args, offer)
    contents = restored(file, place.paths, *location, replace=args.replace, settings=chosen)
    stopped(place.paths)  # the next prompt starts one that has nothing of the replaced data in memory
    left = [change for change in offer.changes if change.key not in chosen]
    report = {"settings_restored": sorted(chosen), "settings_left": [_as_json(change) for change in left]}
    report |= {"settings_unusable": list(offer.unusable)}
    if not said_json(args, {"file": args.file, **asdict(contents), **report}):
        say(
            f"Restored {counted(contents.memories)}, the record of {contents.events} events and"
            f" {_merges(contents.merged_projects)}, backed up at {contents.created}.",
            *_settings_report(offer, chosen),
        )


def _chosen(args: Namespace, offer: Offered) -> set[str]:
    """Return the settings to take over. --yes covers those that name no location; the others need --with-stores."""
    chosen: set[str] = set()
    for changes, is_given, question in (
        (offer.plain, args.yes, "Take over these settings of the backup?"),
        (offer.locations, args.with_stores, "Take over these, too? They say where memories go to and come from."),
    ):
        about = ["", *(f"  {collapsed(change.shown)}" for change in changes)]
        may_ask = sys.stdin.isatty() and not args.json
        if changes and (is_given or (may_ask and agreed(question, "They are left out.", about))):
            chosen |= {change.key for change in changes}
    return chosen


def _settings_report(offer: Offered, chosen: set[str]) -> Iterator[str]:
    """Yield the settings taken over, and those left out with the option that takes them over."""
    for title, changes, option in (
        ("Settings", offer.plain, "--yes"),
        ("Stores and models", offer.locations, "--with-stores"),
    ):
        for is_taken, heading in (
            (True, f"{title} taken over from the backup:"),
            (False, f"{title} in the backup that were left out (to take them over: {option}):"),
        ):
            if some := [f"  {collapsed(change.shown)}" for change in changes if (change.key in chosen) is is_taken]:
                yield from (heading, *some)
    if offer.unusable:
        yield f"Not usable as settings, and left out: {collapsed(', '.join(offer.unusable))}"


def _as_json(change: Change) -> dict[str, Any]:
    location = {"names_a_location": change.names_a_location}
    return {"key": change.key, "here": change.before, "backup": change.after, **location}


def _rebuild(args: Namespace, place: Place) -> None:
    from memhook.writing.backup import rebuilt  # noqa: PLC0415  lancedb takes seconds to import

    location = _location(place)[0]
    stopped(place.paths)
    result = rebuilt(place.paths, location)
    if not said_json(args, asdict(result)):
        say(
            f"Rebuilt the store: {counted(result.memories)} and the traces of {result.forgotten} forgotten ones"
            f" could be read, {result.unreadable} could not. The damaged store is kept in {result.kept}."
        )


def _merges(count: int) -> str:
    return f"{count or 'no'} merged {'project' if count == 1 else 'projects'}"


def _location(place: Place) -> tuple[str, Mapping[str, str]]:
    store = place.settings().usable().store
    return store.uri or str(place.paths.store), store.options
