"""Detect texts that try to command the model that reads them, unless the user typed them.

The defence is the format and the label around a memory; this module only adds to it. It judges by the author of the
text, by structure that only clients or memhook write, by hidden or encoded parts, and by intents (`intents.toml`).
"""

from __future__ import annotations

import base64
import codecs
import html
import re
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from itertools import chain
from urllib.parse import unquote

from memhook.core.memory import Origin
from memhook.core.normal import normalized
from memhook.patterns import regex
from memhook.screening.intents import intents_in

WINDOW = 8_000
OVERLAP = 1_000
DEEPEST = 2  # an encoding inside an encoding
DISGUISED = ", in disguise"


def reason_to_distrust(text: str, provenance: Origin) -> str:
    """Return the reason, or "" for an ordinary text and for any text that the user typed."""
    if provenance is Origin.USER:
        return ""
    starts = range(0, max(1, len(text) - OVERLAP), WINDOW - OVERLAP)
    return next(filter(None, (_judged(text[start : start + WINDOW]) for start in starts)), "")


@lru_cache(maxsize=1024)
def _judged(text: str) -> str:
    return _reason(text, DEEPEST)


def _reason(text: str, deepest: int) -> str:
    if found := forgery_in(text) or next(filter(None, map(intents_in, readings(text))), ""):
        return found
    for hidden in decoded(text) if deepest else ():
        if found := _reason(hidden, deepest - 1):
            return found if found.endswith(DISGUISED) else found + DISGUISED
    return ""


# Forged structure

TURN = "forges a turn of the conversation"
TOOL = "forges a tool call"
OWN = "forges memhook's own lines"

_ROLE = "(?:system|developer|user|assistant|human|admin)"
_TAG = r"(?:_|-)?(?:message|prompt|notice|instructions?|reminder)?"
_EVENT = "(?:user-?prompt-?submit|session-?start|pre-?tool-?use|post-?tool-?use)"
_MODEL = "(?:ai|llm|agent|assistant|claude|copilot|gpt|model)"
# Not after a mark that a text only mentions: punctuation, another mark, or a word that continues the sentence follows.
_USED = (
    r"(?!\s*(?:[,.;:)\]}'\"`/|<{…]|and\b|or\b|for\b|is\b|are\b|around\b|twice\b|role|(?:marker|token|tag|block)s?\b|$))"
)

# Where a turn would begin. A mark within a sentence is only mentioned, unless text follows it as in a turn.
_BEGINS = r"(?:^\W{0,4}|(?<=[^.][.!?>])|(?<=[^.][.!?>] ))"
_MARK = "(?:im_start|system|user|assistant|start_header_id|begin_of_text|im_end|eot_id)"

# A string in lower case that each forgery contains, the reason, and the pattern of the forgery.
_FORGERIES: tuple[tuple[str, str, re.Pattern[str]], ...] = tuple(
    (mark, reason, regex(pattern, re.IGNORECASE | re.MULTILINE))
    for mark, reason, pattern in (
        ("<|", TURN, rf"{_BEGINS}<\|{_MARK}\|>{_USED}|<\|im_start\|>{_ROLE}(?:\n|\\n|{_USED}\W+\w+ \w)"),
        ("<|", TOOL, rf"<\|python_tag\|>{_USED}"),
        ("_of_turn>", TURN, rf"<start_of_turn>(?:{_ROLE}|model)?{_USED}\s*\S"),
        ("[inst]", TURN, rf"{_BEGINS}\[INST\]{_USED}|\[INST\]{_USED}\s*(?:[^\s\[]+ +){{3}}[^\[]{{0,2000}}\[/INST\]"),
        ("<<sys>>", TURN, rf"<<SYS>>{_USED}"),
        ("[sys]", TURN, r"^\W{0,4}\[SYS\] ?\w+ \w|\[SYS\][^\[\]]{5,2000}\[/SYS\]"),
        ("[system", TURN, rf"{_BEGINS}\[SYSTEM(?: MESSAGE| NOTICE| PROMPT| OVERRIDE| ALERT| NOTE)?\]:?\s*\w"),
        ("</", TURN, rf"<({_ROLE}{_TAG})>[^<]{{5,2000}}</\1>"),
        ("</", TURN, rf"</(?:tool_result|function_results|context|document)>\s*<{_ROLE}"),
        ("<system", TURN, r"^\W{0,4}<system[-_](?:reminder|prompt)>\s*\w"),
        ("hook", TURN, rf"^\W{{0,4}}{_EVENT}(?::\w+)? hook (?:success|feedback|additional)"),
        ("system", TURN, r"\bsystem (?:(?:prompt |message )?override|(?:prompt|message) update)\b ?:"),
        ("system", TURN, r"^\W{0,6}system ?:[^\n]{1,400}\n{1,2}\W{0,6}user ?:"),
        (
            ":",
            TURN,
            r"^\W{0,6}(?:system|user|human)(?: message)? ?: ?\S[^\n]{1,400}"
            r"\n(?:[^\n]{0,400}\n){0,6}?\W{0,6}(?:assistant|ai) ?: ?\S",
        ),
        (
            ":",
            TURN,
            r"^\W{0,6}(?:assistant|ai) ?: ?\S[^\n]{1,400}\n(?:[^\n]{0,400}\n){0,3}?\W{0,6}(?:user|human) ?: ?\S",
        ),
        ("assistant:", TURN, r"\bassistant: [^\n]{1,200}[.!?] (?:user|human): \S"),
        ("x-", TURN, rf"^\W{{0,4}}x-{_MODEL}-(?:instruction|directive|command|order|prompt|task)s?: ?\S+ \S"),
        ("function_calls>", TOOL, r"<(?:antml:)?function_calls>\s*<(?:antml:)?invoke"),
        ("<invoke", TOOL, r"<(?:antml:)?invoke name=\"\w+\">\s*<"),
        ("<tool_", TOOL, r"<tool_(?:use|call)s?>\s*[{<]|<(tool_result)>[^<]{5,2000}</\1>"),
        ("tool_", TOOL, r"\"(?:type\"\s*:\s*\"tool_use|tool_calls\"\s*:\s*\[\s*\{)"),
        ("action", TOOL, r"^Action: ?\w+\s+Action Input:"),
        ("memhook", OWN, r"\(end of memhook notes\)|^## Relevant memories \(memhook\)"),
        ("urn:memhook:", OWN, r"^- \*\*[^\n]{1,100}\*\* \([^\n]{1,100}\) urn:memhook:\w{12}"),
    )
)


