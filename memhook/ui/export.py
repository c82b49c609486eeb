"""A file to take along: one page without a server, to browse and search memories offline."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any

from markupsafe import Markup

from memhook.ui.rendering import ASSETS, environment


def exported(records: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    style, script = (ASSETS.joinpath(name).read_text(encoding="utf-8") for name in ("page.css", "export.js"))
    policy = f"default-src 'none'; style-src '{_digest(style)}'; script-src '{_digest(script)}'"
    values = {"style": Markup(style), "script": Markup(script), "policy": policy}  # noqa: S704  memhook's own files
    template = environment().get_template("export.html")
    yield from template.generate(records=records, now=datetime.now(UTC).isoformat(), **values)


def is_closed(record: Mapping[str, Any]) -> bool:
    return record["sensitivity"] != "normal" or bool(record["redacted"]) or bool(record["quarantine"])


def _digest(text: str) -> str:
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"
