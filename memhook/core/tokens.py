"""Estimate the tokens of a text without a tokenizer."""

from __future__ import annotations

import tomllib
import unicodedata
from operator import getitem
from pathlib import Path
from string import ascii_lowercase, ascii_uppercase, digits, punctuation

from memhook.patterns import regex

# Fitted to the largest count of @anthropic-ai/tokenizer and of gpt-tokenizer's cl100k_base and o200k_base over 90,000
# blocks of prose, code, data and 500 languages. After any change here, run scripts/calibrate-tokens.


def estimated_tokens(text: str) -> int:
    """Return an upper estimate: at least a quarter of the characters, rarely below the count of a real tokenizer.

    Appending text never lowers it. Lines add up: a text split after newlines never costs more than its parts.
    """
    if not text:
        return 0
    codes = _codes(text)
    cost = sum(map(getitem, map(_COSTS.__getitem__, codes), codes[1:]))  # no Python for each pair: twice as fast
    return max(_ceil_div(len(text), 4), _ceil_div(cost, _TOKEN), len(text.split()))


def _codes(text: str) -> bytes:
    """Return one byte for the start and for each character: ASCII itself, or a stand-in for its kind."""
    short = _LONG_RUN.sub(_SHORTENED, text) if any(run in text for run in _RUNS) else text  # the pattern is slow
    return _START + (short if short.isascii() else _with_stand_ins(short)).encode("latin-1")


def _with_stand_ins(text: str) -> str:
    """Translate the characters outside ASCII to stand-ins; if they are few, only these are looked up, for speed."""
    if len(text.encode("utf-8", "surrogatepass")) - len(text) > len(text) // _FEW:
        return text.translate(_STAND_INS)
    return _NOT_ASCII.sub(lambda found: found[0].translate(_STAND_INS), text)


def _ceil_div(number: int, divisor: int) -> int:
    return -(-number // divisor)


# Tokenizers have tokens for whole rulers and indents: count only this much of one.
_RULERS = "-#*+./=_~"
_LONG_RUN = regex(rf"([{_RULERS} \t])\1{{3}}\1+|(─)─{{15}}─+")
_SHORTENED = r"\1" * 4 + r"\2" * 16
_NOT_ASCII = regex(r"[^\x00-\x7f]+")
_FEW = 20
_RUNS = (*(5 * char for char in f"{_RULERS} \t"), 17 * "─")

# Costs are integers, in fortieths of a token, so that sums are exact. A smaller `_TOKEN` raises every estimate.
_TOKEN = 39
_FIRST = 40  # no less than any seam after a newline, so that lines add up
_RULER, _REPEATED = 22, 10
_ASCII_KINDS = (
    *(ascii_lowercase, ascii_uppercase, digits, " ", "\t", "\n"),
    *(".,", "_", "-", "/", ":;", "\"'", "([{<", ")]}>", "=+*#~", "\\", "|^&%$@!?`"),
)
_CONTROL, _LATIN, _CYRILLIC, _OTHER = range(len(_ASCII_KINDS), len(_ASCII_KINDS) + 4)

# The cost of a character that is one token by itself, two, three, four.
_OWN_COSTS = {_LATIN: (20, 68, 102), _CYRILLIC: (24, 132), _OTHER: (38, 84, 126, 168)}

_FITTED = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
_SINGLE = frozenset("".join(_FITTED["single"]))
_PAIRED = int("".join(_FITTED["paired"]), 16)


class _StandIns(dict[int, str]):
    """A table for `str.translate`: the stand-in of each character, computed on first use."""

    def __missing__(self, code: int) -> str:
        char = chr(code)
        # The older tokenizer normalises first, which turns one ligature into up to eighteen letters.
        dearest = max(char, unicodedata.normalize("NFKC", char), key=lambda form: sum(map(_tokens_alone, form)))
        found = "".join(map(_stand_in, dearest))
        if code < 0x20000:
            self[code] = found
        return found


def _stand_in(char: str) -> str:
    return char if char.isascii() else chr(_stand_in_code(_kind(char), _tokens_alone(char)))


def _stand_in_code(kind: int, tokens: int) -> int:
    return 0x80 | (kind - _LATIN) << 3 | tokens


def _tokens_alone(char: str) -> int:
    """Return the most tokens any tokenizer needs for the character by itself."""
    code = ord(char)
    if code < 0x80 or char in _SINGLE:
        return 1
    if code < 0x800:
        return 2
    if code < 0x10000:
        return 2 if _PAIRED >> (code >> 6) & 1 else 3
    return 3 if code >> 12 in (0x1D, 0x1F) else 4


def _kind(char: str) -> int:
    """Return the row and column of `seams` for a character."""
    code = ord(char)
    if code < 0x80:
        return next((kind for kind, chars in enumerate(_ASCII_KINDS) if char in chars), _CONTROL)
    if code < 0x250 or 0x1E00 <= code < 0x1F00:
        return _LATIN
    return _CYRILLIC if 0x400 <= code < 0x530 else _OTHER


def _cost_table() -> list[bytes]:
    """Return, by the codes of two neighbours, the cost of the seam between them plus that of the right one."""
    seams = [[int(cell) * 2 for cell in line.split()] for line in _FITTED["seams"].strip().splitlines()[1:]]
    kinds = {code: _kind(chr(code)) for code in range(0x80)}
    own = dict.fromkeys(kinds, 0)
    for kind, costs in _OWN_COSTS.items():
        for tokens, cost in enumerate(costs, start=1):
            kinds[_stand_in_code(kind, tokens)], own[_stand_in_code(kind, tokens)] = kind, cost

    table = [bytearray(0x100) for _ in range(0x100)]
    for right, kind in kinds.items():
        table[_START[0]][right] = _FIRST + own[right]
        for left in kinds:
            table[left][right] = seams[kinds[left]][kind] + own[right]
    _add_letter_seams(table)
    _add_repeats(table)
    return [bytes(row) for row in table]


def _add_letter_seams(table: list[bytearray]) -> None:
    for left, line in zip(ascii_lowercase, _FITTED["letter_seams"].split(), strict=True):
        for right, level in zip(ascii_lowercase, map(int, line), strict=True):
            table[ord(left)][ord(right)] += 6 * level
            table[ord(left.upper())][ord(right)] += 6 * level
            table[ord(left.upper())][ord(right.upper())] += 3 * level


def _add_repeats(table: list[bytearray]) -> None:
    for char in punctuation:
        table[ord(char)][ord(char)] = _RULER if char in _RULERS else _REPEATED


_START = b"\xff"
_COSTS = _cost_table()
_STAND_INS = _StandIns()
