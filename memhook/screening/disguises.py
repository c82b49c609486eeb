"""The readings of a disguised text: as a careless reader sees it, and decoded.

readings(text)   the text in lower case, also with letters for those that only look like them or stand apart
decoded(text)    what parts of it say that are encoded
"""

from __future__ import annotations

import base64
import binascii
import codecs
import html
import re
from collections.abc import Callable, Iterator
from urllib.parse import unquote

from memhook.core.normal import normalized

SHORTEST_ENCODED = 24
TELLING = ("ignore", "disregard", "forget", "instruction", "prompt", "reveal", "system", "previous")

_INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff]"
)
_TAGS = re.compile("[\U000e0020-\U000e007e]{4,}")
_MIXED = re.compile("[a-z][\u0370-\u04ff]|[\u0370-\u04ff][a-z]")
_ALIKE = str.maketrans("аеорсухіѕјԁһԛѡвкмнтονιαρετκχυ", "aeopcyxisjdhqwbkmhtoviapetkxu")
_LEET = tuple(str.maketrans("4301570@$!|", letters) for letters in ("aeoistoasil", "aeolstoasil"))
# The rarer character comes first, with what is before it looked behind from there: three times as fast.
_LEETED = re.compile(r"[4301570@$!|](?<=[a-z].)[4301570@$!|]*[a-z]")
_LETTERS_APART = re.compile(r"(?<!\w)\w([ .\-_·*/])(?:\w\1)+\w(?!\w)")
_FAR_APART = re.compile(r"([ .\-_·*/])(?<=(?<!\w)\w.)(?:\w\1){4,}\w(?!\w)")
_NEW_PARAGRAPH = re.compile(r"\n(?:[ \t]*\n|[ \t]*(?:[-*+#|>]|\d{1,3}[.)])[ \t])")

_ROTATED = (" gur ", *(codecs.encode(word, "rot13") for word in TELLING))
_BACKWARDS = (" eht ", *(word[::-1] for word in TELLING))


def readings(text: str) -> Iterator[str]:
    """The first is the text itself. Each has its paragraphs and the items of its lists on lines of their own."""
    visible = text if text.isascii() else _INVISIBLE.sub("", normalized("NFKC", text))
    lowered = visible.lower()
    plain = _plain(lowered)
    yield plain
    if not plain.isascii() and _MIXED.search(plain):
        yield plain.translate(_ALIKE)
    for table in _LEET if _LEETED.search(plain) else ():
        if (read := plain.translate(table)) != plain and _tells(read) > _tells(plain):
            yield read
    if _FAR_APART.search(lowered):
        yield _plain(_LETTERS_APART.sub(lambda found: found[0].replace(found[1], ""), lowered))


def _plain(text: str) -> str:
    paragraphs = _NEW_PARAGRAPH.sub("\x00", text).replace("*", "").replace("`", "").replace("_", " ").split("\x00")
    return "\n".join(" ".join(one.split()) for one in paragraphs)


def _tells(text: str) -> int:
    return sum(map(text.count, TELLING))


def decoded(text: str) -> Iterator[str]:
    """Only what may be words."""
    for mark, pattern, decode in _ENCODINGS:
        if mark in text and not (pattern is _TAGS and text.isascii()):
            yield from filter(None, (decode(found[0]) for found in pattern.finditer(text)))
    if "%20" in text or text.count("%") > SHORTEST_ENCODED:
        yield unquote(text, errors="replace")
    if "&" in text and (plain := html.unescape(text)) != text:
        yield plain
    lowered = text.lower()
    if any(map(lowered.__contains__, _ROTATED)):
        yield codecs.encode(text, "rot13")
    if any(map(lowered.__contains__, _BACKWARDS)):
        yield text[::-1]


def _from_base64(run: str) -> str:
    compact = "".join(run.split()).rstrip("=").replace("-", "+").replace("_", "/")
    try:
        return _as_text(base64.b64decode(compact + "=" * (-len(compact) % 4)))
    except (binascii.Error, ValueError):
        return ""


def _from_hex(run: str) -> str:
    digits = run.replace("\\x", "")
    return _as_text(bytes.fromhex(digits[: len(digits) // 2 * 2]))


def _as_text(raw: bytes) -> str:
    """Empty when it is none."""
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        return ""
    return text if text.replace("\n", "").replace("\t", "").isprintable() and " " in text else ""


_ENCODINGS: tuple[tuple[str, re.Pattern[str], Callable[[str], str]], ...] = (
    ("", re.compile(r"[A-Za-z0-9+/_-]{16,}(?:\s?\n\s?[A-Za-z0-9+/_-]{4,})*={0,2}"), _from_base64),
    ("", re.compile(rf"[0-9a-fA-F]{{{2 * SHORTEST_ENCODED},}}"), _from_hex),
    ("\\x", re.compile(r"(?:\\x[0-9a-fA-F]{2}){8,}"), _from_hex),
    (
        "\\u",
        re.compile(r"(?:\\u[0-9a-fA-F]{4}){8,}"),
        lambda run: "".join(chr(int(point, 16)) for point in run.split("\\u")[1:]),
    ),
    ("", _TAGS, lambda run: "".join(chr(ord(char) - 0xE0000) for char in run)),
)
