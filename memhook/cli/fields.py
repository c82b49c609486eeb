"""The fields of a memory and the conditions of a search as options, and as the engine takes them."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

from memhook.cli.parser import Parser
from memhook.cli.place import Place
from memhook.core.memory import Sensitivity
from memhook.writing.moments import moment_ahead, moment_back

LINES = ("title", "summary", "namespace", "source", "sensitivity")
LISTS = {"tag": "tags", "related": "related", "anchor": "anchors", "supersedes": "supersedes"}


def add_fields(to: Parser) -> None:
    to.add_argument("--title", help="without one: the first line")
    to.add_argument("--summary", help="without one: the first sentence")
    to.option("--namespace", "NAME", "what kind of memory: decisions, incidents, ... (general)")
    to.option("--tag", "TAG", "repeatable, or several with commas", action="append")
    home = to.add_mutually_exclusive_group()
    home.add_argument("--project", dest="here", action="store_const", const=True, help="of this project")
    home.add_argument(
        "--global", dest="here", action="store_const", const=False, help="of no project: known everywhere"
    )
    to.add_argument(
        "--sensitivity", choices=[str(level) for level in Sensitivity], help="how far it may travel (normal)"
    )
    to.option("--expires", "WHEN", "a date or a duration: 2026-12-31, 30d, 12h, 2w")
    to.option("--source", "REF", "where it is from: a link, a file, a ticket")
    to.option("--supersedes", "URN", "the memory it replaces; repeatable", action="append")
    to.option(
        "--anchor",
        "NAME",
        "a file, command or code at which it comes up; without any: those its text names; repeatable",
        action="append",
    )
    to.option("--related", "NAME", "what it is about; repeatable", action="append")


def given_fields(args: Namespace) -> dict[str, Any]:
    """The fields named on the command line, as the engine takes them; the empty ones too, for they clear."""
    fields = {name: value for name in LINES if (value := getattr(args, name)) is not None}
    for option, name in LISTS.items():
        if (values := getattr(args, option)) is not None:
            fields[name] = _tags(values) if option == "tag" else [value for value in values if value]
    if args.expires is not None:
        now = datetime.now(UTC)
        fields["expires"] = moment_ahead(args.expires, now).isoformat() if args.expires.strip() else ""
    if args.pin is not None:
        fields["pinned"] = args.pin
    return fields


def add_conditions(to: Parser) -> None:
    to.option("--namespace", "NAME", "of this namespace; repeatable", action="append")
    to.option("--tag", "TAG", "with this tag; repeated, with all of them", action="append")
    to.flag("--project", "only this project's and the global ones")
    to.option("--since", "WHEN", "created since then: 2026-01-31, 30d, 12h, 2w")
    to.option("--before", "WHEN", "created before then")
    to.add_argument("--cursor", help='the next page: "next_cursor" of --json')


def given_conditions(args: Namespace, place: Place) -> dict[str, Any]:
    """The conditions of `search` and `list`, as the engine takes them."""
    if args.project:
        place.project_asked_for()
    for when in filter(None, (args.since, args.before)):
        moment_back(when, datetime.now(UTC))  # the engine takes it as typed: a cursor goes with the words
    conditions: dict[str, Any] = {
        "here": args.project,
        "namespaces": args.namespace,
        "tags": _tags(args.tag or ()),
        "since": args.since,
        "before": args.before,
        "cursor": args.cursor,
        "ordering": getattr(args, "ordering", None),
        "quarantined": getattr(args, "quarantined", False),
    }
    return {name: value for name, value in conditions.items() if value}


def covered(args: Namespace, place: Place) -> str:
    """The projects that a list or a search covers, for a person to know."""
    return f"{place.project.name} and global memories" if args.project else "all projects"


def _tags(values: Iterable[str]) -> list[str]:
    return [tag for value in values for part in value.split(",") if (tag := part.strip())]