def forgery_in(text: str) -> str:
    """Return the reason to distrust a text with structure that only a client or memhook writes, or ""."""
    lowered = text.lower()
    return next((reason for mark, reason, forged in _FORGERIES if mark in lowered and forged.search(text)), "")


# Disguises: characters that look like others, and encoded text

SHORTEST_ENCODED = 24
TELLING = ("ignore", "disregard", "forget", "instruction", "prompt", "reveal", "system", "previous")

_INVISIBLE = regex("[\u00ad\u034f\u061c\u115f\u1160\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff]")
_TAGS = regex("[\U000e0020-\U000e007e]{4,}")
_MIXED = regex("[a-z][\u0370-\u04ff]|[\u0370-\u04ff][a-z]")
_ALIKE = str.maketrans("аеорсухіѕјԁһԛѡвкмнтονιαρετκχυ", "aeopcyxisjdhqwbkmhtoviapetkxu")
_LEET = tuple(str.maketrans("4301570@$!|", letters) for letters in ("aeoistoasil", "aeolstoasil"))
# Matches the rarer character first and looks behind from there, which is three times as fast.
_LEETED = regex(r"[4301570@$!|](?<=[a-z].)[4301570@$!|]*[a-z]")
_LETTERS_APART = regex(r"(?<!\w)\w([ .\-_·*/])(?:\w\1)+\w(?!\w)")
_FAR_APART = regex(r"([ .\-_·*/])(?<=(?<!\w)\w.)(?:\w\1){4,}\w(?!\w)")
FEWEST_ITEMS = 3
_ENDS = (".", "!", "?", ";", "。", "！", "？")
_NEW_PARAGRAPH = regex(r"\n(?:[ \t]*\n|[ \t]*(?:[^\w\s]{1,6}|\d{1,3}[.)]|[A-Za-z][.)])[ \t])")

_ROTATED = (" gur ", *(codecs.encode(word, "rot13") for word in TELLING))
_BACKWARDS = (" eht ", *(word[::-1] for word in TELLING))


def readings(text: str) -> Iterator[str]:
    """Yield the text in lower case, then with look-alikes replaced by letters, then with spaced-out letters joined.

    In each reading, every paragraph, list item and sentence that is a whole line has its own line.
    """
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
    apart = _NEW_PARAGRAPH.sub("\x00", f"\n{text}").replace("*", "").replace("`", "").replace("_", " ")
    statements = chain.from_iterable(map(_separate, apart.split("\x00")))
    return "\n".join(filter(None, (" ".join(one.split()) for one in statements)))


def _separate(paragraph: str) -> Sequence[str]:
    """Return the lines of a paragraph if it is a list without bullets: several lines that all end a sentence."""
    lines = paragraph.strip().splitlines()
    is_list = len(lines) >= FEWEST_ITEMS and all(line.rstrip().endswith(_ENDS) for line in lines)
    return lines if is_list else [paragraph]


def _tells(text: str) -> int:
    return sum(map(text.count, TELLING))


def decoded(text: str) -> Iterator[str]:
    """Yield the decoded text of each encoded part that may be words."""
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
    compact = "".join(run.split()).rstrip("=")
    return _as_text(base64.urlsafe_b64decode, compact + "=" * (-len(compact) % 4))


def _from_hex(run: str) -> str:
    digits = run.replace("\\x", "")
    return _as_text(bytes.fromhex, digits[: len(digits) // 2 * 2])


def _as_text(decode: Callable[[str], bytes], run: str) -> str:
    """Return the text that a run of characters encodes, or "" if it encodes none."""
    try:
        text = decode(run).decode("utf-8")
    except ValueError:
        return ""
    return text if text.replace("\n", "").replace("\t", "").isprintable() and " " in text else ""


_ENCODINGS: tuple[tuple[str, re.Pattern[str], Callable[[str], str]], ...] = (
    ("", regex(r"[A-Za-z0-9+/_-]{16,}(?:\s?\n\s?[A-Za-z0-9+/_-]{4,})*={0,2}"), _from_base64),
    ("", regex(rf"[0-9a-fA-F]{{{2 * SHORTEST_ENCODED},}}"), _from_hex),
    ("\\x", regex(r"(?:\\x[0-9a-fA-F]{2}){8,}"), _from_hex),
    ("\\u", regex(r"(?:\\u[0-9a-fA-F]{4}){8,}"), lambda run: run.encode().decode("unicode-escape")),
    ("", _TAGS, lambda run: "".join(chr(ord(char) - 0xE0000) for char in run)),
)
