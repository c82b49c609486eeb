"""The secrets of one run of the page.

Cookies are sent to every port of a host: another user's server on this machine could receive ours. Therefore the cookie
is bound to a path that nobody else knows.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from hmac import compare_digest


def _secret() -> str:
    return secrets.token_urlsafe(32)


@dataclass(slots=True)
class Session:
    """The token is exchanged once for the cookie; each change needs the cookie and the CSRF token."""

    port: int
    token: str = field(default_factory=_secret)
    cookie: str = field(default_factory=_secret)
    csrf: str = field(default_factory=_secret)
    base: str = field(default_factory=lambda: f"/{secrets.token_urlsafe(12)}")
    """The start of every path."""

    @property
    def hosts(self) -> frozenset[str]:
        return frozenset({f"127.0.0.1:{self.port}", f"localhost:{self.port}"})

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}/?token={self.token}"

    def exchanged(self, token: str) -> bool:
        """Return whether `token` is the one-time token, which is useless from then on."""
        if not self.token or not is_same(token, self.token):
            return False
        self.token = ""
        return True


def is_same(given: str, secret: str) -> bool:
    return compare_digest(given.encode("utf-8", "replace"), secret.encode())
