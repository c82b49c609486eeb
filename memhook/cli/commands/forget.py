"""forget and redact: delete memories or empty them; `forget --purge` and `redact` cover everything memhook wrote."""

from argparse import Namespace
from collections.abc import Iterator, Mapping
from typing import Any

from memhook.cli.output import agreed, counted, said_json, say, warn
from memhook.cli.parser import Commands, add_references, add_store, add_yes, command
from memhook.cli.place import Place
from memhook.cli.views import show_copies, show_stored
from memhook.daemon.control import is_running
from memhook.errors import InvalidInput

TO_HAVE_IT_BACK = "To have it back: remember it again, import its file with --again, or restore a backup."
ELSEWHERE = "If it came from a file or an export, delete it there too: importing that brings it back."


def add_parser(commands: Commands) -> None:
    forget = command(commands, run, "forget", "memhook forget urn:memhook:k3v9x2m4p7qa", aliases=("rm", "delete"))
    add_references(forget, least="*")
    forget.flag("--captured", "all captured memories that were not reviewed")
    forget.option("--session", "ID", "with --captured, only of this session", default="")
    forget.flag("--purge", "delete them from all of memhook's files")
    emptied = command(commands, redact, "redact", "memhook redact urn:memhook:k3v9x2m4p7qa")
    add_references(emptied)
    for one in (forget, emptied):
        add_yes(one)
        add_store(one, "in this shared store, for everybody")


def run(args: Namespace, place: Place) -> int:
    """Delete memories; importing them again does not bring them back.

    Hashes of title and content stay, to recognise them. With --purge nothing stays:
    the store is rewritten without its old versions, and they are deleted from the
    record of what was shown.
    """
    if args.captured or args.session:
        return _captured(args, place)
    if not args.references:
        raise InvalidInput("Nothing to forget: give a URN.", "See: memhook list")
    if args.purge:
        return _expunged("purge", "Purged", args, place)
    references = args.references
    if not args.yes:  # looked up first: where there is no terminal to ask at, a wrong name is the error to report
        meant = place.call("get", references=references, touch=False)
        question = "Forget it?" if len(references) == 1 else f"Forget these {len(references)}?"
        if not agreed(question, "Nothing forgotten.", [f"{record['title']}  {record['urn']}" for record in meant]):
            return 1
        references = [record["urn"] for record in meant]  # those that the user has seen
    records = place.call("forget", references=references)
    if not said_json(args, {"forgotten": records}):
        for record in records:
            show_stored("Forgotten", record)
            show_copies(record, "delete")
        warn(TO_HAVE_IT_BACK)
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


def redact(args: Namespace, place: Place) -> int:
    """Empty memories; the URN stays, their text is deleted from memhook's files.

    Title, content, summary, tags and source are deleted, in old versions of the
    store and in the record of what was shown as well. It cannot be undone.
    """
    return _expunged("redact", "Redacted", args, place)


def _expunged(method: str, done: str, args: Namespace, place: Place) -> int:
    """Ask, expunge, and report from where. The question names URNs: a title on the screen would be another trace."""
    references = args.references
    if method == "redact" and not args.yes:  # to purge is possible for forgotten ones too, which cannot be got
        references = [record["id"] for record in place.call("get", references=references, touch=False)]
    question = f"{method.capitalize()} {'it' if len(references) == 1 else 'these'}? It cannot be undone."
    if not args.yes and not agreed(question, f"Nothing {done.lower()}.", references):
        return 1
    answer = place.call(method, references=references)
    if not said_json(args, answer):
        say(*(f"{done}: {urn}" for urn in answer["memories"]), *_where(answer))
    show_copies(answer, "delete")
    warn(*_warnings(answer, place))
    return 0


def _where(answer: Mapping[str, Any]) -> Iterator[str]:
    yield "  the store was rewritten without its old versions and indexes, and the log emptied"
    if answer["shown_in"]:
        yield f"  deleted from {answer['shown_in']} recorded answers"
    yield from (f"  deleted from the copy {copy}" for copy in answer["copies"])
    yield from (
        f"  deleted the copy {copy}: it is damaged and might have contained it" for copy in answer["deleted_copies"]
    )


def _warnings(answer: Mapping[str, Any], place: Place) -> Iterator[str]:
    for copy in answer["unreadable_copies"]:
        yield f"The copy {copy} cannot be read and may still contain it. Delete it, or repair it and run this again."
    for urn in answer["same_content"]:
        yield f"The same content is also in {urn}."
    if not place.use_daemon and is_running(place.paths):
        yield "The daemon may still have it in memory: memhook daemon restart"
    yield ELSEWHERE
