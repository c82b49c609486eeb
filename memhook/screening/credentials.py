"""Whether a text may hold a credential, also in plain words: for texts that are dropped rather than masked.

Stricter than `secrets`, which must not mask what is none.
"""

from __future__ import annotations

import re

from memhook.screening.secret_values import SPOKEN_NAMES, is_mixed, is_random

# Whatever stands near such a word is dropped, said or not.
_PASSWORD = re.compile(
    rf"{SPOKEN_NAMES}|credential|\bmasked:|\bapi[ _-]?keys?\b[^.\n]{{0,20}}\b(?:is|are)\b"
    r"|\bsecret\s*[:=]|\bpin\b[^.\n]{0,24}\b\d{4,8}\b",
    re.IGNORECASE,
)
# A user's name is no secret, unless it is told: "log in as admin", "user: root".
_LOGIN = re.compile(
    r"\b(?:log(?:ged)?[ -]?in|sign(?:ed)?[ -]?in|user(?:[ -]?(?:name|id))?|benutzer(?:name)?|usuario|utilisateur)"
    r"(?:[ \t]*[:=][ \t]*\S|\s+(?:is|ist|es|est)\s+[\"'`“«]"
    r"|\s+(?:with|as|mit|als|con|como|avec)\s+(?!the\b|an?\b)\S{1,40}\s*(?:/|and|und|y|et)\s)",
    re.IGNORECASE,
)
_BETWEEN = re.compile(r"[\s\"'`“”«»=<>(),;{}\[\]|]+")
_RUN = re.compile(r"(?<![A-Za-z0-9])(?=[A-Za-z]*\d)[A-Za-z0-9]{16,}")
_NAMES_SOMETHING = re.compile(r"[0-9a-f]{40}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)


def may_hold_credentials(text: str) -> bool:
    """Also for a word that mixes all kinds of characters, or that nobody made up; commits and UUIDs are names."""
    if _PASSWORD.search(text) or _LOGIN.search(text):
        return True
    text = _NAMES_SOMETHING.sub(" ", text)
    return any(map(is_random, _RUN.findall(text))) or any(map(is_mixed, _BETWEEN.split(text)))
