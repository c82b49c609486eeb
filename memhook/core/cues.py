"""Find the sentences of a prompt that correct the assistant, or that give it a standing order.

standing_orders(text)   such sentences, in a text of the author's own words
cue(sentence)           the line that asks the assistant to save it

The words "always" and "never" are no proof: most sentences with them describe something. An order opens with them, or
says what somebody should do. A correction opens with a denial and says what is right. `phrases.toml` has the words.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from memhook.core import phrases
from memhook.core.fencing import clean, collapsed
from memhook.core.tokens import estimated_tokens
from memhook.patterns import regex

CUE_TOKENS = 40
LONGEST = 300
SHORTEST_WORDS, SHORTEST_UNSPACED = 3, 6

_SENTENCE = regex(r"(?<=[.!?])\s+|\n+|(?<=[。！？])")
_DENIED = regex(r"\s*(?:[,:;!…—–、，。-]|\.{2,})")
_UNSPACED = regex(rf"[^\x00-\u2fff]{{{SHORTEST_UNSPACED}}}")

FIXED = "memhook: that fix took several failed attempts. If its cause may come back, save it with `remember`."
INSTRUCTION = (
    "memhook: with its `remember` tool, save what later sessions need: the user's corrections and standing rules, root"
    " causes, commands that work here, decisions and why. One self-contained sentence each; no secrets, no progress."
)


def cue(sentence: str) -> str:
    """Return the line that quotes as much of the sentence as 40 tokens allow."""
    words = clean(collapsed(sentence[:LONGEST])).split()
    for count in range(len(words), 0, -1):
        quote = " ".join(words[:count]) + ("" if count == len(words) else " …")
        line = f"memhook: the user said “{quote}”. If it holds beyond this task, `remember` it."
        if estimated_tokens(line) <= CUE_TOKENS:
            return line
    return ""


def standing_orders(text: str) -> Iterator[str]:
    for sentence in _SENTENCE.split(text):
        words = sentence.strip()
        if len(words) <= LONGEST and _is_long_enough(words) and not words.endswith(("?", "？")):
            plain = phrases.plain(words)
            bare = _without_leads(plain)
            if _is_standing(plain, bare) or _is_correction(plain) or _is_correction(bare):
                yield words


def _is_long_enough(sentence: str) -> bool:
    return len(sentence.split(maxsplit=SHORTEST_WORDS)) >= SHORTEST_WORDS or bool(_UNSPACED.search(sentence))


def _without_leads(sentence: str) -> str:
    """Return the sentence without "and", "also" or "please" at its start."""
    for _ in range(phrases.MOST_LEADS):
        lead = phrases.starts_with(sentence, _leads())
        if not lead:
            break
        sentence = sentence[len(lead) :].lstrip(" ,")
    return sentence


@cache
def _leads() -> tuple[str, ...]:
    denials = set(phrases.all_of("no"))
    return tuple(lead for lead in phrases.all_of("lead") if lead not in denials)


def _is_standing(sentence: str, bare: str) -> bool:
    """Return whether it has "from now on", opens with "always" or "never", or has these and "should"."""
    always = phrases.all_of("always")
    if phrases.holds(sentence, phrases.all_of("henceforth")) or phrases.starts_with(bare, always):
        return True
    return phrases.holds(bare, always) and phrases.holds(sentence, phrases.all_of("should"))


def _is_correction(sentence: str) -> bool:
    """Return whether it is a denial, a comma and what is right; or "use this, not that"; or "we don't use that"."""
    if phrases.starts_with(sentence, phrases.all_of("told")):
        return True
    no = phrases.starts_with(sentence, phrases.all_of("no"))
    pause = _DENIED.match(sentence, len(no)) if no else None
    if no and pause:
        rest = sentence[pause.end() :]
        return any(phrases.holds(rest, phrases.all_of(kind)) for kind in ("instead", "should", "ours"))
    use = phrases.starts_with(sentence, phrases.all_of("use"))
    is_use = bool(use) and phrases.holds(sentence[len(use) :], phrases.all_of("instead"))
    return is_use or bool(phrases.starts_with(sentence, phrases.all_of("ours")))
