"""token: create, list and revoke the tokens of clients that connect over HTTP."""

from argparse import Namespace
from collections.abc import Iterator
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from memhook.cli.output import said_json, say, warn
from memhook.cli.parser import Commands, command, family
from memhook.cli.place import Place
from memhook.core.fencing import collapsed
from memhook.engine.scopes import Scope
from memhook.errors import InvalidInput
from memhook.mcp_server.main import names_in, scopes_in
from memhook.store.access_tokens import Token, Tokens
from memhook.writing.moments import moment_ahead

NEVER = "never"
DEFAULT_EXPIRES = "90d"


def add_parser(commands: Commands) -> None:
    token = command(
        commands,
        run,
        "token",
        "memhook token create laptop --scopes memory:read,memory:write",
        "Create, list and revoke tokens for access over HTTP.\n\n"
        "For memhook mcp --http. Changes apply from the next request on.",
    )
    actions = family(token)
    _add_create(actions)
    command(actions, run, "list", "memhook token list --json")
    ended = command(actions, revoke, "revoke", "memhook token revoke laptop")
    ended.add_argument("reference", metavar="NAME", help="its name, its id or the token itself")


def _add_create(actions: Commands) -> None:
    made = command(actions, create, "create", "memhook token create ci --namespaces frontend,shared --expires 30d")
    made.add_argument("name", metavar="NAME", nargs="?", default="", help="to know it by; without one, its id")
    made.option(
        "--scopes", "SCOPE,...", f"of {', '.join(Scope)} (the first)", type=scopes_in, default=frozenset({Scope.READ})
    )
    made.option("--namespaces", "NAME,...", "these and no others; without it, all", type=names_in, default=())
    made.option("--expires", "WHEN", f"30d, 12h, 2w, a date, or never ({DEFAULT_EXPIRES})", default=DEFAULT_EXPIRES)


def create(args: Namespace, place: Place) -> None:
    """Create a token, and print it once.

    Only the token goes to stdout. Only a hash of it is stored: if you lose it,
    create another.
    """
    # Nothing else is printed on stdout, so that the token can be piped.
    tokens, now = Tokens(place.paths), datetime.now(UTC)
    made, secret = tokens.create(args.name, sorted(args.scopes), args.namespaces, _end(args.expires, now), now)
    if said_json(args, {"token": secret, **_as_json(made, None, now)}):
        return
    say(secret)
    warn(
        f"This is shown only now; memhook keeps a hash of it. {_title(made)}: {_rights(made)}, {_validity(made, now)}.",
        "Clients send it as the header Authorization: Bearer TOKEN. Serve them: memhook mcp --http 8765",
    )


def run(args: Namespace, place: Place) -> None:
    """List the tokens with their rights; never the secrets themselves."""
    tokens, now = Tokens(place.paths), datetime.now(UTC)
    known, uses = tokens.all(), tokens.uses()
    if said_json(args, {"tokens": [_as_json(one, uses.get(one.id), now) for one in known]}):
        return
    for one in known:
        say(*_lines(one, uses.get(one.id), now))
    if not known:
        warn("There is no token. Create one: memhook token create NAME --scopes memory:read")


def revoke(args: Namespace, place: Place) -> None:
    """Revoke a token, from the next request on."""
    tokens, now = Tokens(place.paths), datetime.now(UTC)
    ended = tokens.revoke(args.reference, now)
    if said_json(args, _as_json(ended, tokens.uses().get(ended.id), now)):
        return
    earlier = ended.revoked is not None and ended.revoked < now
    say(f"{_title(ended)} {'was revoked before' if earlier else 'is revoked, from the next request on'}.")


def _end(text: str, now: datetime) -> datetime | None:
    if text.strip().lower() == NEVER:
        return None
    end = moment_ahead(text, now)
    if end <= now:
        raise InvalidInput(f"{text!r} is past.", "Give the end of the token: 30d, 2027-01-31, or never.")
    return end


def _lines(one: Token, used: datetime | None, now: datetime) -> Iterator[str]:
    yield f"{_title(one)}: {_validity(one, now)}"
    yield f"  {_rights(one)}"
    yield f"  created {one.created.astimezone():%Y-%m-%d}, {f'last used {_minute(used)}' if used else 'never used'}"


def _title(one: Token) -> str:
    return one.name if one.name == one.id else f"{one.name} ({one.id})"


def _rights(one: Token) -> str:
    return f"{' '.join(one.scopes)} in {', '.join(map(collapsed, one.namespaces)) or 'all namespaces'}"


def _validity(one: Token, now: datetime) -> str:
    if one.revoked is not None:
        return f"revoked {_minute(one.revoked)}"
    if one.expires is None:
        return "valid until it is revoked"
    return f"{'valid until' if one.holds(now) else 'expired'} {_minute(one.expires)}"


def _minute(moment: datetime) -> str:
    return f"{moment.astimezone():%Y-%m-%d %H:%M}"


def _as_json(one: Token, used: datetime | None, now: datetime) -> dict[str, Any]:
    fields = asdict(one) | {"last_used": used, "state": one.state(now)}
    del fields["digest"]
    return fields
