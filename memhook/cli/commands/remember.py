"""remember and edit: store or change a memory, with its fields as options."""

from argparse import BooleanOptionalAction, Namespace
from datetime import UTC, datetime
from typing import Any

from memhook.cli.editor import edited_text
from memhook.cli.output import said_json, warn
from memhook.cli.parser import Commands, Parser, add_reference, add_store, command, given, names_in
from memhook.cli.place import Place
from memhook.cli.views import (
    argument_text,
    show_copies,
    show_if_unshared,
    show_masked,
    show_near,
    show_stored,
    text_given,
)
from memhook.core.memory import Sensitivity
from memhook.writing.moments import moment_ahead

STORED_AS = {"stored": "Remembered", "already there": "Already remembered"}
LINES = ("title", "summary", "namespace", "source", "sensitivity", "expires", "pinned")
LISTS = ("tags", "related", "anchors", "supersedes")
PINNED = "show it at the start of each session"


def add_parser(commands: Commands) -> None:
    remember = command(
        commands, run, "remember", 'memhook remember "Use uv, not pip, in CI" --tag ci --pin', aliases=("add",)
    )
    remember.add_argument("text", metavar="TEXT", nargs="+", help="what to keep, or - to read it from stdin")
    remember.add_argument("--pin", dest="pinned", action="store_true", default=None, help=PINNED)
    _add_fields(remember)
    add_store(remember, "in this shared store instead of your own")
    change = command(commands, edit, "edit", 'memhook edit urn:memhook:k3v9x2m4p7qa --expires 30d --tag ""')
    add_reference(change)
    change.option("--content", "TEXT", "the new content, or - to read it from stdin")
    change.add_argument("--pin", dest="pinned", action=BooleanOptionalAction, help=f"{PINNED}, or no longer")
    _add_fields(change)
    add_store(change, "in this shared store, for everybody")


def run(args: Namespace, place: Place) -> None:
    """Store a memory: in this project, or globally outside any."""
    if args.here:
        place.project_asked_for()
    fields = _given_fields(args)
    answer = place.call("remember", content=text_given(" ".join(args.text)), here=args.here is not False, **fields)
    if said_json(args, answer):
        return
    show_stored(STORED_AS[answer["outcome"]], answer["memory"])
    show_masked(answer)
    show_if_unshared({**answer["memory"], "store": place.store})
    show_near(answer, answer["memory"]["urn"])


def edit(args: Namespace, place: Place) -> None:
    """Change a memory; its URN stays.

    Without an option the content is opened in $VISUAL, $EDITOR or another editor.
    An empty value ("") clears a field.
    """
    changes = _given_fields(args)
    if args.here is not None:
        changes["project"] = place.project_asked_for().id if args.here else ""
    if args.content is not None:
        changes["content"] = text_given(args.content)
    if not changes:
        content = place.call("get", references=[args.reference], touch=False)[0]["content"]
        changes["content"] = edited_text(content, f'memhook edit {args.reference} --content "the new text"')
        if changes["content"] == content:
            warn("Nothing changed.")
            return
    record = place.call("edit", reference=args.reference, **changes)
    if not said_json(args, {"memory": record}):
        show_stored("Changed", record)
        show_masked(record)
        show_near(record, record["urn"])
        show_copies(record, "change")


def _add_fields(to: Parser) -> None:
    several: dict[str, Any] = {"action": "append", "type": argument_text}
    to.add_argument("--title", type=argument_text, help="without one: the first line")
    to.add_argument("--summary", type=argument_text, help="without one: the first sentence")
    to.option("--namespace", "NAME", "what kind of memory: decisions, incidents, ... (general)", type=argument_text)
    to.option("--tag", "TAG", "repeatable, or several with commas", **several, dest="tags")
    home = to.add_mutually_exclusive_group()
    home.add_argument("--project", dest="here", action="store_const", const=True, help="of this project")
    home.add_argument(
        "--global", dest="here", action="store_const", const=False, help="of no project: known everywhere"
    )
    to.add_argument(
        "--sensitivity", choices=[str(level) for level in Sensitivity], help="how far it may travel (normal)"
    )
    to.option("--expires", "WHEN", "a date or a duration: 2026-12-31, 30d, 12h, 2w", type=_expiry)
    to.option("--source", "REF", "where it is from: a link, a file, a ticket", type=argument_text)
    to.option("--supersedes", "URN", "the memory it replaces; repeatable", **several)
    to.option(
        "--anchor",
        "NAME",
        "a file, command or code at which it comes up; without any: those its text names; repeatable",
        **several,
        dest="anchors",
    )
    to.option("--related", "NAME", "what it is about; repeatable", **several)


def _given_fields(args: Namespace) -> dict[str, Any]:
    """Return the fields that were given, as parameters of the engine; empty ones too, because they clear a field."""
    lists = {name: [*filter(None, some)] for name, some in given(args, *LISTS).items()}
    tags = {"tags": names_in(lists["tags"])} if "tags" in lists else {}
    return {**given(args, *LINES), **lists, **tags}


def _expiry(text: str) -> str:
    return moment_ahead(text, datetime.now(UTC)).isoformat() if text.strip() else ""
