"""The summary that an assistant writes when its context is compacted, as one note per section."""

from __future__ import annotations

import re
from collections.abc import Iterator

# Claude Code numbers its sections, others use Markdown or a bold line.
_HEADING = re.compile(
    r"^(?:#{1,6}[ \t]+(?P<marked>\S.*)|\*\*(?P<bold>[^*\n]+)\*\*:?[ \t]*"
    r"|\d{1,2}\.[ \t]+(?P<numbered>[^\n:]{3,60}):?[ \t]*)$",
    re.MULTILINE,
)
_DRAFT = re.compile(r"<analysis>.*?(?:</analysis>|\Z)", re.DOTALL)
_TAG = re.compile(r"</?summary>")
_NUMBER = re.compile(r"^\d{1,2}\.[ \t]+")
_PROMPTS = re.compile(r"\b(?:user messages|user prompts)\b", re.IGNORECASE)
"""A section that copies what the user typed: prompts are kept in digests only."""


def sections(summary: str) -> Iterator[tuple[str, str]]:
    """Title and text of each section that says something."""
    text = _TAG.sub("", _DRAFT.sub("", summary)).strip()
    marks = list(_HEADING.finditer(text))
    ends = [*(mark.start() for mark in marks), len(text)]
    titles = ["", *(_title(mark) for mark in marks)]
    starts = [0, *(mark.end() for mark in marks)]
    for title, start, end in zip(titles, starts, ends, strict=True):
        body = text[start:end].strip()
        if body and not _PROMPTS.search(title):
            yield title, body


def _title(mark: re.Match[str]) -> str:
    written = mark["marked"] or mark["bold"] or mark["numbered"] or ""
    return _NUMBER.sub("", written).strip(" \t*:#")
