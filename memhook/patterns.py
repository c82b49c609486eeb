"""Regular expressions that are compiled when they are first used.

A quarter of a second of the daemon's start would go into compiling hundreds of them, and the first answer needs few.
"""

from __future__ import annotations

import re
from typing import Any, AnyStr, cast

_FILLED = (
    "findall",
    "finditer",
    "flags",
    "fullmatch",
    "groupindex",
    "groups",
    "match",
    "search",
    "split",
    "sub",
    "subn",
)


class _Pattern:
    """Stands for a compiled pattern: the first use fills in its methods, so later ones cost nothing more."""

    __slots__ = ("_flags", "pattern", *_FILLED)

    def __init__(self, written: str | bytes, flags: int) -> None:
        self.pattern = written
        self._flags = flags

    def __getattr__(self, name: str) -> Any:
        compiled = re.compile(self.pattern, self._flags)
        for each in _FILLED:
            setattr(self, each, getattr(compiled, each))
        return getattr(compiled, name)


def regex(written: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """Return what can be used as the compiled pattern would be. A mistake in it shows at its first use."""
    return cast("re.Pattern[AnyStr]", _Pattern(written, flags))
