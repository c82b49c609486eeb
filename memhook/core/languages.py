"""Detect whether a text is in English, by its script and its function words.

is_english(text)   True also for text in no language: code, names, numbers, a log

This decides only whether an English model is enough, not which language the text is in. Function words that two
languages share (die, in, was, on, so) are not evidence. `languages.toml` has the words.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from pathlib import Path

from memhook.core.normal import normalized
from memhook.patterns import regex

READ_CHARS = 2_000
FEW_WORDS, SEVERAL = 8, 2  # in a longer text a single word of another language is a name or a quotation
THREE_WORDS, WEAK_IN = 3, 4  # "corrige le test" is not English, "le test" may be: from one weak word in four on
OTHER_SCRIPT = 0.3  # of the letters outside code
DENSE = 3  # letters that one Chinese, Japanese or Korean character stands for

_CODE = regex(r"```.*?(?:```|\Z)|`[^`\n]*`|\b[a-z]+://\S*", re.DOTALL)
_EDGES = ".,;:!?…\"'“”„«»‘’‚()[]{}<>¿¡*~-–—/。、！？「」（）"
_OTHER_LETTER = regex("[^\\W\\d_\u0000-\u036f\u1e00-\u1eff\u2000-\u2bff\ufb00-\ufb06\uff21-\uff5a]")
_DENSE_LETTER = regex("[\u2e80-\ud7ff\uf900-\ufaff\uff66-\uffdc\U00020000-\U0003ffff]")


@cache
def _function_words() -> tuple[frozenset[str], frozenset[str], frozenset[str]]:
    """Return the function words of English, those of other languages only, and the weak ones among the latter."""
    data = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
    english, *others = (frozenset(words.split()) for words in data["languages"].values())
    other = frozenset().union(*others) - english - frozenset(data["no_proof"].split())
    return english, other, other & frozenset(data["weak"].split())


def is_english(text: str) -> bool:
    """Return whether `text` is in English, or in no language at all."""
    return _is_english(text[:READ_CHARS])


@lru_cache(maxsize=2)  # a prompt is asked about twice
def _is_english(text: str) -> bool:
    without_code = _CODE.sub(" ", text)
    words = list(_prose(without_code))
    if _is_in_another_script(without_code, words):
        return False
    known = _function_words()
    english, other, weak = (sum(map(some.__contains__, words)) for some in known)
    if not text.isascii():
        other += sum(len(word) > 1 and not word.isascii() and word not in known[1] for word in words)
    strong = other - weak
    if strong + weak <= english:
        return True
    if len(words) > FEW_WORDS:
        return strong + weak < SEVERAL or not (strong or weak > SEVERAL)
    return not strong and (len(words) < THREE_WORDS or weak * WEAK_IN < len(words))


def _prose(text: str) -> Iterator[str]:
    """Yield the words in lower case, without identifiers (fooBar, foo_bar, a.b, v2) and abbreviations."""
    for token in text.split():
        word = token.strip(_EDGES)
        is_word = word.isalpha() or word.replace("'", "").replace("’", "").isalpha()
        if is_word and (len(word) == 1 or word[1:].islower()):
            yield word.lower() if word.isascii() else normalized("NFC", word.lower().replace("’", "'"))


def _is_in_another_script(text: str, words: Sequence[str]) -> bool:
    if text.isascii():
        return False
    other = len(_OTHER_LETTER.findall(text)) + (DENSE - 1) * len(_DENSE_LETTER.findall(text))
    latin = sum(len(word) for word in words if word < "\u0370")
    return other > 1 and other > OTHER_SCRIPT * (latin + other)
