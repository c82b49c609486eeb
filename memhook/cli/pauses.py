"""pause and resume."""

from __future__ import annotations

from argparse import Namespace
from datetime import UTC, datetime

from memhook.cli.output import say, say_json, warn
from memhook.cli.place import Place
from memhook.errors import InvalidInput
from memhook.store import pauses
from memhook.store.pauses import EVERYWHERE, Pause, Pauses
from memhook.writing.moments import duration


def pause(args: Namespace, place: Place) -> int:
    now = datetime.now(UTC)
    chosen = Pause(_scope(args, place), _end(args.duration, now))
    pauses.pause(place.paths, chosen, now)
    if args.json:
        say_json({"paused": as_json(chosen)})
        return 0
    say(f"memhook is {told(chosen)}")
    if chosen.until:
        say(f"To end it earlier: {_command_to_lift(chosen)}")
    return 0


def resume(args: Namespace, place: Place) -> int:
    now = datetime.now(UTC)
    was_paused = pauses.resume(place.paths, _scope(args, place), now)
    still = current_pause(place)
    if args.json:
        say_json({"was_paused": was_paused, "paused": as_json(still)})
        return 0
    if still is not None:
        warn(f"memhook is still {told(still)}. To lift that: {_command_to_lift(still)}")
    elif was_paused:
        say("memhook is on again, from the next prompt.")
    else:
        say("memhook was not paused.")
    return 0


def current_pause(place: Place) -> Pause | None:
    """The pause in force here."""
    return Pauses(place.paths).of(place.project.id, datetime.now(UTC))


def told(of: Pause) -> str:
    where = "everywhere" if of.scope == EVERYWHERE else "in this project"
    if of.until is None:
        return f"paused {where} until you say: {_command_to_lift(of)}"
    return f"paused {where} until {of.until.astimezone():%Y-%m-%d %H:%M}"


def as_json(of: Pause | None) -> dict[str, str | None] | None:
    if of is None:
        return None
    return {"scope": of.scope, "until": of.until.isoformat() if of.until else None}


def _command_to_lift(of: Pause) -> str:
    return "memhook resume" if of.scope == EVERYWHERE else "memhook resume --project"


def _scope(args: Namespace, place: Place) -> str:
    return place.project_asked_for().id if args.project else EVERYWHERE


def _end(text: str | None, now: datetime) -> datetime | None:
    if text is None:
        return None
    span = duration(text)
    if not span:
        raise InvalidInput(f"{text!r} is not a time to pause for.", "Say a duration: 30m, 2h, 1d, 1w; or nothing.")
    try:
        return now + span
    except OverflowError as error:
        raise InvalidInput(f"{text!r} is too long.", "To pause until you resume, say: memhook pause") from error
