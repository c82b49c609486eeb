"""backup and restore. They open the store themselves: the daemon opens no path that it is told."""

from __future__ import annotations

import os
from argparse import Namespace
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

from memhook.cli.output import counted, say, say_json
from memhook.cli.place import Place
from memhook.daemon.control import stopped
from memhook.errors import InvalidInput


def backup(args: Namespace, place: Place) -> int:
    from memhook.context.backup import backed_up  # noqa: PLC0415  lancedb takes seconds to import

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
    return 0


def restore(args: Namespace, place: Place) -> int:
    if bool(args.file) == args.from_damaged:
        raise InvalidInput(
            "What to restore is not said.", "Say: memhook restore FILE, or memhook restore --from-damaged"
        )
    os.umask(0o077)
    if args.from_damaged:
        return _rebuild(args, place)
    from memhook.context.backup import restored  # noqa: PLC0415

    contents = restored(Path(args.file).absolute(), place.paths, *_location(place), replace=args.replace)
    stopped(place.paths)  # the next prompt starts one that has seen none of what was there before
    if args.json:
        say_json({"file": args.file, **asdict(contents)})
    else:
        say(
            f"Restored {counted(contents.memories)}, the record of {contents.events} events and"
            f" {_merges(contents.merged_projects)}, as of {contents.created}."
        )
    return 0


def _rebuild(args: Namespace, place: Place) -> int:
    from memhook.context.backup import rebuilt  # noqa: PLC0415

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
