"""Whether a text tries to command the model that reads it, however it is disguised.

The format and the label around a memory are the defence; this is a help. It knows how such texts are usually put, in
nine languages, and looks behind encodings, spacing, invisible characters and letters that look alike.
"""

from __future__ import annotations

import base64
import binascii
import codecs
import html
import re
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from itertools import chain
from urllib.parse import unquote

from memhook.core.normal import normalized
from memhook.screening.poison_negation import is_forbidden_outright
from memhook.screening.poison_quotes import without_examples
from memhook.screening.poison_search import Finder, Sign, near
from memhook.screening.poison_signs import EXFILTRATION, MARKED, REVEAL
from memhook.screening.poison_traits import hinted_at, statements

WINDOW = 8_000  # in a longer text every word is somewhere, and nothing could be passed over
OVERLAP = 1_000
DEEPEST = 2  # an encoding inside an encoding
SHORTEST_ENCODED = 24
SHORTEST_RUN = 16
SHORTEST_ESCAPED = 32
DISGUISED = ", in disguise"


def reason_to_distrust(text: str) -> str:
    """Empty for an ordinary text."""
    return next(filter(None, map(_remembered, _windows(text))), "")


def _windows(text: str) -> Iterator[str]:
    for start in range(0, max(1, len(text) - OVERLAP), WINDOW - OVERLAP):
        yield text[start : start + WINDOW]


@lru_cache(maxsize=1024)
def _remembered(text: str) -> str:
    return _reason(text)


def _reason(text: str, depth: int = 0) -> str:
    foreign = "" if text.isascii() else "".join(_FOREIGN.findall(text))
    visible = _INVISIBLE.sub("", text) if foreign and _INVISIBLE.search(foreign) else text
    if found := _marked(visible):
        return found
    for plain in _readings(visible, foreign):
        if found := _said_in(plain):
            return found
    if depth < DEEPEST:
        for hidden in _decoded(text, foreign):
            if found := _reason(hidden, depth + 1):
                return found if found.endswith(DISGUISED) else found + DISGUISED
    return ""


def _marked(text: str) -> str:
    there = [signs for char, signs in _BY_CHAR.items() if char in text]
    return next((sign.reason for sign in chain(*there) if _bears(sign, text)), "")


def _by_rarest_char() -> dict[str, list[Sign]]:
    """Each by a character that all its marks have, if possible one that a text of words has not."""
    by_char: dict[str, list[Sign]] = {}
    for sign in MARKED:
        shared = set.intersection(*map(set, sign.groups[0].phrases))
        by_char.setdefault(min(sorted(shared), key=_is_common, default=""), []).append(sign)
    return by_char


def _is_common(char: str) -> bool:
    return char.isalnum() or char in " :-"


_BY_CHAR = _by_rarest_char()


def _bears(sign: Sign, text: str) -> bool:
    return all(_has_one(group.phrases, text) for group in sign.groups) and sign.pattern.search(text) is not None


def _has_one(phrases: Iterable[str], text: str) -> bool:
    for phrase in phrases:  # noqa: SIM110 - the plain loop is the quicker one
        if phrase in text:
            return True
    return False


# What a text says in words: looked up by how they start, then near where they are, for a pattern takes its time


def _said_in(plain: str) -> str:
    found = _meant_in(plain)
    if found and (rest := without_examples(plain, _meant_in)) != plain:
        return _meant_in(rest)
    return found


def _meant_in(plain: str) -> str:
    finder = Finder(plain)
    return _stated(finder) or hinted_at(finder)


def _stated(finder: Finder) -> str:
    return next((sign.reason for sign in statements(finder) if _says(sign, finder)), "")


def _says(sign: Sign, finder: Finder) -> bool:
    if not all(map(finder.has, sign.groups)):
        return False
    stretches = near(finder.places(sign.groups[0]), sign.reach)
    found = any(sign.pattern.search(finder.plain, start, end) for start, end in stretches)
    return found and _is_meant(sign, finder.plain)  # where a stretch ends, the text may go on


def _is_meant(sign: Sign, plain: str) -> bool:
    every = sign.pattern.finditer(plain)
    return any(not (_can_be_forbidden(sign, found) and is_forbidden_outright(plain, found)) for found in every)


def _can_be_forbidden(sign: Sign, found: re.Match[str]) -> bool:
    """Not what is an attack for saying "do not", as not to follow, or not to tell."""
    return sign.reason in (EXFILTRATION, REVEAL) or found[0].startswith("without")


# The same text as a careless reader sees it

_INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff]"
)
_MAY_LOOK_ALIKE = re.compile("[\u0370-\u04ff]")
_FOREIGN = re.compile(r"[^\x00-\x7f]+")
_ALIKE = str.maketrans("аеорсухіѕјԁһԛѡвкмнтονιαρετκχυ", "aeopcyxisjdhqwbkmhtoviapetkxu")
_MIXED = re.compile("[a-z][\u0370-\u03ff\u0400-\u04ff]|[\u0370-\u03ff\u0400-\u04ff][a-z]")
_SIGNS_FOR_LETTERS = b"4301570@$!|"
_LEET = tuple(
    (bytes.maketrans(_SIGNS_FOR_LETTERS, letters), str.maketrans(_SIGNS_FOR_LETTERS.decode(), letters.decode()))
    for letters in (b"aeoistoasil", b"aeolstoasil")
)
_TELLING = (b"ignore", b"disregard", b"forget", b"instruction", b"prompt", b"reveal", b"system")
_LETTERS_APART = re.compile(r"(?<!\w)\w([ .\-_·*/])(?:\w\1)+\w(?!\w)")
_FAR_APART = re.compile(r"(?<!\w)\w([ .\-_·*/])(?:\w\1){3,}\w(?!\w)")
# Letters as one letter, what may stand between them as a space: whether some stand apart is then quickly seen.
_SHAPE = bytes(
    0x20 if chr(char) in " .-_*/" else 0x61 if chr(char).isalnum() or chr(char) == "?" else 0 for char in range(256)
)
_FIVE_APART = b" a a a "


