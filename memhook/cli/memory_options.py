"""The commands about memories, their options, and what those mean to the engine."""

from __future__ import annotations

from argparse import (
    SUPPRESS,
    ArgumentParser,
    ArgumentTypeError,
    BooleanOptionalAction,
    Namespace,
    RawDescriptionHelpFormatter,
    _SubParsersAction,
)
from collections.abc import Iterable
from datetime import datetime
from typing import TYPE_CHECKING, Any

from memhook.core.memory import Sensitivity
from memhook.core.ordering import Ordering
from memhook.writing.moments import moment_ahead, moment_back

if TYPE_CHECKING:
    Commands = _SubParsersAction[ArgumentParser]
else:
    Commands = _SubParsersAction

LINES = ("title", "summary", "namespace", "source", "sensitivity")
ORDERINGS = [str(ordering) for ordering in Ordering]
LISTS = {"tag": "tags", "related": "related", "supersedes": "supersedes"}


def command(
    commands: Commands, name: str, summary: str, example: str, notes: str = "", *, json: bool = True
) -> ArgumentParser:
    """A command that also takes the global options behind its name."""
    sentence = f"{summary[0].upper()}{summary[1:]}."
    added = commands.add_parser(
        name,
        help=summary,
        description=f"{sentence}\n\n{notes}" if notes else sentence,
        epilog=f"example:\n  {example}",
        formatter_class=RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    added.add_argument("-C", dest="directory", metavar="DIR", default=SUPPRESS, help=SUPPRESS)
    added.add_argument("--no-daemon", action="store_true", default=SUPPRESS, help=SUPPRESS)
    if json:
        added.add_argument("--json", action="store_true", help="print JSON")
    return added


def add_store(to: ArgumentParser, what: str) -> None:
    to.add_argument("--store", metavar="NAME", help=what)


def add_commands(commands: Commands) -> None:
    _add_remembering(commands)
    _add_exploring(commands)
    _add_changing(commands)
    _add_expunging(commands)
    _add_sharing(commands)
    _add_keeping_back(commands)


def _add_remembering(commands: Commands) -> None:
    remember = command(
        commands,
        "remember",
        "store a memory: in this project, or globally outside any",
        'memhook remember "Use uv, not pip, in CI" --tag ci --pin',
    )
    remember.add_argument("text", metavar="TEXT", nargs="+", help="what to keep, or - to read it from stdin")
    remember.add_argument("--pin", action="store_true", default=None, help="show it at the start of each session")
    _add_fields(remember)
    add_store(remember, "in this shared store instead of your own")


def _add_exploring(commands: Commands) -> None:
    get = command(
        commands,
        "get",
        "whole memories, by URN, id or alias",
        "memhook get urn:memhook:k3v9x2m4p7qa",
        'With --json: {"memories": [...]}, also for one.',
    )
    get.add_argument("references", metavar="URN", nargs="+")
    add_store(get, "in this shared store alone")
    search = command(
        commands,
        "search",
        "find memories by meaning and by words, best first",
        'memhook search "statement timeout" --since 30d',
        'With --json: {"results": [{"urn", "score", "title", "content", ...}]}.',
    )
    search.add_argument("query", metavar="QUERY", nargs="+")
    search.add_argument("--limit", type=_count, default=10, metavar="N", help="at most N (10)")
    search.add_argument("--ordering", choices=ORDERINGS, help=f"by what ({ORDERINGS[-1]})")
    _add_conditions(search)
    add_store(search, "in this shared store alone")
    listing = command(
        commands,
        "list",
        "memories, the last changed first",
        "memhook list --tag deploy --limit 50",
        'With --json: {"memories": [...], "total": n}.',
    )
    listing.add_argument("--limit", type=_count, default=20, metavar="N", help="at most N (20)")
    listing.add_argument("--offset", type=_count, default=0, metavar="N", help="leave out the first N")
    listing.add_argument("--quarantined", action="store_true", help="those kept from every assistant, with the reason")
    _add_conditions(listing)
    add_store(listing, "in this shared store alone")


def _add_changing(commands: Commands) -> None:
    edit = command(
        commands,
        "edit",
        "change a memory; its URN stays",
        'memhook edit urn:memhook:k3v9x2m4p7qa --expires 30d --tag ""',
        'Without an option the content is opened in $VISUAL or $EDITOR.\nAn empty value ("") clears a field.',
    )
    edit.add_argument("reference", metavar="URN")
    edit.add_argument("--content", metavar="TEXT", help="the new content, or - to read it from stdin")
    edit.add_argument("--pin", action=BooleanOptionalAction, help="show it at the start of each session, or no longer")
    _add_fields(edit)
    add_store(edit, "in this shared store, for everybody")
    forget = command(
        commands,
        "forget",
        "forget memories; importing them again does not bring them back",
        "memhook forget urn:memhook:k3v9x2m4p7qa",
        "A hash of the content stays, to recognise it. With --purge nothing stays: the\n"
        "store is written anew without its old versions, and what was shown of it goes.",
    )
    forget.add_argument("references", metavar="URN", nargs="+")
    forget.add_argument("--purge", action="store_true", help="leave nothing of them in any of memhook's files")
    forget.add_argument("-y", "--yes", action="store_true", help="do not ask")
    add_store(forget, "in this shared store, for everybody")


def _add_expunging(commands: Commands) -> None:
    redact = command(
        commands,
        "redact",
        "empty memories; the URN stays, and all they said is gone from memhook's files",
        "memhook redact urn:memhook:k3v9x2m4p7qa",
        "Title, content, summary, tags and source go, in old versions of the store and\n"
        "in the record of what was shown as well. It cannot be undone.",
    )
    redact.add_argument("references", metavar="URN", nargs="+")
    redact.add_argument("-y", "--yes", action="store_true", help="do not ask")
    add_store(redact, "in this shared store, for everybody")


def _add_sharing(commands: Commands) -> None:
    share = command(
        commands,
        "share",
        "copy memories into a shared store; their URNs stay",
        "memhook share urn:memhook:k3v9x2m4p7qa --store team",
        "Said again after a change, it brings the copy up to date. Restricted and\n"
        "confidential memories stay in your own store.",
    )
    share.add_argument("references", metavar="URN", nargs="+")
    share.add_argument("--store", dest="target", metavar="NAME", required=True, help="the shared store to copy to")


def _add_keeping_back(commands: Commands) -> None:
    mute = command(
        commands,
        "mute",
        "keep memories, but never show them to an assistant",
        "memhook mute urn:memhook:k3v9x2m4p7qa",
        "search, list and get still find them.",
    )
    mute.add_argument("references", metavar="URN", nargs="+")
    unmute = command(commands, "unmute", "let muted memories come up again", "memhook unmute urn:memhook:k3v9x2m4p7qa")
    unmute.add_argument("references", metavar="URN", nargs="+")
    release = command(
        commands,
        "release",
        "let quarantined memories come up after all",
        "memhook release urn:memhook:k3v9x2m4p7qa",
        "Read them first: memhook list --quarantined. They stay released until their\ntext is changed.",
    )
    release.add_argument("references", metavar="URN", nargs="+")


def given_fields(args: Namespace, now: datetime) -> dict[str, Any]:
    """The fields named on the command line, as the engine takes them; the empty ones too, for they clear."""
    fields = {name: value for name in LINES if (value := getattr(args, name)) is not None}
    for option, name in LISTS.items():
        if (values := getattr(args, option)) is not None:
            fields[name] = _tags(values) if option == "tag" else [value for value in values if value]
    if args.expires is not None:
        fields["expires"] = moment_ahead(args.expires, now).isoformat() if args.expires.strip() else ""
    if args.pin is not None:
        fields["pinned"] = args.pin
    return fields


def given_conditions(args: Namespace, now: datetime) -> dict[str, Any]:
    """What `search` and `list` are narrowed to."""
    conditions: dict[str, Any] = {
        "here": args.project,
        "namespaces": args.namespace,
        "tags": _tags(args.tag or ()),
        "since": _when(args.since, now),
        "before": _when(args.before, now),
        "cursor": args.cursor,
        "ordering": getattr(args, "ordering", None),
        "quarantined": getattr(args, "quarantined", False),
    }
    return {name: value for name, value in conditions.items() if value}


def _add_fields(to: ArgumentParser) -> None:
    to.add_argument("--title", help="without one: the first line")
    to.add_argument("--summary", help="without one: the first sentence")
    to.add_argument("--namespace", metavar="NAME", help="what kind of memory: decisions, incidents, ... (general)")
    to.add_argument("--tag", action="append", metavar="TAG", help="repeatable, or several with commas")
    home = to.add_mutually_exclusive_group()
    home.add_argument("--project", dest="here", action="store_const", const=True, help="of this project")
    home.add_argument(
        "--global", dest="here", action="store_const", const=False, help="of no project: known everywhere"
    )
    to.add_argument(
        "--sensitivity", choices=[str(level) for level in Sensitivity], help="how far it may travel (normal)"
    )
    to.add_argument("--expires", metavar="WHEN", help="a date or a duration: 2026-12-31, 30d, 12h, 2w")
    to.add_argument("--source", metavar="REF", help="where it is from: a link, a file, a ticket")
    to.add_argument("--supersedes", action="append", metavar="URN", help="the memory it replaces; repeatable")
    to.add_argument("--related", action="append", metavar="NAME", help="what it is about; repeatable")


def _add_conditions(to: ArgumentParser) -> None:
    to.add_argument("--namespace", action="append", metavar="NAME", help="of this namespace; repeatable")
    to.add_argument("--tag", action="append", metavar="TAG", help="with this tag; repeated, with all of them")
    to.add_argument("--project", action="store_true", help="only this project's and the global ones")
    to.add_argument("--since", metavar="WHEN", help="created since then: 2026-01-31, 30d, 12h, 2w")
    to.add_argument("--before", metavar="WHEN", help="created before then")
    to.add_argument("--cursor", help='the next page: "next_cursor" of --json')


def _when(text: str | None, now: datetime) -> str | None:
    """As it was typed, if it can be understood: a cursor goes with the words, not with the moment they were said."""
    if text:
        moment_back(text, now)
    return text


def _tags(values: Iterable[str]) -> list[str]:
    return [tag for value in values for part in value.split(",") if (tag := part.strip())]


def _count(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise ArgumentTypeError(f"{text!r} is not a number of memories")
    return int(text)
