"""The commands about tokens, and their options."""

from __future__ import annotations

from memhook.cli.memory_options import Commands, command
from memhook.engine.scopes import Scope
from memhook.mcp_server.main import names_in, scopes_in

DEFAULT_EXPIRES = "90d"


def add_commands(commands: Commands) -> None:
    token = command(
        commands,
        "token",
        "who may ask over HTTP, and what",
        "memhook token create laptop --scopes memory:read,memory:write",
        "For memhook mcp --http. Changes hold from the next request on.",
        json=False,
    )
    actions: Commands = token.add_subparsers(dest="action", metavar="ACTION", required=True)
    _add_create(actions)
    command(actions, "list", "every token with what it may do; never the token itself", "memhook token list --json")
    revoke = command(
        actions,
        "revoke",
        "let a token no longer count, from the next request on",
        "memhook token revoke laptop",
    )
    revoke.add_argument("reference", metavar="NAME", help="its name, its id or the token itself")


def _add_create(actions: Commands) -> None:
    create = command(
        actions,
        "create",
        "make a token and print it, this once",
        "memhook token create ci --scopes memory:read --namespaces frontend,shared --expires 30d",
        "The token alone goes to stdout. Only a hash of it is kept: whoever loses it\nmakes another.",
    )
    create.add_argument("name", metavar="NAME", nargs="?", default="", help="to know it by; without one, its id")
    create.add_argument(
        "--scopes",
        type=scopes_in,
        default=frozenset({Scope.READ}),
        metavar="SCOPE,...",
        help=f"of {', '.join(Scope)} (the first)",
    )
    create.add_argument(
        "--namespaces", type=names_in, default=(), metavar="NAME,...", help="these and no others; without it, all"
    )
    create.add_argument(
        "--expires",
        metavar="WHEN",
        default=DEFAULT_EXPIRES,
        help=f"30d, 12h, 2w, a date, or never ({DEFAULT_EXPIRES})",
    )
