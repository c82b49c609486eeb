"""Whether a text forbids what it names: "never delete ...", "ask before you push", "do not run it without asking"."""

from __future__ import annotations

import re

BEFORE = 60
AFTER = 12

_CLAUSE = re.compile(
    r"[.!?;:。！？；：](?=\s|$|[^\x00-\x7f])|\b(?:and|then|but|instead|und|dann|sondern|et|puis|mais|y|luego|pero|e|mas|poi|ma|и"
    r"|затем|но)\b|、|，|并"
)
_NEGATION = re.compile(
    r"\b(?:never|not|no(?! matter)|cannot|can'?t|don'?t|doesn'?t|mustn'?t|shouldn'?t|won'?t|avoid|forbid\w*|prohibit\w*"
    r"|nobody|refuse|prevents?|unless|nicht|nie|niemals|keine?n?|jamais|ne|pas|nunca|jamás|não|non|mai|не|никогда|нельзя"
    r"|запрещ\w+)\b|\b(?:ask|confirm|check|approv|permission|frag|demand|pregunt|pergunt|chied)\w*\b.{0,30}\b(?:before|first"
    r"|bevor|vor|avant|antes|prima)\b|перед|不要|不得|禁止|切勿|请勿|勿|别|不能|不可"
)
_JUST_BEFORE = re.compile(r"\b(?:never|not|cannot|can'?t|don'?t|mustn'?t|shouldn'?t|avoid|without)(?: \w+){0,3} ?$")
_AFTER = re.compile("しない|するな|禁止|しません|せず|前に|之前|してはいけ")


def is_forbidden(plain: str, found: re.Match[str]) -> bool:
    """By a word of the same clause, or in Japanese by how the verb ends."""
    if not plain.isascii() and _AFTER.search(plain, found.end(), found.end() + AFTER):
        return True
    return _NEGATION.search(_CLAUSE.split(_just_before(plain, found))[-1]) is not None


def is_forbidden_outright(plain: str, found: re.Match[str]) -> bool:
    """By a word or two in front of it."""
    return _JUST_BEFORE.search(_CLAUSE.split(_just_before(plain, found))[-1]) is not None


def _just_before(plain: str, found: re.Match[str]) -> str:
    return plain[max(0, found.start() - BEFORE) : found.start()]
