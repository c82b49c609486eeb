"""Adding or removing one entry of a JSON file in place: comments, order, layout and everything else stay.

with_member(text, path, value)  set that member in the object at `path[:-1]`
with_item(text, path, item)     append that item to the array at `path`
without(text, path, found)      remove the member or item, and containers that it empties and that were not in `found`

A path consists of keys and, in arrays, of numbers. An added entry is read back before the text is returned. Libraries
that keep comments were tried: jsoncgx 1.1 refuses trailing commas, which settings have, and repeats a comment;
json4humans 0.1 writes new entries on one line.
"""

from __future__ import annotations

import json
import re
from typing import Any

from memhook.errors import InvalidInput
from memhook.files.layout import Entry, Path, json_entries, newline_of, plain_json, spliced, without_json_comments

EMPTY = "{}\n"
BLANK = "\ufeff \t\r\n"
REPAIR = "Repair it first, then try again."


def plain(text: str) -> Any:
    """Return the value in the file; an empty object for an empty file."""
    try:
        value = json.loads(plain_json(_begun(text)), strict=False)
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"It is not valid JSON: {error}.", REPAIR) from error
    if not isinstance(value, dict):
        raise InvalidInput("It is not a JSON object.", REPAIR)
    return value


def value_at(text: str, path: Path) -> Any:
    """Return the value at that path; None when there is none."""
    value = plain(text)
    for step in path:
        inner = dict(enumerate(value)) if isinstance(value, list) else value
        value = inner.get(step) if isinstance(inner, dict) else None
    return value


def with_member(text: str, path: Path, value: Any) -> str:
    *parents, key = path
    text = _with_container(_begun(text), tuple(parents), {})
    holder, members = _holder(text, tuple(parents), "{")
    member = _named(members, key)
    if member is not None:
        text = spliced(text, *member.value, _written(value, _indent_at(text, member.start), text))
    else:
        text = _appended(text, holder, members, f"{json.dumps(key, ensure_ascii=False)}: ", value)
    return _checked(text, path, value)


def with_item(text: str, path: Path, item: Any) -> str:
    text = _with_container(_begun(text), path, [])
    holder, items = _holder(text, path, "[")
    return _checked(_appended(text, holder, items, "", item), (*path, len(items)), item)


def without(text: str, path: Path, found: str = "") -> str:
    """Return the text without that entry; the same text when there is none.

    A container that it leaves empty is removed too, except the outermost one, one with a comment, and one that was in
    the text `found`.
    """
    while path:
        holder, members = _members(text, path[:-1])
        gone = _named(members, path[-1])
        if holder is None or gone is None:
            break
        text = _shortened(text, holder, members, gone)
        path = path[:-1]
        if len(members) > 1 or value_at(found, path) is not None or _is_commented(text, holder):
            break
    return text


def _begun(text: str) -> str:
    return text if text.strip(BLANK) else EMPTY


def _members(text: str, path: Path) -> tuple[Entry | None, list[Entry]]:
    """Return the entry at that path, or None, and its direct entries."""
    plain(text)  # raises if it is not JSON
    *entries, holder = json_entries(text)
    members = _within(entries, holder)
    for step in path:
        inner = _named(members, step)
        if inner is None:
            return None, []
        holder, members = inner, _within(entries, inner)
    return holder, members


def _within(entries: list[Entry], holder: Entry) -> list[Entry]:
    start, end = holder.value
    return [one for one in entries if start < one.start < end and one.path[:-1] == holder.path]


def _named(members: list[Entry], step: str | int) -> Entry | None:
    """Return the last member of that name, which is the one that every JSON parser takes."""
    return next((one for one in reversed(members) if one.path[-1] == step), None)


def _holder(text: str, path: Path, bracket: str) -> tuple[Entry, list[Entry]]:
    holder, members = _members(text, path)
    if holder is None or text[holder.value[0]] != bracket:
        kind = "an object" if bracket == "{" else "a list"
        raise InvalidInput(f"Its {'.'.join(map(str, path))} is not {kind}.", REPAIR)
    return holder, members


