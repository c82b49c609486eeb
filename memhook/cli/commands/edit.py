"""edit: change a memory."""

from argparse import BooleanOptionalAction, Namespace

from memhook.cli.editor import edited_text
from memhook.cli.fields import add_fields, given_fields
from memhook.cli.output import said_json, warn
from memhook.cli.parser import Commands, add_store, command
from memhook.cli.place import Place
from memhook.cli.views import show_masked, show_near, show_stored, text_given


def add_parser(commands: Commands) -> None:
    edit = command(commands, run, "edit", 'memhook edit urn:memhook:k3v9x2m4p7qa --expires 30d --tag ""')
    edit.add_argument("reference", metavar="URN", help="the URN, the start of one, an id or an alias")
    edit.option("--content", "TEXT", "the new content, or - to read it from stdin")
    edit.add_argument("--pin", action=BooleanOptionalAction, help="show it at the start of each session, or no longer")
    add_fields(edit)
    add_store(edit, "in this shared store, for everybody")


def run(args: Namespace, place: Place) -> None:
    """Change a memory; its URN stays.

    Without an option the content is opened in $VISUAL, $EDITOR or another editor.
    An empty value ("") clears a field.
    """
    changes = given_fields(args)
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
