"""The memories in a block that was emitted, told apart again by what memhook alone can write: lines at the margin."""

from __future__ import annotations

import re
from collections.abc import Collection

from memhook.core.memory import id_of

# Only memhook's own lines start at the margin, so these are its entries, whatever was remembered.
_ENTRY = re.compile(r"^- (?P<header>.*)(?:\n(?:  .*)?$)*", re.MULTILINE)


def without_entries(text: str, ids: Collection[str], instead: str) -> str:
    """`text` with the entry of each of these memories replaced by the line `instead`."""
    return _ENTRY.sub(lambda entry: instead if _id_in(entry["header"]) in ids else entry[0], text)


def _id_in(header: str) -> str:
    """An entry's header ends with the URN."""
    return id_of(header.rsplit(" ", 1)[-1])