def _with_container(text: str, path: Path, empty: Any) -> str:
    if _members(text, path)[0] is not None:
        return text
    *parents, key = path
    text = _with_container(text, tuple(parents), {})
    return _appended(text, *_holder(text, tuple(parents), "{"), f"{json.dumps(key, ensure_ascii=False)}: ", empty)


def _appended(text: str, holder: Entry, members: list[Entry], name: str, value: Any) -> str:
    """Append an entry, laid out like the others."""
    start, end = holder.value
    unit = _unit(text)
    if not members:
        margin = _indent_at(text, start)
        inner = f"{newline_of(text)}{margin}{unit}{name}{_written(value, margin + unit, text)}"
        kept = text[start + 1 : end - 1].rstrip()  # there may be only a comment
        return spliced(text, start + 1, end - 1, f"{kept}{inner}{newline_of(text)}{margin}")
    last = members[-1]
    last_end = last.value[1]
    if "\n" not in text[start : last.start]:
        return spliced(text, last_end, last_end, f", {name}{json.dumps(value, ensure_ascii=False)}")
    margin = _indent_at(text, last.start)
    at = _end_of_line(text, last)
    ends_with_comma = "," if _comma_after(text, last) else ""  # then the new one does too
    text = spliced(text, at, at, f"{newline_of(text)}{margin}{name}{_written(value, margin, text)}{ends_with_comma}")
    return text if ends_with_comma else spliced(text, last_end, last_end, ",")


def _shortened(text: str, holder: Entry, members: list[Entry], gone: Entry) -> str:
    start = len(text[: gone.start].rstrip(" \t").removesuffix("\n").removesuffix("\r"))
    if comma := _comma_after(text, gone):
        return spliced(text, start, comma, "")
    text = spliced(text, start, gone.value[1], "")
    if gone is not members[0]:  # it was the last: the comma before it is removed too
        before = _comma_after(text, members[-2])
        return spliced(text, before - 1, before, "") if before else text
    begin = holder.value[0] + 1
    return text if _is_commented(text, holder) else spliced(text, begin, _blank_after(text, begin), "")


def _is_commented(text: str, emptied: Entry) -> bool:
    begin = emptied.value[0] + 1
    return bool(text[begin : _blank_after(text, begin)].strip())


def _end_of_line(text: str, entry: Entry) -> int:
    """The position after the comma and the comment on the line of its end, if nothing else is there."""
    found = re.compile(r"[ \t]*,?[ \t]*(?://[^\r\n]*|/\*[^\r\n]*?\*/)?(?=[ \t]*\r?\n)").match(text, entry.value[1])
    return found.end() if found else _comma_after(text, entry) or entry.value[1]


def _comma_after(text: str, entry: Entry) -> int:
    """The end of the comma after it; 0 when there is none."""
    at = _blank_after(text, entry.value[1])
    return at + 1 if text[at : at + 1] == "," else 0


def _blank_after(text: str, at: int) -> int:
    """The position after the spaces and comments at `at`."""
    rest = without_json_comments(text[at:])
    return at + len(rest) - len(rest.lstrip())


def _written(value: Any, margin: str, file: str) -> str:
    """The value as text, laid out like the file."""
    lines = json.dumps(value, indent=_unit(file), ensure_ascii=False).split("\n")
    return f"{newline_of(file)}{margin}".join(lines)


def _unit(text: str) -> str:
    """The unit by which the file indents."""
    found = re.search(r"\{\s*?\n([ \t]+)\S", text)
    return found[1] if found else "  "


def _indent_at(text: str, at: int) -> str:
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _checked(text: str, path: Path, value: Any) -> str:
    if value_at(text, path) != value:
        raise InvalidInput("It cannot be changed in place.", "Its layout is too unusual; add the entries by hand.")
    return text
