"""remember, get, search, list, edit, forget, share, mute, unmute, release."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from memhook.cli.editor import edited_text
from memhook.cli.expunging import purge
from memhook.cli.memory_options import given_conditions, given_fields
from memhook.cli.output import is_terminal, say, say_json, warn
from memhook.cli.place import Place
from memhook.cli.views import show_found, show_in_list, show_masked, show_stored, show_whole
from memhook.errors import InvalidInput

SHARED_AS = {
    "stored": "Shared with {store}",
    "already there": "{store} has it already",
    "updated": "Updated in {store}",
}
STORED_AS = {"stored": "Remembered", "already there": "Already remembered"}


def remember(args: Namespace, place: Place) -> int:
    if args.here:
        place.project_asked_for()
    fields = given_fields(args, datetime.now(UTC))
    answer = place.call("remember", content=_text(" ".join(args.text)), here=args.here is not False, **fields)
    if args.json:
        say_json(answer)
    else:
        show_stored(STORED_AS[answer["outcome"]], answer["memory"])
        show_masked(answer)
        _tell_if_nobody_sees_it({**answer["memory"], "store": place.store})
        for close in answer.get("close_to", ()):
            warn(f"Very close to it: {close['title']}  {close['urn']}")
    return 0


def get(args: Namespace, place: Place) -> int:
    records = place.call("get", references=args.references)
    if args.json:
        say_json({"memories": records})
        return 0
    for number, record in enumerate(records):
        if number:
            say("")
        show_whole(record)
    return 0


def search(args: Namespace, place: Place) -> int:
    conditions = _conditions(args, place)
    page = place.call("search", query=" ".join(args.query), limit=args.limit, **conditions)
    if args.json:
        say_json(page)
        return 0
    for record in page["results"]:
        show_found(record)
    if not page["results"]:
        warn("Nothing found." + (" Try it with fewer conditions." if conditions else ""))
    return 0


def list_(args: Namespace, place: Place) -> int:
    page = place.call("list", limit=args.limit, offset=args.offset, **_conditions(args, place))
    if args.json:
        say_json(page)
        return 0
    for record in page["memories"]:
        show_in_list(record)
    shown, total = args.offset + len(page["memories"]), page["total"]
    if not total and args.quarantined:
        warn("Nothing is in quarantine.")
    elif not total:
        warn('No memories. Add one: memhook remember "what is worth keeping"')
    elif shown < total and is_terminal():
        warn(f"{shown} of {total}. More: memhook list --offset {shown}")
    return 0


def edit(args: Namespace, place: Place) -> int:
    changes = given_fields(args, datetime.now(UTC))
    if args.here is not None:
        changes["project"] = place.project_asked_for().id if args.here else ""
    if args.content is not None:
        changes["content"] = _text(args.content)
    if not changes:
        content = place.call("get", references=[args.reference], touch=False)[0]["content"]
        changes["content"] = edited_text(content, f'memhook edit {args.reference} --content "the new text"')
        if changes["content"] == content:
            warn("Nothing changed.")
            return 0
    record = place.call("edit", reference=args.reference, **changes)
    if args.json:
        say_json({"memory": record})
    else:
        show_stored("Changed", record)
        show_masked(record)
    return 0


def forget(args: Namespace, place: Place) -> int:
    if args.purge:
        return purge(args, place)
    if not args.yes and not _is_agreed(args, place):
        warn("Nothing forgotten.")
        return 1
    records = place.call("forget", references=args.references)
    if args.json:
        say_json({"forgotten": records})
        return 0
    for record in records:
        show_stored("Forgotten", record)
    return 0


def share(args: Namespace, place: Place) -> int:
    copies = place.call("share", references=args.references, target=args.target)
    if args.json:
        say_json({"copies": copies})
        return 0
    for copy in copies:
        show_stored(SHARED_AS[copy["outcome"]].format(store=args.target), copy["memory"])
        _tell_if_nobody_sees_it(copy["memory"])
    return 0


def _tell_if_nobody_sees_it(record: Mapping[str, Any]) -> None:
    """A project that is known by its path is another one on every machine."""
    if record["store"] and record["project"].startswith("/"):
        warn(
            f"note: {record['project']} has no git remote, so nobody else is in that project."
            f" For everybody: memhook edit {record['urn']} --global --store {record['store']}"
        )


def mute(args: Namespace, place: Place) -> int:
    return _muted(args, place, muted=True)


def unmute(args: Namespace, place: Place) -> int:
    return _muted(args, place, muted=False)


def _muted(args: Namespace, place: Place, *, muted: bool) -> int:
    records = place.call("mute", references=args.references, muted=muted)
    if args.json:
        say_json({"memories": records})
        return 0
    for record in records:
        show_stored("Muted" if muted else "No longer muted", record)
    return 0


def release(args: Namespace, place: Place) -> int:
    records = place.call("release", references=args.references)
    if args.json:
        say_json({"memories": records})
        return 0
    for record in records:
        show_stored("Released", record)
    return 0


def _is_agreed(args: Namespace, place: Place) -> bool:
    if not sys.stdin.isatty():
        raise InvalidInput("There is no terminal to ask whether to forget this.", "If you are sure, say --yes.")
    for record in place.call("get", references=args.references, touch=False):
        warn(f"{record['title']}  {record['urn']}")
    warn("Forget it? [y/N]" if len(args.references) == 1 else f"Forget these {len(args.references)}? [y/N]")
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def _conditions(args: Namespace, place: Place) -> dict[str, Any]:
    if args.project:
        place.project_asked_for()
    return given_conditions(args, datetime.now(UTC))


def _text(given: str) -> str:
    if given != "-":
        return given
    if sys.stdin.isatty():
        warn("Type the text, then Ctrl-D on a line of its own.")
    try:
        return sys.stdin.buffer.read().decode("utf-8")
    except UnicodeDecodeError as error:
        raise InvalidInput(f"What came on stdin is not UTF-8 ({error.reason} at byte {error.start}).") from error
