"""forget: delete memories; with --purge, every trace of them."""

from argparse import Namespace
from collections.abc import Iterator

from memhook.cli.asking import agreed
from memhook.cli.commands.redact import expunged
from memhook.cli.output import counted, said_json, say
from memhook.cli.parser import Commands, add_references, add_store, add_yes, command
from memhook.cli.place import Place
from memhook.cli.views import show_stored
from memhook.errors import InvalidInput


def add_parser(commands: Commands) -> None:
    forget = command(commands, run, "forget", "memhook forget urn:memhook:k3v9x2m4p7qa", aliases=("rm", "delete"))
    add_references(forget, least="*")
    forget.flag("--captured", "what was captured from sessions and not reviewed")
    forget.option("--session", "ID", "with --captured, only of this session", default="")
    forget.flag("--purge", "leave nothing of them in any of memhook's files")
    add_yes(forget)
    add_store(forget, "in this shared store, for everybody")


def run(args: Namespace, place: Place) -> int:
    """Delete memories; importing them again does not bring them back.

    A hash of the content stays, to recognise it. With --purge nothing stays: the
    store is written anew without its old versions, and the record of what was
    shown is cleared of it.
    """
    if args.captured or args.session:
        return _captured(args, place)
    if not args.references:
        raise InvalidInput("Nothing to forget: give a URN.", "See: memhook list")
    if args.purge:
        return expunged("purge", "Purged", args, place)
    question = "Forget it?" if len(args.references) == 1 else f"Forget these {len(args.references)}?"
    if not args.yes and not agreed(question, "Nothing forgotten.", _titles(args, place)):
        return 1
    records = place.call("forget", references=args.references)
    if not said_json(args, {"forgotten": records}):
        for record in records:
            show_stored("Forgotten", record)
    return 0


def _captured(args: Namespace, place: Place) -> int:
    if args.references or args.purge or not args.captured:
        raise InvalidInput("--captured stands alone, or with --session ID.", "Run: memhook forget --captured")
    found = place.call("forget_captured", session=args.session, dry_run=True)
    question = f"Forget {counted(len(found))} captured from sessions and not reviewed?"
    if found and not args.yes and not agreed(question, "Nothing forgotten."):
        return 1
    done = place.call("forget_captured", session=args.session) if found else []
    if not said_json(args, {"forgotten": done}):
        say(f"Forgotten: {counted(len(done))}.")
    return 0


def _titles(args: Namespace, place: Place) -> Iterator[str]:
    for record in place.call("get", references=args.references, touch=False):
        yield f"{record['title']}  {record['urn']}"
