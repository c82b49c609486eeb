"""Make remembered text safe: it must not control a terminal, hide from a reader or imitate memhook's own lines.

clean(text)            visible characters, tabs and newlines only
indented(text)         cleaned, every line indented (the margin is memhook's), no URN, no speaker's turn
one_line(text, limit)  cleaned, on one line, cannot close bold or forge a URN
label(text, limit)     the same for a name in a list: it cannot end the list or add to it
without_urns(text)     the text with everything that looks like a URN escaped
without_entries(...)   a block without the entries of some memories
"""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import lru_cache

from memhook.core.memory import URN_PREFIX, id_of, shortened
from memhook.patterns import regex

INDENT = "  "
_WORST_CASE = 20  # characters read for each character shown: a name of a megabyte is not cleaned to its end

_EMOJI = (
    "\u00a9\u00ae\u203c\u2049\u2122\u2139\u2190-\u21ff\u2300-\u23ff\u24c2\u25a0-\u27bf\u2900-\u297f\u2b00-\u2bff"
    "\u3030\u303d\u3297\u3299\U0001f000-\U0001faff"
)
_CONTROL = regex("[\x00-\x08\x0e-\x1f\x7f-\x9f\ud800-\udfff]")
# Unicode's default-ignorable characters (bidirectional controls, tags and fillers among them) and the other format
# controls, except the joiner and the emoji selector, which depend on their neighbours.
_IGNORABLE = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200c\u200e\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufdd0-\ufdef\ufe00-\ufe0e\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff\U00013430-\U0001343f\U0001bca0-\U0001bca3"
    "\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
