"""Memories from and to Markdown."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from memhook.core.fencing import collapsed
from memhook.core.memory import Trait, names_with, shortened
from memhook.patterns import regex
from memhook.supply.source import Entry, Head, Record, Source, alias_of, not_utf8

SUFFIXES = (".md", ".markdown")
DOCUMENT_CHARS = 40  # of its title, in front of a heading
JSON_SUFFIXES = (".jsonl", ".ndjson", ".json")

FIELDS = tuple(name for name in names_with(Trait.IMPORTED) if name not in ("id", "content"))
_FRONT_MATTER = regex(r"\A\ufeff?---[ \t]*\n(.*?)^(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE)
_FIELD = regex(r"([A-Za-z_][\w-]*)[ \t]*:(?:[ \t]+(.*))?")
_ITEM = regex(r"[ \t]*-[ \t]+(.*)")
_HEADING = regex(r" {0,3}(#{1,6})[ \t]+([^ \t].*)")
_FENCE = regex(r" {0,3}(`{3,}|~{3,})")
_INCLUDE = regex(r"@(?=\S*(?:/|\.\w))\S+")
_TELLING_LINE = regex(r"(?:#{1,6}|[-*+]|>|\d+\.)[ \t]+\S|---[ \t]*$|```")


@dataclass(frozen=True, slots=True)
class _Heading:
    line: int
    level: int
    text: str


def records(text: str, name: str, key: str, *more_keys: str, below_document: bool = False) -> list[Record]:
    """Return a memory for each top heading, with the front matter as fields, or one for a file with an id of its own.

    `name` becomes the source; any of the keys finds the memories when the file is imported again. If
    `below_document`, the document's title precedes each heading: "Why" alone says nothing.
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    fields, body = front_matter(text)
    known = {field: fields[field] for field in FIELDS if fields.get(field) not in (None, "")}
    if "created" not in known and fields.get("date"):
        known["created"] = fields["date"]
    if own := fields.get("id") or fields.get("urn"):
        return [{**known, "id": own, "content": body}]
    found = []
    seen: dict[str, int] = {}
    for document_title, title, content in _sections(body):
        number = seen[title] = seen.get(title, 0) + 1
        section = f"\0{title}\0{number}"
        own_id, *aliases = (f"md-{alias_of(one + section)}" for one in (key, *more_keys))
        above = str(known.get("title") or document_title) if below_document else ""
        below = title if above in ("", title) else f"{shortened(collapsed(above), DOCUMENT_CHARS)} › {title}"
        titled = {**known, "title": below} if title else known
        also = {"aliases": aliases} if aliases else {}
        found.append({"source": name, **titled, **also, "content": content, "id": own_id})
    return found


def document(record: Mapping[str, Any]) -> str:
    """Return every field in the front matter, as JSON, which is YAML too; then the content as it is."""
    lines = [f"{name}: {json.dumps(record[name], ensure_ascii=False)}" for name in ("id", *FIELDS)]
    return "\n".join(("---", *lines, "---", "", record["content"]))


def front_matter(text: str) -> tuple[Record, str]:
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


def _entries(data: bytes, name: str, key: str) -> Iterator[Entry]:
    try:
        found = records(data.decode("utf-8-sig"), name, key, below_document=True)
    except UnicodeDecodeError as error:
        yield Entry(name, None, not_utf8(error))
        return
    except Exception as error:  # noqa: BLE001  a failure costs one file, whatever its text causes
        yield Entry(name, None, f"memhook failed on it ({type(error).__name__}: {str(error)[:200]})")
        return
    for record in found:
        if _only_refers(record["content"]):
            continue
        title = record.get("title")
        yield Entry(f"{name}: {title}" if title else name, record)


def _only_refers(content: str) -> bool:
    """Whether it only includes other files, as instruction files do."""
    lines = [line for raw in content.split("\n") if (line := raw.strip())]
    return bool(lines) and all(map(_INCLUDE.fullmatch, lines))


def _is_markdown(head: Head) -> bool:
    if head.is_json or head.suffix in JSON_SUFFIXES:
        return False
    return head.suffix in (*SUFFIXES, ".txt") or any(map(_TELLING_LINE.match, head.lines))


MARKDOWN = Source("Markdown", _is_markdown, _entries, SUFFIXES)


def _value(written: str) -> Any:
    """Return a list in brackets, else a single value; anything nested deeper stays text."""
    written = written.strip()
    value = _plain(written)
    if value is written and written.startswith("[") and written.endswith("]"):
        return [str(_plain(part.strip())) for part in written[1:-1].split(",") if part.strip()]
    return value


def _plain(written: str) -> Any:
    """Return a JSON value of one level, except numbers; else the text, without single quotes around it."""
    try:
        value = json.loads(written)
    except (ValueError, RecursionError):
        return written[1:-1] if len(written) > 1 and written[0] == written[-1] == "'" else written
    is_deep = isinstance(value, list) and any(isinstance(item, list | dict) for item in value)
    is_kept = isinstance(value, bool) or not isinstance(value, int | float | dict)
    return value if is_kept and not is_deep else written


def _sections(body: str) -> Iterator[tuple[str, str, str]]:
    """Yield the document's title, title and text of each section: above the first top heading, then below each.

    Empty sections are skipped.
    """
    lines = body.split("\n")
    found = ((number, _HEADING.fullmatch(line)) for number, line in outside_code(lines))
    headings = [_Heading(number, len(one[1]), _without_closing(one[2])) for number, one in found if one]
    document_title, tops = _tops(headings)
    ends = [*(heading.line for heading in tops), len(lines)]
    preamble = lines[: ends[0]]
    if document_title is not None:
        preamble = preamble[: document_title.line] + preamble[document_title.line + 1 :]
    name = document_title.text if document_title else ""
    pieces = [(name, preamble)]
    pieces += [(top.text, lines[top.line + 1 : end]) for top, end in zip(tops, ends[1:], strict=True)]
    for title, piece in pieces:
        if content := "\n".join(piece).strip():
            yield name, title, content


def _tops(headings: Sequence[_Heading]) -> tuple[_Heading | None, list[_Heading]]:
    """Return the document's title, if one heading is above all others, and the headings of the next highest level."""
    if not headings:
        return None, []
    highest = min(heading.level for heading in headings)
    tops = [heading for heading in headings if heading.level == highest]
    rest = headings[1:]
    if len(tops) > 1 or headings[0] is not tops[0] or not rest:
        return None, tops
    below = min(heading.level for heading in rest)
    return tops[0], [heading for heading in rest if heading.level == below]


def outside_code(lines: Iterable[str]) -> Iterator[tuple[int, str]]:
    """Yield the lines outside of fenced blocks, with their numbers from 0."""
    fence = ""
    for number, line in enumerate(lines):
        mark = _FENCE.match(line)
        if fence:
            fence = "" if mark and mark[1].startswith(fence) and not line.strip(" `~") else fence
        elif mark:
            fence = mark[1]
        else:
            yield number, line


def _without_closing(heading: str) -> str:
    """Return the heading without the number signs that may close it after a blank."""
    text = heading.rstrip(" \t")
    opened = text.rstrip("#")
    return opened.rstrip(" \t") if opened != text and opened.endswith((" ", "\t")) else text
