"""The templates, and remembered text as data: escaped, isolated, hidden characters made visible; the exported page."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from hashlib import sha256
from itertools import groupby
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from memhook.core.fencing import HIDDEN

FOLDER = Path(__file__).parent / "templates"
ASSETS = Path(__file__).parent / "assets"

_FENCE = re.compile(r"^\s{0,3}(```|~~~)")
_CODE = re.compile(r"`([^`\n]{1,200})`")
_LEFT_ALONE = frozenset("\n\t\u200d\ufe0f")  # the last two belong to emoji
_CONTROL_PICTURES = 0x2400


def environment(**values: Any) -> Environment:
    """Return the environment of the templates. Every value is escaped, and a missing one raises."""
    made = Environment(
        loader=FileSystemLoader(FOLDER),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    made.filters |= {"line": line, "visible": visible, "blocks": blocks, "day": day, "moment": moment, "short": short}
    made.filters["prose"] = prose
    made.globals |= values
    return made


def visible(text: str) -> Markup:
    """Escape `text`; each hidden or control character becomes a visible sign."""
    parts: list[Markup] = []
    at = 0
    for found in HIDDEN.finditer(text):
        if found[0] not in _LEFT_ALONE:
            parts += [escape(text[at : found.start()]), _sign(found[0])]
            at = found.end()
    return Markup("").join([*parts, escape(text[at:])])


def prose(text: str) -> Markup:
    """Return visible text with the parts between backticks as code."""
    pieces = _CODE.split(text)
    code = Markup("<code>{}</code>")
    return Markup("").join(code.format(visible(one)) if at % 2 else visible(one) for at, one in enumerate(pieces))


def line(text: str) -> Markup:
    """Return `text` as one isolated line: its direction cannot reorder the text around it."""
    return Markup('<bdi dir="auto">{}</bdi>').format(visible(" ".join(text.split())))


def blocks(text: str) -> Iterator[tuple[bool, str]]:
    """Yield the text in pieces: those between code fences, marked as code, and the others."""
    is_code, kept = False, list[tuple[bool, str]]()
    for row in text.strip("\n").split("\n"):
        if _FENCE.match(row):
            is_code = not is_code
        else:
            kept.append((is_code, row))
    for kind, rows in groupby(kept, key=lambda pair: pair[0]):
        if piece := "\n".join(row for _, row in rows).strip("\n"):
            yield kind, piece


def day(iso: str) -> str:
    return iso[:10]


def moment(iso: str) -> str:
    return f"{datetime.fromisoformat(iso).astimezone():%Y-%m-%d %H:%M}"


def short(project: str) -> str:
    return project.rstrip("/").rpartition("/")[2] or project


def _sign(character: str) -> Markup:
    number = ord(character)
    sign = chr(_CONTROL_PICTURES + number) if number < 0x20 else f"U+{number:04X}"
    return Markup('<span class="sign" title="U+{:04X}">{}</span>').format(number, sign)


def exported(records: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """Yield one page without a server, to take along: memories to browse and search offline."""
    style, script = (ASSETS.joinpath(name).read_text(encoding="utf-8") for name in ("page.css", "export.js"))
    policy = f"default-src 'none'; style-src '{_digest(style)}'; script-src '{_digest(script)}'"
    values = {"style": Markup(style), "script": Markup(script), "policy": policy}  # noqa: S704  memhook's own files
    template = environment().get_template("export.html")
    yield from template.generate(records=records, now=datetime.now(UTC).isoformat(), **values)


def is_closed(record: Mapping[str, Any]) -> bool:
    return record["sensitivity"] != "normal" or bool(record["redacted"]) or bool(record["quarantine"])


def _digest(text: str) -> str:
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"
