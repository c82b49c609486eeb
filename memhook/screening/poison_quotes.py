"""A text without the short phrases that it quotes only because something tests, detects or filters them.

'The suite has "ignore all previous instructions"; the classifier must flag it' is no order, and what stands around the
quotation is judged as ever. A text that has the reader act on what it quotes is left whole.
"""

from __future__ import annotations

import re
from collections.abc import Callable

LONGEST_QUOTATION = 70
MOST_QUOTATIONS = 4
NEAR = 90

_QUOTATION = re.compile(
    rf"[\"“„«「](?=\S| )[^\"“”„«»「」]{{3,{LONGEST_QUOTATION}}}[\"”“»」]"
    rf"|(?<!\w)['‘][^'‘’]{{3,{LONGEST_QUOTATION}}}['’](?!\w)"
)
_TESTED = re.compile(
    r"\b(?:red-?team\w*|classifiers?|detect(?:s|ed|ion|or|ors)?|flag(?:s|ged)?|fixtures?|test (?:suite|case|set"
    r"|string)s?"
    r"|(?:test|eval)s?/|injections?|jailbreaks?|guard|filters?|blocks|blocked|reject(?:s|ed)?|phrases? like"
    r"|strings? (?:like|such)"
    r"|filtertest\w*|erkannt|erkennen|erkennt|klassifikator|détect\w+|signaler|signale|filtre|détecteur|detecta\w*"
    r"|detector"
    r"|clasificador|filtro|bloque\w*|classificador|bloqueia\w*|rileva\w*|classificatore|blocca\w*)\b"
    r"|классификатор|распозна|обнаруж|фильтр|блокиру|检测|识别|过滤|分类器|拦截|注入|検出|検知|フィルタ|分類器|インジェクション"
)
_ACTED_ON = re.compile(
    r"\b(?:obey|comply|carry (?:it|them|that|this)? ?out|act (?:on|upon|accordingly)|do (?:so|that|this|it|exactly"
    r"|what|as)"
    r"|follow (?:it|that|this|them|the)|execute|apply (?:it|that|this|them)|you (?:must|should|will|are|shall|may)"
    r"|your|please"
    r"|now|from here|note to|assistant|befolge\w*|gehorche\w*|führe|tu das|mach das|du (?:musst|sollst|bist)|obéis\w*"
    r"|exécute\w*"
    r"|fais-le|tu (?:dois|es)|obedece\w*|ejecuta\w*|hazlo|debes|obedeça|execute|faça|você deve|obbedisci|esegui\w*"
    r"|fallo|devi)\b"
    r"|выполни|подчин|сделай|ты должен|执行|照做|服从|你必须|实行|実行し|従って|従え"
)


def without_examples(plain: str, distrusted: Callable[[str], str]) -> str:
    """The same text if it has no such phrase that is distrusted by itself, or more than an explanation needs."""
    every = [found for found in _QUOTATION.finditer(plain) if distrusted(found[0][1:-1])]
    if not 0 < len(every) <= MOST_QUOTATIONS or not all(_is_example(plain, found) for found in every):
        return plain
    rest = plain
    for found in every:
        rest = rest.replace(found[0], " ")
    return plain if _ACTED_ON.search(rest) else " ".join(rest.split())


def _is_example(plain: str, found: re.Match[str]) -> bool:
    """Whether it is words alone, and what stands next to it speaks of testing or detecting."""
    before, after = plain[max(0, found.start() - NEAR) : found.start()], plain[found.end() : found.end() + NEAR]
    return "://" not in found[0] and "@" not in found[0] and any(map(_TESTED.search, (before, after)))
