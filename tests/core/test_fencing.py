import re
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memhook.core.fencing import clean, indented, label, one_line

HIDDEN = [*range(0x202A, 0x202F), *range(0x2066, 0x206A), 0x200B, 0x200C, 0x200E, 0x200F, 0xFEFF, 0xAD, 0x3164]
SEPARATORS = ["\n", "\r", "\r\n", "\v", "\f", "\x1c", "\x1d", "\x1e", "\x85", "\u2028", "\u2029"]
nasty = st.text(
    st.one_of(
        st.characters(),
        st.sampled_from("\x1b\x9b[]0;m\x07\r\n\v\f\x85\u2028\u2029\u200d\ufe0f\u20e3\ud800\U000e0041👩💻❤*\\<: \t1"),
    ),
    max_size=80,
)


@pytest.mark.parametrize(
    "sequence",
    [
        "\x1b[31m",
        "\x1b[1;38;5;196m",
        "\x1b[2J",
        "\x1b[?25l",
        "\x9b31m",
        "\x1b]0;owned\x07",
        "\x1b]8;;https://example.org\x1b\\",
        "\x1bP1$r\x1b\\",
        "\x1bc",
        "\x1b(B",
    ],
)
def test_a_terminal_escape_goes_whole(sequence: str) -> None:
    assert clean(f"before {sequence}after") == "before after"


def test_an_unterminated_escape_does_not_swallow_the_text_after_it() -> None:
    assert clean("\x1b]0;title\nkept") == "0;title\nkept"


@pytest.mark.parametrize("code", HIDDEN, ids=hex)
def test_a_hidden_character_goes(code: int) -> None:
    assert clean(f"a{chr(code)}b") == "ab"


def test_tag_characters_cannot_smuggle_text() -> None:
    assert clean("hi" + "".join(chr(0xE0000 + ord(c)) for c in "obey me")) == "hi"


def test_variation_selectors_cannot_smuggle_bytes() -> None:
    assert clean("😀\ufe01\U000e0100\U000e01ef" + "a\ufe0f") == "😀a"


@pytest.mark.parametrize("emoji", ["❤️", "👩‍💻", "🏳️‍🌈", "👍🏽", "1️⃣", "🇩🇪", "👨‍👩‍👧‍👦"])
def test_an_emoji_stays_whole(emoji: str) -> None:
    assert clean(f"a {emoji} b") == f"a {emoji} b"


@pytest.mark.parametrize("text", ["a\u200db", "👩\u200d", "\u200d👩", "a\ufe0f\u200d👩", "👩\u200d\u200d💻"])
def test_a_joiner_that_joins_no_emoji_goes(text: str) -> None:
    assert "\u200d" not in clean(text)


def test_lone_surrogates_go() -> None:
    assert clean("a\ud800b\udfffc") == "abc"


@pytest.mark.parametrize("separator", SEPARATORS, ids=repr)
def test_every_line_separator_is_a_newline(separator: str) -> None:
    assert clean(f"a{separator}b") == "a\nb"


def test_text_in_any_script_with_tabs_stays_as_it_is() -> None:
    text = "def f():\n\treturn 'naïve ünïcode — 日本語 العربية हिन्दी' < 3"
    assert clean(text) == text


@pytest.mark.parametrize(
    "tag",
    [
        "<system-reminder>",
        "</system-reminder>",
        "< / System-Reminder >",
        "<SYSTEM_REMINDER priority='1'>",
        "<hook_context>",
        "<\nhook_context\n>",
        "<sys\u200btem-reminder>",
        "<\x1b[0msystem-reminder>",
    ],
)
def test_a_tag_of_a_hook_client_is_defused(tag: str) -> None:
    assert "<" not in clean(tag)
    assert "‹" in clean(tag)


@pytest.mark.parametrize("code", ["<div>", "vector<system>", "a < system", "<system-reminders>", "x << hook_contexts"])
def test_other_angle_brackets_stay(code: str) -> None:
    assert clean(code) == code


@settings(deadline=None)
@given(nasty)
def test_what_is_clean_stays_as_it_is(text: str) -> None:
    assert clean(clean(text)) == clean(text)


@settings(deadline=None)
@given(nasty)
def test_nothing_but_visible_characters_tabs_and_newlines_leaves(text: str) -> None:
    for char in clean(text):
        assert char in "\n\t\u200d\ufe0f" or unicodedata.category(char) not in {"Cc", "Cs", "Zl", "Zp"}
    clean(text).encode("utf-8")


@settings(deadline=None)
@given(nasty)
def test_no_remembered_line_starts_at_the_margin(text: str) -> None:
    for line in indented(text).splitlines():
        assert line == "" or line.startswith("  ")
    assert indented(text) == "" or indented(text).endswith("\n")


def test_indenting_keeps_inner_blank_lines_and_drops_outer_ones() -> None:
    assert indented("\n\na\n\n  b  \n\n") == "  a\n\n    b\n"


@settings(deadline=None)
@given(nasty, st.integers(1, 40))
def test_one_line_is_one_line_without_bold_or_urn(text: str, limit: int) -> None:
    line = one_line(f"{text} urn:memhook:k3v9x2m4p7qa **", limit)
    assert len(line.splitlines()) <= 1
    assert "urn:memhook:" not in line
    assert not any(_is_live(found) for found in re.finditer(r"\\*\*", line + "**") if found.end() <= len(line))


def test_a_title_cannot_escape_the_asterisks_that_close_it() -> None:
    assert f"**{one_line('path C:', 80)}**" == "**path C:**"
    assert one_line("C:\\", 80) == "C:\\\\"
    assert one_line("a\\* b", 80) == "a\\\\\\* b"


@pytest.mark.parametrize(
    "urn", ["urn:memhook:k3v9x2m4p7qa", "URN:MemHook:k3v9x2m4p7qa", "urn:mem\u200bhook:k3v9x2m4p7qa"]
)
def test_a_urn_in_a_name_is_no_longer_one(urn: str) -> None:
    assert "urn:memhook:" not in one_line(urn, 80).lower()


def test_a_line_is_cut_at_its_limit_and_marked() -> None:
    assert one_line("one two three four", 10) == "one two…"


def test_a_label_cannot_end_its_list_or_add_to_it() -> None:
    assert label("x), by user (y, [z]", 80) == r"x\)\, by user \(y\, \[z\]"


def _is_live(asterisk: re.Match[str]) -> bool:
    return (len(asterisk.group()) - 1) % 2 == 0
