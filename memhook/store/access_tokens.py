"""Bearer tokens for agents on other machines: one small private file of their hashes, without the tokens.

The server reads it at each request, so that a revoked token is refused from the next one on, and never writes it: when
a token was last used is recorded in another file, whose loss does no harm.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import re
import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from memhook.errors import InvalidInput, NotFound, StoreError
from memhook.files.locking import exclusive, remove_lock
from memhook.paths import Paths, private_directory, refuse_foreign, shell_word, write_private
from memhook.patterns import regex
from memhook.screening.secrets import without

PREFIX = "memhook_"
SECRET_BYTES = 32
LOCK_SECONDS = 5.0
USE_NOTED_EVERY = timedelta(minutes=1)

_NAME = regex(r"[\w][\w.@+-]{0,63}", re.ASCII)
_UNREADABLE = (ValueError, TypeError, KeyError, AttributeError, RecursionError)


@dataclass(frozen=True, slots=True)
class Token:
    """A token without its secret. With no namespaces it may use all of them; with no `expires` it never expires."""

    id: str
    name: str
    digest: str
    scopes: tuple[str, ...]
    namespaces: tuple[str, ...]
    created: datetime
    expires: datetime | None = None
    revoked: datetime | None = None

    def state(self, now: datetime) -> str:
        if self.revoked is not None:
            return "revoked"
        return "expired" if self.expires is not None and now >= self.expires else "valid"

    def holds(self, now: datetime) -> bool:
        return self.state(now) == "valid"


class Tokens:
    """The access tokens of this user."""

    def __init__(self, paths: Paths) -> None:
        self._file = paths.tokens
        self._uses_file = paths.state / "token-uses.json"
        self._lock = paths.state / "tokens.lock"
        self._noted: dict[str, datetime] = {}

    def all(self) -> list[Token]:
        """Return all tokens in order of creation; raise StoreError when the file cannot be read."""
        refuse_foreign(self._file)
        try:
            return [_token(record) for record in json.loads(self._file.read_text(encoding="utf-8"))["tokens"]]
        except FileNotFoundError:
            return []
        except (OSError, *_UNREADABLE) as error:
            raise StoreError(
                f"The tokens in {self._file} cannot be read ({error}).",
                f"No token is accepted until they can; to start over: rm {shell_word(self._file)}",
            ) from error

    def of(self, secret: str, now: datetime) -> Token | None:
        """Return the valid token with this secret, or None. Takes the same time for a secret that is nearly right."""
        digest = _digest(secret)
        found = [token for token in self.all() if hmac.compare_digest(token.digest, digest)]
        return next((token for token in found if token.holds(now)), None)

    def create(
        self, name: str, scopes: Sequence[str], namespaces: Sequence[str], expires: datetime | None, now: datetime
    ) -> tuple[Token, str]:
        """Return a new token and its secret, which is not stored and cannot be shown again."""
        if name and (not _NAME.fullmatch(name) or name.startswith(PREFIX)):
            raise InvalidInput(
                f"{without(name)!r} is not a name for a token.",
                "Use letters, digits and . _ - @ +, at most 64 of them.",
            )
        secret = PREFIX + secrets.token_hex(SECRET_BYTES)
        identity = secrets.token_hex(4)
        made = Token(
            identity, name or identity, _digest(secret), tuple(sorted(scopes)), tuple(namespaces), now, expires
        )
        with self._locked():
            known = self.all()
            if any(name in (token.id, token.name) for token in known if token.holds(now)):
                raise InvalidInput(
                    f"There is a token {name!r} already.",
                    f"Choose another name, or run: memhook token revoke {shell_word(name)}",
                )
            self._write([*known, made])
        return made, secret

    def revoke(self, reference: str, now: datetime) -> Token:
        """Revoke a token by its name, its id or its secret; a token revoked before is unchanged."""
        with self._locked():
            known = self.all()
            found = [token for token in known if reference == token.id or _digest(reference) == token.digest]
            found += [token for token in known if reference == token.name]
            if not found:
                raise NotFound(f"There is no token {without(reference)!r}.", "See: memhook token list")
            chosen = min(found, key=lambda token: ("valid", "expired", "revoked").index(token.state(now)))
            ended = replace(chosen, revoked=chosen.revoked or now)
            self._write([ended if token.id == ended.id else token for token in known])
        return ended

    def uses(self) -> Mapping[str, datetime]:
        """Return when each token was last used, by id, to the minute."""
        try:
            written = json.loads(self._uses_file.read_text(encoding="utf-8"))
            return {str(name): _moment(at) for name, at in written.items()}
        except (OSError, *_UNREADABLE):
            return {}

    def note_use(self, token: Token, now: datetime) -> None:
        """Record the use, at most once a minute, as each costs a write; a full disk does not make a request fail."""
        last = self._noted.get(token.id)
        if last is not None and now - last < USE_NOTED_EVERY:
            return
        self._noted[token.id] = now
        with suppress(OSError, StoreError), self._locked():
            uses = {**self.uses(), token.id: now}
            write_private(self._uses_file, json.dumps({name: at.isoformat() for name, at in uses.items()}) + "\n")

    @contextmanager
    def _locked(self) -> Iterator[None]:
        private_directory(self._lock.parent)
        try:
            with exclusive(self._lock, LOCK_SECONDS):
                yield
        finally:
            remove_lock(self._lock)

    def _write(self, tokens: Sequence[Token]) -> None:
        private_directory(self._file.parent)
        write_private(self._file, json.dumps({"tokens": [_record(token) for token in tokens]}, indent=2) + "\n")


def _digest(secret: str) -> str:
    """Return the plain SHA-256: salt and slow hashes protect chosen passwords; 256 random bits cannot be guessed."""
    return hashlib.sha256(secret.encode("utf-8", "surrogateescape")).hexdigest()


def _record(token: Token) -> dict[str, Any]:
    return {name: value.isoformat() if isinstance(value, datetime) else value for name, value in asdict(token).items()}


def _token(record: Mapping[str, Any]) -> Token:
    return Token(
        id=_text(record["id"]),
        name=_text(record["name"]),
        digest=_text(record["digest"]),
        scopes=_texts(record["scopes"]),
        namespaces=_texts(record["namespaces"]),
        created=_moment(record["created"]),
        expires=None if record["expires"] is None else _moment(record["expires"]),
        revoked=None if record["revoked"] is None else _moment(record["revoked"]),
    )


def _text(value: Any) -> str:
    if not isinstance(value, str) or not value.isascii():
        raise TypeError("expected ASCII text")
    return value


def _texts(value: Any) -> tuple[str, ...]:
    """Return the list, or raise TypeError: a damaged list of namespaces must not become an empty one, that is, all."""
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise TypeError("expected a list of texts")
    return tuple(value)


def _moment(text: str) -> datetime:
    return datetime.fromisoformat(text).astimezone(UTC)
