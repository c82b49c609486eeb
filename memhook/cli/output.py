"""Printing: readable in a terminal, plain when piped, JSON on request."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from argparse import Namespace
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from datetime import datetime
from itertools import pairwise
from typing import Any
from unicodedata import category, east_asian_width

from memhook.core.fencing import HIDDEN, clean, collapsed
from memhook.core.memory import shortened
from memhook.errors import InvalidInput

MAX_WIDTH = 100
LEAST_TEXT = 20  # columns of a text, however deeply it is indented


def say(*lines: str) -> None:
    """Print lines on stdout, without control characters that would act on the terminal."""
    for line in lines:
        print(_encodable(clean(line), sys.stdout.encoding))


def warn(*lines: str) -> None:
    """Print lines on stderr: errors, notes and progress."""
    for line in lines:
        text = clean(line)
        for row in _indented(text, "") if sys.stderr.isatty() else [text]:
            print(_encodable(row, sys.stderr.encoding), file=sys.stderr)


def say_title(text: str, before: str = "") -> None:
    """Print a title, in bold on a terminal."""
    line = collapsed(text)
    bold, plain = ("\033[1m", "\033[0m") if is_terminal() and not os.environ.get("NO_COLOR") else ("", "")
    for row in wrapped(line, " " * len(before), before) if is_terminal() else [before + line]:
        print(f"{bold}{_encodable(row, sys.stdout.encoding)}{plain}")


def say_wrapped(text: str, indent: str = "") -> None:
    """Print a text of several lines: unchanged when piped, wrapped to the width of a terminal."""
    for line in clean(text).split("\n"):
        say(*(_indented(line, indent) if is_terminal() else [indent + line if line else ""]))


def say_rows(column: int, *rows: str) -> None:
    """Print rows whose first columns are a label; on a terminal, a long one is wrapped below its text."""
    for row in rows:
        is_too_long = is_terminal() and cells(row) > width()
        say(*(wrapped(row[column:], " " * column, row[:column]) if is_too_long else [row]))


def said_json(args: Namespace, value: Any) -> bool:
    """Print `value` if --json is given; return whether it is."""
    if args.json:
        print(json_text(value, indent=2, encoding=sys.stdout.encoding))
    return bool(args.json)


def json_text(value: Any, indent: int | None = None, encoding: str = "utf-8") -> str:
    """Return readable JSON that parses to `value`: control and invisible characters are escaped."""
    text = json.dumps(value, default=_plain, ensure_ascii=not _is_utf8(encoding), indent=indent)
    return HIDDEN.sub(lambda found: found[0] if found[0] == "\n" else _escaped(found[0]), text)


def _plain(value: Any) -> Any:
    return value.isoformat() if isinstance(value, datetime) else asdict(value)


def counted(memories: int) -> str:
    return "1 memory" if memories == 1 else f"{memories} memories"


def often(times: int) -> str:
    return "once" if times == 1 else f"{times} times"


def span(seconds: float) -> str:
    """Return a duration in words, in the largest unit of which it has two."""
    for unit, size in (("days", 86_400), ("hours", 3600), ("minutes", 60)):
        if seconds >= 2 * size:
            return f"{int(seconds // size)} {unit}"
    whole = max(0, round(seconds))
    return "1 second" if whole == 1 else f"{whole} seconds"


def is_terminal() -> bool:
    return sys.stdout.isatty()


def width() -> int:
    return min(shutil.get_terminal_size().columns, MAX_WIDTH)


def _escaped(character: str) -> str:
    units = character.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))


def wrapped(text: str, margin: str, before: str | None = None) -> list[str]:
    """Return rows within the width of the terminal, `before` in front of the first and `margin` of the others.

    They break at spaces and between wide characters, never inside a word.
    """
    room = max(width(), cells(margin) + LEAST_TEXT)
    rows = [margin if before is None else before]
    is_new = True
    for unit in _units(text):
        if not is_new and cells(rows[-1]) + cells(unit) > room:
            rows.append(margin)
            is_new = True
        rows[-1] += unit.lstrip() if is_new else unit
        is_new = False
    return rows if text.strip() else [""]


def cells(text: str) -> int:
    """Return the columns of a terminal that `text` takes."""
    return sum(2 if _is_wide(one) else category(one) not in ("Mn", "Me", "Cf") for one in text)


def cut(text: str, room: int) -> str:
    """Return `text`, or its start up to a word within `room` columns, marked as cut."""
    if cells(text) <= room:
        return text
    kept = next(at for at in range(len(text)) if cells(text[: at + 1]) >= room)  # a column is for the mark
    return shortened(f"{text} ", kept + 1)  # the last character may be two columns wide and exceed the room


def _indented(line: str, indent: str) -> list[str]:
    start = line.lstrip()
    return wrapped(start, indent + line[: len(line) - len(start)])


def _units(text: str) -> Iterator[str]:
    """Yield the pieces between which a row may end, each with the space before it."""
    for space, word in re.findall(r"(\s*)(\S+)", text):
        unit = space + word[0]
        for one, other in pairwise(word):
            if _may_break(one, other):
                yield unit
                unit = ""
            unit += other
        yield unit


def _may_break(one: str, other: str) -> bool:
    """Return whether a row may end here: beside wide characters, but not before closing or after opening marks."""
    is_closing, is_opening = category(other) in ("Pe", "Pf", "Po", "Mn"), category(one) in ("Ps", "Pi")
    return (_is_wide(one) or _is_wide(other)) and not is_closing and not is_opening


def _is_wide(character: str) -> bool:
    return east_asian_width(character) in "WF"


def _encodable(text: str, encoding: str) -> str:
    return text if _is_utf8(encoding) else text.encode(encoding, "replace").decode(encoding)


def _is_utf8(encoding: str | None) -> bool:
    return (encoding or "utf-8").lower().replace("-", "").replace("_", "") == "utf8"


def agreed(question: str, nothing_done: str, about: Iterable[str] = ()) -> bool:
    """Ask the user and return whether the answer is yes; `about` is printed before, `nothing_done` after a no."""
    if answer_to(f"{question} [y/N]", nothing_done, about).lower() in ("y", "yes"):
        return True
    warn(nothing_done)
    return False


def answer_to(question: str, nothing_done: str, about: Iterable[str] = ()) -> str:
    if not sys.stdin.isatty():
        raise InvalidInput(f"There is no terminal to ask at. {nothing_done}", "If you are sure, add --yes.")
    warn(*about, question)
    return sys.stdin.readline().strip()
