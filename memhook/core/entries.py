"""Find the memories in an emitted block again."""

from __future__ import annotations

import re
from collections.abc import Collection

from memhook.core.memory import id_of

# Only memhook's own lines start at the margin, so remembered text cannot forge an entry.
_ENTRY = re.compile(r"^- (?P<header>.*)(?:\n(?:  .*)?$)*", re.MULTILINE)


def without_entries(text: str, ids: Collection[str], instead: str) -> str:
    """Return `text` with the entries of the memories `ids` replaced by the line `instead`."""
    return _ENTRY.sub(lambda entry: instead if _id_in(entry["header"]) in ids else entry[0], text)


def _id_in(header: str) -> str:
    return id_of(header.rsplit(" ", 1)[-1])
