"""A request: the fields of its address and of its form."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import parse_qs, urlencode

Fields = Mapping[str, list[str]]


def fields_in(text: str) -> Fields:
    return parse_qs(text, keep_blank_values=True, errors="replace")


@dataclass(frozen=True, slots=True)
class Asked:
    """`place` has the parts of the path that vary, such as the id of a memory."""

    query: Fields
    form: Fields = field(default_factory=dict)
    place: Mapping[str, str] = field(default_factory=dict)

    def all(self, name: str) -> list[str]:
        return list(self.form.get(name) or self.query.get(name) or ())

    def one(self, name: str, default: str = "") -> str:
        values = self.all(name)
        return values[0].replace("\r\n", "\n") if values else default

    def number(self, name: str, default: int) -> int:
        text = self.one(name)
        return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else default

    def query_with(self, **changes: str) -> str:
        """Return the query for a link to the same page with these fields changed; an empty one is left out."""
        values = {**{name: values for name, values in self.query.items() if name != "part"}}
        values |= {name: [value] for name, value in changes.items()}
        return urlencode([(name, one) for name, some in values.items() for one in some if one])
