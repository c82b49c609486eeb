"""Whether a text that somebody else wrote tries to command the model that reads it.

The format and the label around a memory are the defence; this is a help. It goes by who wrote the text, by structure
that only clients write, by what is hidden or encoded, and by a few intents (`intents.toml`).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from memhook.core.memory import Origin
from memhook.screening.disguises import decoded, readings
from memhook.screening.forgeries import forgery_in
from memhook.screening.intents import intents_in

WINDOW = 8_000
OVERLAP = 1_000
DEEPEST = 2  # an encoding inside an encoding
DISGUISED = ", in disguise"


def reason_to_distrust(text: str, provenance: Origin) -> str:
    """Empty for an ordinary text, and for whatever the user typed."""
    if provenance is Origin.USER:
        return ""
    return next(filter(None, map(_judged, _windows(text))), "")


def _windows(text: str) -> Iterator[str]:
    for start in range(0, max(1, len(text) - OVERLAP), WINDOW - OVERLAP):
        yield text[start : start + WINDOW]


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
