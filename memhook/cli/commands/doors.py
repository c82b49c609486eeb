"""hook, statusline, mcp and ui: the help of commands that main.py starts without importing this file.

Their functions here run only if global options come first, as in `memhook -C DIR hook`.
"""

from argparse import Namespace

from memhook.cli import statusline
from memhook.cli.parser import Commands, command
from memhook.cli.place import Place
from memhook.daemon import hook_client
from memhook.mcp_server import main as mcp_server
from memhook.ui import main as page


def add_parser(commands: Commands) -> None:
    page.add_options(command(commands, ui, "ui", "memhook ui", json=False))
    example = "memhook mcp --scopes memory:read --namespaces frontend,shared"
    mcp_server.add_options(command(commands, mcp, "mcp", example, json=False))
    event = command(commands, hook, "hook", "memhook hook UserPromptSubmit", json=False)
    event.add_argument("event", metavar="EVENT", nargs="?")
    event.add_argument("part", metavar="PART", nargs="?")
    event.option("--client", "NAME", "the assistant, where it cannot be recognised")
    command(commands, status_line, "statusline", "memhook statusline < event.json", json=False)


def ui(args: Namespace, place: Place) -> int:
    """Open a page in the browser: try prompts, read and change memories, see events.

    It is served on this machine alone, until Ctrl-C or an idle time. The address
    printed opens it once.
    """
    return page.serve(args, place.paths, place.directory)


def mcp(args: Namespace, place: Place) -> int:
    """Run the MCP server, on stdin and stdout or over HTTP.

    With --http it serves agents on other machines at http://HOST:PORT/mcp. Each
    request brings a token (memhook token create), which says what it may do.
    Calls count for no project, only for the global memories, or with -C DIR for
    the project of that directory too; searching looks in all projects.
    What is sent is not encrypted: beyond loopback use a TLS proxy or a tunnel.
    memhook mcp --http 8765
    """
    return mcp_server.serve(args, place.paths, place.directory)


def hook(args: Namespace, _place: Place) -> int:
    """Answer an event of an assistant: JSON on stdin, the answer on stdout."""
    client = ["--client", args.client] if args.client else []
    return hook_client.main([*filter(None, (args.event, args.part)), *client])


def status_line(_args: Namespace, _place: Place) -> int:
    """Print one line on what a session was shown, for an assistant's status line.

    It reads the JSON that the assistant sends on stdin. In Claude Code's settings:
    "statusLine": {"type": "command", "command": "memhook statusline"}
    """
    return statusline.main()
