"""Adding or removing one entry of a JSON file in place: comments, order, layout and everything else stay.

with_member(text, path, value)  the object at `path[:-1]` has that member
with_item(text, path, item)     the array at `path` ends with that item
without(text, path, found)      the member or item is removed, and containers that only held it and were not `found`

A path consists of keys and, in arrays, of numbers. An added entry is read back before the text is returned. Libraries
that keep comments were tried: jsoncgx 1.1 refuses trailing commas, which settings have, and repeats a comment;
json4humans 0.1 writes what is new on one line.
"""

from __future__ import annotations

import json
import re
from typing import Any

from memhook.errors import InvalidInput
from memhook.files.json_layout import Member, Node, blank_after, layout_of

Step = str | int
Path = tuple[Step, ...]

EMPTY = "{}\n"
BLANK = "\ufeff \t\r\n"


def plain(text: str) -> Any:
    """Return the value in the file; an empty object for an empty file."""
    return _layout(_begun(text)).plain


def value_at(text: str, path: Path) -> Any:
    """Return the value at that path; None when there is none."""
    node = _found(_layout(_begun(text)), path)
    return None if node is None else node.plain


def with_member(text: str, path: Path, value: Any) -> str:
    *parents, key = path
    text = _with_container(_begun(text), tuple(parents), {})
    holder = _holder(text, tuple(parents), "{")
    member = holder.member(str(key))
    if member is not None:
        text = _spliced(text, *member.value.span, _written(value, _indent_at(text, member.start), text))
    else:
        text = _appended(text, holder, f"{json.dumps(key, ensure_ascii=False)}: ", value)
    return _checked(text, path, value)


def with_item(text: str, path: Path, item: Any) -> str:
    text = _with_container(_begun(text), path, [])
    holder = _holder(text, path, "[")
    return _checked(_appended(text, holder, "", item), (*path, len(holder.members)), item)


def without(text: str, path: Path, found: str = "") -> str:
    """Return the text without that entry; the same text when there is none.

    A container that only held it is removed too, except the file's own, one with a comment, and one that was in the
    text `found`.
    """
    while path and _found(_layout(text), path) is not None:
        holder = _found(_layout(text), path[:-1])
        if holder is None:
            break
        text = _shortened(text, holder, path[-1])
        path = path[:-1]
        if len(holder.members) > 1 or value_at(found, path) is not None or _is_commented(text, holder):
            break
    return text


def _begun(text: str) -> str:
    return text if text.strip(BLANK) else EMPTY


def _layout(text: str) -> Node:
    try:
        root = layout_of(text)
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"It is not valid JSON: {error}.", "Repair it first, then try again.") from error
    if root.opened != "{":
        raise InvalidInput("It is not a JSON object.", "Repair it first, then try again.")
    return root


def _found(node: Node, path: Path) -> Node | None:
    for step in path:
        if isinstance(step, int):
            members = node.members if node.opened == "[" else ()
            if step >= len(members):
                return None
            node = members[step].value
        else:
            member = node.member(step)
            if member is None:
                return None
            node = member.value
    return node


def _holder(text: str, path: Path, bracket: str) -> Node:
    node = _found(_layout(text), path)
    if node is None or node.opened != bracket:
        kind = "an object" if bracket == "{" else "a list"
        raise InvalidInput(f"Its {'.'.join(map(str, path))} is not {kind}.", "Repair it first, then try again.")
    return node


def _with_container(text: str, path: Path, empty: Any) -> str:
    if _found(_layout(text), path) is not None:
        return text
    *parents, key = path
    text = _with_container(text, tuple(parents), {})
    return _appended(text, _holder(text, tuple(parents), "{"), f"{json.dumps(key, ensure_ascii=False)}: ", empty)


def _appended(text: str, holder: Node, name: str, value: Any) -> str:
    """Add it as the last entry, laid out like the others."""
    start, end = holder.span
    unit = _unit(text)
    if not holder.members:
        margin = _indent_at(text, start)
        inner = f"{_newline(text)}{margin}{unit}{name}{_written(value, margin + unit, text)}"
        kept = text[start + 1 : end - 1].rstrip()  # there may be only a comment
        return _spliced(text, start + 1, end - 1, f"{kept}{inner}{_newline(text)}{margin}")
    last = holder.members[-1]
    if "\n" not in text[start : last.start]:
        return _spliced(text, last.end, last.end, f", {name}{json.dumps(value, ensure_ascii=False)}")
    margin = _indent_at(text, last.start)
    at = _end_of_line(text, last)
    ends_with_comma = "," if _comma_after(text, last) else ""  # then the new one does too
    text = _spliced(text, at, at, f"{_newline(text)}{margin}{name}{_written(value, margin, text)}{ends_with_comma}")
    return text if ends_with_comma else _spliced(text, last.end, last.end, ",")


def _shortened(text: str, holder: Node, step: Step) -> str:
    index = step if isinstance(step, int) else max(at for at, one in enumerate(holder.members) if one.key == step)
    gone = holder.members[index]
    start = _start_with_space(text, gone.start)
    if comma := _comma_after(text, gone):
        return _spliced(text, start, comma, "")
    text = _spliced(text, start, gone.end, "")
    if index:  # it was the last: the comma before it has to go
        before = _comma_after(text, holder.members[index - 1])
        return _spliced(text, before - 1, before, "") if before else text
    return _emptied(text, holder.span[0])


def _emptied(text: str, start: int) -> str:
    """Join empty brackets on one line, unless there is a comment between them."""
    end = blank_after(text, start + 1)
    return text if text[start + 1 : end].strip() else _spliced(text, start + 1, end, "")


def _is_commented(text: str, emptied: Node) -> bool:
    start = emptied.span[0] + 1
    return bool(text[start : blank_after(text, start)].strip())


def _start_with_space(text: str, start: int) -> int:
    found = re.compile(r"\r?\n?[ \t]*\Z").search(text[:start])
    return found.start() if found else start


def _end_of_line(text: str, member: Member) -> int:
    """The position after the comma and the comment on the line of its end, if nothing else is there."""
    found = re.compile(r"[ \t]*,?[ \t]*(?://[^\r\n]*|/\*[^\r\n]*?\*/)?(?=[ \t]*\r?\n)").match(text, member.end)
    return found.end() if found else _comma_after(text, member) or member.end


def _comma_after(text: str, member: Member) -> int:
    """The end of the comma after it; 0 when there is none."""
    at = blank_after(text, member.end)
    return at + 1 if text[at : at + 1] == "," else 0


def _written(value: Any, margin: str, file: str) -> str:
    """The value as text, laid out like the file."""
    lines = json.dumps(value, indent=_unit(file), ensure_ascii=False).split("\n")
    return f"{_newline(file)}{margin}".join(lines)


def _unit(text: str) -> str:
    """The unit by which the file indents."""
    found = re.search(r"\{\s*?\n([ \t]+)\S", text)
    return found[1] if found else "  "


def _indent_at(text: str, at: int) -> str:
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _spliced(text: str, start: int, end: int, new: str) -> str:
    return text[:start] + new + text[end:]


def _checked(text: str, path: Path, value: Any) -> str:
    if value_at(text, path) != value:
        raise InvalidInput("It cannot be changed in place.", "Its layout is too unusual; add the entries by hand.")
    return text
