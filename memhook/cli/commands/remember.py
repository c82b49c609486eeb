"""remember: store a memory."""

from argparse import Namespace

from memhook.cli.fields import add_fields, given_fields
from memhook.cli.output import said_json
from memhook.cli.parser import Commands, add_store, command
from memhook.cli.place import Place
from memhook.cli.views import show_if_unshared, show_masked, show_near, show_stored, text_given

STORED_AS = {"stored": "Remembered", "already there": "Already remembered"}


def add_parser(commands: Commands) -> None:
    remember = command(
        commands, run, "remember", 'memhook remember "Use uv, not pip, in CI" --tag ci --pin', aliases=("add",)
    )
    remember.add_argument("text", metavar="TEXT", nargs="+", help="what to keep, or - to read it from stdin")
    remember.add_argument("--pin", action="store_true", default=None, help="show it at the start of each session")
    add_fields(remember)
    add_store(remember, "in this shared store instead of your own")


def run(args: Namespace, place: Place) -> None:
    """Store a memory: in this project, or globally outside any."""
    if args.here:
        place.project_asked_for()
    fields = given_fields(args)
    answer = place.call("remember", content=text_given(" ".join(args.text)), here=args.here is not False, **fields)
    if said_json(args, answer):
        return
    show_stored(STORED_AS[answer["outcome"]], answer["memory"])
    show_masked(answer)
    show_if_unshared({**answer["memory"], "store": place.store})
    show_near(answer, answer["memory"]["urn"])
