"""`memhook ui`: the options, and the start of the process."""

from __future__ import annotations

import os
from argparse import ArgumentParser, ArgumentTypeError, Namespace

from memhook.errors import MemhookError
from memhook.paths import Paths, user_paths

IDLE_MINUTES = 60
LARGEST_PORT = 65535


def main(argv: list[str]) -> int:
    """Parse and serve like the command line, without importing its other commands: the page is there sooner."""
    parser = ArgumentParser("memhook ui", allow_abbrev=False)
    parser.add_argument("-C", dest="directory", metavar="DIR")
    parser.add_argument("--no-daemon", action="store_true")
    add_options(parser)
    args = parser.parse_args(argv)
    try:
        if args.directory:
            os.chdir(args.directory)
        return serve(args, user_paths(), os.getcwd())  # noqa: PTH109  the wire takes text
    except MemhookError as error:
        parser.exit(1, f"memhook: {error.message}\n{error.hint}".rstrip() + "\n")
    except OSError as error:
        parser.exit(1, f"memhook: {error}\n")
    except KeyboardInterrupt:
        return 130


def add_options(parser: ArgumentParser) -> None:
    parser.add_argument("--port", type=_port, default=0, metavar="N", help="on this port; without it, on a free one")
    parser.add_argument("--no-browser", action="store_true", help="only print the address")
    parser.add_argument(
        "--idle",
        type=_minutes,
        default=IDLE_MINUTES,
        metavar="MINUTES",
        help=f"end when idle so long ({IDLE_MINUTES})",
    )


def serve(args: Namespace, paths: Paths, directory: str) -> int:
    from memhook.ui import server  # noqa: PLC0415  for the help it is not needed

    server.serve(paths, directory, server.Options(args.port, args.idle * 60.0, not args.no_browser, not args.no_daemon))
    return 0


def _port(text: str) -> int:
    if not (text.isascii() and text.isdigit() and int(text) <= LARGEST_PORT):
        raise ArgumentTypeError(f"{text!r} is not a port: give 0 to {LARGEST_PORT}")
    return int(text)


def _minutes(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 6 and int(text) > 0):
        raise ArgumentTypeError(f"{text!r} is not a number of minutes: give 1 or more")
    return int(text)
