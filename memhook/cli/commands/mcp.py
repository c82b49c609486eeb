"""mcp: the MCP server. Without --help, main.py starts it without the other commands."""

from argparse import Namespace

from memhook.cli.parser import Commands, command
from memhook.cli.place import Place
from memhook.mcp_server.main import add_options, serve


def add_parser(commands: Commands) -> None:
    mcp = command(commands, run, "mcp", "memhook mcp --scopes memory:read --namespaces frontend,shared", json=False)
    add_options(mcp)


def run(args: Namespace, place: Place) -> int:
    """The MCP server, on stdin and stdout or over HTTP.

    With --http it serves agents on other machines at http://HOST:PORT/mcp. Each
    request brings a token (memhook token create), which says what it may do.
    Calls count for no project, only for the global memories, or with -C DIR for
    the project of that directory too; searching looks in all projects.
    What is sent is not encrypted: beyond loopback use a TLS proxy or a tunnel.
    memhook mcp --http 8765
    """
    return serve(args, place.paths, place.directory)
