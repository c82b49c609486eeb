"""Run one command, and turn what it raises into an exit code."""

from __future__ import annotations

import os
import sys
import traceback
from datetime import UTC, datetime
from pathlib import Path

from memhook.cli.output import warn
from memhook.cli.parser import parser
from memhook.cli.place import place_of
from memhook.errors import MemhookError
from memhook.paths import user_paths

REFUSED, BUG, INTERRUPTED = 1, 3, 130


def run(argv: list[str]) -> int:
    """Run the command; return the exit code. No error shows a traceback."""
    _open_missing_streams()
    try:
        try:
            code = _dispatched(argv)
        except SystemExit as end:  # argparse has printed its message
            code = end.code if isinstance(end.code, int) else 0
        sys.stdout.flush()  # so that a closed pipe raises here
    except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001  the one door at which every error is reported
        return _reported(error)
    return code


def _dispatched(argv: list[str]) -> int:
    args, unknown = parser(argv[0] if argv else "status").parse_known_args(argv)
    if unknown:  # the parser of the command reports it, with its usage
        args.parser.refuse(unknown)
    place = place_of(args.directory, use_daemon=not args.no_daemon, store=getattr(args, "store", None) or "")
    if args.command:
        return args.run(args, place) or 0
    from memhook.cli.commands import status  # noqa: PLC0415  it needs half of the package

    status.overview(place)
    return 0


def _open_missing_streams() -> None:
    """Replace the streams that were closed at the start, as by some schedulers: Python has None there."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open(mode, encoding="utf-8"))  # noqa: SIM115  open until the end


def _reported(error: BaseException) -> int:
    """Report the error as its kind asks for; return the exit code."""
    match error:
        case MemhookError():
            warn(f"memhook: {error.message}", *filter(None, [error.hint]))
        case KeyboardInterrupt():
            warn("Interrupted.")
            return INTERRUPTED
        case BrokenPipeError():
            # The interpreter flushes again at its exit, and must not hit the broken pipe.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 0
        case OSError():
            warn(f"memhook: {error}", "Check the permissions and the free space; memhook doctor looks for more.")
        case _:
            warn(_bug(error))
            return BUG
    return REFUSED


def _bug(error: BaseException) -> str:
    """Write the traceback to the log; return one line for the terminal."""
    what = f"{type(error).__name__}: {str(error)[:200]}"
    met = f"memhook met an unexpected error ({what})."
    try:
        log = user_paths().log
        handle = os.open(log, os.O_CREAT | os.O_APPEND | os.O_WRONLY | os.O_NOFOLLOW, 0o600)
        with os.fdopen(handle, "a", encoding="utf-8", errors="backslashreplace") as file:
            file.write(f"{datetime.now(UTC):%F %T} ERROR a command failed: {what}\n")
            file.writelines(traceback.format_tb(error.__traceback__))
    except (OSError, MemhookError):
        return f"{met} The log cannot be written."
    return f"{met} The details are in {log}."
