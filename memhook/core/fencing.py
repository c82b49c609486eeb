"""Remembered text is data: nothing in it may act on a terminal, hide from a reader or pass for memhook's own words.

clean(text)            visible characters, tabs and newlines only
indented(text)         cleaned, every line moved off the margin, which is memhook's, none a URN or a speaker's turn
one_line(text, limit)  cleaned, on one line, unable to close bold or forge a URN
label(text, limit)     the same for a name in a list: it cannot end the list or add to it
without_urns(text)     nothing in it passes for a URN
"""

from __future__ import annotations

import re
from functools import lru_cache

from memhook.core.memory import shortened

INDENT = "  "
_WORST_CASE = 20  # characters looked at for each one shown: the rest of a name of a megabyte is not worth its cleaning

_EMOJI = (
    "\u00a9\u00ae\u203c\u2049\u2122\u2139\u2190-\u21ff\u2300-\u23ff\u24c2\u25a0-\u27bf\u2900-\u297f\u2b00-\u2bff"
    "\u3030\u303d\u3297\u3299\U0001f000-\U0001faff"
)
_CONTROL = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x9f\ud800-\udfff]")
# Unicode's default-ignorable characters (bidirectional controls, tags and fillers among them) and the other format
# controls, apart from the joiner and the emoji selector, which are judged by their neighbours.
_IGNORABLE = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200c\u200e\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufdd0-\ufdef\ufe00-\ufe0e\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff\U00013430-\U0001343f\U0001bca0-\U0001bca3"
    "\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
_INVISIBLE = re.compile(f"[{_IGNORABLE}]")
HIDDEN = re.compile(f"[\x00-\x1f\x7f-\x9f\u200d\u2028\u2029\ufe0f\ud800-\udfff{_IGNORABLE}]")
"""All that can act on a terminal or hide from a reader, wherever it stands: for formats that can escape it."""
# The character itself comes first and is looked behind from: a pattern that starts with a look-behind is tried at
# every place, 200 times slower.
_STRAY_SELECTOR = re.compile(rf"\ufe0f(?<![{_EMOJI}]\ufe0f)(?:(?<![0-9#*]\ufe0f)|(?!\u20e3))")
_STRAY_JOINER = re.compile(rf"\u200d(?:(?<![{_EMOJI}]\u200d)(?<![{_EMOJI}]\ufe0f\u200d)|(?![{_EMOJI}]))")
_ESCAPE_SEQUENCE = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"  # colours, cursor
    r"|(?:\x1b[\]PX^_]|[\x9d\x90\x98\x9e\x9f])[^\x07\x1b\x90\x98\x9c-\x9f\r\n]*(?:\x07|\x1b\\|\x9c)"  # titles, links
    r"|\x1b[ -/]*[0-~]"
)
_LINE_END = re.compile("\r\n?|[\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
# What a client, or the format a model was trained on, wraps around words that are not remembered ones: hooks, commands
# and their output, calls and their results, turns. Behind a letter it is a type (`vector<system>`), and <user> within a
# line is a place to fill in.
_TAG_NAMES = (
    r"[\w-]*system[-_]?(?:reminder|prompt|message)|[\w-]+-hook|hook[-_]context|(?:local-)?command-\w+|bash-\w+"
    r"|antml:\w+|function_(?:calls|results)|tool_(?:use|call|result|response|output)s?|(?:start|end)_of_turn"
)
_CLIENT_TAG = re.compile(
    rf"<(?:(?=\s*+(?:/\s*+)?(?:{_TAG_NAMES})(?![\w-]))"
    r"|(?<!\w<)(?=(?:system|assistant|human)>)|(?=/(?:system|assistant|human)>|\|\w+\|>|<SYS>>|<\s?/SYS>>))",
    re.IGNORECASE,
)
_USER_TAG = re.compile(r"^([ \t]*)<(?=/?user>)", re.IGNORECASE | re.MULTILINE)
_TURN_MARK = re.compile(r"(?<!\\)\[(?=/?INST\])")
_ROLE = re.compile(
    r"^([ \t]*(?:Human|HUMAN|Assistant|ASSISTANT|System|SYSTEM|User|USER|Developer|DEVELOPER))(?=[ \t]*:)", re.MULTILINE
)
_BEFORE_BOLD = re.compile(r"(\\*)(\*|\Z)")
_URN = re.compile(r"(urn):(memhook):", re.IGNORECASE)
_LIST_MARK = re.compile(r"[,()\[\]·]")


def clean(text: str) -> str:
    """`text` without control, ANSI, bidirectional and invisible characters, its tags of hook clients defused."""
    if not text.replace("\n", "").replace("\t", "").isprintable():
        text = _CONTROL.sub("", _LINE_END.sub("\n", _ESCAPE_SEQUENCE.sub("", text)))
    if not text.isascii():
        text = _STRAY_JOINER.sub("", _STRAY_SELECTOR.sub("", _INVISIBLE.sub("", text)))
    if "<" in text:
        text = _USER_TAG.sub(r"\1‹", _CLIENT_TAG.sub("‹", text))
    return _TURN_MARK.sub(r"\\[", text) if "INST]" in text else text


def indented(text: str) -> str:
    """The lines of `text`, cleaned, each behind two spaces and ended; blank ones stay blank, outer ones go."""
    text = _ROLE.sub(r"\1\\", without_urns(clean(text)))
    lines = [line.rstrip() for line in text.split("\n")]
    return "".join(f"{INDENT}{line}\n" if line else "\n" for line in _without_outer_blanks(lines))


def one_line(text: str, limit: int) -> str:
    """`text` on one line of at most `limit` characters, escapes not counted."""
    return without_urns(_BEFORE_BOLD.sub(_escaped, shortened(collapsed(text[: limit * _WORST_CASE]), limit)))


def without_urns(text: str) -> str:
    """`text` with whatever looks like a URN of memhook's escaped."""
    return _URN.sub(r"\1\\:\2\\:", text)


@lru_cache(maxsize=1024)
def label(text: str, limit: int) -> str:
    return _LIST_MARK.sub(r"\\\g<0>", one_line(text, limit))


def collapsed(text: str) -> str:
    """`text` cleaned, each run of white space one space."""
    return " ".join(clean(text).split())


def _without_outer_blanks(lines: list[str]) -> list[str]:
    filled = [at for at, line in enumerate(lines) if line]
    return lines[filled[0] : filled[-1] + 1] if filled else []


def _escaped(found: re.Match[str]) -> str:
    # Backslashes before an asterisk, or before the bold's own closing asterisks, would undo the escape.
    backslashes, asterisk = found.groups()
    return backslashes * 2 + ("\\*" if asterisk else "")
