"""Find the memories in an emitted block again."""

from __future__ import annotations

import re
from collections.abc import Collection

from memhook.core.memory import URN_PREFIX, id_of

# Only memhook's own lines start at the margin, so remembered text cannot forge an entry.
_ENTRY = re.compile(r"^- (?P<header>.*)(?:\n(?:  .*)?$)*", re.MULTILINE)
_NAME = re.compile(rf"{URN_PREFIX}([a-z0-9]+)")
NOT_NAMED = "another"


def without_entries(text: str, ids: Collection[str], instead: str) -> str:
    """Return `text` without the memories `ids`: `instead` of their entries, and not named beside others."""

    def kept(entry: re.Match[str]) -> str:
        header, rest = entry["header"], entry[0][len("- ") + len(entry["header"]) :]
        if id_of(header.rsplit(" ", 1)[-1]) in ids:
            return instead
        return f"- {_NAME.sub(lambda name: NOT_NAMED if name[1] in ids else name[0], header)}{rest}"

    return _ENTRY.sub(kept, text)
