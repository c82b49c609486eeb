from __future__ import annotations

import tomllib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memhook.errors import InvalidInput
from memhook.files.layout import toml_layout
from memhook.files.toml_edit import literal
from memhook.settings_file import value_from, with_value, without

COMMENTED = """\
# my settings

max_tokens = 4000  # enough for me
# preview_chars = 300

[hooks]  # how it speaks
detail = "preview"

# few
[hooks.session_start]
max_memories = 8
"""


@pytest.mark.parametrize(
    ("text", "key", "value", "expected"),
    [
        ("max_tokens = 4000 # why\n", "max_tokens", 2000, "max_tokens = 2000 # why\n"),
        ("max_tokens=4000", "max_tokens", 2000, "max_tokens=2000"),
        ("", "max_tokens", 2000, "max_tokens = 2000\n"),
        ("# only a comment", "max_tokens", 2000, "# only a comment\nmax_tokens = 2000\n"),
        ("enabled = true", "max_tokens", 2000, "enabled = true\nmax_tokens = 2000"),
        ("[hooks]\ndetail = 'full'\n", "max_tokens", 2000, "max_tokens = 2000\n\n[hooks]\ndetail = 'full'\n"),
        ("# it\n\n# speaks\n[hooks]\n", "enabled", False, "# it\n\nenabled = false\n\n# speaks\n[hooks]\n"),
        ("", "hooks.detail", "full", '[hooks]\ndetail = "full"\n'),
        ("[hooks]", "hooks.detail", "full", '[hooks]\ndetail = "full"'),
        ("enabled = true", "hooks.detail", "full", 'enabled = true\n\n[hooks]\ndetail = "full"\n'),
        (
            "[hooks]\ndetail = 'full'\n\n[store]\nuri = 'x'\n",
            "hooks.relevance",
            "strict",
            "[hooks]\ndetail = 'full'\nrelevance = \"strict\"\n\n[store]\nuri = 'x'\n",
        ),
        ("hooks.detail = 'full'\n", "hooks.detail", "cascade", 'hooks.detail = "cascade"\n'),
        (
            "hooks.detail = 'full'\nenabled = true\n",
            "hooks.session_start.max_memories",
            3,
            "hooks.detail = 'full'\nhooks.session_start.max_memories = 3\nenabled = true\n",
        ),
        (
            "[hooks]\nsession_start.max_memories = 3\n",
            "hooks.session_start.max_memories",
            4,
            "[hooks]\nsession_start.max_memories = 4\n",
        ),
        ("hooks = {detail = 'full'} # x\n", "hooks.detail", "cascade", 'hooks = {detail = "cascade"} # x\n'),
        (
            "hooks = { detail = 'full' }\n",
            "hooks.session_start.max_memories",
            3,
            "hooks = { detail = 'full', session_start.max_memories = 3 }\n",
        ),
        (
            "hooks = { session_start = {} }\n",
            "hooks.session_start.max_memories",
            3,
            "hooks = { session_start = { max_memories = 3 } }\n",
        ),
        ('"hooks" . \'detail\' = "full"\n', "hooks.detail", "cascade", '"hooks" . \'detail\' = "cascade"\n'),
        (
            'namespaces = [ # these\n  "a,]", # one\n  "b",\n] # end\nenabled = true\n',
            "namespaces",
            ["c", "d"],
            '# these\n# one\nnamespaces = ["c", "d"] # end\nenabled = true\n',
        ),
        (
            "[hooks]\r\n  detail = [\r\n    '#no', # yes \r\n  ]\r\n",
            "hooks.detail",
            "x",
            '[hooks]\r\n  # yes\r\n  detail = "x"\r\n',
        ),
        ("enabled = true\r\n[hooks]\r\n", "max_tokens", 1, "enabled = true\r\nmax_tokens = 1\r\n[hooks]\r\n"),
        ("[hooks]\r\ndetail = 'full'\r\n", "hooks.detail", "x", '[hooks]\r\ndetail = "x"\r\n'),
        (
            "note = '''\nmax_tokens = 1\n# max_tokens = 2\n[hooks]\n'''\n",
            "max_tokens",
            3,
            "note = '''\nmax_tokens = 1\n# max_tokens = 2\n[hooks]\n'''\nmax_tokens = 3\n",
        ),
        ("[[hooks_of]]\ndetail = 1\n", "hooks.detail", "x", '[[hooks_of]]\ndetail = 1\n\n[hooks]\ndetail = "x"\n'),
    ],
)
def test_set_changes_one_place_and_nothing_else(text: str, key: str, value: Any, expected: str) -> None:
    assert with_value(text, key, value) == expected


def test_a_key_that_is_commented_out_is_set_right_below_the_comment() -> None:
    changed = with_value(COMMENTED, "preview_chars", 120)
    assert "# preview_chars = 300\npreview_chars = 120\n\n[hooks]  # how" in changed


def test_what_was_set_can_be_unset_again() -> None:
    for key, value in {"preview_chars": 120, "hooks.relevance": "strict", "hooks.session_start.x": 1}.items():
        assert without(with_value(COMMENTED, key, value), key) == COMMENTED


