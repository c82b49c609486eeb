"""Memories from and to Markdown.

records(text, name, key)   what a file holds: its front matter as fields, each of its top headings a memory
document(record)           one memory as a file of its own, which `records` reads back as the same memory
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from memhook.core.memory import Trait, names_with

Record = dict[str, Any]

FIELDS = tuple(name for name in names_with(Trait.IMPORTED) if name not in ("id", "content"))
_FRONT_MATTER = re.compile(r"\A\ufeff?---[ \t]*\n(.*?)^(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE)
_FIELD = re.compile(r"([A-Za-z_][\w-]*)[ \t]*:(?:[ \t]+(.*))?")
_ITEM = re.compile(r"[ \t]*-[ \t]+(.*)")
_HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+([^ \t].*)")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")


@dataclass(frozen=True, slots=True)
class _Heading:
    line: int
    level: int
    text: str


@dataclass(frozen=True, slots=True)
class _Section:
    title: str
    content: str


def records(text: str, name: str, key: str) -> list[Record]:
    """`name` is said to be the source; `key` is what the file is known by when it is imported again."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    fields, body = front_matter(text)
    known = {field: fields[field] for field in FIELDS if fields.get(field) not in (None, "")}
    if "created" not in known and fields.get("date"):
        known["created"] = fields["date"]
    if own := fields.get("id") or fields.get("urn"):
        return [{**known, "id": own, "content": body}]
    found = []
    seen: dict[str, int] = {}
    for section in _sections(body):
        number = seen[section.title] = seen.get(section.title, 0) + 1
        alias = hashlib.sha256(f"{key}\0{section.title}\0{number}".encode("utf-8", "replace")).hexdigest()[:16]
        titled = {**known, "title": section.title} if section.title else known
        found.append({"source": name, **titled, "content": section.content, "id": f"md-{alias}"})
    return found


def document(record: Mapping[str, Any]) -> str:
    """Every field in the front matter, as JSON, which YAML reads too; then the content as it is."""
    lines = [f"{name}: {json.dumps(record[name], ensure_ascii=False)}" for name in ("id", *FIELDS)]
    return "\n".join(("---", *lines, "---", "", record["content"]))


def front_matter(text: str) -> tuple[Record, str]:
    """The fields at the top of a file, and what follows them."""
    found = _FRONT_MATTER.match(text)
    if found is None:
        return {}, text
    fields: Record = {}
    field = ""
    for line in found[1].split("\n"):
        if named := _FIELD.fullmatch(line):
            field = named[1].lower()
            fields[field] = _value(named[2] or "")
        elif (item := _ITEM.fullmatch(line)) and field:
            if not isinstance(fields[field], list):
                fields[field] = []
            fields[field].append(str(_value(item[1])))
    body = text[found.end() :]
    return fields, body.removeprefix("\n") if fields.get("id") else body


def _value(written: str) -> Any:
    """A list in brackets, else a single value; what is nested deeper stays the text it is."""
    written = written.strip()
    value = _plain(written)
    if value is written and written.startswith("[") and written.endswith("]"):
        return [str(_plain(part.strip())) for part in written[1:-1].split(",") if part.strip()]
    return value


def _plain(written: str) -> Any:
    """JSON where it is JSON of one level and no number; else a quoted text, or the text as it stands."""
    try:
        value = json.loads(written)
    except (ValueError, RecursionError):
        return written[1:-1] if len(written) > 1 and written[0] == written[-1] == "'" else written
    is_deep = isinstance(value, list) and any(isinstance(item, list | dict) for item in value)
    is_kept = isinstance(value, bool) or not isinstance(value, int | float | dict)
    return value if is_kept and not is_deep else written


def _sections(body: str) -> Iterator[_Section]:
    """What stands above the first top heading, then what stands under each; an empty one is none."""
    lines = body.split("\n")
    headings = _headings(lines)
    document_title, tops = _tops(headings)
    ends = [*(heading.line for heading in tops), len(lines)]
    preamble = lines[: ends[0]]
    if document_title is not None:
        preamble = preamble[: document_title.line] + preamble[document_title.line + 1 :]
    title = document_title.text if document_title else ""
    pieces = [(title, preamble)]
    pieces += [(top.text, lines[top.line + 1 : end]) for top, end in zip(tops, ends[1:], strict=True)]
    for title, piece in pieces:
        if content := "\n".join(piece).strip():
            yield _Section(title, content)


def _tops(headings: Sequence[_Heading]) -> tuple[_Heading | None, list[_Heading]]:
    """The headings of the highest level; a single one above all others names the document, and those are next."""
    if not headings:
        return None, []
    highest = min(heading.level for heading in headings)
    tops = [heading for heading in headings if heading.level == highest]
    rest = headings[1:]
    if len(tops) > 1 or headings[0] is not tops[0] or not rest:
        return None, tops
    below = min(heading.level for heading in rest)
    return tops[0], [heading for heading in rest if heading.level == below]


def _headings(lines: Sequence[str]) -> list[_Heading]:
    """Those outside code."""
    found: list[_Heading] = []
    fence = ""
    for number, line in enumerate(lines):
        mark = _FENCE.match(line)
        if fence:
            fence = "" if mark and mark[1].startswith(fence) and not line.strip(" `~") else fence
        elif mark:
            fence = mark[1]
        elif heading := _HEADING.fullmatch(line):
            found.append(_Heading(number, len(heading[1]), _without_closing(heading[2])))
    return found


def _without_closing(heading: str) -> str:
    """A heading may be closed by as many number signs as one likes, after a blank."""
    text = heading.rstrip(" \t")
    opened = text.rstrip("#")
    return opened.rstrip(" \t") if opened != text and opened.endswith((" ", "\t")) else text
