"""`memhook mcp`: say hello, then load the SDK and serve."""

from __future__ import annotations

import os
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Callable
from typing import Any

from memhook.context.scopes import DEFAULT_SCOPES, Rights, Scope, scopes_of
from memhook.errors import MemhookError
from memhook.mcp_server.stdio import Wire, claimed_streams, early_answer
from memhook.paths import Paths, user_paths


def main(argv: list[str]) -> int:
    """The same as through the parser of all commands, without the time that takes."""
    parser = ArgumentParser("memhook mcp", allow_abbrev=False)
    parser.add_argument("-C", dest="directory", metavar="DIR")
    add_options(parser)
    args = parser.parse_args(argv)
    try:
        if args.directory:
            os.chdir(args.directory)
        return serve(args, user_paths(), os.getcwd())  # noqa: PTH109  the wire takes text
    except (MemhookError, OSError) as error:
        parser.exit(1, f"memhook: {error}\n")
    except KeyboardInterrupt:
        return 130


def add_options(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--scopes",
        type=_scopes,
        default=frozenset(DEFAULT_SCOPES),
        metavar="SCOPE,...",
        help=f"of {', '.join(Scope)} (the first two)",
    )
    parser.add_argument(
        "--namespaces", type=_names, default=(), metavar="NAME,...", help="these and no others; without it, all"
    )


def serve(args: Namespace, paths: Paths, directory: str) -> int:
    """Until the client goes away; the exit code."""
    incoming, outgoing = claimed_streams()
    first = incoming.readline()
    answer = early_answer(first)
    outgoing.write(answer)
    outgoing.flush()
    # The SDK, and pydantic with it: only now, when the client has its first answer.
    from memhook.mcp_server.server import run  # noqa: PLC0415

    rights = Rights(args.scopes, args.namespaces)
    run(_door(paths, directory), rights, Wire(incoming, outgoing, first, answer))
    return 0


def _door(paths: Paths, directory: str) -> Callable[..., Any]:
    """Opened anew for each call: between two of them a daemon may have ended for being idle."""
    from memhook.daemon.control import daemon_door  # noqa: PLC0415

    project = os.environ.get("CLAUDE_PROJECT_DIR") or directory

    def call(method: str, **params: Any) -> Any:
        return daemon_door(paths, project)(method, **params)

    return call


def _scopes(text: str) -> frozenset[Scope]:
    try:
        return scopes_of(_names(text))
    except MemhookError as error:
        raise ArgumentTypeError(f"{error.message} {error.hint}") from None


def _names(text: str) -> tuple[str, ...]:
    return tuple(name for part in text.replace(" ", ",").split(",") if (name := part.strip()))
