"""Export into a folder of Markdown, a file for each memory."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from memhook.core.memory import DEFAULT_NAMESPACE, ID_LENGTH
from memhook.errors import InvalidInput
from memhook.paths import write_private
from memhook.supply.markdown import document

SLUG_CHARS = 60
_NOT_IN_A_NAME = re.compile(r"[^\w-]+")


def export_folder(folder: Path, records: Iterable[Mapping[str, Any]]) -> int:
    """NAMESPACE/TITLE-ID.md, for the user's eyes alone, in place of what an earlier export wrote; how many."""
    count = 0
    try:
        earlier = {path.stem[-ID_LENGTH:]: path for path in folder.glob("*/*-*.md")}
        for record in records:
            name = f"{_slug(record['title'])}-{record['id']}.md"
            path = folder / (_slug(record["namespace"]) or DEFAULT_NAMESPACE) / name
            write_private(path, document(record).encode("utf-8", "replace").decode())
            if earlier.get(record["id"], path) != path:  # the title or the namespace has changed
                earlier[record["id"]].unlink()
            count += 1
    except OSError as error:
        raise InvalidInput(f"{folder} cannot be written to ({error.strerror}).", "Give a folder of yours.") from error
    return count


def _slug(text: str) -> str:
    return _NOT_IN_A_NAME.sub("-", text.lower())[:SLUG_CHARS].strip("-_")