@pytest.mark.parametrize(
    ("text", "key", "expected"),
    [
        ("max_tokens = 1 # why\nenabled = true\n", "max_tokens", "enabled = true\n"),
        ("  max_tokens = 1\r\nenabled = true", "max_tokens", "enabled = true"),
        ("enabled = true\nmax_tokens = 1", "max_tokens", "enabled = true\n"),
        ("namespaces = [\n 'a',\n]\nenabled = true\n", "namespaces", "enabled = true\n"),
        ("[hooks]\ndetail = 'x'\n", "hooks.detail", "[hooks]\n"),
        ("hooks.detail = 'x'\n", "hooks.detail", ""),
        ("hooks = { detail = 'x' }\n", "hooks.detail", "hooks = { }\n"),
        ("hooks = { detail = 'x', relevance = 'y' }\n", "hooks.detail", "hooks = { relevance = 'y' }\n"),
        ("hooks = { detail = 'x', relevance = 'y' }\n", "hooks.relevance", "hooks = { detail = 'x' }\n"),
        ("# max_tokens = 1\n", "max_tokens", "# max_tokens = 1\n"),
        ("[hooks]\n", "hooks.detail", "[hooks]\n"),
    ],
)
def test_unset_takes_out_one_setting(text: str, key: str, expected: str) -> None:
    assert without(text, key) == expected


@pytest.mark.parametrize("change", [lambda text: with_value(text, "max_tokens", 1), lambda text: without(text, "x")])
def test_a_broken_file_is_not_touched(change: Any) -> None:
    with pytest.raises(InvalidInput, match="not valid TOML"):
        change("max_tokens = = 4\n")


def test_a_value_that_stands_in_the_way_of_a_table_is_named() -> None:
    with pytest.raises(InvalidInput, match="hooks"):
        with_value("hooks = 3\n", "hooks.detail", "full")


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("2000", 2000),
        ("true", True),
        ('["a", "b"]', ["a", "b"]),
        ('"quoted"', "quoted"),
        ("strict", "strict"),
        ("", ""),
        ("/home/me/store", "/home/me/store"),
        ("1\nother = 2", "1\nother = 2"),
        ("[unclosed", "[unclosed"),
    ],
)
def test_a_typed_value_is_read_as_toml_or_as_the_text_it_is(typed: str, meant: Any) -> None:
    assert value_from(typed) == meant


KEYS = ("max_tokens", "namespaces", "hooks.detail", "hooks.relevance", "hooks.session_start.max_memories", "store.uri")
VALUES: st.SearchStrategy[Any] = st.one_of(
    st.integers(-(10**9), 10**9),
    st.booleans(),
    st.floats(allow_nan=False),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=20),
    st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=8), max_size=3),
)
_COMMENT = st.sampled_from(["", " # why", "  # [hooks] = 'x' \"", "\t"])
_LITERAL = st.one_of(
    VALUES.map(literal),
    st.sampled_from(
        [
            "'''a\n# b = 1\n[c]\n''''",
            '"""x\\""""""',
            "[\n  1, # one ]\n  [2, {a = 3}],\n]",
            "1979-05-27 07:32:00Z",
            "nan",
            "0x1F",
            "{ a = 1, b.c = 'x}', d = { } }",
            "{}",
        ]
    ),
)
_NAMES = ("max_tokens", "namespaces", "hooks", "detail", "session_start", "store", "uri", "other", '"a b"', "'q.x'")
_PATH = st.lists(st.sampled_from(_NAMES), min_size=1, max_size=3).map(" . ".join)
_STATEMENT = st.one_of(
    st.builds("{} = {}{}".format, _PATH, _LITERAL, _COMMENT),
    st.builds("[{}]{}".format, _PATH, _COMMENT),
    st.builds("[[ {} ]]".format, _PATH),
    st.sampled_from(["", "# max_tokens = 3", "  # detail = 'x'", "   "]),
)


@st.composite
def files(draw: st.DrawFn) -> str:
    """Files that TOML accepts: each statement is kept when the file is still valid with it."""
    newline = draw(st.sampled_from(["\n", "\r\n"]))
    text = ""
    for statement in draw(st.lists(_STATEMENT, max_size=8)):
        longer = text + statement.replace("\n", newline) + newline
        try:
            tomllib.loads(longer)
        except tomllib.TOMLDecodeError:
            continue
        text = longer
    return text if draw(st.booleans()) else text.removesuffix(newline)


@given(files(), st.sampled_from(KEYS), VALUES)
def test_any_file_keeps_everything_but_the_value_set(text: str, key: str, value: Any) -> None:
    try:
        changed = with_value(text, key, value)
    except InvalidInput:
        return
    assert _value(tomllib.loads(changed), key) == tomllib.loads(f"v = {literal(value)}")["v"]
    kept = _shared_ends(text, changed)
    if _value(tomllib.loads(text), key) is None:
        assert kept >= len(text)
    if _value(tomllib.loads(text), key) is not None and "# one ]" not in text:  # which stays, above the new value
        assert without(changed, key) == without(text, key)
    assert text.count("# one ]") == changed.count("# one ]")


@given(files(), st.sampled_from(KEYS), VALUES)
def test_setting_the_same_value_twice_changes_nothing_more(text: str, key: str, value: Any) -> None:
    try:
        changed = with_value(text, key, value)
    except InvalidInput:
        return
    assert with_value(changed, key, value) == changed


@given(files(), st.sampled_from(KEYS))
def test_any_setting_that_is_there_can_be_unset(text: str, key: str) -> None:
    try:
        shorter = without(text, key)
    except InvalidInput:
        assert toml_layout(text).entry(tuple(key.split("."))) is None
        return
    if not isinstance(_value(tomllib.loads(text), key), dict):
        assert _value(tomllib.loads(shorter), key) is None
    assert _shared_ends(text, shorter) >= len(shorter)


def _value(tree: Any, key: str) -> Any:
    for part in key.split("."):
        tree = tree.get(part) if isinstance(tree, dict) else None
    return tree


def _shared_ends(first: str, second: str) -> int:
    """How many characters the two have in common at their starts and ends together."""
    shorter = min(len(first), len(second))
    start = next((at for at in range(shorter) if first[at] != second[at]), shorter)
    rest = shorter - start
    end = next((at for at in range(rest) if first[-1 - at] != second[-1 - at]), rest)
    return start + end
