"""pause and resume: keep memhook silent, for a while or until it is resumed."""

from argparse import Namespace
from datetime import UTC, datetime

from memhook.cli.output import said_json, say, warn
from memhook.cli.parser import Commands, command
from memhook.cli.place import Place
from memhook.errors import InvalidInput
from memhook.store import pauses
from memhook.store.pauses import EVERYWHERE, Pause, Pauses
from memhook.writing.moments import duration


def add_parser(commands: Commands) -> None:
    pause = command(commands, run, "pause", "memhook pause --project 30m")
    pause.add_argument("duration", metavar="DURATION", nargs="?", help="30m, 2h, 1d, 1w; without it, until resume")
    pause.flag("--project", "only in this project")
    lift = command(commands, resume, "resume", "memhook resume")
    lift.flag("--project", "the pause of this project")


def run(args: Namespace, place: Place) -> None:
    """Keep memhook silent, for a while or until resume.

    It applies at once, also to open sessions.
    """
    now = datetime.now(UTC)
    chosen = Pause(_scope(args, place), _end(args.duration, now))
    pauses.pause(place.paths, chosen, now)
    if said_json(args, {"paused": chosen}):
        return
    say(f"memhook is {described(chosen)}")
    if chosen.until:
        say(f"To end it earlier: {_command_to_lift(chosen)}")


def resume(args: Namespace, place: Place) -> None:
    """End a pause."""
    now = datetime.now(UTC)
    was_paused = pauses.resume(place.paths, _scope(args, place), now)
    still = current_pause(place)
    if said_json(args, {"was_paused": was_paused, "paused": still}):
        return
    if still is not None:
        lift = f". To lift that: {_command_to_lift(still)}" if still.until else ""
        warn(f"memhook is still {described(still)}{lift}")
    elif was_paused:
        say("memhook is on again, from the next prompt.")
    else:
        say("memhook was not paused.")


def current_pause(place: Place) -> Pause | None:
    return Pauses(place.paths).of(place.project.id, datetime.now(UTC))


def described(of: Pause) -> str:
    where = "everywhere" if of.scope == EVERYWHERE else "in this project"
    if of.until is None:
        return f"paused {where} until you run: {_command_to_lift(of)}"
    return f"paused {where} until {of.until.astimezone():%Y-%m-%d %H:%M}"


def _command_to_lift(of: Pause) -> str:
    return "memhook resume" if of.scope == EVERYWHERE else "memhook resume --project"


def _scope(args: Namespace, place: Place) -> str:
    return place.project_asked_for().id if args.project else EVERYWHERE


def _end(text: str | None, now: datetime) -> datetime | None:
    if text is None:
        return None
    span = duration(text)
    if not span:
        raise InvalidInput(f"{text!r} is not a time to pause for.", "Give a duration: 30m, 2h, 1d, 1w; or none.")
    try:
        return now + span
    except OverflowError as error:
        raise InvalidInput(f"{text!r} is too long.", "To pause until you resume, run: memhook pause") from error
