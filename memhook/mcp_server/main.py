"""`memhook mcp`: the server over stdio, which answers before the SDK is loaded, or over HTTP."""

from __future__ import annotations

import os
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Callable
from importlib import import_module
from threading import Lock, Thread
from typing import Any, NoReturn

from memhook.engine.scopes import DEFAULT_SCOPES, Rights, Scope, scopes_of
from memhook.errors import InvalidInput, MemhookError
from memhook.mcp_server.stdio import answered_early, claimed_streams
from memhook.paths import Paths


def add_options(parser: ArgumentParser) -> None:
    parser.add_argument("--scopes", type=scopes_in, metavar="SCOPE,...", help=f"of {', '.join(Scope)} (the first two)")
    parser.add_argument("--namespaces", type=names_in, metavar="NAME,...", help="these and no others; without it, all")
    parser.add_argument(
        "--http",
        metavar="HOST:PORT",
        help="over HTTP, for agents on other machines: PORT alone listens on loopback, 0 takes a free one",
    )
    parser.add_argument(
        "--allow-host",
        type=names_in,
        default=(),
        metavar="NAME,...",
        help="with --http: names the server also goes by, such as that of a proxy in front of it",
    )


def serve(args: Namespace, paths: Paths, directory: str) -> int:
    if args.http is not None:
        return _serve_http(args, paths, directory if args.directory else "")
    if args.allow_host:
        raise InvalidInput("--allow-host is for HTTP.", "Run: memhook mcp --http PORT --allow-host NAME")
    return _serve_stdio(args, paths, os.environ.get("CLAUDE_PROJECT_DIR") or directory)


def _serve_http(args: Namespace, paths: Paths, directory: str) -> int:
    """Serve over HTTP. The working directory is not the clients': without -C their calls have no project."""
    if args.scopes is not None or args.namespaces is not None:
        raise InvalidInput(
            "Over HTTP each token has its own scopes and namespaces.",
            "Leave --scopes and --namespaces out, and give them to: memhook token create NAME --scopes ...",
        )
    # What stdio does not need must not cost it time.
    from memhook.mcp_server.address import address_of  # noqa: PLC0415  over stdio it is not needed

    address = address_of(args.http)
    from memhook.mcp_server import http_server  # noqa: PLC0415  the SDK, and the web server with it
    from memhook.store.access_tokens import Tokens  # noqa: PLC0415  as above

    http_server.serve(_door(paths, directory), Tokens(paths), address, args.allow_host)
    return 0


def _serve_stdio(args: Namespace, paths: Paths, directory: str) -> NoReturn:
    """Serve over stdio, then exit at once: clients wait for it, and unloading the SDK takes longer than a prompt."""
    rights = Rights(frozenset(DEFAULT_SCOPES) if args.scopes is None else args.scopes, args.namespaces or ())
    # The SDK, and pydantic with it: loaded while the client gets its first answers.
    Thread(target=import_module, args=["memhook.mcp_server.server"], daemon=True).start()
    try:
        if wire := answered_early(*claimed_streams(), rights.scopes):
            from memhook.mcp_server.server import run  # noqa: PLC0415  as above

            run(_door(paths, directory), rights, wire)
    except KeyboardInterrupt:  # how Claude Code ends it
        os._exit(130)
    os._exit(0)


def _door(paths: Paths, directory: str) -> Callable[..., Any]:
    """Return a function that connects for each call: between two of them an idle daemon may have stopped."""
    from memhook.daemon.control import daemon_door  # noqa: PLC0415  initialize is answered before

    opening = Lock()  # concurrent calls start one daemon, not one each

    def call(method: str, **params: Any) -> Any:
        with opening:
            door = daemon_door(paths, directory)
        return door(method, **params)

    return call


def scopes_in(text: str) -> frozenset[Scope]:
    try:
        return scopes_of(names_in(text))
    except MemhookError as error:
        raise ArgumentTypeError(f"{error.message} {error.hint}") from None


def names_in(text: str) -> tuple[str, ...]:
    """Parse at least one name: no namespaces would mean all of them."""
    names = tuple(name for part in text.replace(" ", ",").split(",") if (name := part.strip()))
    if not names:
        raise ArgumentTypeError(f"{text!r} has no name in it")
    return names