def _readings(text: str, foreign: str) -> Iterator[str]:
    lowered = _lowered(text, foreign)
    one_line = _on_one_line(lowered.replace("*", "").replace("`", "").replace("~~", ""))
    yield one_line
    if foreign and _MAY_LOOK_ALIKE.search(one_line) and _MIXED.search(one_line):
        yield one_line.translate(_ALIKE)
    raw = _ascii(one_line)
    for quick, full in _LEET:
        if _tells_more(raw.translate(quick), raw):
            yield one_line.translate(full)
    if (_FIVE_APART in _ascii(lowered).translate(_SHAPE) or "·" in foreign) and _FAR_APART.search(lowered):
        yield _on_one_line(_LETTERS_APART.sub(_together, lowered))


def _tells_more(read: bytes, raw: bytes) -> bool:
    if read == raw:
        return False
    for word in _TELLING:  # noqa: SIM110 - the plain loop is the quicker one
        if word in read and read.count(word) > raw.count(word):
            return True
    return False


def _on_one_line(text: str) -> str:
    return " ".join(text.replace("_", " ").split())


def _ascii(text: str) -> bytes:
    """For a quick look: every character in its place, and every foreign one a question mark."""
    return text.encode("ascii", "replace")


def _lowered(text: str, foreign: str) -> str:
    return normalized("NFKC", text).lower() if foreign else text.lower()


def _together(found: re.Match[str]) -> str:
    return found[0].replace(found[1], "")


# What is written in another way

_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{16,}(?:\s?\n\s?[A-Za-z0-9+/_-]{4,})*={0,2}")
_HEX = re.compile(rf"[0-9a-fA-F]{{{2 * SHORTEST_ENCODED},}}")
_HEX_ESCAPES = re.compile(r"(?:\\x[0-9a-fA-F]{2}){8,}")
_CODE_POINTS = re.compile(r"(?:\\u[0-9a-fA-F]{4}){8,}")
_TAGS = re.compile("[\U000e0020-\U000e007e]{4,}")
_ROTATED = ("rot13", "rot-13", " gur ", " naq ", " lbhe ", "vtaber", "qvfertneq", "vafgehpgvba", "flfgrz cebzcg")
_BACKWARDS = ("erongi", "draregsid", "snoitcurtsni", "tpmorp metsys", "tegrof", "elur", " eht ", " ruoy ")


def _decoded(text: str, foreign: str) -> Iterator[str]:
    """What else the text, or a part of it, can be read as."""
    if runs := [word for word in text.split() if len(word) >= SHORTEST_RUN]:
        yield from filter(None, map(_from_base64, _base64_runs(text, runs)))
        long_ones = "\n".join(run for run in runs if len(run) >= SHORTEST_ESCAPED)
        for mark, pattern, decode in _ENCODINGS if long_ones else ():
            if mark in long_ones:
                yield from filter(None, (decode(found[0]) for found in pattern.finditer(long_ones)))
    if foreign:
        yield from ("".join(chr(ord(char) - 0xE0000) for char in found[0]) for found in _TAGS.finditer(foreign))
    if "%" in text and ("%20" in text or text.count("%") > SHORTEST_ENCODED):
        yield unquote(text, errors="replace")
    if "&" in text and ";" in text and (plain := html.unescape(text)) != text:
        yield plain
    lowered = text.lower()
    if _has_one(_ROTATED, lowered):
        yield codecs.encode(text, "rot13")
    if _has_one(_BACKWARDS, lowered):
        yield text[::-1]


def _base64_runs(text: str, words: Iterable[str]) -> Iterator[str]:
    """Each starts in one of these words, and may go on in the next lines."""
    word_end = run_end = 0
    for word in words:
        place = text.index(word, word_end)
        word_end = place + len(word)
        while found := _BASE64.search(text, max(place, run_end), word_end):
            whole = _BASE64.match(text, found.start()) or found
            yield whole[0]
            run_end = whole.end()


def _from_base64(run: str) -> str:
    compact = "".join(run.split()).rstrip("=").replace("-", "+").replace("_", "/")
    if len(compact) < SHORTEST_ENCODED:
        return ""
    try:
        return _as_text(base64.b64decode(compact + "=" * (-len(compact) % 4)))
    except (binascii.Error, ValueError):
        return ""


def _as_text(raw: bytes) -> str:
    """Empty when it is none."""
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        return ""
    return text if text.replace("\n", "").replace("\t", "").isprintable() and " " in text else ""


_ENCODINGS: tuple[tuple[str, re.Pattern[str], Callable[[str], str]], ...] = (
    ("", _HEX, lambda run: _as_text(bytes.fromhex(run[: len(run) // 2 * 2]))),
    ("\\x", _HEX_ESCAPES, lambda run: _as_text(bytes.fromhex(run.replace("\\x", "")))),
    ("\\u", _CODE_POINTS, lambda run: "".join(chr(int(point, 16)) for point in run.split("\\u")[1:])),
)
