"""How commands speak: readable in a terminal, plain when piped, JSON on request."""

from __future__ import annotations

import json
import os
import shutil
import sys
import textwrap
from typing import Any

from memhook.core.fencing import HIDDEN, clean, collapsed

MAX_WIDTH = 100


def say(*lines: str) -> None:
    """Lines for stdout. Whatever they quote cannot act on the terminal."""
    for line in lines:
        print(_encodable(clean(line), sys.stdout.encoding))


def warn(*lines: str) -> None:
    """Lines beside the result: what went wrong, what to know, how far it is."""
    for line in lines:
        text = clean(line)
        for row in _wrapped(text, "") if sys.stderr.isatty() else [text]:
            print(_encodable(row, sys.stderr.encoding), file=sys.stderr)


def say_title(text: str, before: str = "") -> None:
    """A line that stands out where that is wanted."""
    line = _encodable(before + collapsed(text), sys.stdout.encoding)
    print(f"\033[1m{line}\033[0m" if is_terminal() and not os.environ.get("NO_COLOR") else line)


def say_wrapped(text: str, indent: str = "") -> None:
    """A text of several lines: as it is when piped, within the width of the terminal otherwise."""
    for line in clean(text).split("\n"):
        say(*(_wrapped(line, indent) if is_terminal() else [indent + line if line else ""]))


def say_json(value: Any) -> None:
    print(json_text(value, indent=2, encoding=sys.stdout.encoding))


def json_text(value: Any, indent: int | None = None, encoding: str = "utf-8") -> str:
    """Readable JSON that parses to `value`: what would act on a terminal or hide in it is escaped."""
    text = json.dumps(value, ensure_ascii=not _is_utf8(encoding), indent=indent)
    return HIDDEN.sub(lambda found: found[0] if found[0] == "\n" else _escaped(found[0]), text)


def counted(memories: int) -> str:
    return "1 memory" if memories == 1 else f"{memories} memories"


def span(seconds: float) -> str:
    """How long that is, in the largest unit of which it has two."""
    for unit, size in (("days", 86_400), ("hours", 3600), ("minutes", 60)):
        if seconds >= 2 * size:
            return f"{int(seconds // size)} {unit}"
    return f"{max(0, round(seconds))} seconds"


def is_terminal() -> bool:
    return sys.stdout.isatty()


def width() -> int:
    return min(shutil.get_terminal_size().columns, MAX_WIDTH)


def _escaped(character: str) -> str:
    units = character.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))


def _wrapped(line: str, indent: str) -> list[str]:
    """Within the width, what follows a break under what it belongs to."""
    margin = indent + line[: len(line) - len(line.lstrip())]
    return textwrap.wrap(
        line.lstrip(),
        max(width(), len(margin) + 20),
        initial_indent=margin,
        subsequent_indent=margin,
        break_long_words=False,
        break_on_hyphens=False,
        replace_whitespace=False,
    ) or [""]


def _encodable(text: str, encoding: str) -> str:
    return text if _is_utf8(encoding) else text.encode(encoding, "replace").decode(encoding)


def _is_utf8(encoding: str | None) -> bool:
    return (encoding or "utf-8").lower().replace("-", "").replace("_", "") == "utf8"
