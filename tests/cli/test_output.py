from __future__ import annotations

import json
import sys
import unicodedata
from functools import cache
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memhook.cli import output
from memhook.cli.output import json_text
from tests.cli.conftest import NOTE, Cli, Engine

# Format characters that are signs one sees: Arabic and Syriac number signs, Kaithi ones, hieroglyph joiners aside.
VISIBLE_FORMAT = {*range(0x600, 0x606), 0x6DD, 0x70F, 0x890, 0x891, 0x8E2, 0x110BD, 0x110CD}
SELECTORS = {*range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0), 0x34F, 0x115F, 0x1160, 0x3164, 0xFFA0}


@cache
def hidden() -> list[str]:
    """Of all characters there are; asked when a test runs, since each worker would ask at its start."""
    categories = ("Cc", "Cf", "Cs", "Zl", "Zp")
    acting = {ord(one) for one in map(chr, range(sys.maxunicode + 1)) if unicodedata.category(one) in categories}
    return [chr(point) for point in sorted((acting - VISIBLE_FORMAT) | SELECTORS)]


def of_hidden() -> st.SearchStrategy[str]:
    return st.text(st.sampled_from([one for one in hidden() if not "\ud800" <= one <= "\udfff"]))  # JSON joins halves


@pytest.mark.parametrize("indent", [None, 2])
def test_json_holds_no_character_that_acts_or_hides_and_loses_none(indent: int | None) -> None:
    value = {"content": "x".join(hidden()), "ü" + hidden()[0]: ["日本 → größer 👍", *hidden()]}
    text = json_text(value, indent)
    assert [f"{ord(one):x}" for one in hidden() if one in text and one != "\n"] == []
    assert "\n" not in json_text(value)
    assert json.loads(text) == value
    assert "日本 → größer 👍" in text


@given(
    st.recursive(
        st.text() | st.deferred(of_hidden),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    )
)
def test_whatever_is_said_in_json_comes_back(value: Any) -> None:
    assert json.loads(json_text(value)) == value
    assert json.loads(json_text(value, indent=2, encoding="latin-1")) == value


@pytest.mark.parametrize("command", [("get", "x", "--json"), ("export", "-")])
def test_remembered_text_in_json_cannot_act_on_the_terminal(engine: Engine, cli: Cli, command: tuple[str, ...]) -> None:
    evil = "a\x9b2J\u202eb\u200bc\U000e0041d\x7f"
    record = {"id": "k3v9x2m4p7qa", "title": evil, "content": evil}
    engine.answers["get"] = [record]
    engine.answers["export_page"] = lambda after, limit: [] if after else [record]
    out = cli(*command).out
    assert "\\u202e" in out
    assert not set(out) & set("\x9b\u202e\u200b\U000e0041\x7f")


CHINESE = "读取主库，因为副本落后很多，所以对账会失败，并且必须提高语句超时时间，否则每天夜里都会报警。"
LONG = "Ledger reconciliation must read from the primary because the replica lags far behind it every night"


@pytest.mark.parametrize("text", [LONG, CHINESE, f"{CHINESE} {LONG}"])
@pytest.mark.parametrize("command", [("list",), ("search", "x"), ("get", "x")])
def test_a_narrow_terminal_breaks_no_word_and_keeps_the_indentation(
    engine: Engine, cli: Cli, monkeypatch: pytest.MonkeyPatch, text: str, command: tuple[str, ...]
) -> None:
    monkeypatch.setattr(output, "is_terminal", lambda: True)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("NO_COLOR", "1")
    record = {**NOTE, "title": text, "content": text, "score": 0.42}
    engine.answers |= {"list": {"memories": [record], "total": 1}, "search": {"results": [record]}, "get": [record]}
    rows = cli(*command).out.splitlines()
    assert max(map(output.cells, rows)) <= 80
    assert {word for row in rows for word in row.split() if word.isascii()} >= set(text.removeprefix(CHINESE).split())
    if command[0] == "search":
        assert all(row.startswith("      ") for row in rows[1:])


@given(st.text(), st.integers(1, 60))
@example("00\u094d0", 2)
@example("接续", 3)
def test_what_is_wrapped_or_cut_fits_and_loses_no_word(text: str, room: int) -> None:
    rows = output.wrapped(text, "  ")
    assert "".join("".join(rows).split()) == "".join(text.split())
    assert all(row == "" or row.startswith("  ") for row in rows)
    assert output.cells(output.cut(text, room)) <= max(room, 1)
