"""The kinds of secrets, as `secret_kinds.toml` lists and explains them."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from pathlib import Path

Row = tuple[str, str, str]


@cache
def kinds(table: str) -> tuple[Row, ...]:
    """The rows of a table: kind, the text to search for first, pattern."""
    data = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
    names = data["names"]
    named = re.compile(f"<({'|'.join(names)})>")
    return tuple((kind, text, named.sub(lambda found: names[found[1]], rest)) for kind, text, rest in data[table])
