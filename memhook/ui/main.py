"""`memhook ui`: the options, and the start of the process."""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError, Namespace

from memhook.paths import Paths

IDLE_MINUTES = 60
LARGEST_PORT = 65535


def add_options(parser: ArgumentParser) -> None:
    parser.add_argument("--port", type=_port, default=0, metavar="N", help="on this port; without it, on a free one")
    parser.add_argument("--no-browser", action="store_true", help="only print the address")
    parser.add_argument(
        "--idle", type=_minutes, default=IDLE_MINUTES, metavar="MINUTES", help=f"end when idle so long ({IDLE_MINUTES})"
    )


def serve(args: Namespace, paths: Paths, directory: str) -> int:
    from memhook.ui import server  # noqa: PLC0415  for the help it is not needed

    no_browser, no_daemon = args.no_browser, args.no_daemon
    server.serve(paths, directory, args.port, args.idle * 60.0, opens_browser=not no_browser, use_daemon=not no_daemon)
    return 0


def _port(text: str) -> int:
    if not (text.isascii() and text.isdigit() and int(text) <= LARGEST_PORT):
        raise ArgumentTypeError(f"{text!r} is not a port: give 0 to {LARGEST_PORT}")
    return int(text)


def _minutes(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 6 and int(text) > 0):
        raise ArgumentTypeError(f"{text!r} is not a number of minutes: give 1 or more")
    return int(text)
