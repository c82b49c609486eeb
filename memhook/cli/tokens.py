"""token create, list and revoke."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from memhook.cli.output import say, say_json, warn
from memhook.cli.place import Place
from memhook.core.fencing import collapsed
from memhook.errors import InvalidInput
from memhook.store.access_tokens import Token, Tokens
from memhook.writing.moments import moment_ahead

NEVER = "never"


def token(args: Namespace, place: Place) -> int:
    actions: Mapping[str, Callable[[Namespace, Tokens, datetime], int]] = {
        "create": create,
        "list": listing,
        "revoke": revoke,
    }
    return actions[args.action](args, Tokens(place.paths), datetime.now(UTC))


def create(args: Namespace, tokens: Tokens, now: datetime) -> int:
    """The token is alone on stdout, so that it can be piped to where it belongs."""
    made, secret = tokens.create(args.name, sorted(args.scopes), args.namespaces, _end(args.expires, now), now)
    if args.json:
        say_json({"token": secret, **_as_json(made, None, now)})
        return 0
    say(secret)
    warn(
        f"This is shown only now; memhook keeps a hash of it. {_title(made)}: {_rights(made)}, {_validity(made, now)}.",
        "Clients send it as the header Authorization: Bearer TOKEN. Serve them: memhook mcp --http 8765",
    )
    return 0


def listing(args: Namespace, tokens: Tokens, now: datetime) -> int:
    known, uses = tokens.all(), tokens.uses()
    if args.json:
        say_json({"tokens": [_as_json(one, uses.get(one.id), now) for one in known]})
        return 0
    for one in known:
        say(*_lines(one, uses.get(one.id), now))
    if not known:
        warn("There is no token. Make one: memhook token create NAME --scopes memory:read")
    return 0


def revoke(args: Namespace, tokens: Tokens, now: datetime) -> int:
    ended = tokens.revoke(args.reference, now)
    if args.json:
        say_json(_as_json(ended, tokens.uses().get(ended.id), now))
        return 0
    earlier = ended.revoked is not None and ended.revoked < now
    say(f"{_title(ended)} {'was revoked before' if earlier else 'is revoked, from the next request on'}.")
    return 0


def _end(text: str, now: datetime) -> datetime | None:
    if text.strip().lower() == NEVER:
        return None
    end = moment_ahead(text, now)
    if end <= now:
        raise InvalidInput(f"{text!r} is past.", "Say when the token ends: 30d, 2027-01-31, or never.")
    return end


def _lines(one: Token, used: datetime | None, now: datetime) -> Iterator[str]:
    yield f"{_title(one)}: {_validity(one, now)}"
    yield f"  {_rights(one)}"
    yield f"  created {_day(one.created)}, {f'last used {_minute(used)}' if used else 'never used'}"


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


def _day(moment: datetime) -> str:
    return f"{moment.astimezone():%Y-%m-%d}"


def _minute(moment: datetime) -> str:
    return f"{moment.astimezone():%Y-%m-%d %H:%M}"


def _as_json(one: Token, used: datetime | None, now: datetime) -> dict[str, Any]:
    return {
        "id": one.id,
        "name": one.name,
        "scopes": list(one.scopes),
        "namespaces": list(one.namespaces),
        "created": one.created.isoformat(),
        "expires": one.expires.isoformat() if one.expires else None,
        "last_used": used.isoformat() if used else None,
        "revoked": one.revoked.isoformat() if one.revoked else None,
        "state": one.state(now),
    }