_INVISIBLE = regex(f"[{_IGNORABLE}]")
HIDDEN = regex(f"[\x00-\x1f\x7f-\x9f\u200d\u2028\u2029\ufe0f\ud800-\udfff{_IGNORABLE}]")
"""Every character that can control a terminal or hide from a reader: for formats that can escape it."""
# The character comes before its look-behind: a pattern that starts with a look-behind is tried at every position and
# is 200 times slower.
_STRAY_SELECTOR = regex(rf"\ufe0f(?<![{_EMOJI}]\ufe0f)(?:(?<![0-9#*]\ufe0f)|(?!\u20e3))")
_STRAY_JOINER = regex(rf"\u200d(?:(?<![{_EMOJI}]\u200d)(?<![{_EMOJI}]\ufe0f\u200d)|(?![{_EMOJI}]))")
_ESCAPE_SEQUENCE = regex(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"  # colours, cursor
    r"|(?:\x1b[\]PX^_]|[\x9d\x90\x98\x9e\x9f])[^\x07\x1b\x90\x98\x9c-\x9f\r\n]*(?:\x07|\x1b\\|\x9c)"  # titles, links
    r"|\x1b[ -/]*[0-~]"
)
_LINE_END = regex("\r\n?|[\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
# Tags that clients and chat formats put around hooks, commands and their output, tool calls and their results, turns.
# After a letter the tag is a type (`vector<system>`), and <user> within a line is a placeholder.
_TAG_NAMES = (
    r"[\w-]*system[-_]?(?:reminder|prompt|message)|[\w-]+-hook|hook[-_]context|(?:local-)?command-\w+|bash-\w+"
    r"|antml:\w+|function_(?:calls|results)|tool_(?:use|call|result|response|output)s?|(?:start|end)_of_turn"
)
_CLIENT_TAG = regex(
    rf"<(?:(?=\s*+(?:/\s*+)?(?:{_TAG_NAMES})(?![\w-]))"
    r"|(?<!\w<)(?=(?:system|assistant|human)>)|(?=/(?:system|assistant|human)>|\|\w+\|>|<SYS>>|<\s?/SYS>>))",
    re.IGNORECASE,
)
_USER_TAG = regex(r"^([ \t]*)<(?=/?user>)", re.IGNORECASE | re.MULTILINE)
_TURN_MARK = regex(r"(?<!\\)\[(?=/?INST\])")
_ROLE_NAMES = ("Human", "Assistant", "System", "User", "Developer")
_ROLES = (*_ROLE_NAMES, *map(str.upper, _ROLE_NAMES))
_ROLE = regex(rf"[ \t]*(?:{'|'.join(_ROLES)})(?=[ \t]*:)")
_BEFORE_BOLD = regex(r"(\\*)(\*|\Z)")
_URN = regex(r"(urn):(memhook):", re.IGNORECASE)
_LIST_MARK = regex(r"[,()\[\]·]")
# Only memhook's own lines start at the margin, so remembered text cannot forge an entry.
_ENTRY = regex(r"^- (?P<header>.*)(?:\n(?:  .*)?$)*", re.MULTILINE)
_NAME = regex(rf"{URN_PREFIX}([a-z0-9]+)")
NOT_NAMED = "another"


def clean(text: str) -> str:
    """Remove control, ANSI, bidirectional and invisible characters, and defuse the tags of clients."""
    if not text.replace("\n", "").replace("\t", "").isprintable():
        text = _CONTROL.sub("", _LINE_END.sub("\n", _ESCAPE_SEQUENCE.sub("", text)))
    if not text.isascii():
        text = _STRAY_JOINER.sub("", _STRAY_SELECTOR.sub("", _INVISIBLE.sub("", text)))
    if "<" in text:
        text = _USER_TAG.sub(r"\1‹", _CLIENT_TAG.sub("‹", text))
    return _TURN_MARK.sub(r"\\[", text) if "INST]" in text else text


def indented(text: str) -> str:
    """Clean `text` and indent its lines by two spaces; drop blank lines at either end."""
    lines = (_without_role(line).rstrip() for line in without_urns(clean(text)).split("\n"))
    visible = "\n".join(lines).strip("\n")
    return "".join(f"{INDENT}{line}\n" if line else "\n" for line in visible.split("\n")) if visible else ""


def one_line(text: str, limit: int) -> str:
    """Return `text` on one line of at most `limit` characters, not counting escapes."""
    line = shortened(collapsed(text[: limit * _WORST_CASE]), limit)
    return without_urns(_BEFORE_BOLD.sub(_escaped, line) if "*" in line or "\\" in line else line)


def without_urns(text: str) -> str:
    """Escape everything in `text` that looks like a URN of memhook."""
    return _URN.sub(r"\1\\:\2\\:", text) if ":memhook:" in text.lower() else text


@lru_cache(maxsize=1024)
def label(text: str, limit: int) -> str:
    return _LIST_MARK.sub(r"\\\g<0>", one_line(text, limit))


def collapsed(text: str) -> str:
    """Clean `text` and replace each run of white space by one space."""
    return " ".join(clean(text).split())


def _without_role(line: str) -> str:
    is_likely = line.lstrip(" \t").startswith(_ROLES)  # the pattern is slow
    return f"{found[0]}\\{line[found.end() :]}" if is_likely and (found := _ROLE.match(line)) else line


def _escaped(found: re.Match[str]) -> str:
    # A backslash before an asterisk, or before the closing asterisks of bold, would undo the escape.
    backslashes, asterisk = found.groups()
    return backslashes * 2 + ("\\*" if asterisk else "")


def without_entries(text: str, ids: Collection[str], instead: str) -> str:
    """Return `text` with the entries of the memories `ids` replaced by `instead`, and their names in other entries."""

    def replaced(entry: re.Match[str]) -> str:
        header, rest = entry["header"], entry[0][len("- ") + len(entry["header"]) :]
        if id_of(header.rsplit(" ", 1)[-1]) in ids:
            return instead
        return f"- {_NAME.sub(lambda name: NOT_NAMED if name[1] in ids else name[0], header)}{rest}"

    return _ENTRY.sub(replaced, text)
