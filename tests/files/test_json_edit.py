"""Entries come into a JSON file and go again; nothing else of it changes."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memhook.errors import InvalidInput
from memhook.files import json_edit
from memhook.files.layout import plain_json

KEYS = st.text(st.characters(codec="utf-8"), max_size=6)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | KEYS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=12,
)
FILES = st.dictionaries(KEYS, VALUES, max_size=4)
LAYOUTS = st.sampled_from([None, 0, 1, 2, 4, "\t"])
ENTRY = {"command": "memhook", "args": ["mcp"]}

COMMENTED = """\
{
  // which model
  "model": "opus", /* the large one */
  "hooks": {
    // ours
    "Stop": [ { "hooks": [] } ], // not to be touched
  },
  "last": [1, 2] // end
}
"""


@given(FILES, LAYOUTS)
def test_any_json_is_read_as_json_reads_it(content: dict[str, Any], indent: int | str | None) -> None:
    assert json.loads(plain_json(json.dumps(content, indent=indent))) == content


@given(FILES, LAYOUTS, st.lists(KEYS, min_size=1, max_size=3).map(tuple))
def test_a_member_that_was_added_is_all_that_changed_and_goes_without_a_trace(
    content: dict[str, Any], indent: int | str | None, path: tuple[str, ...]
) -> None:
    before = json.dumps(content, indent=indent) + "\n"
    if json_edit.value_at(before, path[:1]) is not None or path[0] in content:
        return
    after = json_edit.with_member(before, path, ENTRY)
    assert json_edit.value_at(after, path) == ENTRY
    assert list(json.loads(after)) == [*content, path[0]]  # plain JSON stays plain JSON, in its order
    assert json_edit.without(after, path) == before


@given(FILES, LAYOUTS)
def test_items_are_appended_and_taken_out_again(content: dict[str, Any], indent: int | str | None) -> None:
    before = json.dumps({**content, "list": [1]}, indent=indent)
    after = json_edit.with_item(json_edit.with_item(before, ("list",), ENTRY), ("list",), 2)
    assert json.loads(after) == {**content, "list": [1, ENTRY, 2]}
    assert json.loads(json_edit.without(after, ("list", 1))) == {**content, "list": [1, 2]}
    assert json.loads(json_edit.without(after, ("list", 2))) == {**content, "list": [1, ENTRY]}


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_comments_trailing_commas_and_layout_survive(newline: str) -> None:
    before = COMMENTED.replace("\n", newline)
    after = json_edit.with_member(before, ("mcpServers", "memhook"), ENTRY)
    after = json_edit.with_item(after, ("hooks", "Stop"), {"hooks": [1]})
    after = json_edit.with_item(after, ("hooks", "Start"), {"hooks": [2]})
    for comment in ("// which model", "/* the large one */", "// ours", "// not to be touched", "// end"):
        assert comment in after
    assert json_edit.value_at(after, ("hooks", "Stop")) == [{"hooks": []}, {"hooks": [1]}]
    assert ("\r\n" in after) == (newline == "\r\n")
    for path in (("mcpServers", "memhook"), ("hooks", "Stop", 1), ("hooks", "Start", 0)):
        after = json_edit.without(after, path)
    assert after == before


def test_a_container_that_held_only_the_entry_goes_with_it_and_another_stays() -> None:
    text = '{\n  "a": {"b": {"memhook": 1}},\n  "c": {"memhook": 1, "mine": 2}\n}\n'
    assert json.loads(json_edit.without(text, ("a", "b", "memhook"))) == {"c": {"memhook": 1, "mine": 2}}
    assert json.loads(json_edit.without(text, ("c", "memhook"))) == {"a": {"b": {"memhook": 1}}, "c": {"mine": 2}}


def test_a_new_file_is_laid_out_to_be_read() -> None:
    assert json_edit.with_member("", ("a", "b"), 1) == '{\n  "a": {\n    "b": 1\n  }\n}\n'


@pytest.mark.parametrize("text", ["{", "[]", '{"a": }', '{"a": 1} x', "{'a': 1}", '{"a" 1}', '{"a": 1 "b": 2}'])
def test_what_is_not_json_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput):
        json_edit.with_member(text, ("x",), 1)


def test_a_value_of_another_kind_in_the_way_is_not_overwritten() -> None:
    with pytest.raises(InvalidInput, match="hooks"):
        json_edit.with_item('{"hooks": "none"}', ("hooks", "Stop"), 1)


def test_what_is_added_to_a_file_with_windows_line_ends_has_them_too() -> None:
    before = '{\r\n  "a": {\r\n    "b": 1\r\n  }\r\n}\r\n'
    after = json_edit.with_item(json_edit.with_member(before, ("c", "d"), ENTRY), ("e",), ENTRY)
    assert after.count("\n") == after.count("\r\n")


@pytest.mark.parametrize("blank", ["", "\n\n", " \t\r\n", "\ufeff"])
def test_a_blank_file_is_an_empty_one(blank: str) -> None:
    assert json_edit.plain(blank) == {}
    assert json.loads(json_edit.with_member(blank, ("a",), 1)) == {"a": 1}


def test_a_container_stays_where_it_was_found_or_holds_a_comment() -> None:
    found = '{\n  "hooks": {\n    "Stop": []\n  }\n}\n'
    after = json_edit.with_item(found, ("hooks", "Stop"), ENTRY)
    assert json_edit.plain(json_edit.without(after, ("hooks", "Stop", 0), found)) == {"hooks": {"Stop": []}}
    commented = '{\n  "mcp": {\n    // none yet\n  }\n}\n'
    after = json_edit.with_member(commented, ("mcp", "memhook"), ENTRY)
    assert json_edit.without(after, ("mcp", "memhook")) == commented
