"""`memhook mcp` and `memhook ui`: parsed and served without importing the other commands, so that they start sooner."""

from __future__ import annotations

import os
from argparse import ArgumentParser
from importlib import import_module

from memhook.errors import MemhookError
from memhook.paths import user_paths

DOORS = {"mcp": "memhook.mcp_server.main", "ui": "memhook.ui.main"}


def served(command: str, arguments: list[str]) -> int:
    door = import_module(DOORS[command])
    parser = ArgumentParser(f"memhook {command}", allow_abbrev=False)
    parser.add_argument("-C", dest="directory", metavar="DIR")
    if command == "ui":  # the MCP server works only with a daemon
        parser.add_argument("--no-daemon", action="store_true")
    door.add_options(parser)
    args = parser.parse_args(arguments)
    try:
        if args.directory:
            os.chdir(args.directory)
        code: int = door.serve(args, user_paths(), os.getcwd())  # noqa: PTH109  the wire takes text
        return code
    except MemhookError as error:
        parser.exit(1, f"memhook: {error.message}\n{error.hint}".rstrip() + "\n")
    except OSError as error:
        parser.exit(1, f"memhook: {error}\n")
    except KeyboardInterrupt:
        return 130
